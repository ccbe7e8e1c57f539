# Chrome's trace events: distinguished from a record by the contents of the file, not by its name.
cat > kineto.json <<'END'
{"schemaVersion": 1, "deviceProperties": [], "traceEvents": [
 {"ph": "X", "cat": "cpu_op", "name": "aten::conv2d", "pid": 7, "tid": 7, "ts": 4508215143415.441, "dur": 430.5},
 {"ph": "X", "cat": "cpu_op", "name": "aten::relu", "pid": 7, "tid": 7, "ts": 4508215143900.000, "dur": 100.25},
 {"ph": "X", "cat": "cpu_op", "name": "aten::empty", "pid": 7, "tid": 7, "ts": 4508215143420.441, "dur": 30.5}],
 "traceName": "kineto.json"}
END
gzip -k kineto.json
deepclock report kineto.json --format csv
cp kineto.json any.txt
deepclock report any.txt -o any.folded && cat any.folded
deepclock report kineto.json.gz --format folded > packed.folded
cmp packed.folded any.folded && echo the same
for form in perfetto chrome; do
	deepclock report kineto.json --format $form -o again.$form.json.gz
done
deepclock report again.chrome.json.gz --format folded
mv again.perfetto.json.gz again.pftrace
deepclock report again.pftrace --format folded
# Chrome itself does not close the array.
printf '[{"ph":"B","ts":1,"pid":1,"tid":1,"name":"a"},\n{"ph":"E","ts":3.5,"pid":1,"tid":1},\n' > open.json
deepclock report open.json --format folded
# Truncated and corrupt files.
head -c 250 kineto.json > cut.json
deepclock report cut.json --format folded
sed 's/"dur": 100.25/"dur": oops/' kineto.json > broken.json
deepclock report broken.json --format folded
echo '[{"ph": }]' > none.json
deepclock report none.json
echo $?
deepclock report kineto.json open.json -o both.pftrace
echo $?
# A record from a pipe, which can be opened once.
deepclock bench --quiet --runs 3 --warmup 0 --save good.json -- true > out
mkfifo pipe
cat good.json > pipe &
deepclock report pipe | sed -n '1s/,.*//p'
