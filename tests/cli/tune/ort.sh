# heavy
# A model in ONNX Runtime: its options, outputs that agree, and lines that apply the answer.
need-ort || exit 77
deepclock tune --quiet zoo:simplenet --only threads,spin,opt --trial 20ms --max-time 8s --save run.json > text
echo $?
record run.json 'm("tune/speedup").get("value", 1) > 0' '[t["name"] for t in r["tables"]]' \
	'f("tune", "command").startswith("deepclock bench ")' \
	'[row[1] for row in t("tune/apply")["rows"]][1]' '"intra_op_num_threads" in [row[3] for row in t("tune/apply")["rows"]]' \
	'[row[6] for row in t("tune/configurations")["rows"]][0] > 1' \
	'{row[5] for row in t("tune/configurations")["rows"]} <= {"default", "best", "ok", "not tried"}' \
	'f("engine", "name")'
# The command that it names runs.
$(python3 -c 'import json; print([f["value"] for f in json.load(open("run.json"))["facts"] if f["key"] == "command" and f["section"] == "tune"][0])') \
	--quiet --runs 5 > text
echo $?
# Every batch of --goal throughput is a configuration.
deepclock tune --quiet zoo:simplenet --only batch --goal throughput --trial 20ms --max-time 6s --save run.json > text
echo $?
record run.json 'sorted(row[0] for row in t("tune/effects")["rows"])' \
	'[c["key"] for c in t("tune/front")["columns"]]' 'm("tune/speedup").get("value", 1) > 0'
