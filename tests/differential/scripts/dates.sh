#% formats
date -u -d @0 +%Y-%m-%dT%H:%M:%SZ; date -d '2026-01-05 10:20:30' '+%d/%m/%y %I:%M %p %j %U %a %A %b %B %e'; date -d 2026-01-05 +%F; date -d '2026-01-05 13:00' +%T; date -u -d '2026-03-04T05:06:07Z' +%s; date -d 2026-12-31 '+%V %G %u %w %y %C'
#% relative days
for d in '1 day' '-1 day' '+2 weeks' 'next month' '1 month ago' '3 days ago' '1 year' 'yesterday' 'tomorrow'; do date -d "2026-01-31 $d" +%F; done
#% arithmetic on dates
a=$(date -d 2026-01-01 +%s); b=$(date -d 2026-03-01 +%s); echo $(( (b - a) / 86400 )); date -d "@$((a + 3600))" '+%F %T'; date -d "2026-02-28 + 1 day" +%F; date -d "2024-02-28 + 1 day" +%F; date -d "$(date -d @$a +%F) +10 days" +%F
#% weekdays
for i in 0 1 2 3 4 5 6; do date -d "2026-01-05 +$i days" '+%a %u'; done | paste -sd' '; date -d '2026-01-07 last monday' +%F 2>/dev/null; date -d '2026-01-05 next friday' +%F; date -d 'Mon, 05 Jan 2026 10:00:00 +0000' +%s
#% rfc and iso outputs
date -u -d @1767225600 -R; date -u -d @1767225600 -Iseconds; date -u -d @1767225600 --iso-8601; date -u -d @1767225600 --rfc-3339=seconds; date -u -d @1767225600; date -d @1767225600 -Iminutes
#% formats read
date -d '5 Jan 2026' +%F; date -d 'January 5, 2026' +%F; date -d '01/05/2026' +%F; date -d '20260105' +%F; date -d '2026-01-05T10:00:00+02:00' +%T; date -d '10:30' +%H:%M; date -d 'not a date' 2>/dev/null; echo $?; date -d '2026-01-05 10:00 UTC' +%s; date -d '2026-01-05 5pm' +%H; date -d '2026-01-05 10:00:00 UTC +90 minutes' +%T
#% a loop over days
d=2026-02-26; while [ "$d" != 2026-03-03 ]; do echo -n "$d "; d=$(date -d "$d + 1 day" +%F); done; echo; for m in 1 2 3; do date -d "2026-$m-01 +1 month -1 day" +%d; done
#% padding and special formats
date -d '2026-01-05 03:04:05' '+%-d %-m %_d %k %l %-H %N %3N %% %n%t|' ; date -d 2026-01-05 '+%D %x %X %h'; date -d '2026-01-05' '+Week %W, day %j'; date -u -d 2026-01-05 '+%z %Z %:z'; date -u -d 2026-01-05 +%c
#% time of a file
touch -d '2026-01-05 10:00:00' f; date -r f '+%F %T'; stat -c %Y f; stat -c %y f | cut -d. -f1; touch -t 202601051234.56 g; date -r g +%T; touch -r f g; stat -c %Y g; find . -maxdepth 1 -name '[fg]' -newermt '2026-01-01' | sort; find . -maxdepth 1 -name f -printf '%TY-%Tm-%Td\n'; ls -l --time-style=+%F f | awk '{print $6}'; ls -l --time-style=long-iso f | awk '{print $6, $7}'; ls --full-time f | awk '{print $6}'
#% time zones
TZ=America/New_York date -d '2026-07-01 12:00 UTC' '+%H %Z'; TZ=Asia/Tokyo date -d @0 '+%F %T %z'; date -d 'TZ="Europe/Berlin" 2026-01-05 10:00' +%H; TZ=UTC date -d @0 +%H
#% now is a date
[[ $(date +%Y) -ge 2024 ]] && echo year; [[ $(date +%s) =~ ^[0-9]{10}$ ]] && echo seconds; [[ $(date -Is) =~ ^[0-9]{4}-[0-9]{2}-[0-9]{2}T ]] && echo iso; d1=$(date +%s -d 'now'); d2=$(date +%s -d '1 hour ago'); echo $((d1 - d2)) | awk '{print ($1 >= 3599 && $1 <= 3601)}'; [ "$(date -d today +%F)" = "$(date +%F)" ] && echo today
#% log lines within a range
awk '$1 >= "2026-01-02"' logs/*.log | wc -l; for f in logs/*.log; do day=$(basename "$f" .log); echo "$(date -d "$day" +%A): $(grep -c INFO "$f")"; done
