# A fixed address layout is of processes that are started, and the record says so.
setarch -R true 2> /dev/null || { echo "this system does not let programs start without address randomisation"; exit 77; }
layout() { deepclock bench --quiet --pin-start --warmup 2 --runs 8 --save run.json "$@" > text; record run.json 'f("method", "processes")' 'f("method", "address_layout")'; }
layout --processes 2 --engine null zoo:simplenet
layout -- sh -c 'cat /proc/self/personality >> layouts'
grep -vc '^0004' layouts
layout --processes 2 -- true
for options in '--processes 1' '--runs 8' '--trace t.json' 'zoo:simplenet'; do
	deepclock bench --quiet --pin-start --engine null $options zoo:simplenet
	echo $?
done
