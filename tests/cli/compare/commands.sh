# heavy
# Two programs, interleaved; a program that fails in the middle; one that prints a lot.
deepclock compare --quiet 'cmd:sleep 0.01' 'cmd:sleep 0.03' --margin 20% --save run.json > text
echo $?
record run.json 'f("compare", "verdict")' 'len(r["tables"])'
cat > third <<'END'
#!/bin/sh
echo x >> runs
sleep 0.02
[ "$(wc -l < runs)" -lt 150 ]
END
chmod +x third
deepclock compare --quiet 'cmd:true' 'cmd:./third' --rounds 500 --save run.json > text 2> why
echo $?
grep -c "'cmd:./third'" why
record run.json 'r["incomplete"]' 'note("engine-failed")["severity"]' 'len(s("compare/rounds/cmd:true")["values"]) > 0'
deepclock compare --quiet 'cmd:head -c 100000000 /dev/zero' 'cmd:true' --rounds 15 --margin 1% > text
echo $?
