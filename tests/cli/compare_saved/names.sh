# Records are named by their files, with the shortest part of the path that distinguishes them.
mkdir before after
saved-record same latency/median 100e3 98e3 103e3 > before/run.json
saved-record same latency/median 210e3 207e3 212e3 > after/run.json
cp after/run.json new.json
here=$PWD
deepclock compare before/run.json new.json | sed -n 2p
deepclock compare "$here/before/run.json" "$here/after/run.json" | sed -n 2p
# A locale without UTF-8 cannot print the ellipsis.
LC_ALL=C deepclock compare before/run.json after/run.json | sed -n '/^  subject /,/^ *$/p'
