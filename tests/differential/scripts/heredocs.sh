#% variables in a here-document
name=World; n=3
cat <<END
Hello, $name!
$((n * 2)) and $(echo sub) and \$literal and \`ticks\`
END
#% a quoted here-document
cat <<'END'
$HOME `date` \n $(pwd)
	tab
END
#% tabs taken out
if true; then
	cat <<-END
		indented
		  two more
	END
fi
#% a here-document into a file and a pipe
cat > made.conf <<EOF
[main]
key = value
EOF
cat <<EOF | grep -n key
$(cat made.conf)
EOF
#% a here-string
grep -o '[a-z]*' <<< "one 2 three"
tr a-z A-Z <<< "$(head -1 data/words.txt)"
wc -c <<< ""
#% two here-documents on a line
cat <<A - <<B
first
A
second
B
paste <(cat <<X
1
2
X
) <(cat <<Y
a
b
Y
)
#% a here-document in a function
usage() {
  cat <<USAGE
usage: ${0##*/} [options]
  -h  help
USAGE
}
usage | tail -1
#% a script written and run
cat > run.sh <<'EOF'
#!/usr/bin/env bash
set -euo pipefail
echo "args: $# first=${1-none}"
EOF
chmod +x run.sh
./run.sh a b
bash run.sh
bash run.sh "x y"
#% python-like code kept intact
cat > code.py <<'PY'
def f(x):
    return {"a": x, 'b': "$x", "c": `x`}
PY
wc -l code.py; grep -c '\$x' code.py
#% here-document in a loop
for n in a b; do
  cat <<EOT
<$n>
EOT
done
#% escapes at the end of a line
cat <<EOF
one \
line
two\\
lines
EOF
#% json made with variables
name='He said "hi"'; count=4
cat <<EOF | jq -c .
{"name": $(jq -Rn --arg n "$name" '$n'), "count": $count, "list": [$(seq -s, 3)]}
EOF
#% read -d for a block of text
read -r -d '' text <<'EOF' || true
  first
  second
EOF
echo "$text"
echo "${#text}"
#% sed script from a here-document
sed -f /dev/stdin data/words.txt <<'EOF'
s/fox/FOX/
/^$/d
EOF
#% a here-document with a delimiter in quotes and spaces
cat <<"THE END"
$x
THE END
#% nested substitution in a here-document
cat <<EOF
$(for f in docs/*.md; do
  echo "- ${f#docs/} ($(wc -l < "$f"))"
done)
EOF
