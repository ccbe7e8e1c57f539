# The main thread is renamed before its first zone: formats that write a thread's name once have the new one.
zone-program || exit
deepclock trace --quiet --no-waits -o trace.csv -- ./program renamed >/dev/null
cut -d, -f3 trace.csv | sort -u
deepclock trace --quiet --no-waits -o trace.folded -- ./program renamed >/dev/null
grep -c '^renamed [0-9]*;step ' trace.folded
