# heavy
# Every command with --save.
deepclock cost zoo:simplenet --save a.json > text
deepclock machine --quick --quiet --save b.json > text
deepclock bench --quiet --engine null --runs 5 zoo:simplenet --save c.json > text
deepclock history list --format csv | cut -d, -f3 | sort
