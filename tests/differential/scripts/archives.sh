#% tar there and back
tar cf a.tar docs src/lib; tar tf a.tar | sort; mkdir out; tar xf a.tar -C out; diff -r docs out/docs && echo same; find out -type f | sort
#% tar with gzip
tar -czf a.tgz --exclude='*.js' src; tar -tzf a.tgz | sort; mkdir o; tar -xzf a.tgz -C o --strip-components=1; ls o; tar xzf a.tgz src/util.py -O | head -1
#% tar through a pipe
tar cf - docs | (mkdir t; cd t; tar xf -); ls t/docs; tar czf - notes | tar tzf - | sort; tar -C data -cf d.tar words.txt numbers.txt; tar tf d.tar; tar rf d.tar -C docs api.md; tar tf d.tar | tail -1; tar xvf d.tar -C t | sort
#% gzip
cp data/words.txt w; gzip w; ls w*; zcat w.gz | head -1; gunzip w.gz; cmp w data/words.txt && echo same; gzip -k w; ls w w.gz; gzip -c w | gzip -dc | wc -l; gzip -t w.gz && echo fine; gunzip -c w.gz | tail -1; zgrep -c dog w.gz; gzip -cd w.gz | cmp - w && echo equal
#% a backup by date
name=backup-$(date -d 2026-01-05 +%Y%m%d).tar.gz; tar czf "$name" config data --exclude=data/access.log; tar tzf "$name" | wc -l; [ -s "$name" ] && echo "$name made"; tar tzf "$name" | grep -c access
#% a list of files into an archive
find . -name '*.md' -print0 | sort -z | tar --null -T - -cf m.tar; tar tf m.tar; printf 'data/words.txt\nnotes/plain.txt\n' | tar cf n.tar -T -; tar tf n.tar; tar tvf n.tar | awk '{print $3, $NF}'
#% damaged archives
echo junk > j.tar.gz; tar tzf j.tar.gz > /dev/null 2>&1 || echo "tar fails"; gzip -t j.tar.gz 2>/dev/null || echo "gzip fails"; gunzip nowhere.gz 2>/dev/null || echo "none"; tar xf nowhere.tar 2>/dev/null || echo "no archive"
#% bzip2 and xz
cp README.md r; bzip2 -k r && bzcat r.bz2 | head -1; bunzip2 -f r.bz2; ls r*; tar cjf b.tar.bz2 docs; tar tjf b.tar.bz2 | wc -l
