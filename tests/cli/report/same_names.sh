# Names that would look the same after they are shortened: what differs stays, in a summary and in a file.
pad='std::map<std::basic_string<char, std::char_traits<char>, std::allocator<char> >, std::vector<unsigned long> >'
printf 'main;work<%s, A, %s>(long) 5\nmain;work<%s, B, %s>(long) 3\n' "$pad" "$pad" "$pad" "$pad" >run.folded
for columns in 40 60 80 120; do
	COLUMNS=$columns deepclock report run.folded | sed -n '/work.*[53]$/p'
done
deepclock report run.folded --details | grep -c '[AB], std'
