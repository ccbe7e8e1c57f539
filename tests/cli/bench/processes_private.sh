# A measured program does not inherit the file that its measurement is written to.
deepclock bench --quiet --processes 2 --runs 2 --warmup 0 -- sh -c 'ls -l /proc/$$/fd >> fds' > text
echo $?
grep -c ' 0 -> ' fds
grep memfd fds || echo "no file of ours"
