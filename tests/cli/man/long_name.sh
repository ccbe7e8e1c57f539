# A directory whose pages have names that are too long.
deepclock man .$(printf '/.%.0s' $(seq 2044))
