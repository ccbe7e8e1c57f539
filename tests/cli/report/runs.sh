# One row for each run; only in CSV, other formats are refused before anything is measured.
deepclock bench --quiet --runs 3 --warmup 2 --per run --format csv -- touch ran > runs.csv
tr -d '\r' < runs.csv | cut -d, -f2-5
rm -f ran
deepclock bench --runs 3 --per run -- touch ran
echo $?
test -e ran || echo nothing ran
