# An option that may be repeated has a bound, and says so.
set --
i=0
while [ $i -lt 65 ]; do
	set -- "$@" --dim "d$i=1"
	i=$((i + 1))
done
deepclock bench zoo:simplenet "$@"
