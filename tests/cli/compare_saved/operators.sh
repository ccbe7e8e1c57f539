# Two profiles: which operators got slower, by how much, with an interval; a fused operator is matched with its parts.
saved-record old latency/median 200e3 199.5e3 200.5e3 op:conv1:Conv:100e3:500 op:relu1:Relu:8e3:100 \
	op:conv2:Conv:60e3:500 op:conv3:Conv:50e3:500 op:fc:Gemm:20e3:100 op:pool:MaxPool:2e3:50 > old.json
saved-record new latency/median 215e3 214.5e3 215.5e3 op:conv1:FusedConv:130e3:500:conv1,relu1 \
	op:conv2:Conv:60.1e3:500 op:conv3:Conv:50e3:500 op:fc_new:Gemm:21e3:100 \
	op:reorder:ReorderOutput:1e3:50 > new.json
deepclock compare --details old.json new.json > out
echo "exit $?"
grep -e '^Operators' -e '^note: .* got slower' out
deepclock compare old.json new.json --format json > run.json
python3 -c '
import json
for t in json.load(open("run.json"))["tables"][1:]:
    print(t["name"], *[c["key"] for c in t["columns"]])
    for row in t["rows"]:
        print(" ", *[c if isinstance(c, (str, int)) else round(c.get("value", c) if isinstance(c, dict)
              else c, 4) for c in row], sep=" | ")'
record run.json 'f("operators", "compared"), f("operators", "renamed")' \
	'f("operators", "only_in_first"), f("operators", "only_in_second")'
