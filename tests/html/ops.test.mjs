// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import { GROUPS, gains, grouped, groupsOf, leastTime, moduleTree, operators, operatorsIn, outerModule, placed, reasons, roofsOf, shapeText, partText, sumOf, sumText, weightsOf } from "../../src/report/html/page/ops.js";
import { logTicks, tickFormat } from "../../src/report/html/page/figure.js";
import { roofDomain, roofsSeen } from "../../src/report/html/page/views/view_roofline.js";

const op = (name, type, more) => ({ name, type, outputs: [], macs: 0, flops: 0, params: 0, weight_bytes: 0, read_bytes: 0, write_bytes: 0, ...more });
const fact = (key, value) => ({ section: "roofs", key, value });
const record = {
	facts: [fact("peak_fp32", 100e9), fact("peak_fp16", 200e9), { section: "roofs", key: "peak_bf16", absent: "it was not measured on this machine" },
		fact("bandwidth_l2", 50e9), fact("capacity_l2", 1000), fact("bandwidth_dram", 10e9)],
	ops: [
		op("a", "Conv", { scope: "layer1.0.conv1", class: "torch.nn.Conv2d", line: "/m/net.py:7", code: "y = conv(x)", macs: 500, flops: 1000, read_bytes: 60, write_bytes: 40, time: 100, rate: 10e9, roof: 100e9, bound: "compute" }),
		op("b", "Conv", { scope: "layer1.1", macs: { absent: "shape not known" }, flops: { absent: "shape not known" }, read_bytes: 4000, write_bytes: 1000, time: 300, rate: { absent: "its FLOPs are not known" }, roof: { absent: "its FLOPs or bytes are not known" } }),
		op("c", "Relu", { flops: 100, read_bytes: 500, write_bytes: 500, time: 50, time_lo: 40, time_hi: 60, time_level: 0.95, rate: 2e9, roof: 5e9, bound: "memory" }),
		op("d", "Transpose", { read_bytes: 1000, write_bytes: 1000, time: 1000, rate: { absent: "it computes nothing" }, roof: { absent: "it computes nothing" }, bound: "memory" }),
		op("e", "Flatten", { time: 4, rate: { absent: "it computes nothing" }, roof: { absent: "it computes nothing" } }),
	],
};
const ops = operators(record);

test("what is not known is left out of sums and counted, and is not 0", () => {
	assert.deepEqual(sumOf(ops, "macs"), { sum: 500, known: 4, unknown: 1 });
	assert.equal(sumText(sumOf(ops, "macs"), "1"), "≥ 500");
	assert.equal(sumText(sumOf([ops[1]], "macs"), "1"), "–");
	assert.equal(ops[1].intensity.absent, "shape not known");
	assert.equal(ops[4].intensity.absent, "it moves nothing");
	assert.equal(sumOf(operators({ ops: [op("x", "X", { flops: "9007199254740993" })] }), "flops").known, 1);
});

test("bytes moved are those read and those written, and absent with either", () => {
	assert.equal(ops[0].bytes.value, 100);
	assert.ok("absent" in operators({ ops: [op("x", "X", { write_bytes: { absent: "why" } })] })[0].bytes);
});

test("groups hold every operator once, what weighs most first", () => {
	for (const group of GROUPS)
		for (const weight of weightsOf(ops))
			assert.equal(grouped(ops, group, weight.key).reduce((n, g) => n + g.ops.length, 0), ops.length);
	const byType = grouped(ops, GROUPS[0], "time");
	assert.deepEqual(byType.map(g => [g.name, g.sum]), [["Transpose", 1000], ["Conv", 400], ["Relu", 50], ["Flatten", 4]]);
	assert.deepEqual(grouped(ops, GROUPS[1], "time").map(g => g.name), ["(no module)", "layer1.1", "layer1.0"]);
	assert.equal(grouped(ops, GROUPS[2], "macs")[0].name, "Conv2d");
	assert.equal(grouped(ops, GROUPS[3], "macs")[0].name, "net.py:7  y = conv(x)");
	assert.deepEqual(groupsOf(operators({ ops: [op("x", "X")] })).map(g => g.key), ["type"]);
});

test("an outer module is a name, and its number in a list", () => {
	assert.deepEqual(["layer1.0.conv1", "encoder/layer/0/attention", "fc", "", "blocks.12", "a1/2b"].map(outerModule), ["layer1.0", "encoder", "fc", "", "blocks.12", "a1"]);
});

test("the least time is FLOPs at the roof, or bytes at the bandwidth of what holds them", () => {
	const roofs = roofsOf(record);
	assert.deepEqual(roofs.peaks.map(p => p.name), ["FP32", "FP16"]);
	assert.deepEqual(roofs.levels.map(l => [l.name, l.capacity]), [["L2", 1000], ["memory", Infinity]]);
	assert.equal(leastTime(ops[0], roofs), 10);
	assert.ok(Number.isNaN(leastTime(ops[1], roofs)));
	assert.equal(leastTime(ops[2], roofs), 20);
	assert.equal(leastTime(ops[3], roofs), 200); /* 2000 bytes are more than L2 holds */
	assert.equal(leastTime(ops[4], roofs), 0);
	assert.ok(Number.isNaN(leastTime(ops[3], null)));
	assert.deepEqual(gains(ops, roofs).map(g => [g.op.name, g.gain]), [["d", 800], ["a", 90], ["c", 30], ["e", 4]]);
	assert.equal(roofsOf({ facts: [] }), null);
});

test("only operators that compute and have a rate have a place among roofs", () => {
	const { dots, rest } = placed(ops);
	assert.deepEqual(dots.map(d => [d.op.name, d.x, d.y]), [["a", 10, 10e9], ["c", 0.1, 2e9]]);
	assert.deepEqual(reasons(rest, ["rate"]), [{ reason: "it computes nothing", n: 2 }, { reason: "its FLOPs are not known", n: 1 }]);
});

test("shapes", () => {
	assert.equal(shapeText([{ shape: [1, "N", 3] }, { shape: [] }, { shape: { absent: "rank" } }]), "1×N×3, scalar, ?");
});

test("shares of a whole", () => {
	assert.deepEqual([0, 0.0001, 0.00449, 0.5, 0.9995, 1].map(partText), ["0 %", "<0.1 %", "0.4 %", "50.0 %", ">99.9 %", "100 %"]);
});

test("modules hold every operator once; one that holds nothing but another is one with it", () => {
	const tree = moduleTree(operators({ ops: [op("/e/l/0/a/X", "X", { scope: "e/l/0/a" }), op("y", "Y", { scope: "e.l.1", class: "t.Block" }), op("z", "Z")] }));
	assert.deepEqual(tree.children.map(c => c.name), ["e.l", "(no module)"]);
	assert.deepEqual(tree.children[0].children.map(c => [c.name, c.className]), [["l.0.a", ""], ["l.1", "Block"]]);
	assert.deepEqual(operatorsIn(tree).map(o => o.i), [0, 1, 2]);
	assert.equal(tree.children[0].children[0].children[0].name, "a/X");
});

test("roofs that the record does not hold are those of its operators", () => {
	const seen = roofsSeen(ops);
	assert.deepEqual(seen.peaks.map(p => p.value), [100e9]);
	assert.deepEqual(seen.levels.map(l => l.value), [50e9]);
	assert.equal(roofsSeen([ops[1]]), null);
	assert.ok(Number.isNaN(leastTime(ops[3], seen)));
});

test("the picture holds all dots and bends", () => {
	const d = roofDomain(placed(ops).dots, [{ value: 100e9 }], [{ value: 10e9 }, { value: 50e9 }]);
	assert.ok(d.x[0] < 0.1 && d.x[1] > 10 && d.y[0] < 2e9 && d.y[1] > 100e9);
});

test("names lose what their exporter repeats, and stay apart", () => {
	const named = (...names) => operators({ ops: names.map(name => ({ name })) }).map(o => o.compact);
	assert.deepEqual(named("/features/features.2/conv/conv.0/conv.0.0/Conv", "/classifier/classifier.1/Gemm", "Conv_0", ""),
		["features.2/conv.0.0/Conv", "classifier.1/Gemm", "Conv_0", "(no name)"]);
	assert.deepEqual(named("/a/a.1/Add", "/a.1/Add"), ["/a/a.1/Add", "/a.1/Add"]);
});

test("a logarithmic axis has as many numbers as there is room for", () => {
	const scale = (from, to, px) => Object.assign(v => Math.log10(v / from) / Math.log10(to / from) * px, { domain: () => [from, to] });
	assert.deepEqual(logTicks(scale(1, 1000, 900), 50), [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]);
	assert.deepEqual(logTicks(scale(1, 1000, 400), 50), [1, 3, 10, 30, 100, 300, 1000]);
	assert.deepEqual(logTicks(scale(1, 1000, 200), 50), [1, 10, 100, 1000]);
	assert.deepEqual(logTicks(scale(1, 1e6, 200), 50), [1, 100, 10000, 1e6]);
});

test("an axis of great numbers names their thousands or millions once", () => {
	assert.deepEqual([tickFormat(2.5e6, "items/s").name, tickFormat(2.5e6, "items/s").text(2e6)], ["million items/s", "2"]);
	assert.deepEqual([tickFormat(150000, "items/s").name, tickFormat(90000, "items/s").name, tickFormat(5e6, "ns").name, tickFormat(1e6, "1").name], ["1,000 items/s", "items/s", "ms", ""]);
});
