# A plug-in with known flaws: each mistake changes the number by the amount that the plug-in defines.
command -v "${CC:-cc}" > /dev/null || { echo "no C compiler"; exit 77; }
"${CC:-cc}" -shared -fPIC -I "$TESTS/../../include" -o flawed.so "$TESTS/../plugins/flawed.c" -lm || exit 1
# Other programs may use this machine: only results that they cannot cause are checked.
deepclock pitfalls --details --quiet --time 100ms --save run.json plugin:flawed.so \
	--engine-option ns=200000 --engine-option first_ns=20000000 --engine-option denormal_ns=200000 \
	--engine-option bind_ns=100000 > text 2> notes
echo $?
factor() {
	echo "m(\"pitfalls/$1\")[\"value\"]"
}
record run.json 'len(t("pitfalls/mistakes")["rows"])' '[c["key"] for c in t("pitfalls/mistakes")["columns"]]' \
	"1.4 < $(factor denormals) < 3" "1.2 < $(factor binding-inside) < 2" "$(factor inputs-inside) > 1.2" \
	"$(factor too-many-threads) > 1.4" "$(factor first-call-in-10) > 5" \
	"$(factor first-call-in-10) > $(factor first-call-in-100)" "0.6 < $(factor no-warmup) < 1.6" \
	"$(factor seconds-clock) != 1" 'm("pitfalls/profiler-on")["absent"]' 'm("pitfalls/batch-divided")["absent"]' \
	'f("pitfalls", "method")[:49]'
grep -c "^  -[a-z]:" text
grep -A4 "^  denormals$" text | grep -c "what:\|why:\|do:"
