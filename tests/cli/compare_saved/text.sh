# Warnings and facts of two records besides their numbers.
saved-record old latency/median 100e3 98e3 103e3 > old.json
saved-record new latency/median 110e3 107e3 112e3 engine/threads=1 host/kernel='Linux 6.1.9 x86_64' > new.json
deepclock compare --details old.json new.json > out
echo "exit $?"
sed -n '/^ *verdict: /p; /^note:/,$p' out
grep -c -e '^  old.json .*baseline$' -e '^  new.json .*slower$' out
echo "-- in brief, the end of an explanation is left out, not its predicate"
saved-record old latency/median 110e3 107e3 112e3 > new.json
deepclock compare old.json new.json | sed -n '/^note:/,$p'
