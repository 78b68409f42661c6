#% for over a glob
for f in docs/*.md; do
  echo "$(basename "$f" .md): $(grep -c '' "$f") lines"
done
#% for with arithmetic
for ((i = 0, j = 10; i < j; i += 3, j--)); do echo "$i $j"; done
#% while with break and continue
n=0
while true; do
  n=$((n + 1))
  [ $n -eq 2 ] && continue
  [ $n -gt 4 ] && break
  echo "n=$n"
done
#% until
i=3
until [[ $i -le 0 ]]; do echo -n "$i "; ((i--)); done
echo go
#% nested break
for a in 1 2 3; do
  for b in x y z; do
    [ "$b" = y ] && [ "$a" = 2 ] && break 2
    [ "$b" = z ] && continue 2
    echo "$a$b"
  done
done
#% reading csv fields
while IFS=, read -r id name team age city; do
  [ "$id" = id ] && continue
  printf '%-10s %-8s %3d\n' "$name" "$team" "$age"
done < data/people.csv
#% reading a file without a final newline
printf 'one\ntwo\nthree' > f
while IFS= read -r line || [ -n "$line" ]; do echo "<$line>"; done < f
#% names separated by zero bytes
find notes -type f -print0 | sort -z | while IFS= read -r -d '' f; do
  echo "[$f] $(wc -l < "$f")"
done
#% two files side by side
exec 3< data/words.txt 4< data/numbers.txt
while read -r a <&3 && read -r b <&4; do echo "$b: $a"; done | head -3
exec 3<&- 4<&-
#% menu by case
for word in start stop status bogus; do
  case $word in
    start|stop) echo "will $word" ;;
    stat*) echo "status" ;;
    *) echo "unknown: $word" ;;
  esac
done
#% case that falls through
for x in a b c; do
  case $x in
    a) echo -n "A " ;&
    b) echo -n "B " ;;&
    [bc]) echo -n "BC " ;;
    *) echo -n "other " ;;
  esac
  echo
done
#% for without words
set -- one "two three" four
for arg; do echo "($arg)"; done
#% batches of arguments
set -- a b c d e
while (( $# >= 2 )); do echo "$1-$2"; shift 2; done
echo "left: $*"
#% retry until it works
attempt=0
max=5
until (( attempt >= 3 )) || false; do
  attempt=$((attempt + 1))
  echo "attempt $attempt of $max"
done
#% renaming many files
mkdir t && touch t/IMG_{1,2,3}.JPG
for f in t/*.JPG; do n=$(basename "$f"); mv "$f" "t/photo-${n#IMG_}"; done
for f in t/*.JPG; do mv -- "$f" "${f%.JPG}.jpg"; done
ls t
#% loop output to a file
for i in 1 2 3; do echo "line $i"; done > out.txt
for i in 4 5; do echo "line $i"; done >> out.txt
wc -l < out.txt; tail -1 out.txt
#% loop in the background and wait
for i in 1 2 3; do ( echo "job $i" > "job$i" ) & done
wait
cat job1 job2 job3
#% sequence with a step and padding
for i in {01..10..3}; do echo -n "$i "; done; echo
for i in $(seq -w 8 2 12); do echo -n "$i "; done; echo
for i in {5..1}; do echo -n "$i"; done; echo
#% five hundred substitutions
n=0
for i in $(seq 500); do x=$(echo $i); n=$((n + x)); done
echo $n
#% read with a prompt and a default
echo "" | { read -r -p "name? " name; echo "hello ${name:-nobody}"; }
#% read into an array
echo "a b  c" | { read -ra parts; echo "${#parts[@]} ${parts[2]}"; }
IFS=: read -ra path <<< "/usr/bin:/bin:/opt"
printf '%s\n' "${path[@]}"
#% mapfile and a loop over indices
mapfile -t lines < data/numbers.txt
for i in "${!lines[@]}"; do (( i % 3 == 0 )) && echo "$i=${lines[i]}"; done
echo "${#lines[@]}"
#% a select of the largest
max=
while read -r n; do
  if [[ -z $max ]] || (( ${n%.*} > max )); then max=${n%.*}; fi
done < data/numbers.txt
echo "$max"
#% characters of a word
word=héllo
for ((i = 0; i < ${#word}; i++)); do printf '%s.' "${word:i:1}"; done; echo
