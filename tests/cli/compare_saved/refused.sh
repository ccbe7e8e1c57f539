# Another machine, another method, another kind, another schema: one message each.
saved-record base latency/median 100e3 98e3 103e3 > base.json
try() {
	saved-record new latency/median 110e3 107e3 112e3 "$@" > new.json
	deepclock compare --details base.json new.json
	echo "exit $?"
}
try host/cpu='another processor' host/cpus_online=2
try method/clock=CLOCK_MONOTONIC
try host/kernel='Linux 6.1.2 aarch64' method/group=8 method/enclosed='a whole program'
deepclock compare --details base.json new.json --force > out
echo "exit $?"
grep -c -e machine-differs -e method-differs out
sed 's/"schema": 1/"schema": 7/' base.json > newer.json
deepclock compare --details base.json newer.json
echo "exit $?"
deepclock compare --details base.json missing.json
echo "exit $?"
echo '{' > broken.json
deepclock compare --details broken.json base.json
echo "exit $?"
deepclock compare --details base.json
echo "exit $?"
deepclock compare --details base.json zoo:simplenet
echo "exit $?"
echo "-- options without an effect"
cp base.json other.json
for option in --check-outputs '--vary opt=none,all' --aa '--rounds 12' '--threads 2' '--max-time 1s' '--shell' '--scan n=1,2' '--by type'; do
	deepclock compare base.json other.json $option
	echo "exit $?"
done
for option in --pool '--run-to-run 5%' '--scaling weak' --force; do
	deepclock compare zoo:simplenet zoo:simplenet $option
	echo "exit $?"
done
