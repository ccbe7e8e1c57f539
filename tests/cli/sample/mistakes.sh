try() {
	deepclock sample "$@"
	echo $?
}
try
try -- no-such-program
try --pid 1 -- true
try --rate 0 -- true
try --source nobody -- true
try --time 3 -- true
try --stack 1 -- true
try -f otlp -- true
try -o out.bmf -- true
