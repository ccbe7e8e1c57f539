# One page for the program and one per command; the formatter has nothing to say about them.
mkdir pages
deepclock man pages && ls pages
for page in pages/*; do
	! command -v groff > /dev/null || groff -man -Tutf8 -ww -z $page
	! command -v mandoc > /dev/null || mandoc -T lint -W error $page
done
grep -q worker-fd pages/deepclock-bench.1 || echo hidden stays hidden
# The directory is made; a file in its place is said.
deepclock man missing/deep && ls missing/deep | head -1
deepclock man pages/deepclock.1
