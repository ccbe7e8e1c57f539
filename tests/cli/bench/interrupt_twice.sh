# timeout(1) signals the program and then its process group: this counts as one interruption, not two.
timeout --preserve-status -s INT 1 deepclock bench --details --quiet --runs 100000000 --warmup 0 --idle 10ms \
	--engine null --save run.json zoo:simplenet > text
echo $?
record run.json 'r["incomplete"]'
