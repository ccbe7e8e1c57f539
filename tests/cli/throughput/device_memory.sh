# A device whose memory a batch exhausts: the answer has one of those that fit, and names the one that does not.
command -v "${CC:-cc}" > /dev/null || { echo "no C compiler"; exit 77; }
"${CC:-cc}" -shared -fPIC -I "$TESTS/../../include" -o device.so "$TESTS/../plugins/device.c" || exit 1
deepclock throughput --quiet --engine ./device.so --engine-option ns=1000000 --engine-option memory=100000 \
	--engine-option item_bytes=1000 --batch 8,64,101 --rounds 2 --point-time 20ms --save run.json zoo:simplenet > text
echo $?
record run.json 'r["incomplete"]' 'm("throughput/best_batch")["value"] in (8, 64)' 'f("throughput", "limited_by")' \
	'note("point-memory")["text"]'
tr -s ' \n' ' ' < text | grep -o "batch 101 ran out of memory" | uniq
