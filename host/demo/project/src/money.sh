# Money, in whole cents.

# percent AMOUNT RATE: RATE percent of AMOUNT, rounded down.
percent() {
  echo $(( $1 / 100 * $2 ))
}

# line_total UNIT_PRICE QUANTITY
line_total() {
  echo $(( $1 * $2 ))
}

# discounted AMOUNT RATE: AMOUNT less RATE percent.
discounted() {
  echo $(( $1 - $(percent "$1" "$2") ))
}

# with_vat AMOUNT: what the customer pays.
with_vat() {
  local vat=19
  echo $(( $1 + $(percent "$1" "$vat") ))
}

# format_cents AMOUNT: 1999 becomes 19.99.
format_cents() {
  printf '%d.%02d\n' $(( $1 / 100 )) $(( $1 % 100 ))
}
