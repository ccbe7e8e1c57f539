# One row for each run; only in CSV, other formats are refused before anything is measured.
deepclock bench --quiet --runs 3 --warmup 2 --per run --format csv -- touch ran > runs.csv
tr -d '\r' < runs.csv | cut -d, -f2-5
rm -f ran
deepclock bench --runs 3 --per run -- touch ran
echo $?
test -e ran || echo nothing ran
saved-record a latency/median 100 98 102 > a.json
for option in '--by type' '--sort time' '--top 3'; do
	deepclock report a.json --per run --format csv $option
	echo $?
done
