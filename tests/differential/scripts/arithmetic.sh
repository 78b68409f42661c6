#% operators
echo $((7 / 2)) $((7 % 3)) $((-7 / 2)) $((-7 % 3)) $((2 ** 10)) $((1 << 4)) $((255 >> 2)) $((5 & 3)) $((5 | 3)) $((5 ^ 3)) $((~5)) $((!0))
#% comparison and logic
echo $((3 > 2)) $((3 == 4)) $((1 && 0)) $((1 || 0)) $((5 > 3 ? 10 : 20))
((0)) || echo zero; ((5)) && echo five
#% assignment operators
x=5; ((x += 3, x *= 2)); echo $x; echo $((x++)) $x $((++x)) $((x--)); ((x <<= 1)); echo $x; let "y = x / 4" z=y+1; echo $y $z
#% bases
echo $((0xff)) $((010)) $((2#1011)) $((16#fF)) $((36#z))
printf '%x %o %X\n' 255 8 48879
printf '%d\n' 0x1F "'A"
#% a function for the factorial
fact() { (( $1 <= 1 )) && echo 1 || echo $(( $1 * $(fact $(($1 - 1))) )); }
fact 5; fact 10
#% greatest common divisor and primes
gcd() { local a=$1 b=$2; while ((b)); do ((t = a % b, a = b, b = t)); done; echo $a; }
gcd 48 36
for ((n = 2; n < 30; n++)); do p=1; for ((d = 2; d * d <= n; d++)); do ((n % d == 0)) && { p=0; break; }; done; ((p)) && echo -n "$n "; done; echo
#% bc with scale
echo "scale=2; 10 / 3" | bc; echo "2^64" | bc; echo "scale=4; sqrt(2)" | bc
echo "obase=16; 255" | bc; echo "obase=2; 10" | bc; echo "ibase=16; FF" | bc
echo "3.5 > 2" | bc
#% bc with functions
bc <<'EOF'
define f(n) { if (n <= 1) return 1; return n * f(n - 1); }
f(20)
for (i = 0; i < 3; i++) i * i
x = 7; x % 4
scale = 3
x / 2
EOF
#% bc -l
echo "scale=5; 4*a(1)" | bc -l; echo "e(1)" | bc -l | cut -c1-8; echo "l(10)/l(2)" | bc -l | cut -c1-6
#% percentages
total=250; part=37
echo "$((part * 100 / total))%"; awk -v p=$part -v t=$total 'BEGIN { printf "%.1f%%\n", p * 100 / t }'
#% expr
expr 3 + 4; expr 10 / 3; expr 5 \* 6; expr length hello; expr substr hello 2 3; expr abc : 'a\(.*\)'; expr 1 = 2; echo $?
#% numbers that are not
x=abc; echo $((x + 1)); y=5; z=y; echo $((z * 2)); unset u; echo $((u + 1))
(echo $((1 / 0))) 2>/dev/null; echo "status $?"
#% numfmt and human sizes
numfmt --to=iec 1048576; numfmt --to=si 1500; numfmt --from=iec 2K; echo 123456789 | numfmt --grouping
#% seq with floats and formats
seq 0 0.5 2; seq -f '%03g' 8 10; seq -s ' ' 5; seq 3 -1 1 | tr '\n' ' '
#% averages
awk '{ s += $1; n++ } END { printf "%.3f %d\n", s / n, n }' data/numbers.txt
sort -n data/numbers.txt | awk '{ a[NR] = $1 } END { print (NR % 2) ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2 }'
#% large numbers
echo $((9223372036854775807)) $((9223372036854775807 + 1)); printf '%d\n' -5; printf '%u\n' 5; printf '%e %g %.3f\n' 12345.678 0.00001 2.0005
#% bits by hand
n=37; b=; while ((n)); do b=$((n & 1))$b; ((n >>= 1)); done; echo $b
D2B=({0..1}{0..1}{0..1}{0..1}); echo ${D2B[10]} ${#D2B[@]}
#% factor
factor 84 97
