# One page for the program and one for each command; the formatter prints no warnings about them.
mkdir pages
deepclock man pages && ls pages
for page in pages/*; do
	! command -v groff > /dev/null || groff -man -Tutf8 -ww -z $page
	! command -v mandoc > /dev/null || mandoc -T lint -W error $page
done
grep -q worker-fd pages/deepclock-bench.1 || echo hidden stays hidden
# The directory is created; a file of the same name is reported.
deepclock man missing/deep && ls missing/deep | head -1
deepclock man pages/deepclock.1
