# A failed write is an error in every command.
for command in help version zoo 'completion bash' 'zoo simplenet -o -' 'bench --quiet --runs 2 --warmup 0 -- true'; do
	deepclock $command > /dev/full
	echo "$command: $?"
done
deepclock version >&-
echo "closed: $?"
