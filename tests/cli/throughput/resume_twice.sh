# Two searches with one journal: the second is refused at once, and the journal of the first stays intact.
search() {
	deepclock throughput --quiet --engine null --engine-option sleep_ns=3000000 --max-batch 8 \
		--point-time "$1" --rounds 2 --resume journal --save run.json zoo:simplenet > text
}
search 100ms & first=$!
until [ "$(cat journal 2> /dev/null | wc -l)" -ge 2 ]; do sleep 0.02; done
search 100ms
echo "second $?"
wait $first
echo "first $?"
search 100ms
record run.json 'f("method", "trials") == f("method", "trials_resumed")'
