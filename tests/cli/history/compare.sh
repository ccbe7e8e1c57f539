# Exit statuses of a gate: 0 not worse, 3 regressed, 4 inconclusive; 1 or 2 if the records cannot be compared.
history-lines 4 change=3 factor=1.5 | deepclock history import -
compare() { deepclock history compare "$@" --format csv > out 2> err; echo "exit $?"; grep -o 'compare/ratio",[0-9.]*' out; }
compare last~2 last~1
compare last~1 last
compare last last~1
compare last~1 last --margin 60%
compare 0000 0001 0002
compare last~1 last --metric throughput/items
compare last~1 nothing
cat err
deepclock history compare last~1
history-lines 1 prefix=d cpu=another | deepclock history import -
deepclock history compare d0000 last > out
echo "exit $?"
deepclock history compare d0000 last --force > out 2> err
echo "exit $?"
