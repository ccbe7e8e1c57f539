# As an unprivileged user: kernel time is not sampled, the program is.
sampled-program || exit
unprivileged deepclock sample --quiet --save run.json -- ./program shares >/dev/null
code=$?
[ $code = 77 ] && exit 77
echo $code
sampled-shares run.json
record run.json 'f("sample", "kernel")'
