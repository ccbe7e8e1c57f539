# A name with quotes and blanks, longer than a line: the command that the answer prints can be run as it is.
name="it's a \"network\" with a name (of 90 columns) that is longer than the line of a terminal.onnx"
deepclock zoo simplenet --symbolic -o "$name"
printf 'sleep_ns=1000000\n' > space.txt
# Beside many other programs a search may find no difference.
for try in $(seq 30); do
	deepclock tune --quiet --engine null --engine-option sleep_ns=20000000 --space space.txt --trial 5ms --min-change 50% \
		--max-time 6s --save run.json "$name" > text
	status=$?
	grep -q '^note: deepclock bench' text && break
done
echo $status
for from in text details; do
	sed -n 's/^note: \(deepclock bench .*\);.*/\1/p' $from > command
	sh -c "$(cat command) --quiet --runs 3" > out
	echo $?
	deepclock report --details run.json > details
done
sed 's/ --engine/\n&/g' command
