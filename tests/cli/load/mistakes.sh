# Each mistake gets one message and the right exit status.
run() {
	deepclock load --quiet --engine null zoo:simplenet "$@" > text
	echo $?
	cat text
}
deepclock load --quiet
echo $?
run --slo p99
run --slo 'p99<=5'
run --slo 'p42<=5ms'
run --find-peak
run --find-peak --slo 'max<=50ms'
run --scenario server
run --scenario single --rate 5
run --scenario multi --arrivals constant
run --scenario single --streams 2
run --scenario offline --slo 'p99<=1ms'
run --rate 5 --arrivals constant --trace x
run --streams 0
run --streams 1000
run --rate -4
run --trace missing
run --warmup 2 --rate 0.001 --time 10ms
run --save -
printf 'time\n0\n0.5\n0.4\n' > falls.csv
run --trace falls.csv
printf '0 128\n1 256\n' > columns.txt
run --trace columns.txt
printf '0\n1\nflorp\n' > word.csv
run --trace word.csv
: > empty.csv
run --trace empty.csv
run --find-peak --slo 'p90<=50ms' --warmup 0
# A search that cannot reach an answer is refused before it starts, with the time that it needs.
slow="--quiet --engine null --engine-option sleep_ns=20000000 --warmup 2 zoo:simplenet --find-peak --slo p99<=1s"
deepclock load $slow --max-time 20s 2>&1 | sed 's/at [0-9.]* requests/at N requests/; s/in [0-9.]* \(m*s\);/in T;/; s/--max-time [0-9]*s/--max-time Ts/'
deepclock load $slow --time 1s 2>&1 | sed 's/at [0-9.]* requests/at N requests/; s/in [0-9.]* \(m*s\);/in T;/'
