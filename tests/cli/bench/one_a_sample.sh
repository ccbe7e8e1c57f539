# What is done before each run excludes samples of several.
for options in '--idle 1ms' '--prepare true'; do
	deepclock bench --group 2 --runs 4 $options --no-history -- touch ran
	echo $?
done
deepclock bench zoo:simplenet --engine null --group 2 --runs 4 --input-pool 3 --no-history
echo $?
test -e ran || echo nothing ran
deepclock bench --quiet --group 1 --runs 4 --warmup 0 --idle 1ms --prepare true --no-history -- touch ran > text
echo $?
