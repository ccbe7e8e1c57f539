# Records of programs that were watched have their command and program, and retention keeps them apart.
zone-program zone || exit # not under a sanitizer, which cannot trace other programs
for what in trace memory sample count; do
	for program in true false; do
		deepclock $what -q --save $what-$program.json -- $program >out 2>&1
	done
done
deepclock history list --limit 0 | awk '$5 ~ /^(true|false)$/ { print $4, $5 }' | sort
deepclock history prune --keep 1
deepclock history list --command memory --subject true --limit 0 | grep -c 'memory *true'
