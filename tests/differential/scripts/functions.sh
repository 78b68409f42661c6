#% options with getopts
parse() {
  local OPTIND opt v=0 o=
  while getopts ":vo:h" opt; do
    case $opt in
      v) v=$((v + 1)) ;;
      o) o=$OPTARG ;;
      h) echo help; return ;;
      :) echo "needs a value: -$OPTARG"; return 1 ;;
      \?) echo "unknown: -$OPTARG"; return 2 ;;
    esac
  done
  shift $((OPTIND - 1))
  echo "v=$v o=$o rest=$*"
}
parse -vv -o out a b; parse -vofile x; parse -o; echo $?; parse -x; echo $?; parse -h; parse -- -v
#% long options by hand
main() {
  while [[ $# -gt 0 ]]; do
    case "$1" in
      --name=*) name="${1#*=}"; shift ;;
      --name) name="$2"; shift 2 ;;
      -q|--quiet) quiet=1; shift ;;
      --) shift; break ;;
      -*) echo "bad option $1" >&2; return 64 ;;
      *) rest+=("$1"); shift ;;
    esac
  done
  echo "name=$name quiet=${quiet:-0} rest=${rest[*]} after=$*"
}
main --name=x a --quiet b -- -c; main --bogus 2>&1; echo $?
#% return values
f() { return 3; }; f; echo $?; g() { echo out; return 1; }; x=$(g) || echo "failed with $x"; h() { local x=$(false); echo $?; local y; y=$(false); echo $?; }; h
is_even() { (( $1 % 2 == 0 )); }; for i in 1 2; do is_even $i && echo "$i even" || echo "$i odd"; done
#% recursion
hanoi() { (($1 == 0)) && return; hanoi $(($1 - 1)) $2 $4 $3; echo "$2->$3"; hanoi $(($1 - 1)) $4 $3 $2; }
hanoi 3 A C B | tr '\n' ' '; depth() { (( $1 > 0 )) && depth $(($1 - 1)) || echo bottom; }; depth 50
#% set -e
(set -e; false; echo never); echo "a $?"
(set -e; false || true; if false; then :; fi; ! true; echo "still here"); echo "b $?"
(set -e; f() { false; echo "in f"; }; f || echo "or"; f; echo never); echo "c $?"
(set -e; x=$(false); echo never); echo "d $?"
(set -e; false | true; echo "pipes pass"; set -o pipefail; false | true; echo never); echo "e $?"
#% set -u
(set -u; echo "$undefined") 2>/dev/null; echo "a $?"
(set -u; echo "${undefined:-fine}"; a=(); echo "${#a[@]}"; echo "${a[@]}"; echo "$1") 2>/dev/null; echo "b $?"
#% strict mode script
set -euo pipefail
IFS=$'\n\t'
log() { printf '[%s] %s\n' "$1" "$2"; }
require() { command -v "$1" >/dev/null || { log ERROR "missing $1"; exit 1; }; }
require sed; log INFO "$(grep -c . data/words.txt) lines"
total=0
while IFS=, read -r _ _ _ age _; do [[ $age =~ ^[0-9]+$ ]] || continue; total=$((total + age)); done < data/people.csv
log INFO "total $total"
grep nothing data/words.txt || log WARN "nothing found"
require no_such_tool
log INFO unreachable
#% traps on exit
trap 'echo "bye $?"' EXIT
echo working
exit 3
#% traps on errors
trap 'echo "error on line $LINENO: $BASH_COMMAND"' ERR
true
false
ls nowhere 2>/dev/null
echo end
#% traps and signals
trap 'echo got usr1' USR1
trap 'echo got term' TERM
kill -USR1 $$
kill -TERM $$
trap - TERM
trap -p USR1
trap 'rm -f tmp.$$; echo cleaned' EXIT
(trap 'echo sub' EXIT; echo in)
#% a cleanup with a temporary directory
cleanup() { rm -rf "$work"; echo "cleaned: $([ -d "$work" ] && echo no || echo yes)"; }
work=$(mktemp -d); trap cleanup EXIT
echo data > "$work/f"; wc -c < "$work/f"
#% subshells keep to themselves
x=1; (x=2; cd docs; echo "$x"); echo "$x"; { x=3; }; echo "$x"; y=$(x=4; echo $x); echo "$x $y"; (exit 7); echo $?
#% command substitution
lines=$(wc -l < data/words.txt); echo "n: $lines"; echo "trail: $(printf 'a\n\n\n')|"; v=$(cat <<< "x y"); echo "$v"; echo $(echo a; echo b); echo "$(echo a; echo b)"; files=$(ls docs | wc -l); [ "$files" -eq 2 ] && echo two; echo "$(< data/numbers.txt)" | head -1
#% process substitution
diff <(sort data/numbers.txt) <(sort -u data/numbers.txt); while read -r a b; do echo "$b-$a"; done < <(paste <(seq 2) <(printf 'x\ny\n')); cat <(echo one) <(echo two); tee >(wc -c > n) < data/numbers.txt > /dev/null; sleep 0.2; cat n
#% a lookup by name
do_start() { echo "starting $1"; }; do_stop() { echo stopping; }; for c in start stop bogus; do if declare -F "do_$c" > /dev/null; then "do_$c" x; else echo "no command $c"; fi; done
declare -f do_stop
#% output in a variable and status kept
out=$(ls nowhere 2>&1); rc=$?; echo "rc=$rc ${out##*: }"; if ! out=$(grep -c fox data/words.txt); then echo none; else echo "found $out"; fi; { a=$(echo 1); } && b=$(exit 4); echo "$a $?"
#% test in many forms
[[ abc == a* ]] && echo glob; [[ abc == "a*" ]] || echo literal; [[ "a b" =~ ^a\ b$ ]] && echo regex; [[ 2 -lt 10 && "2" > "10" ]] && echo both; [ -z "" -a -n "x" ] && echo and; [ a = b -o 1 -eq 1 ] && echo or; test 5 -ge 5 && echo ge; [[ -n $HOME && ! -f nowhere ]] && echo not; [ "x" != "y" ]; echo $?; [[ a < b ]]; echo $?; [ 1 -eq a ] 2>/dev/null; echo $?
#% regular expressions with groups
s="2026-01-05 10:00:00 ERROR code=42"
if [[ $s =~ ^([0-9]{4})-([0-9]{2}).*code=([0-9]+) ]]; then echo "${BASH_REMATCH[1]} ${BASH_REMATCH[2]} ${BASH_REMATCH[3]}"; fi
re='^[[:alpha:]_][[:alnum:]_]*$'; for w in ok _x 9no a-b; do [[ $w =~ $re ]] && echo "$w valid" || echo "$w invalid"; done; for v in 1.2.3 x.y; do [[ $v =~ ^[0-9]+(\.[0-9]+)*$ ]]; echo $?; done
#% colours kept as escapes
red=$'\e[31m'; printf '%s' "$red" | od -An -c | tr -s ' '; printf '\033[1mbold\033[0m' | sed 's/\x1b\[[0-9;]*m//g'; echo
#% a script sourced
cat > lib.sh <<'EOF'
greet() { echo "hi $1"; }
LIB=loaded
EOF
. ./lib.sh; greet you; echo $LIB; source lib.sh arg; bash -c 'source ./lib.sh; greet child'; bash lib.sh; echo "rc $?"; bash -c 'exit 9'; echo $?; bash -c 'echo "$0 $1"' name arg; echo 'echo "stdin $1"' | bash -s -- x
#% jobs and wait
(sleep 0.05; echo slow) & p=$!; echo fast; wait $p; echo "rc $?"; (exit 5) & wait $!; echo "rc $?"; wait; echo all
sleep 5 & kill $! ; wait $! 2>/dev/null; echo "killed $?"
#% a timeout
timeout 0.2 sleep 5; echo $?; timeout 5 echo quick; timeout 2 bash -c 'exit 3'; echo $?; timeout -k 1 0.2 sleep 3; echo $?
#% redirections
exec 3> log; echo to3 >&3; exec 3>&-; cat log; { echo a; echo b >&2; } > o 2> e; cat e; { echo a; echo b >&2; } &> both; wc -l < both; echo x 2>&1 1>/dev/null; echo "to err" >&2 2>/dev/null; ls nowhere > all 2>&1; wc -l < all; cat < data/numbers.txt > copy; cmp copy data/numbers.txt && echo same; exec 5<&0; echo y >> log; wc -l < log; cat <&- 2>/dev/null; echo $?; : 2>/dev/null > empty; wc -c < empty
#% standard output saved and restored
exec 4>&1 > captured; echo inside; exec >&4 4>&-; echo outside; cat captured
#% line numbers and the stack
f() { echo "${FUNCNAME[0]} from ${FUNCNAME[1]}"; }; g() { f; }; g; echo "$LINENO"
echo "$LINENO" "${BASH_SOURCE[0]-}" | cut -d' ' -f1; f2() { caller 0 | awk '{print $2}'; }; h2() { f2; }; h2
#% brace groups and precedence
true && echo a || echo b; false && echo a || echo b; true || echo no && echo yes; { false; true; } && echo ok; ! false && echo neg; if ! { true && false; }; then echo not; fi; false; true; echo $?
#% xtrace and verbose
(set -x; x=1; echo "$x y") 2>&1; (PS4='> '; set -x; [ 1 = 1 ] && echo eq) 2>&1
#% shell options
set -o | grep -E '^(errexit|pipefail)'; shopt nullglob; shopt -s nocasematch; [[ ABC == abc ]] && echo same; shopt -u nocasematch; set -o errexit; [[ $- == *e* ]] && echo e; [[ -o errexit ]] && echo on; echo $SHELLOPTS | tr ':' '\n' | grep errexit
#% printf into a variable and dates
printf -v padded '%05d' 42; echo $padded; printf '%(%Y-%m-%d)T\n' 0; printf -v now '%(%s)T' -1; (( now > 1700000000 )) && echo later; printf '%s\n' {a..c}; printf '%-5s|\n' a bb; printf 'no newline'; printf '\n%s' x y; echo
#% unusual but valid
if :; then echo colon; fi; for i in; do echo never; done; echo "none: $?"; while false; do :; done; echo $?; a=1 b=2; echo $a$b; echo a; echo b; [[ ! ( a == b || c == d ) ]] && echo group; echo ${x:-$(echo nested ${y:-deep})}; echo $(( $(echo 3) + ${#a} )); case "" in "") echo empty;; esac; time -p true 2>/dev/null; coproc cat; echo hi >&"${COPROC[1]}"; read -r l <&"${COPROC[0]}"; echo "$l"
