# heavy
# An engine that returns invalid results: each ends in a message and an exit status, never in a
# crash or in apparent success.
command -v "${CC:-cc}" > /dev/null || { echo "no C compiler here"; exit 77; }
"${CC:-cc}" -shared -fPIC -I"$TESTS/../../include" -o p.so "$TESTS/../plugins/abusive.c"
# The record is checked if the run itself succeeds.
try() {
	for ABUSE in $abuses; do
		export ABUSE
		"$@" --quiet > out 2> err
		status=$?
		[ $status = 4 ] && status=0 # the verdict of the comparison does not matter
		echo "$ABUSE: $status"
		cut -c 1-220 err
		if grep -q "$(printf '[\001-\010\013-\037\177]')" out err; then echo 'control characters!'; fi
	done
}
engine='--engine plugin:./p.so zoo:simplenet'
all() { for way in silent endless status below other escapes lies; do printf '%s ' "$1-$way"; done; }

echo '# the table'
abuses='none table-none table-size table-size-huge table-major table-nameless table-name-endless
	table-name-escapes table-help-endless table-versionless table-no-run table-no-close
	table-no-describe table-no-usage table-no-output option-helpless option-nameless option-twice
	options-endless'
try deepclock bench plugin:./p.so --runs 5 --warmup 0
echo '# opening'
abuses="open-null open-model-and-failure $(all open) log-null log-level log-long log-escapes times-huge
	describe-silent describe-status inputs-null inputs-many inputs-twice outputs-null outputs-many input-nameless
	input-endless input-escapes input-rank input-rank-huge input-rank-unknown input-dim
	input-dim-open input-overflow input-large input-type input-bits input-lanes symbol-endless
	output-nameless output-rank-16 facts-silent facts-status facts-null facts-many fact-nameless fact-empty
	fact-valueless fact-escapes context_new-null context_new-silent context_new-endless"
try deepclock bench plugin:./p.so --runs 5 --warmup 0
echo '# running'
abuses="bind_input-silent bind_input-status prepare-silent prepare-endless $(all run) run-late usage-huge usage-silent"
try deepclock bench plugin:./p.so --runs 5 --warmup 0
abuses='run-silent run-endless run-late'
try deepclock load plugin:./p.so --time 10ms
echo '# outputs'
abuses="none output-silent output-escapes output-nothing output-null output-rank output-rank-below output-dim
	output-short output-long output-more output-overflow output-type output-misaligned"
try deepclock compare plugin:./p.so plugin:./p.so --max-time 20ms --check-outputs
echo '# profiles'
abuses="none profile-silent profile-endless events-null events-many runs-null runs-many runs-none
	event-nameless event-typeless event-endless event-run event-order event-begin event-duration
	event-depth run-duration graph-missing memory-silent memory-huge"
try deepclock profile $engine --runs 5 --no-roofs
