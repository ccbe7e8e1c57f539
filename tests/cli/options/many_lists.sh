# A repeatable option has a maximum count, which the message names.
set --
i=0
while [ $i -lt 65 ]; do
	set -- "$@" --dim "d$i=1"
	i=$((i + 1))
done
deepclock bench zoo:simplenet "$@"
