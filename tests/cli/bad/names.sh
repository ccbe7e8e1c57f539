# A name with terminal control characters, bidirectional marks, or a spreadsheet formula: no output format
# contains it unescaped, whatever its source.
name=$(printf '=x\033[31m\302\233m\342\200\256y\377')
mkdir d
printf '#!/bin/sh\n' > "d/$name"
chmod +x "d/$name"
cd d || exit 1
PATH=$PWD:$PATH
# Output must contain no control character except newlines, and no bidirectional mark.
steers() {
	LC_ALL=C grep -n -a -e "$(printf '[\001-\011\013\014\016-\037\177]')" \
		-e "$(printf '\302[\200-\237]')" -e "$(printf '\342\200[\252-\256]')" \
		-e "$(printf '\377')" "$@"
}
deepclock bench --runs 3 --quiet --save r.json -- "$name" --no-such > /dev/null
for form in text json csv markdown; do
	deepclock report r.json --format $form > out 2> err
	echo "$form: $?"
	steers out err
done
deepclock report r.json --details > out
steers out
export DEEPCLOCK_DB=$PWD/h.db
deepclock history import r.json > /dev/null 2> err
for command in list 'list --format csv' 'export --csv' 'show last' 'list --format markdown'; do
	deepclock history $command > out 2>> err
	echo "$command: $?"
	steers out err
	[ "$command" = 'export --csv' ] && grep -q "\"'=x" out && echo guarded
done
for wrong in "bench $name.onnx" "cost $name" "report $name.json" "history show $name" "frob$name"; do
	# shellcheck disable=SC2086
	deepclock $wrong > out 2> err
	echo "exit $?"
	steers out err
done
echo end
