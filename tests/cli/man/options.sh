# Man page, help and option table name the same options.
mkdir pages
deepclock man pages
for command in bench zoo engines report; do
	deepclock $command --help | sed -n 's/^ \{2,6\}\(-[a-zA-Z], \)*\(--[a-z][a-z-]*\).*/\2/p' | sort -u > help
	sed -n 's/\\//g; s/.*fB\(--[a-z-]*\)fR.*/\1/p' pages/deepclock-$command.1 | sort -u > page
	diff help page && echo "$command: $(wc -l < help | tr -d ' ') options" | sed 's/[1-9][0-9]* /N /'
done
