# A signal: it is forwarded, and the counts until then are reported.
count-program || exit
interrupt SIGTERM started deepclock count --no-history -q --save run.json -- \
	sh -c './program calls; echo >started; exec sleep 60' >out
echo "exit $?"
record run.json 'r["incomplete"]' '[row[1] for row in t("functions")["rows"] if row[0] == "leaf"]' 'note("interrupted")["text"]'
