# One page from records; if there is no browser, nothing is opened.
deepclock bench zoo:simplenet --engine null --runs 60 --warmup 1 --quiet --no-history --save run.json --html run.html > /dev/null
head -c 15 run.html
grep -c "script-src 'sha256-" run.html
deepclock view run.json --no-browser -o again.html | sed "s|$PWD|HERE|"
cmp run.html again.html
# The extension selects the format; --format html goes to stdout.
deepclock report run.json -o other.html
cmp run.html other.html
deepclock report run.json --format html | cmp - run.html
# A browser is called with the page's name.
printf '#!/bin/sh\necho "$1" > opened\n' > browser
chmod +x browser
BROWSER=$PWD/browser deepclock view run.json run.json -o two.html | sed "s|$PWD|HERE|"
for _ in $(seq 200); do [ -s opened ] && break; sleep 0.1; done
sed "s|$PWD|HERE|" opened
# By default the page is in a directory that only its owner can enter, and the next view replaces it.
unset DISPLAY WAYLAND_DISPLAY BROWSER SSH_CONNECTION
for i in 1 2; do HOME=$PWD deepclock view run.json --no-browser | sed "s|$PWD|HERE|"; done
stat -c %a .cache/deepclock/view
ls .cache/deepclock/view
XDG_CACHE_HOME=$PWD/other deepclock view run.json --no-browser | sed "s|$PWD|HERE|"
env -u HOME -u XDG_CACHE_HOME deepclock view run.json
echo $?
XDG_CACHE_HOME=$PWD/run.json deepclock view run.json 2>&1 | sed "s|$PWD|HERE|"
# Without a display no page is reported as opened, nor if the opener fails.
deepclock view run.json --html three.html | sed "s|$PWD|HERE|"
cmp run.html three.html
mkdir bin && printf '#!/bin/sh\nexit 3\n' > bin/xdg-open && chmod +x bin/xdg-open
DISPLAY=:9 BROWSER=./none deepclock view run.json -o three.html --no-browser | sed "s|$PWD|HERE|"
# On a busy machine the opener may need more than a second to fail: retry once.
for i in 1 2 3 4 5 6 7 8; do
	PATH=$PWD/bin:$PATH DISPLAY=:9 BROWSER=false deepclock view run.json -o three.html > said
	! grep -q ^opened said || continue
	break
done
sed "s|$PWD|HERE|" said
rm -r bin said
SSH_CONNECTION=x deepclock view run.json -o three.html | sed "s|$PWD|HERE|; s|'$(hostname):|'THIS:|"
# Read and write errors are printed, and no file remains.
deepclock view none.json
echo $?
deepclock view run.json -o none/x.html
echo $?
ls
