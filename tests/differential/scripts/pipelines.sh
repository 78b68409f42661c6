#% words by frequency
tr -cs 'A-Za-z' '\n' < data/words.txt | tr A-Z a-z | sort | uniq -c | sort -rn -k1,1 -k2 | head -5
#% requests per address
awk '{print $1}' data/access.log | sort | uniq -c | sort -rn | awk '{printf "%s\t%d\n", $2, $1}'
#% status codes with totals
awk '{print $9}' data/access.log | sort | uniq -c | awk '{print $2 ": " $1; n += $1} END {print "total: " n}'
#% lines of code by extension
find . -name '*.py' -o -name '*.js' | while read -r f; do
  printf '%s %s\n' "${f##*.}" "$(wc -l < "$f")"
done | awk '{n[$1] += $2} END {for (e in n) print e, n[e]}' | sort
#% status of a pipeline
grep -c nothing data/words.txt | cat
echo "${PIPESTATUS[@]}"
set -o pipefail
false | true
echo $?
grep -q fox data/words.txt | false | cat
echo "${PIPESTATUS[*]} $?"
#% tee in the middle
sort data/numbers.txt -n | tee sorted.txt | tail -n 2
wc -l < sorted.txt
head -1 sorted.txt
#% tee to several files and append
echo one | tee a.txt b.txt > /dev/null
echo two | tee -a a.txt > /dev/null
paste a.txt b.txt
#% both streams into one pipe
ls nowhere README.md 2>&1 | sort
ls nowhere 2>/dev/null || echo "no such thing: $?"
#% standard error only
{ echo out; echo err >&2; } 2>&1 >/dev/null | sed 's/^/stderr: /'
#% head ends an endless producer
yes "again and again" | head -n 3
echo "status ${PIPESTATUS[1]}"
seq 1 1000000 | head -n 2
#% commands in a group share the input
{ read -r first; read -r second; echo "1: $first"; echo "2: $second"; cat | wc -l; } < data/people.csv
#% top of a csv column without the header
tail -n +2 data/people.csv | cut -d, -f3 | sort | uniq -c | sort -k1,1nr -k2,2 | sed 's/^ *//'
#% a table lined up
printf 'name\tage\n'"$(tail -n +2 data/people.csv | cut -d, -f2,4 | tr ',' '\t')"'\n' | column -t -s "$(printf '\t')"
#% reversed and numbered
tac data/words.txt | nl -ba
rev data/words.txt | head -2
#% join two sorted files
tail -n +2 data/people.csv | cut -d, -f3,2 | awk -F, '{print $2, $1}' | sort > byteam
printf 'core 10\nkernel 20\nspace 30\n' > budgets
join byteam budgets
echo --
join -v1 byteam budgets
echo --
join -a1 -e none -o 0,1.2,2.2 byteam budgets
#% lines only in one file
printf 'a\nb\nc\nd\n' > x; printf 'b\nd\ne\n' > y
comm -12 x y | tr '\n' ' '; echo
comm -23 x y; comm -13 x y
comm x y
#% pasting columns
cut -d, -f1 data/people.csv > ids; cut -d, -f2 data/people.csv > names
paste -d: ids names | head -3
paste -sd+ data/numbers.txt
seq 6 | paste - - -
#% sum with paste and bc
grep -v '\.' data/numbers.txt | paste -sd+ | bc
#% splitting and putting together
seq 1 10 > ten
split -l 4 ten part_
ls part_*
cat part_* | cmp - ten && echo same
split -b 5 -d ten bytes_
ls bytes_* | wc -l
#% folded and expanded
fold -w 10 data/words.txt | head -4
fold -s -w 12 data/words.txt | head -3
printf 'a\tb\n' | expand -t 4 | cat -A
printf '        x\n' | unexpand | cat -A
#% xargs builds a command
cut -d, -f2 data/people.csv | tail -n +2 | xargs echo
cut -d, -f2 data/people.csv | tail -n +2 | xargs -n 3 echo
seq 5 | xargs -I{} echo "item {}"
#% unique by one field
sort -t, -k3,3 -u data/people.csv | cut -d, -f3
awk -F, '!seen[$3]++ {print $3}' data/people.csv
#% hexadecimal view
printf 'AB\n\001' | od -An -tx1
printf 'AB\n' | xxd
printf 'hi\n' | od -c
#% checksums
printf 'hello\n' | sha256sum
md5sum README.md > sums; md5sum -c sums
sha1sum < data/numbers.txt | cut -c1-12
#% base64 there and back
printf 'hello world' | base64
printf 'aGVsbG8=' | base64 -d; echo
seq 40 | base64 -w 0 | wc -c
#% a pipe into while keeps variables outside
count=0
cat data/words.txt | while read -r line; do count=$((count + 1)); done
echo "$count"
while read -r line; do count=$((count + 1)); done < data/words.txt
echo "$count"
#% shuf keeps every line
seq 10 | shuf | sort -n | tr '\n' ' '
seq 10 | shuf -n 3 | wc -l
