# Whichever process is killed, none of its children continues.
number() { working --number "$1"; }
deepclock bench --quiet --processes 3 -- working "$PWD/one" & first=$!
command=$(number one/self)
worker=$(cut -d ' ' -f 4 "/proc/$command/stat")
kill -s KILL $first
wait $first 2> /dev/null
gone "$worker" 'the worker of the killed'
gone "$command" 'its command'
deepclock bench --quiet --processes 3 -- working "$PWD/two" & first=$!
command=$(number two/self)
kill -s KILL "$(cut -d ' ' -f 4 "/proc/$command/stat")"
wait $first 2> /dev/null
echo $?
gone "$command" 'the command of the killed worker'
