# heavy
# Several concurrent programs, the first of which creates the file; one is killed again and again.
for i in 1 2 3 4; do
	(for k in 1 2 3 4 5; do
		history-lines 20 prefix=w${i}_${k}_ > lines$i
		deepclock history import lines$i >> counted$i || echo "writer $i failed"
	done) &
done
(for k in 1 2 3 4 5 6 7 8; do
	history-lines 2000 prefix=k${k}_ > killed
	timeout -s KILL 0.05 deepclock history import killed > /dev/null 2>&1
done) &
wait
cat counted? | sort | uniq -c | sed 's/^ *//'
deepclock history list --limit 0 --format csv | grep -c ^w
deepclock history check | sed 's/:.*records,.*,/:/'
