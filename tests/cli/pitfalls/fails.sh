# A subject that fails in the middle: results until then are retained, and the rows name the failure.
deepclock pitfalls --quiet --time 50ms --engine null --engine-option ns=100000 --engine-option fail_at=3 zoo:simplenet \
	--save run.json > text 2> notes
echo $?
record run.json 'r["incomplete"]' 'note("engine-failed")["severity"]'
deepclock pitfalls --quiet --time 50ms --engine null --engine-option fail_at=1 zoo:simplenet
echo $?
# An output file that cannot be written.
deepclock pitfalls --quiet --time 20ms --only one-sample --engine null zoo:simplenet > /dev/full
echo $?
