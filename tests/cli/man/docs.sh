# The page of each command names the options that there are, and no others.
for command in bench zoo engines report; do
	page=$TESTS/../../docs/$command.md
	deepclock $command --help | grep -o '^  \(-[a-zA-Z], \)\? *--[a-z-]*' | grep -o -e '--[a-z][a-z-]*$' | grep -v -e --help | sort -u > have
	grep -o -e '`--[a-z][a-z-]*' "$page" | tr -d '`' | sort -u > named
	comm -23 have named | sed "s/^/docs\/$command.md lacks /"
done
for command in $(deepclock help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
	deepclock $command --help 2> err
done | grep -o -e '--[a-z][a-z-]*' | sort -u > all
cd "$TESTS/../../docs"
cat bench.md zoo.md engines.md report.md | grep -o -e '`--[a-z][a-z-]*' | tr -d '`' | sort -u |
	comm -13 "$OLDPWD/all" - | sed 's/$/ is in a page, but no option/'
