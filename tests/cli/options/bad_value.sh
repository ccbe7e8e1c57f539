# One invalid value for each kind of option.
bad() {
	deepclock bench zoo:simplenet "$@"
	echo $?
}
bad --runs ten
bad --runs -5
bad --runs 1e99
bad --max-time 5
bad --max-time 5parsecs
bad --precision 5x
bad --precision 0
bad --precision 200%
bad --statistic avg
bad --shell=perhaps
bad --format yaml
bad --warmup soon
bad --runs 5 --time 1s
bad --save -
