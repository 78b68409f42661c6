# Checks money.sh. Ends with 1 when something is wrong.
. src/money.sh
passed=0
failed=0

expect() {
  local name=$1 wanted=$2 got=$3
  if [ "$wanted" = "$got" ]; then
    passed=$(( passed + 1 ))
  else
    failed=$(( failed + 1 ))
    echo "FAIL $name: wanted $wanted, got $got"
  fi
}

expect "10 % of 20.00" 200 "$(percent 2000 10)"
expect "10 % of 19.99" 199 "$(percent 1999 10)"
expect "19 % of 0.99" 18 "$(percent 99 19)"
expect "two bags of beans" 2900 "$(line_total 1450 2)"
expect "89.99 less 10 %" 8100 "$(discounted 8999 10)"
expect "3.99 with VAT" 474 "$(with_vat 399)"
expect "1999 cents as text" 19.99 "$(format_cents 1999)"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
