# A directory for which the paths of the pages are too long.
deepclock man .$(printf '/.%.0s' $(seq 2044))
