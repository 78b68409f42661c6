#% python in a pipeline
seq 5 | python3 -c 'import sys; print(sum(int(l) for l in sys.stdin))'; python3 -c 'print("hi")' | tr a-z A-Z
#% python from a here-document
python3 - one two <<'EOF'
import sys, json
rows = json.load(open("data/orders.json"))
print(len(rows), sys.argv[1:])
EOF
x=$(python3 <<< 'print(6 * 7)'); echo "x=$x"
#% python over files found
find src -name '*.py' | sort | xargs python3 -c 'import sys; [print(f.count("/")) for f in sys.argv[1:]]'; find . -name '*.json' -exec python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))))' {} \;
#% a python script with a status
cat > check.py <<'EOF'
#!/usr/bin/env python3
import sys
print("checking", *sys.argv[1:])
sys.exit(3 if "bad" in sys.argv else 0)
EOF
python3 check.py good && echo passed; python3 check.py bad || echo "failed $?"; chmod +x check.py; ./check.py direct; echo $?
#% python writes and bash reads
python3 -c 'import csv; w = csv.writer(open("o.csv", "w"), lineterminator="\n"); w.writerows([[i, i * i] for i in range(4)])'; awk -F, '{s += $2} END {print s}' o.csv; python3 -m json.tool data/orders.json | grep -c sku; echo '{"a": 1}' | python3 -m json.tool
#% environment for a program
export A=1; B=2 python3 -c 'import os; print(os.environ["A"], os.environ["B"])'; python3 -c 'import os; print(os.environ.get("B"))'; cd docs; python3 -c 'import os; print(sorted(os.listdir(".")))'
#% errors of a program
python3 -c 'raise SystemExit("stop")' 2>&1; echo $?; python3 -c 'import sys; print("o"); print("e", file=sys.stderr)' 2>/dev/null; python3 -c '1/0' 2>&1 | tail -1; if python3 -c 'exit(1)'; then echo yes; else echo no; fi; timeout 5 python3 -c 'print("in time")'
#% parallel programs
for i in 1 2 3; do python3 -c "print($i * 10)" > p$i & done; wait; cat p1 p2 p3; seq 4 | xargs -P2 -I{} python3 -c 'print({} ** 2)' | sort -n | paste -sd,
