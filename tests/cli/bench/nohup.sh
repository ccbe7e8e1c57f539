# As under nohup, which has everybody ignore a hangup: whoever is killed, nobody goes on who worked for him.
cat > work <<'END'
#!/bin/sh
sleep 50 &
echo $! > below
echo $$ > begun
wait
END
chmod +x work
gone() { # PID WHO
	for i in $(seq 500); do
		kill -0 "$1" 2> /dev/null || { echo "$2 is gone"; return; }
		case $(cut -d ' ' -f 3 "/proc/$1/stat" 2> /dev/null) in Z) echo "$2 is gone"; return ;; esac
		sleep 0.02
	done
	echo "$2 is still there"
}
trap '' HUP
deepclock bench --quiet --processes 3 -- ./work & first=$!
until [ -s begun ]; do sleep 0.02; done
command=$(cat begun)
worker=$(cut -d ' ' -f 4 "/proc/$command/stat")
grep SigIgn "/proc/$command/status" | grep -q '[13579bdf]$' && echo 'the command finds hangups ignored too'
kill -s KILL $first
wait $first 2> /dev/null
gone "$worker" 'the worker of the killed'
gone "$command" 'its command'
gone "$(cat below)" 'what its command had started'
