# Directories of a killed process are removed by the next run; other directories are not touched.
mkdir -m 700 deepclock-run-AAAAAA deepclock-run-BBBBBB deepclock-run-CCCCCC deepclock-run-other deepclock-backup
mkdir -m 755 deepclock-run-DDDDDD
for d in deepclock-*; do echo x > $d/file; done
touch -d "1 hour ago" deepclock-backup deepclock-run-AAAAAA deepclock-run-CCCCCC deepclock-run-DDDDDD deepclock-run-other
ln -s deepclock-run-other deepclock-run-EEEEEE
flock -F deepclock-run-CCCCCC sleep 60 & # its owner is alive
until ! flock -n deepclock-run-CCCCCC true; do sleep 0.02; done
# Under a sanitizer, memory records no allocations and exits with 1.
seen() {
	deepclock memory --quiet -- true > text 2> err || grep -q sanitizer err || cat err
}
seen
echo $?
ls -d deepclock-*
kill $!; wait $! 2> /dev/null
# Killed while it measures.
deepclock memory --quiet -- sh -c 'echo $$ > begun; exec sleep 60 2> /dev/null' > text & memory=$!
until [ -s begun ]; do sleep 0.02; done
kill -s KILL $memory "$(cat begun)"
wait $memory 2> /dev/null
left=$(ls -d deepclock-run-* | wc -l)
touch -d '1 hour ago' deepclock-run-*
seen
echo "$left, then $(ls -d deepclock-run-* | wc -l)"
