# The method that the answer names is the first row after the program alone, whatever the order of the methods.
zone-program zone || exit # not under a sanitizer, which cannot trace other programs
echo 'case $DEEPCLOCK_TRACE in ?*) sleep 0.6;; esac; sleep 0.02' >slow
deepclock overhead --no-history --quiet --rounds 4 --method count --method trace --save run.json -- sh slow >out 2>&1
record run.json '[row[0] for row in t("overhead")["rows"]]' 'f("result", "answer").split(" costs")[0]'
grep -o '^  \(none\|trace\|count\) ' out
grep -c 'times are medians' out
