#% single in double and double in single
echo "it's" 'say "hi"' 'it'\''s' "a \"quoted\" word" $'tab\there' $'nl\\n'
#% words split and kept
v="a  b   c"
echo $v; echo "$v"; printf '<%s>' $v; echo; printf '<%s>' "$v"; echo
#% star and at
set -- "1 2" 3
IFS=,
echo "$*"; echo "$@"; printf '[%s]' "$@" "$*"; echo
#% empty words
f() { echo "$#"; }
e=
f $e; f "$e"; f "" ''; f ${e:-} "${e:-}"
#% file names with spaces
f="notes/with space.txt"
cat "$f" | wc -l
for x in notes/*; do echo "${x// /_}"; done
ls "notes/with space.txt" notes/with\ space.txt
#% a command in a variable
cmd="echo one   two"
$cmd
args=(-n 1 "data/words.txt")
head "${args[@]}"
#% eval builds a command
var=total; eval "$var=5"; echo $total
eval 'for i in 1 2; do echo $i; done'
#% printf quotes for the shell
printf '%q\n' "a b" 'it'"'"'s' '$x' "" plain 'a;b'
echo "${v@Q}"; w="it's a"; echo "${w@Q}"
#% backslashes
echo 'a\nb' "a\nb" "a\\b" a\\b "\$x" "\`" '\\'
echo -e 'a\tb\\n\x41\0101'
printf '%s\n' 'a\nb'; printf '%b\n' 'a\nb'
#% globs that are not expanded
echo "*.md" '*.md' \*.md
x='docs/*.md'; echo "$x"; echo $x
set -f; echo docs/*.md; set +f
#% dollar in odd places
echo "100$" "a$ b" "$" '$' "cost: \$5" $'a\'b' "$'x'"
#% nested quotes in substitutions
echo "$(echo "inner $(echo "deep \"q\"")")"
echo "`echo \`echo back\``"
#% the locale string and long continuations
echo one \
  two \
  three
echo "line one
line two"
#% tilde and braces in quotes
echo {a,b}"{c,d}" '{x,y}' "~" pre{1..3}post
x=5; echo {1..$x}
#% arguments with newlines
printf '%s|' $'a\nb' "$(printf 'x\n\n\n')" ; echo
#% ifs splits odd input
IFS=:; v="a::b:"; set -- $v; echo "$# <$1> <$2> <$3>"
IFS=$' \t\n'; line="  lead and trail  "; set -- $line; echo "$#"; read -r t <<< "$line"; echo "[$t]"
IFS= read -r t <<< "$line"; echo "[$t]"
#% unicode in words
s="naïve café"; echo "${#s}" "${s^^}"; printf '%s\n' "$s" | wc -c; printf '%s\n' "$s" | wc -m
#% xargs and quotes
printf '%s\n' "it's" 'a "b"' | xargs -d '\n' -n1 printf '<%s>\n'
printf 'a b\0c d\0' | xargs -0 -n1 echo item:
echo "'one two' three" | xargs -n1
#% an option that looks like a file
touch -- -n; ls -- -n; rm -- -n; rm ./-n 2>/dev/null || echo gone
