#% defaults
unset a; b=; c=set
echo "${a-1} ${a:-2} ${b-3} ${b:-4} ${c-5} ${c:+6} ${a+7}"
: "${a:=assigned}"; echo "$a"
( : "${nope:?is needed}" ) 2>&1 | sed 's/.*nope/nope/'
echo "after: $?"
#% prefixes and suffixes
p=/home/me/archive.tar.gz
echo "${p##*/} ${p%/*} ${p%%.*} ${p%.*} ${p#*.} ${p##*.}"
echo "$(dirname "$p") $(basename "$p") $(basename "$p" .tar.gz)"
#% replacing
s="foo bar foo"
echo "${s/foo/X} ${s//foo/X} ${s/#foo/X} ${s/%foo/X} ${s// /_} ${s//o}"
v='a/b/c'; echo "${v//\//.}"
#% slices
s=abcdefgh
echo "${s:2} ${s:2:3} ${s: -3} ${s: -3:2} ${s:0:-2} ${s:1:-1}"
set -- a b c d; echo "${@:2} | ${@:2:2} | ${*: -1}"
#% case changes
s="hello World"
echo "${s^} ${s^^} ${s,,} ${s^^o} ${s~~}"
declare -u up=abc; declare -l low=ABC; echo "$up $low"
#% length and indirection
name=target; target="the value"
echo "${#target} ${!name}"
declare -n ref=target; ref=changed; echo "$target"
var_a=1; var_b=2; echo "${!var_@}"; echo "${!var_*}"
#% positional parameters
set -- one two three four five six seven eight nine ten eleven
echo "$# $1 ${10} ${11} $10"
shift 3; echo "$1 $#"
#% special parameters
true; echo "$?"; false; echo "$?"
f() { echo "$FUNCNAME $# $*"; }; f x y
echo "${-//[^e]/}"; set -e; echo "${-//[^e]/}"
#% transformations
declare -A m=([k]=v); declare -i n=5; declare -r c=1; arr=(a "b c")
echo "${arr[@]@Q}" "${n@a}" "${c@a}" "${m@a}"
x='a\tb'; echo "${x@E}"; y=hello; echo "${y@U} ${y@u}"
#% declare -p
a=1; b="two words"; declare -a arr=(x "y z"); declare -A m=([key]="a b"); declare -i n=3; export E=exp
declare -p a b arr m n E
#% unset and readonly
x=1; unset x; echo "${x-unset}"
readonly R=5; (R=6) 2>/dev/null || echo "cannot: $R"
f() { echo f; }; unset -f f; type f >/dev/null 2>&1 || echo "no f"
#% local variables
x=global
f() { local x=local y; y=2; g; echo "f: $x"; }
g() { echo "g: $x"; x=changed; }
f; echo "$x ${y-unset}"
#% exported to a child
export FOO=bar; BAZ=hidden
bash -c 'echo "$FOO ${BAZ-none}"'
X=1 Y=2 bash -c 'echo $((X + Y))'
echo "${X-not here}"
env FOO=other bash -c 'echo $FOO'
#% patterns in extglob
shopt -s extglob
s="aaabbb123"; echo "${s##+(a)} ${s%%+([0-9])} ${s//@(a|b)/.}"
f=report.final.v2.txt; echo "${f%.@(txt|md)}"
t="   trim me   "; t="${t##+( )}"; echo "[${t%%+( )}]"
#% trimming without extglob
t="   trim me   "
t="${t#"${t%%[![:space:]]*}"}"; t="${t%"${t##*[![:space:]]}"}"; echo "[$t]"
#% substitution with an ampersand and special characters
s='a.b.c'; echo "${s//./\\.}" "${s//./ & }" "${s//[.]/}"
u='x=1&y=2'; echo "${u//&/ and }"
#% a url taken apart
url="https://user@example.com:8080/path/to?q=1#frag"
proto="${url%%://*}"; rest="${url#*://}"; host="${rest%%/*}"; path="/${rest#*/}"
echo "$proto ${host#*@} ${host##*:} ${path%%\?*}"
#% version numbers compared
ver() { printf '%03d%03d%03d\n' $(echo "$1" | tr '.' ' '); }
for p in "1.2.3 1.2.10" "2.0.0 1.9.9"; do
  set -- $p; if [[ $(ver $1) < $(ver $2) ]]; then echo "$1 older"; else echo "$1 newer"; fi
done
printf '1.10\n1.9\n1.2\n' | sort -V | tr '\n' ' '
#% random and seconds are numbers
[[ $RANDOM =~ ^[0-9]+$ && $SECONDS =~ ^[0-9]+$ ]] && echo numbers
(( RANDOM < 32768 )) && echo small
[[ ${EPOCHSECONDS} -gt 1700000000 ]] && echo epoch
#% default of an array and of at
f() { printf '%s;' "${@:-none}"; echo; }; f; f a b
arr=(); echo "${arr[@]:-empty} ${#arr[@]}"
set -u; echo "${arr[@]+x}${arr[*]}"
