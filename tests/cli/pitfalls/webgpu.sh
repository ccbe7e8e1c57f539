# On a GPU a clock that stops after the call, or after the documented barrier, stops far too early.
. webgpu || exit 77
deepclock pitfalls --details --quiet --time 50ms --device webgpu --save run.json zoo:simplenet \
	--only no-sync,untested-sync,sync-each-run,transfers-inside,allocation-inside > text
echo $?
record run.json 'm("pitfalls/no-sync")["value"] < 0.5' 'm("pitfalls/untested-sync")["value"] < 0.5' \
	'[k for k in ("sync-each-run", "transfers-inside", "allocation-inside") if not m("pitfalls/" + k)["value"] > 0]' \
	'[row[0] for row in t("pitfalls/remedies")["rows"] if "SynchronizeBoundOutputs() came" in row[2]]' \
	'note("not-waiting") is None'
