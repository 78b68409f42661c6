#% fields and separators
awk -F, 'NR > 1 {print $2, $4}' data/people.csv; awk -F: -v OFS=- '{$1 = $1; print}' data/users.txt | head -1; awk 'BEGIN {FS = ":"} $3 >= 1000 {print $1}' data/users.txt
#% sums by group
awk -F, 'NR > 1 {s[$3] += $4; n[$3]++} END {for (t in s) printf "%s %.1f\n", t, s[t] / n[t]}' data/people.csv | sort
#% patterns and ranges
awk '/server/,/^$/' config/app.ini; awk 'NR==2,NR==4' data/numbers.txt; awk '!/^$/ && length > 7' data/words.txt; awk 'NR % 2' data/numbers.txt
#% begin and end
awk 'BEGIN {print "start"} END {print NR, $0}' data/numbers.txt; awk 'END {print FILENAME, FNR, NR}' data/numbers.txt data/words.txt; awk 'BEGIN {for (i = 1; i <= 3; i++) printf "%d ", i * i; print ""}'
#% strings
awk 'BEGIN {s = "hello world"; print length(s), toupper(s), substr(s, 7), index(s, "wor"); n = split(s, a, " "); print n, a[2]; gsub(/o/, "0", s); print s; print match(s, /w.*/), RSTART, RLENGTH}'
#% sub and the ampersand
echo "foo bar foo" | awk '{sub(/foo/, "[&]"); print; n = gsub(/o/, "\\&"); print n, $0}'; echo "a b c" | awk '{gsub(/ /, "_"); print $1}'; echo "path/to/file" | awk -F/ '{print $NF; $NF = ""; print}' OFS=/
#% printf formats
awk 'BEGIN {printf "%5d|%-5s|%05.2f|%x|%c|%e|%%\n", 42, "ab", 3.14159, 255, 65, 12345.678; printf "%s %s\n", 1e6, 0.1 + 0.2; print 1e6, 100000 * 10, 2^31, 1/3}'
#% arrays with deletion
awk '{c[$1]++} END {delete c["10.0.0.1"]; for (k in c) if (c[k] > 1) print k, c[k]; print ("10.0.0.1" in c), length(c)}' data/access.log | sort
#% two files joined
awk -F, 'NR == FNR {team[$2] = $3; next} $1 in team {print $1, team[$1], $2}' data/people.csv <(printf 'Ada,10\nNobody,1\nKen,7\n')
#% several dimensions
awk '{split($4, t, ":"); hits[t[3], $9]++} END {for (k in hits) {split(k, p, SUBSEP); print p[1], p[2], hits[k]}}' data/access.log | sort
#% functions
awk 'function fib(n) {return n < 2 ? n : fib(n - 1) + fib(n - 2)} function join(a, n, sep,   i, s) {for (i = 1; i <= n; i++) s = s (i > 1 ? sep : "") a[i]; return s} BEGIN {print fib(15); n = split("a b c", x); print join(x, n, "-")}'
#% control flow
awk '{if ($1 < 0) {print "neg", $1; next} else if ($1 > 50) exit; n++} END {print n}' data/numbers.txt; awk 'BEGIN {while (i < 3) i++; do i--; while (i > 1); print i; for (;;) if (++k > 5) break; print k}'
#% variables from outside
x=5; awk -v n="$x" -v s="a\tb" 'BEGIN {print n * 2, s; print ENVIRON["HOME"] != ""; print ARGC, ARGV[1]}' arg; EXPORTED=yes awk 'BEGIN {print ENVIRON["EXPORTED"]}'
#% getline and pipes
awk 'BEGIN {while ((getline line < "data/numbers.txt") > 0) n++; print n; "echo from shell" | getline x; print x; print "b\na" | "sort"; close("sort"); print "end"}'
#% output to files
awk -F, 'NR > 1 {print $2 > ("team-" $3 ".txt")}' data/people.csv; ls team-*; cat team-core.txt; awk '{print > "/dev/stderr"}' data/numbers.txt 2>&1 | wc -l
#% records by paragraph
printf 'a 1\nb 2\n\nc 3\n' | awk 'BEGIN {RS = ""; FS = "\n"} {print NR ": " $1 " (" NF ")"}'; printf 'x;y;z' | awk 'BEGIN {RS = ";"} {print NR, $0}'; awk 'BEGIN {RS=","; ORS=" "} {print $1}' data/people.csv | head -c 20
#% a histogram
awk '{n = int($1 / 10); if (n >= 0) h[n]++} END {for (i = 0; i <= 10; i++) if (h[i]) {printf "%3d ", i * 10; for (j = 0; j < h[i]; j++) printf "#"; print ""}}' data/numbers.txt
#% transposed
awk '{for (i = 1; i <= NF; i++) m[NR, i] = $i; if (NF > w) w = NF} END {for (i = 1; i <= w; i++) {s = ""; for (j = 1; j <= NR; j++) s = s (j > 1 ? " " : "") m[j, i]; print s}}' <<< $'1 2 3\n4 5 6'
#% maximum line and the running total
awk 'length > max {max = length; line = $0} END {print max, line}' data/words.txt; awk '{t += $1; print $1, t}' data/numbers.txt | tail -2; awk 'NR == 1 || $1 < min {min = $1} END {print min}' data/numbers.txt
#% comparison of strings and numbers
echo "10 9" | awk '{print ($1 > $2), ($1 "" > $2 ""), ($1 == 10.0), "abc" < "abd"}'; awk 'BEGIN {print 1 == "1", "a" ~ /^[a-c]$/, "x" !~ "y", !0, -2 ^ 2, 7 % 3, 1 " " 2}'
#% math
awk 'BEGIN {printf "%.4f %.4f %.4f %d %.2f\n", sin(1), exp(1), log(10), int(-3.7), sqrt(2); srand(1); r = rand(); print (r >= 0 && r < 1); print substr("hello", 0, 3), substr("hello", -1), substr("hello", 4, 99)}'
#% gawk functions
awk 'BEGIN {n = split("c a b", a); asort(a); print a[1], a[n]; print gensub(/(a)(b)/, "\\2\\1", "g", "abab"); print strtonum("0x1F"), length(a); print toupper(substr("word", 1, 1)) substr("word", 2); if (match("key=val", /(\w+)=(\w+)/, m)) print m[1], m[2]}'
#% gawk sorted loops and in place
awk 'BEGIN {PROCINFO["sorted_in"] = "@val_num_desc"} {c[$9]++} END {for (k in c) print k, c[k]; print strftime("%Y-%m-%d", 86400, 1)}' data/access.log | head -2; cp data/words.txt w; awk -i inplace '{print toupper($0)}' w; head -1 w; awk 'BEGIN{printf "%s\n", systime() > 1700000000}'
#% a program in a file
cat > p.awk <<'EOF'
# averages
BEGIN { FS = "," }
NR > 1 {
    sum += $4
}
END { printf "avg %.2f\n", sum / (NR - 1) }
EOF
awk -f p.awk data/people.csv; printf '#!/usr/bin/awk -f\n{ print $1 }\n' > q.awk; awk -f q.awk data/words.txt | head -1
#% log analysis
awk '{split($7, p, "/"); bytes[$1] += $10; if ($9 >= 400) bad[$7]++} END {for (a in bytes) print "bytes", a, bytes[a]; for (u in bad) print "bad", u, bad[u]}' data/access.log | sort
awk -F'"' '{print $2}' data/access.log | awk '{print $1}' | sort | uniq -c | sort -rn | awk '{print $1 " " $2}'
#% durations summed
awk '{w[$4] += $6; if ($3 != "INFO") odd[$4] = odd[$4] " " $1} END {for (k in w) print k, w[k] "ms" odd[k]}' logs/*.log | sort
