try() {
	deepclock overhead "$@"
	echo $?
}
try
try -- no-such-program
try --method nothing -- true
try --rounds 1 -- true
try --rounds 2 --method sample -- false
