# Prints one line an order: id, item, what the customer pays.
. src/money.sh

while IFS=, read -r id item price quantity discount; do
  [ "$id" = id ] && continue
  amount=$(discounted "$(line_total "$price" "$quantity")" "$discount")
  printf '%-6s %-14s %10s\n' "$id" "$item" "$(format_cents "$(with_vat "$amount")")"
done < "$1"
