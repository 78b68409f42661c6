#% find by name and type
find . -type d | sort; find . -name '*.md' -not -path './docs/*' | sort
#% find with size and depth
find . -maxdepth 1 -mindepth 1 | sort; find data -type f -size -200c | sort; find . -empty | wc -l
#% find with exec
find docs -name '*.md' -exec grep -l guide {} \; | sort; find src -name '*.py' -exec wc -l {} + | tail -1
#% find and prune
mkdir -p node_modules/x build; touch node_modules/x/a.js build/b.js
find . \( -name node_modules -o -name build \) -prune -o -name '*.js' -print | sort
#% find with printf
find src -name '*.py' -printf '%f %s %h\n' | sort; find docs -printf '%y %P\n' | sort
#% find with regular expressions
find . -regex '.*\.\(py\|js\)' | sort; find . -iname 'readme*'; find . -regextype posix-extended -regex '.*/(util|app)\.[a-z]+' | sort
#% find deletes
mkdir tmp; touch tmp/{a,b}.bak tmp/c.txt; find tmp -name '*.bak' -print -delete | sort; ls tmp
#% find newer files
touch -d '2020-01-01' old; touch -d '2021-01-01' mid; touch -d '2022-01-01' new
find . -maxdepth 1 -newer mid -name 'new'; find . -maxdepth 1 -type f ! -newer mid -name '[om]*' | sort
#% find to xargs with spaces
find notes -name '*.txt' -print0 | xargs -0 wc -l | sort; find . -name '*.py' | sort | xargs -n 1 basename
#% xargs in parallel
seq 8 | xargs -P 4 -n 2 sh -c 'echo "$(( $1 + $2 ))"' _ | sort -n
#% xargs with a shell and a place
ls docs | xargs -I% sh -c 'echo "% has $(wc -l < docs/%) lines"'
echo "a b c" | xargs -n1 -t echo 2>/dev/null; xargs -r echo nothing < /dev/null; echo a b | xargs -L1 echo x
#% ls by size reversed with marks
mkdir d; printf 1 > a; printf 22 > b; printf 333 > c; ls -S -r -p; ls -Sr a b c; ls -Srp
#% ls with hidden files
mkdir h; touch h/.hidden h/shown; ls h; ls -a h; ls -A h; ls -1a h
#% ls marks and directories
ls -F | head -3; ls -d */; ls -d src docs/*.md; ls -p src
#% ls recursive
ls -R src; ls -1R docs
#% ls by time
touch -d '2020-01-01' one; touch -d '2021-01-01' two; touch -d '2022-01-01' three; ls -t one two three; ls -tr one two three; ls -1t | head -0
#% ls long without owners
chmod 644 README.md; ls -l README.md | awk '{print $1, $5, $NF}'; ls -l docs | wc -l; ls -lh data/people.csv | awk '{print $5}'
ls -la --time-style=+%Y README.md | awk '{print $6, $7}'; ls -ld src | cut -c1
#% ls of many operands
ls docs src/lib; ls README.md docs nowhere 2>/dev/null; echo $?
#% copying trees
cp -r src copy; diff -r src copy && echo same; cp README.md docs/guide.md copy/; ls copy; cp -v README.md r2
#% moving and overwriting
echo new > n; echo old > o; mv n o; cat o; mkdir dir; mv o dir/; ls dir; mv -n dir/o README.md; head -1 README.md; mv -v dir dir2
#% links
ln -s README.md link; readlink link; cat link | head -1; ln -s ../docs src/docs; ls src/docs; readlink -f src/docs/guide.md | sed "s,$PWD,.,"; [ -L link ] && echo link
rm link; [ -e README.md ] && echo kept; ln -s nowhere dangling; [ -e dangling ] || echo dangling; find . -type l | sort
#% removing
mkdir -p x/y/z; touch x/f; rm x 2>/dev/null || echo "is a directory"; rmdir x 2>/dev/null || echo "not empty"; rm -r x; [ -d x ] || echo gone; rm -f nothing; echo $?; rm nothing 2>&1
#% mkdir and mktemp
mkdir -p a/b/c && ls -d a/b/c; mkdir a 2>/dev/null || echo exists; mkdir -pv p/q; t=$(mktemp); echo x > "$t"; cat "$t"; rm "$t"; d=$(mktemp -d); [ -d "$d" ] && echo dir; mktemp -u ./tmp.XXXXXX | wc -c
#% stat and sizes
stat -c '%s %F' README.md; stat -c %F src; stat -c %n docs/*; wc -c < README.md; du -b README.md | cut -f1; chmod 600 README.md; stat -c %a README.md
#% permissions
touch s; chmod 755 s; stat -c '%a %A' s; chmod u-x,g+w s; stat -c %a s; chmod a=r s; stat -c %A s; [ -x s ] || echo "not executable"; umask 022; umask
#% paths
realpath src/../docs | sed "s,$PWD,.,"; realpath --relative-to=src docs/api.md; basename -s .md docs/*.md; dirname a/b/c /x; readlink -m a/../b/./c | sed "s,$PWD,.,"
#% globs of many kinds
echo docs/*.md; echo src/?ain.py src/[!m]*.py; echo no*match; shopt -s globstar; echo **/*.py; shopt -s nullglob; echo no*match; shopt -s dotglob; touch .dot; echo .d* 
#% extended globs
shopt -s extglob
cd data; echo !(*.csv|*.json*|*.log); echo @(people|words).*; echo +([a-z]).txt; echo *(x)numbers.txt
#% brace expansion
echo {a,b,c}{1,2} {x..z} {01..03} {10..0..5} a{,b}c {a..e..2}; mkdir -p proj/{src,test}/{a,b}; find proj -type d | sort; cp README.md{,.bak}; ls README*
#% the working directory
cd src/lib && basename "$PWD"; cd - >/dev/null; (cd docs; basename "$(pwd)"); basename "$PWD"; pushd src >/dev/null; basename "$PWD"; popd >/dev/null; basename "$OLDPWD"; cd nowhere 2>/dev/null || echo "no: $?"
#% truncation and appending
echo abc > f; : > f; wc -c < f; echo 1 >> f; echo 2 >> f; cat f; truncate -s 10 f; wc -c < f; set -o noclobber; echo x > f 2>/dev/null || echo refused; echo y >| f; cat f
#% dd
printf 'abcdefghij' > f; dd if=f bs=1 skip=2 count=3 2>/dev/null; echo; dd if=/dev/zero of=z bs=1024 count=3 2>/dev/null; wc -c < z; printf XX | dd of=f bs=1 seek=4 conv=notrunc 2>/dev/null; cat f
#% zeros and endless devices
head -c 3000000 /dev/zero | wc -c; head -c 5 /dev/zero | od -An -tx1; head -c 20000 /dev/urandom | wc -c; cat /dev/null | wc -l; tr '\0' x < /dev/zero | head -c 5; echo
#% tree-like listing
find src | sort | sed -e 's,[^/]*/,  ,g'
#% same files found by hash
cp README.md r1; cp README.md docs/r2; find . -type f -name 'r*' -o -name README.md -type f | sort | xargs md5sum | awk '{n[$1]++} END {for (h in n) print n[h]}'
find . -type f -exec sha256sum {} + | sort | uniq -w64 -D | awk '{print $2}'
#% install and cmp
install -D -m 755 src/util.py opt/bin/util; stat -c %a opt/bin/util; cmp src/util.py opt/bin/util && echo equal; printf 'abc' > a; printf 'abd' > b; cmp a b; echo $?; cmp -s a b || echo differ
#% test on files
touch empty; for f in README.md empty src nowhere; do r=; [ -e $f ] && r+=e; [ -f $f ] && r+=f; [ -d $f ] && r+=d; [ -s $f ] && r+=s; [ -r $f ] && r+=r; echo "$f:$r"; done; [ README.md -ef ./README.md ] && echo identical; touch -d 2020-01-01 o; [ README.md -nt o ] && echo newer
#% which and type
type cd; type -t if ls_nothing for echo; command -v cd; command -v no_such_command || echo none; f() { :; }; type -t f; hash -r; alias 2>/dev/null | wc -l
