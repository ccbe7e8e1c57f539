# A subject that fails in the middle: what was measured is kept, and the rows say what failed.
deepclock pitfalls --quiet --time 50ms --engine null --engine-option ns=100000 --engine-option fail_at=3 zoo:simplenet \
	--save run.json > text 2> notes
echo $?
record run.json 'r["incomplete"]' 'note("engine-failed")["severity"]'
deepclock pitfalls --quiet --time 50ms --engine null --engine-option fail_at=1 zoo:simplenet
echo $?
# Nowhere to write.
deepclock pitfalls --quiet --time 20ms --only one-sample --engine null zoo:simplenet > /dev/full
echo $?
