# heavy
# --device gpu is the first GPU there is, and the record has the one that was used.
. webgpu || exit 77
deepclock bench --quiet --runs 10 --warmup 2 --device gpu --save gpu.json zoo:simplenet | sed -n 1p | sed 's/ort [0-9.]*/ort/'
record gpu.json 'f("engine", "provider")' 'f("plan", "device")' 'f("device", "barrier")'
