#% fields
jq '.[0].customer' data/orders.json; jq -r '.[].customer' data/orders.json; jq -c '.[1]' data/orders.json; jq '.[0] | keys' data/orders.json; jq length data/orders.json
#% selecting
jq -r '.[] | select(.paid) | .id' data/orders.json; jq -c '[.[] | select(.items | length > 0) | {id, n: (.items | length)}]' data/orders.json; jq '[.[] | select(.customer == "Ada")] | length' data/orders.json
#% totals
jq -r '.[] | "\(.id) \([.items[] | .qty * .price] | add // 0)"' data/orders.json; jq '[.[].items[].qty] | add, min, max' data/orders.json
#% grouping
jq -c 'group_by(.customer) | map({who: .[0].customer, n: length})' data/orders.json; jq -c 'sort_by(.customer, -.id) | map(.id)' data/orders.json; jq -c '[.[].customer] | unique' data/orders.json; jq -c 'map(.items[].sku) | group_by(.) | map({(.[0]): length}) | add' data/orders.json
#% lines of json
jq -r 'select(.level != "info") | "\(.level|ascii_upcase): \(.msg)"' data/events.jsonl; jq -s 'map(.ms) | add / length' data/events.jsonl; jq -c -s 'group_by(.level) | map({level: .[0].level, n: length})' data/events.jsonl
#% tables
jq -r '.[] | [.id, .customer, .paid] | @csv' data/orders.json; jq -r '.[] | [.id, .note] | @tsv' data/orders.json; jq -r '(["id","who"] | @tsv), (.[] | [.id, .customer] | @tsv)' data/orders.json | column -t
#% arguments
jq -n --arg name "a \"b\"" --argjson n 5 '{name: $name, n: $n, list: [$n, $n + 1]}'; jq -r --arg who Ken '.[] | select(.customer == $who) | .id' data/orders.json; jq -nc '$ARGS.positional' --args a b; jq -n 'env.HOME != null'
#% changing
jq -c '.[0] | .paid = false | .items |= map(.sku)' data/orders.json; jq -c 'map(del(.items)) | .[2:]' data/orders.json; jq -c '.[0] | .items[0].qty += 5 | .items[0]' data/orders.json; jq -c '.[3] | with_entries(select(.value != true))' data/orders.json; jq -c '.[0] + {extra: 1} | to_entries | map(.key)' data/orders.json
#% paths and recursion
jq -c '[paths(type == "number")] | length' data/orders.json; jq '[.. | .sku? // empty] | unique' -c data/orders.json; jq -c 'getpath([0, "items", 1, "sku"])' data/orders.json; jq -c '[leaf_paths | join(".")?] | length' data/orders.json; jq -c '.[0] | has("note"), has("id")' data/orders.json; jq -c 'any(.[]; .paid), all(.[]; .paid)' data/orders.json
#% strings
jq -rn '"a,b,c" | split(",") | join("-"), length'; jq -rn '"Hello" | test("^h"; "i"), ascii_downcase, ltrimstr("He"), (. * 2)'; jq -rn '"v1.2.3" | capture("v(?<major>\\d+)\\.(?<minor>\\d+)") | .major, .minor'; jq -rn '"a1b22" | [scan("[0-9]+")] | @json'; jq -rn '"foo bar" | gsub("o"; "0"), sub("(?<x>b)"; "<\(.x)>"), @uri, @base64, @html, @sh'; jq -rn '"  x " | length, explode[0]'
#% conditions and errors
jq -r '.[] | if .paid then "yes" elif .id == 102 then "no" else "?" end' data/orders.json; jq -rn '[1, "a", null, [], {}] | map(type) | join(" ")'; jq -n '"x" | tonumber? // "bad"'; jq -n 'try error("boom") catch .'; echo '{bad' | jq . 2>/dev/null || echo invalid; echo '{}' | jq -e .missing; echo $?; jq -n '{} | .a.b.c'
#% numbers and ranges
jq -nc '[range(5)], [range(0; 10; 3)], ([1,2,3] | map(. * 2)), (10 / 4), (7 % 3), (3.7 | floor), (2 | pow(.; 3)), ([3,1,2] | sort | reverse), 0.1'; jq -nc '[limit(2; range(10))], first(range(3; 9)), ([1,[2,[3]]] | flatten), ([1,2,3,4] | .[1:3], .[-1:]), ([1,2] - [2]), ([1,2] | index(2)), (reduce range(5) as $i (0; . + $i)), ([foreach range(4) as $i (0; . + $i)])'
#% dates
jq -rn '0 | todate, (1767225600 | strftime("%Y-%m-%d")), ("2026-01-05T10:00:00Z" | fromdate)'; jq -r '.ts | fromdateiso8601 | strftime("%H:%M:%S")' data/events.jsonl | head -2
#% building and merging
jq -s -c '.[0] * .[1]' <(echo '{"a":{"x":1},"b":1}') <(echo '{"a":{"y":2}}'); jq -n -c '[inputs.ms]' data/events.jsonl; jq -c --slurpfile o data/orders.json -n '$o[0] | length'; jq -c --rawfile t data/numbers.txt -n '$t | split("\n") | length'; jq -R . data/numbers.txt | jq -s -c .; jq -Rs -c 'split("\n") | map(select(length > 0)) | length' data/words.txt; jq -Rc 'split(",") | {name: .[1], age: (.[3] | tonumber? // 0)}' data/people.csv | head -2
#% formatting
echo '{"b":[1,{"c":null}],"a":"é"}' | jq .; echo '{"b":1,"a":[]}' | jq -S --tab .; echo '[1,[2]]' | jq --indent 1 .; echo '"x"' | jq -j .; echo; echo '"\u00e9"' | jq -a .; jq -c . <<< '{"a" : 1 , "b":{}}'; echo '[]{}' | jq -c .
#% functions and variables
jq -nc 'def inc(n): . + n; def twice: . * 2; [1, 2] | map(inc(1) | twice)'; jq -c '. as $all | [.[0], .[-1]] | map(.id) | {first: .[0], n: ($all | length)}' data/orders.json; jq -nc '[{"a":1,"b":2}] | .[] as {a: $x, $b} | [$x, $b]'; jq -nc '{"a":1} | to_entries[] | {(.key): (.value + 1)}'; jq -nc '[1,2,3] | IN(2), inside([1,2,3,4]), contains([2])'; jq -nc '[[1,2],[3,4]] | transpose, (.[0] | @text), (map(add))'; jq -nc '{a:1,b:null} | map_values(. // 0)'; jq -nc '["b","a"] | to_entries | map("\(.key)=\(.value)") | join("&")'
#% an update in a file
jq '.[1].paid = true' data/orders.json > t && mv t data/orders.json; jq -c 'map(.paid)' data/orders.json; v=$(jq -r '.[0].items | length' data/orders.json); echo "items: $v"; jq -r '.[].id' data/orders.json | while read -r id; do echo "order $id"; done | tail -1; if jq -e '.[] | select(.id == 999)' data/orders.json > /dev/null; then echo there; else echo "not there"; fi
