# Under nohup, where SIGHUP is ignored: whichever process is killed, none of its children continues.
number() { working --number "$1"; }
trap '' HUP
deepclock bench --quiet --processes 3 -- working "$PWD/one" & first=$!
command=$(number one/self)
worker=$(cut -d ' ' -f 4 "/proc/$command/stat")
grep SigIgn "/proc/$command/status" | grep -q '[13579bdf]$' && echo 'the command finds hangups ignored too'
kill -s KILL $first
wait $first 2> /dev/null
gone "$worker" 'the worker of the killed'
gone "$command" 'its command'
gone "$(number one/below)" 'what its command had started'
