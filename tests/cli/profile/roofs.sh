# heavy
# An impossible rate is refused with a note, and never printed as a fact.
export XDG_CACHE_HOME="$PWD/cache"
# On a busy machine the time may end before all limits are measured.
for try in 1 2 3; do
	deepclock machine --quiet --refresh --keep --format json > limits.json || exit 1
	grep -q '"tag": "bandwidth/dram_triad/all", "value"' limits.json && break
done
deepclock profile --quiet --engine null --engine-option ns=1000 \
	--engine-option operators=/fc1/Gemm:1,/relu/Relu:989,/fc2/Gemm:10 --runs 20 --warmup 1 --group 1 \
	--profile-runs 5 --format json zoo:simplenet > run.json 2> err
echo $?
record run.json 'r["ops"][0]["rate"]' 'note("above-roof")["severity"]' '"/fc1/Gemm" in note("above-roof")["text"]' \
	'any("/relu/Relu" in n["text"] for n in r["notes"] if n["code"] == "roofs-doubtful")' 'r["ops"][0]["roof"] > 0' 'm("profile/attainable")["absent"].split(",")[0]' \
	'sorted(f["key"] for f in r["facts"] if f["section"] == "roofs")'
# An operator's roof is computed from the limits in the record: a peak, or its intensity times a bandwidth.
python3 - << 'END'
import json

r = json.load(open("run.json"))
roofs = {f["key"]: f.get("value", 0) for f in r["facts"] if f["section"] == "roofs"}
for o in r["ops"][:3]:
    moved = o["flops"] / (o["read_bytes"] + o["write_bytes"])
    allowed = {k: v * (moved if k.startswith("bandwidth") else 1) for k, v in roofs.items() if not k.startswith("capacity")}
    print(o["name"], any(abs(o["roof"] / v - 1) < 1e-9 for v in allowed.values() if v))
END
