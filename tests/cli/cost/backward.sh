# A training step: twice the forward pass's products after the first layer, once for the first layer,
# whose input needs no gradient: 100,352 + 2 x 1,280.
deepclock cost zoo:simplenet --backward --format json > run.json
record run.json '[(x["tag"], x["value"]) for x in r["metrics"] if "backward" in x["tag"] or "train" in x["tag"]]' \
	'f("plan", "backward")'
