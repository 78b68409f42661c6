#% indexed arrays
a=(x y "z w"); a+=(v); a[6]=six
echo "${#a[@]} ${a[2]} ${!a[@]}"; unset 'a[0]'; echo "${a[@]:1:2}" "${a[-1]}"
#% associative arrays
declare -A age=([ada]=36 [ken]=74)
age[grace]=45
for k in $(printf '%s\n' "${!age[@]}" | sort); do echo "$k ${age[$k]}"; done
unset 'age[ken]'; [[ -v age[ken] ]] || echo "ken gone"; [[ -v age[ada] ]] && echo "ada there"
echo "${#age[@]}"
#% counting words
declare -A n
for w in $(cat data/words.txt); do (( n[$w]++ )); done
for w in "${!n[@]}"; do echo "${n[$w]} $w"; done | sort -k1,1nr -k2 | head -3
#% joining and splitting
IFS=, eval 'joined="${arr[*]}"'
arr=(a b c); joined=$(IFS=,; echo "${arr[*]}"); echo "$joined"
IFS=, read -ra back <<< "$joined"; echo "${#back[@]} ${back[1]}"
printf -v s '%s, ' "${arr[@]}"; echo "${s%, }"
#% arrays in functions
sum() { local -n list=$1; local t=0; for x in "${list[@]}"; do ((t += x)); done; echo $t; }
nums=(1 2 3 4); sum nums
show() { printf '<%s>' "$@"; echo; }; show "${nums[@]/#/n}"
#% sorting an array
arr=(pear apple "fig tree" cherry)
mapfile -t sorted < <(printf '%s\n' "${arr[@]}" | sort); printf '%s\n' "${sorted[@]}"
#% filtering an array
arr=(a.py b.js c.py); py=()
for f in "${arr[@]}"; do [[ $f == *.py ]] && py+=("$f"); done
echo "${py[@]}" "${#py[@]}"; echo "${arr[@]%.*}"; echo "${arr[@]/%.py/.pyc}"
#% a stack and a queue
s=(); s+=(1); s+=(2); s+=(3); echo "${s[-1]}"; unset 's[-1]'; echo "${s[@]}"
q=(a b c); h=${q[0]}; q=("${q[@]:1}"); echo "$h ${q[*]}"
#% membership
contains() { local x=$1; shift; for e; do [[ $e == "$x" ]] && return 0; done; return 1; }
list=(red green); contains green "${list[@]}" && echo yes; contains blue "${list[@]}" || echo no
[[ " ${list[*]} " == *" red "* ]] && echo found
#% files into an array
shopt -s nullglob
f=(docs/*.md nothing/*.x); echo "${#f[@]} ${f[0]}"
none=(*.zzz); echo "${#none[@]}"
#% a matrix in an associative array
declare -A m
for i in 0 1 2; do for j in 0 1 2; do m[$i,$j]=$((i * j)); done; done
for i in 0 1 2; do echo "${m[$i,0]} ${m[$i,1]} ${m[$i,2]}"; done
#% keys with spaces and symbols
declare -A d; d["a b"]=1; d['x/y']=2; k="a b"; echo "${d[$k]} ${d[x/y]}"
for k in "${!d[@]}"; do echo "[$k]"; done | sort
#% group lines by a key
declare -A teams
while IFS=, read -r _ name team _; do [[ $team == team ]] || teams[$team]+="$name "; done < data/people.csv
for t in $(echo "${!teams[@]}" | tr ' ' '\n' | sort); do echo "$t: ${teams[$t]% }"; done
#% copies and slices
a=(1 2 3 4 5); b=("${a[@]}"); b[0]=x; echo "${a[0]} ${b[*]: -2}"
c=("${a[@]:1:3}"); echo "${c[@]}" "${#c[@]}"; echo "${a[@]: -2}"
#% mapfile options
seq 10 | { mapfile -t -n 3 -s 2 x; echo "${x[@]}"; }
mapfile -d , -t y <<< "a,b,c"; echo "${y[0]} ${#y[@]}"
readarray -t z < <(cut -d, -f2 data/people.csv | tail -n +2); echo "${z[-1]}"
#% arithmetic on elements
a=(5 3 9); ((a[0] += 2, a[1]--)); echo "${a[@]} $((a[0] * a[2]))"
i=1; echo "${a[i+1]} ${a[$i]}"; max=${a[0]}; for x in "${a[@]}"; do ((x > max)) && max=$x; done; echo $max
