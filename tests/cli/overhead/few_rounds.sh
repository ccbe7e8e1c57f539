# Two contradictory rounds show no cost: the result is not the factor of thousands that they suggest.
# The order in a round is random: runs 0 and 2 use the same method, or runs 0 and 3; in the other case noise decides.
for slow in 2 3; do
	echo 0 >n
	echo 'n=$(cat n); echo $((n + 1)) >n; case $n in 0|'$slow') sleep 0.3;; esac' >program
	deepclock overhead --quiet --rounds 2 --method sample --save run.json -- sh program >/dev/null
	cat n
	record run.json 'f("result", "answer")' | grep 'rounds do not'
done | sort -u
