# A run that fails after the first requests leaves a record of those before; a full disk is reported.
deepclock generate --quiet --engine null --requests 5 --new-tokens 2 --engine-option fail_at=8 --save run.json \
	zoo:llama_mini > text
echo $?
record run.json 'r["incomplete"]' 'note("engine-failed")["severity"]' 'm("runs/count")["value"]'
deepclock generate --quiet --engine null --requests 2 --new-tokens 2 zoo:llama_mini > /dev/full
echo $?
