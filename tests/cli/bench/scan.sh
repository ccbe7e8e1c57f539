# heavy
# One program with several values: substituted in every word and hook, measured interleaved, ranked.
deepclock bench --quiet --runs 8 --save r.json --scan n=1..2 --setup "sh -c 'echo setup {n} {x} >> log'" -- sh -c 'sleep 0.0{n}; echo {n} {x} > ran{n}' > text
echo $? $(cat log ran1 ran2)
record r.json 'r["incomplete"]' 'f("subject", "name")' 'sorted(row[0] for row in r["tables"][0]["rows"])'
deepclock bench --quiet --runs 9 --scan tool=true,sleep --scan n=0.01..0.03:0.02 'cmd:{tool} {n}' --format csv > r.csv
echo $? $(grep -o 'sleep 0.03' r.csv | sort -u)
deepclock bench --quiet --runs 9 --scan n=1,2 'cmd:true {n}' cmd:'sleep 0.01' --format markdown | grep -o '^| \(true\|sleep\) [^ ]*' | sort
# A space in a value does not split the word.
deepclock bench --quiet --runs 1 --scan 'v=a  b' --prepare 'test {v} = "a  b"' -- test '{v}' = 'a  b' | head -1
# Refused before anything runs.
refused() {
	deepclock bench "$@" -- touch ran '{n}' 2>&1 | head -1
}
refused --scan n=1..1000000000
refused --scan n=1..4:-1
refused --scan n=0.1..0.5
refused --scan n=nan..4
refused --scan n
refused --scan m=1,2
refused --scan n=1,2 --scan n=3
refused --scan n=1..4 --scan m=1..5 --prepare 'echo {m}'
refused --scan n=1,2 --processes 2
refused --parameter-scan n 1 4
refused -L n 1,2
deepclock bench --engine null --scan n=1,2 zoo:simplenet
echo $?
deepclock bench --scan n=1,2
echo $?
test -e ran || echo nothing ran
