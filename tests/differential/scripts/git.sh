#% status and diff
echo more >> README.md; rm docs/api.md; echo new > n.txt; git status --short; git diff --stat | cat; git diff README.md | tail -2; git diff --name-only
#% a commit
echo x > x.txt; git add x.txt; git commit -q -m "Add x"; git log --format=%s -n 2; git show --stat --format=%s HEAD; git rev-list --count HEAD
#% branches
git checkout -q -b feature; echo f > f.txt; git add -A; git commit -qm "Feature"; git branch --list | cat; git checkout -q main; ls f.txt 2>/dev/null || echo "not on main"; git merge -q feature; ls f.txt; git branch -d feature > /dev/null; git branch --show-current
#% log formats
for i in 1 2 3; do echo $i > f$i; git add f$i; git commit -qm "Add file $i"; done; git log --oneline -n 3 --format='%s'; git log --reverse --format='%an: %s' | head -2; git log --format=%s -- f2; git shortlog -sn HEAD | cat; git log --grep='file 2' --format=%s
#% a loop over files
git ls-files '*.py' | while read -r f; do echo "$f $(git log --oneline -- "$f" | wc -l)"; done; for f in $(git ls-files docs); do wc -l < "$f"; done; git ls-files | xargs -n1 dirname | sort | uniq -c | sort -rn | awk '{print $1, $2}'
#% grep and blame
git grep -n TODO; git grep -c old_name | cat; git blame -s src/util.py | wc -l; git blame --line-porcelain src/util.py | grep '^author ' | sort | uniq -c | sed 's/^ *//'; git grep -l def -- '*.py' | xargs grep -h 'def old'
#% stash and reset
echo dirty >> README.md; git stash -q; git status --short; git stash pop -q; git status --short; git checkout -- README.md; git status --short; echo staged > s; git add s; git reset -q s; git status --short
#% undoing commits
echo 1 > u; git add u; git commit -qm one; echo 2 > u; git commit -qam two; git reset -q --soft HEAD~1; git status --short; git commit -qm "two again"; git revert --no-edit HEAD > /dev/null; cat u; git log --format=%s -n 3
#% a conflict
git checkout -qb other; echo other > c; git add c; git commit -qm other; git checkout -q main; echo main > c; git add c; git commit -qm main; git merge other > /dev/null; echo "rc $?"; git status --short; grep -c '^[<=>]\{7\}' c; git checkout --ours c 2>/dev/null; git add c; git commit -qm merged; cat c; git log --merges --format=%s
#% diff into patch and apply
sed -i 's/mean/average/' src/util.py; git diff > change.patch; git checkout -q src/util.py; git apply --check change.patch && git apply change.patch; git diff --numstat; git diff --quiet || echo changed; git diff | grep '^[-+] *def'
#% tags and describe
git tag v1.0; echo a > a; git add a; git commit -qm a; git tag -a v1.1 -m "one one"; git tag; git describe --tags; git tag --sort=-v:refname | head -1; git log v1.0..HEAD --format=%s; git rev-parse --abbrev-ref HEAD; git cat-file -t v1.1
#% an earlier version of a file
cp README.md before; echo changed > README.md; git commit -qam change; git show HEAD~1:README.md | cmp - before && echo same; git diff HEAD~1 --stat | tail -1; git checkout -q HEAD~1 -- README.md; head -1 README.md; git log -p -n 1 --format=%s -- README.md | grep -c '^-'
#% ignored files
printf '*.log\nbuild/\n' > .gitignore; mkdir build; touch build/x debug.log keep.txt; git status --short; git check-ignore debug.log build/x; git status --short --ignored | grep '^!!'; git clean -n; git clean -fdq; ls keep.txt 2>/dev/null || echo cleaned
#% renames
git mv docs/api.md docs/reference.md; git status --short; git commit -qm rename; git log --follow --format=%s docs/reference.md; git show --name-status --format= HEAD; git rm -q notes/plain.txt; git status --porcelain
#% working on the output of git
changed=$(git diff --name-only | wc -l); echo "changed: $changed"; echo z >> README.md; if [[ -n $(git status --porcelain) ]]; then echo dirty; fi; git status --porcelain | awk '{print $2}' | xargs -I{} echo "file {}"; git diff --name-only --diff-filter=M | while IFS= read -r f; do echo "M:$f"; done; sha=$(git rev-parse --short HEAD); [[ $sha =~ ^[0-9a-f]{7,}$ ]] && echo sha; git log -1 --format='%ad' --date=format:%Y | grep -c '^20'
#% commit messages from standard input
echo q > q; git add q; git commit -q -F - <<'EOF'
Subject line

Body of the message
EOF
git log -1 --format='%s|%b'; git commit -q --amend -m "New subject"; git log -1 --format=%B; git commit -q --allow-empty -m "Empty"; git log --format=%s | head -2; git log -1 --format=%s | sed 's/Empty/Nothing/'
#% cherry-pick and rebase
git checkout -qb topic; echo t > t; git add t; git commit -qm "Topic"; git checkout -q main; echo m > m; git add m; git commit -qm "Main"; git cherry-pick topic > /dev/null; git log -2 --format=%s; git checkout -q topic; git rebase -q main 2>/dev/null; git log -2 --format=%s; git merge-base --is-ancestor main topic && echo linear
#% configuration and identity
git config user.name; git config --get user.email; git -c user.name=Else commit -q --allow-empty -m e; git log -1 --format=%an; git -c core.quotepath=off ls-files notes; git config --get no.such; echo $?; GIT_AUTHOR_NAME=Env git commit -q --allow-empty -m f; git log -1 --format=%an
#% a file counted through history
for i in 1 2 3; do seq $((i * 2)) > n; git add n; git commit -qm "n $i"; done; for c in $(git log --reverse --format=%H -- n); do git show "$c:n" | wc -l; done; git diff HEAD~2 HEAD --shortstat; git rev-list HEAD -- n | wc -l; git log --stat --format=%s -n 1 | tail -1
#% an error of git
git checkout nowhere 2>/dev/null; echo $?; git log nowhere..HEAD 2>&1 | head -1; git show HEAD:none 2>/dev/null || echo "no such path"; git rev-parse --verify -q bad || echo invalid; cd docs && git rev-parse --show-prefix; git rev-parse --is-inside-work-tree; git ls-files
#% edited by a program
echo e > e; git add e; GIT_EDITOR=true git commit -q; echo $?; git commit -qm e; GIT_EDITOR=true git commit -q --amend; git log -1 --format=%s
