# What a killed process left of its folders is removed by the next; nobody else's is touched.
mkdir -m 700 deepclock-AAAAAA deepclock-BBBBBB deepclock-CCCCCC deepclock-other
mkdir -m 755 deepclock-DDDDDD
for d in deepclock-*; do echo x > $d/file; done
touch -d '1 hour ago' deepclock-AAAAAA deepclock-CCCCCC deepclock-DDDDDD deepclock-other
ln -s deepclock-other deepclock-EEEEEE
flock -F deepclock-CCCCCC sleep 60 & # its owner lives
until ! flock -n deepclock-CCCCCC true; do sleep 0.02; done
deepclock memory --quiet -- true > text
echo $?
ls -d deepclock-*
kill $!
# Killed in the middle of it.
deepclock memory --quiet -- sh -c 'echo $$ > begun; exec sleep 60 2> /dev/null' > text & memory=$!
until [ -s begun ]; do sleep 0.02; done
kill -s KILL $memory "$(cat begun)"
wait $memory 2> /dev/null
left=$(ls -d deepclock-* | wc -l)
touch -d '1 hour ago' deepclock-*
deepclock memory --quiet -- true > text
echo "$left, then $(ls -d deepclock-* | wc -l)"
