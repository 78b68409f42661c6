#% grep with context and numbers
grep -n dog data/words.txt; grep -A1 -B1 lazy data/words.txt; grep -c TODO -r src | sort; grep -rn 'TODO\|FIXME' --include='*.py' . | sort
#% grep for words and whole lines
grep -w the data/words.txt; grep -iw the data/words.txt | wc -l; grep -x 9 data/numbers.txt; grep -v '^$' data/words.txt | wc -l; grep -l old_name -r src | sort; grep -L def src/*
#% grep with extended and perl patterns
grep -E '^(10|25)$' data/numbers.txt; grep -oE '[0-9]+ms|"ms":[0-9]+' data/events.jsonl; grep -oP '(?<="level":")\w+' data/events.jsonl | sort | uniq -c | sed 's/^ *//'; grep -P '\d{3}\d$' data/access.log | wc -l
#% grep for fixed strings and several patterns
grep -F 'f"' -r src; grep -e fox -e end data/words.txt; printf 'lazy\nquick\n' > pats; grep -f pats data/words.txt; grep -q fox data/words.txt && echo yes; grep nothing data/words.txt; echo $?; grep x nowhere 2>/dev/null; echo $?
#% grep output options
grep -h name config/*; grep -H pool config/app.ini; grep -m1 GET data/access.log; grep -ob fox data/words.txt; grep -r --exclude-dir=lib -l import src; grep -c '' data/*.txt | sort; grep --color=never -n '^#' README.md; grep -rhoE '[a-z]+\.md' . | sort -u
#% sed replaces
sed 's/the/THE/' data/words.txt | head -2; sed 's/o/0/g;s/e/3/2' data/words.txt | head -1; sed -n 's/.*"\(GET\|POST\) \([^ ]*\).*/\1 \2/p' data/access.log | sort -u; sed -E 's/([a-z]+) ([a-z]+)/\2 \1/' data/words.txt | head -1
#% sed addresses
sed -n '2,3p' data/words.txt; sed -n '$p' data/words.txt; sed '1,5d' data/access.log | wc -l; sed -n '/^## /p' README.md; sed -n '/server/,/^$/p' config/app.ini; sed '/^#/!d' README.md; seq 10 | sed -n '0~3p'; seq 5 | sed '2q'
#% sed in place
cp config/app.ini a.ini; sed -i 's/8080/9090/; /^debug/s/false/true/' a.ini; grep -E 'port|debug' a.ini; sed -i.bak '/^;/d' a.ini; ls a.ini*; wc -l < a.ini; diff a.ini a.ini.bak
#% sed inserts and appends
seq 3 | sed '2i\before two'; seq 3 | sed '2a after two'; seq 3 | sed '2c\changed'; seq 2 | sed '$a\
last'; sed '1i # header' data/numbers.txt | head -2; seq 3 | sed -e '1{h;d}' -e '$G'
#% sed joins lines
seq 5 | sed ':a;N;$!ba;s/\n/,/g'; seq 4 | sed 'N;s/\n/ /'; sed -n '1!G;h;$p' data/numbers.txt; seq 3 | sed '$!s/$/,/'; printf 'a \\\nb\nc\n' | sed ':a;/\\$/{N;s/ \\\n/ /;ta}'
#% sed with other delimiters and special replacements
echo /usr/local/bin | sed 's|/usr/local|/opt|'; echo hello | sed 's/.*/[&]/; s/l/L/2'; echo "a.b.c" | sed 's/\./-/g'; echo word | sed 's/\(.\)\(.*\)/\U\1\E\2/'; echo 'FOO bar' | sed 's/\w\+/\L\u&/g'; echo abc | sed 'y/abc/xyz/'; echo aXbX | sed 's/x/-/Ig'
#% sed cuts sections of a file
sed -n '/## Install/,/## Usage/{//!p}' README.md; sed '/^$/d;s/^#* *//' docs/guide.md; sed -n '/^```/,/^```/p' README.md; sed '/TODO/!b;s//LATER/' README.md | grep LATER; sed = data/numbers.txt | sed 'N;s/\n/\t/' | head -2; sed -n 'l' <<< $'a\tb'; sed 's/a/b/w out' <<< aaa; cat out
#% trailing white space and carriage returns
printf 'a  \r\nb\t\r\n' > dos; sed 's/\r$//; s/[[:space:]]*$//' dos | cat -A; tr -d '\r' < dos | cat -A; grep -c $'\r' dos; cat -s <<< $'a\n\n\n\nb'; sed -i 's/\r$//' dos; cat -e dos
#% tr
echo Hello | tr a-zA-Z n-za-mN-ZA-M; echo "a  b   c" | tr -s ' '; echo abc123 | tr -d 0-9; echo "x,y;z" | tr ',;' '\n\n'; echo hello | tr '[:lower:]' '[:upper:]'; echo "héllo wörld" | tr -cd 'a-z \n'; echo aabbcc | tr -s a-c; printf 'a\tb\n' | tr '\t' ' '
#% cut
cut -d: -f1,7 data/users.txt; cut -c1-4 data/words.txt | head -2; cut -d, -f2- data/people.csv | head -2; cut -d' ' -f1 --output-delimiter=- data/words.txt | head -1; echo a:b:c | cut -d: -f1,3 --output-delimiter='|'; cut -s -d= -f2 config/app.ini; echo abc | cut -b2; echo a,b,c | cut -d, --complement -f2
#% sort
sort -t, -k4,4nr data/people.csv | head -3; sort -n data/numbers.txt | tr '\n' ' '; sort -u data/numbers.txt | wc -l; sort -t: -k3n data/users.txt | tail -1; printf '10K\n2M\n512\n' | sort -h; sort -c data/numbers.txt 2>/dev/null; echo $?; printf 'b\nA\na\nB\n' | sort -f; sort -R data/numbers.txt | wc -l; printf 'Mar\nJan\nFeb\n' | sort -M; sort -k2 -t, -s -o sorted data/people.csv; head -1 sorted
#% sort by several keys
sort -t, -k3,3 -k4,4n data/people.csv | cut -d, -f2-4; printf 'a 2\nb 1\na 1\n' | sort -k1,1r -k2,2n; printf 'x10\nx9\nx1\n' | sort -k1.2n; sort -z <(printf 'b\0a\0') | tr '\0' '\n'; sort -m <(seq 1 2 5) <(seq 2 2 6) | tr '\n' ' '
#% uniq
printf 'a\na\nb\nA\na\n' > u; uniq u; uniq -c u; uniq -d u; uniq -u u; uniq -i u; sort u | uniq -c | sort -rn | head -1; printf 'x 1\ny 1\nz 2\n' | uniq -f1; printf 'ab1\nab2\n' | uniq -w2
#% head and tail
head -n 2 data/words.txt data/numbers.txt; tail -n 2 data/words.txt; tail -n +4 data/words.txt; head -n -3 data/words.txt; head -c 9 data/words.txt; echo; tail -c 4 data/words.txt; seq 10 | head -3 | tail -1; head -q -n1 docs/*; tail -q -n1 docs/*; seq 5 | tail -2; head -1 data/people.csv
#% wc
wc data/words.txt; wc -l data/*.txt; wc -w < data/words.txt; wc -lc README.md; echo -n abc | wc -c; wc -L data/words.txt; cat data/*.log | wc -l; printf 'no newline' | wc -l; wc -l < /dev/null
#% nl and cat
nl data/words.txt | head -4; cat -n data/numbers.txt | tail -1; cat -b data/words.txt | tail -1; nl -w2 -s'. ' -ba data/words.txt | head -2; cat -A <<< $'x\t'; cat - data/numbers.txt <<< first | head -2; nl -v 10 -i 5 <<< $'a\nb'
#% column and pr
column -t -s, data/people.csv | head -3; printf 'a b\nccc d\n' | column -t; printf '%s\n' one two three | column -c 40; mount 2>/dev/null | wc -l > /dev/null; pr -t -2 -w 20 -l 5 <<< $'a\nb\nc\nd' | head -2
#% fmt and fold for prose
fmt -w 20 data/words.txt; echo "a rather long line that wants to be wrapped at some point" | fold -sw 20; printf '%s\n' "aaa bbb ccc ddd" | fmt -w 8
#% diff
cp src/util.py u2.py; sed -i 's/mean/average/; /FIXME/d' u2.py; diff src/util.py u2.py; echo $?; diff -u --label a --label b src/util.py u2.py | head -8; diff -q src/util.py u2.py; diff -y -W 60 <(seq 3) <(seq 2 4); diff <(echo a) <(echo a) && echo same
#% diff of directories
cp -r docs d2; echo more >> d2/api.md; rm d2/guide.md; echo n > d2/new.md; diff -r docs d2; diff -rq docs d2; diff -rq docs docs; diff -ruN docs d2 | grep -v '^[-+][-+][-+]' | head -20
#% diff options
printf 'a  b\nc\n\nD\n' > x; printf 'a b\nc\nd\n' > y; diff -w x y; diff -iwB x y; echo $?; diff -c x y | tail -n +3 | head -4; diff -U0 x y | tail -n +3; diff --brief x y; diff -b x y | wc -l; diff --normal x y | grep -c '^<'; diff x nowhere 2>/dev/null; echo $?
#% patch
cp src/util.py old.py; cp old.py new.py; sed -i 's/mean/average/' new.py; diff -u old.py new.py > p.diff; patch old.py p.diff; cmp old.py new.py && echo patched; patch -R old.py < p.diff; grep -c mean old.py
#% patch of a tree
mkdir a b; printf '1\n2\n3\n' > a/f; printf '1\ntwo\n3\n' > b/f; echo new > b/g; diff -ruN a b > t.diff; (cd a && patch -p1 < ../t.diff); diff -r a b && echo equal; patch -p1 --dry-run -d a -R < t.diff; patch -d a -p1 -R -s < t.diff; ls a
#% patch that does not fit
printf '1\n2\n3\n' > f; printf -- '--- f\n+++ f\n@@ -1,3 +1,3 @@\n 1\n-x\n+y\n 3\n' > bad.diff; patch f < bad.diff > /dev/null; echo $?; cat f; ls f.rej; seq 20 > g; printf -- '--- g\n+++ g\n@@ -3,3 +3,3 @@\n 5\n-6\n+six\n 7\n' | patch g; sed -n 6p g
#% comparing lists with grep
cut -d, -f2 data/people.csv | sort > all; printf 'Ada\nKen\n' > some; grep -vxFf some all | head -2; grep -xFf some all; comm -13 some all | wc -l
#% strings in columns of a fixed width
printf '%-10s|%5s|%05.1f\n' left right 3.14159 ab cd 2; printf '%s %s\n' a b c; printf '%5d|%-5d|%+d\n' 42 42 42; printf '%.3s|%*d\n' abcdef 6 42; printf '%c%c\n' hello world; printf '%%|%5.1f%%\n' 99.55
#% words of a line
set -- $(head -1 data/words.txt); echo "$#: $2"; awk '{print $NF}' data/words.txt; awk 'NF' data/words.txt | wc -l; cut -d' ' -f2 data/words.txt; tr ' ' '\n' < data/words.txt | awk 'length > 4' | sort -u
#% configuration values
get() { sed -n "/^\[$1\]/,/^\[/s/^$2 *= *//p" config/app.ini; }; get server port; get database pool; awk -F' *= *' '/^\[/{s=$1} /=/{print s, $1, $2}' config/app.ini | tr -d '[]'; grep -A1 'server:' config/app.yaml | tail -1 | awk '{print $2}'
#% iconv and bytes
printf 'caf\xe9\n' | iconv -f latin1 -t utf8; printf 'é' | wc -c; printf '\xff\xfe' | od -An -tx1; printf 'a\0b' | tr '\0' '\n'; echo; printf 'abc' | rev; echo; strings -n 4 <(printf 'ab\0hello\0') 2>/dev/null
