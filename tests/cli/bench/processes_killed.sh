# Whoever is killed, nobody goes on who worked for him.
cat > work <<'END'
#!/bin/sh
echo $$ > "$1"
sleep 60
END
chmod +x work
begun() { until [ -s "$1" ]; do sleep 0.02; done; cat "$1"; }
gone() { # PID WHO
	for i in $(seq 500); do
		kill -0 "$1" 2> /dev/null || { echo "$2 is gone"; return; }
		case $(cut -d ' ' -f 3 "/proc/$1/stat" 2> /dev/null) in Z) echo "$2 is gone"; return ;; esac
		sleep 0.02
	done
	echo "$2 is still there"
}
deepclock bench --quiet --processes 3 -- ./work "$PWD/one" & first=$!
command=$(begun one)
worker=$(cut -d ' ' -f 4 "/proc/$command/stat")
kill -s KILL $first
wait $first 2> /dev/null
gone "$worker" 'the worker of the killed'
gone "$command" 'its command'
deepclock bench --quiet --processes 3 -- ./work "$PWD/two" & first=$!
command=$(begun two)
kill -s KILL "$(cut -d ' ' -f 4 "/proc/$command/stat")"
wait $first 2> /dev/null
echo $?
gone "$command" 'the command of the killed worker'
