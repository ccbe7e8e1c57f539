// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import "./d3.mjs";
import { batchLists, batchMarks, limitNs, tailOf } from "../../src/report/html/page/views/view_batches.js";
import { itemsOf, medians, overOf, ratiosOf } from "../../src/report/html/page/views/view_beside.js";
import { effectsOf, frontOf } from "../../src/report/html/page/views/view_effects.js";
import { firstTokensOf, gapsOf } from "../../src/report/html/page/views/view_generation.js";
import { mistakesOf } from "../../src/report/html/page/views/view_pitfalls.js";
import { rankStepsOf, rankTimesOf, ranksOf } from "../../src/report/html/page/views/view_ranks.js";
import { wholeText } from "../../src/report/html/page/units.js";
import { lapsOf, stepBars, trendOf } from "../../src/report/html/page/views/view_trend.js";

const columns = (...keys) => keys.map(key => ({ key, title: key }));

test("limits on latency are read with their unit", () => {
	assert.deepEqual(["p99<=20ms", "mean<=1.5s", "max<=300us", "p50<=7 ns"].map(limitNs), [20e6, 1.5e9, 300e3, 7]);
	assert.ok([undefined, "not given", "p99<=x", "p99>=2ms"].every(text => Number.isNaN(limitNs(text))));
});

test("sizes are listed by the threads they had", () => {
	const t = { name: "throughput/points", columns: columns("batch", "threads"), rows: [[1, 1], [1, 2], [2, 1]] };
	assert.deepEqual(batchLists({ tables: [t] }).map(l => [l.name, l.rows.map(row => row.batch.value)]), [["1 thread", [1, 2]], ["2 threads", [1]]]);
	assert.equal(batchLists({ tables: [{ ...t, rows: [[1, 1], [4, 1]] }] })[0].name, "");
	assert.deepEqual(batchLists({}), []);
});

test("a search that was cut short marks no best", () => {
	const of = status => [{ rows: [{ status: { value: "ok" } }, { status: { value: status } }] }];
	assert.deepEqual(batchMarks(of("highest"), 4, 4), [{ x: 4, text: "highest so far: 4" }]);
	assert.deepEqual(batchMarks(of("best"), 4, 4).map(m => m.text), ["best and knee: 4"]);
	assert.deepEqual(batchMarks(of("best"), 4, 2).map(m => m.text), ["best: 4", "knee: 2"]);
});

test("the tail ends at the last percentile that the record has", () => {
	const values = Array.from({ length: 1001 }, (_, i) => i), r = { series: [{ tag: "latency", unit: "ns", values }], metrics: [
		{ tag: "latency/median", value: 500, unit: "ns" }, { tag: "latency/p90", value: 900, unit: "ns", lo: 880, hi: 920, level: 0.95 }, { tag: "latency/p99", absent: "too few", unit: "ns" }] };
	const tail = tailOf(r), last = tail.curve[tail.curve.length - 1];
	assert.equal(tail.end, 0.9);
	assert.ok(Math.abs(last.x - 10) < 1e-9 && Math.abs(last.y - 900) < 1e-6, JSON.stringify(last));
	assert.deepEqual(tail.left.map(p => [p.name, p.c.absent]), [["p99", "too few"]]);
	assert.equal(tailOf({ series: r.series, metrics: [] }), null);
});

test("a comparison's rounds are each over the baseline of the same round", () => {
	const r = { series: [{ tag: "compare/rounds/a", values: [10, 20, 40] }, { tag: "compare/rounds/b", values: [11, 30, null] }],
		tables: [{ name: "compare/alternatives", columns: columns("subject", "ratio", "verdict"), rows: [["a", { absent: "it is the baseline" }, "baseline"], ["b", { value: 1.3, lo: 1.1, hi: 1.5, level: 0.95 }, "slower"]] }] };
	const [b] = ratiosOf(r);
	assert.deepEqual([b.name, b.value, b.lo, b.hi, b.verdict], ["b", 1.3, 1.1, 1.5, "slower"]);
	assert.deepEqual(b.rounds.slice(0, 2), [{ x: 1, y: 1.1 }, { x: 2, y: 1.5 }]);
	assert.deepEqual(ratiosOf({}), []);
	assert.deepEqual(medians([{ metrics: [{ tag: "latency/median", absent: "none" }] }, { metrics: [{ tag: "latency/median", value: 5, unit: "ns" }], command: "x" }]).map(m => [m.name, m.value]), [["2. x", 5]]);
});

test("a comparison over sizes has the times of every setting, and where they cross", () => {
	const t = { name: "compare/over", columns: columns("value", "subject", "base_time", "time", "ratio", "verdict"), rows: [
		["1", "cuda, float16", 10, 20, { value: 2, lo: 1.9, hi: 2.1, level: 0.95 }, "slower"], ["8", "cuda, float16", 60, 30, { value: 0.5, lo: 0.4, hi: 0.6, level: 0.95 }, "faster"]] };
	const r = { tables: [t], facts: [{ section: "compare", key: "subjects", value: "cpu, float16, cuda, float16" }], metrics: [{ tag: "compare/crossover", value: 2.8, lo: 1, hi: 8, level: 0.95 }] };
	const { settings: [base, cuda] } = overOf(r);
	assert.deepEqual([base.name, base.times, cuda.name, cuda.times], ["cpu, float16", [{ x: 1, y: 10 }, { x: 8, y: 60 }], "cuda, float16", [{ x: 1, y: 20 }, { x: 8, y: 30 }]]);
	assert.deepEqual([cuda.cross.value, cuda.ratios[1]], [2.8, { x: 8, y: 0.5, lo: 0.4, hi: 0.6, level: 0.95, verdict: "faster" }]);
	assert.equal(overOf({ ...r, metrics: [] }).settings[1].cross, null);
	assert.equal(overOf({ tables: [{ ...t, rows: [["none", "b", 1, 1, 1, "same"], ["all", "b", 1, 1, 1, "same"]] }] }), null);
	assert.equal(overOf({}), null);
});

test("levels of a trend lie between its changes", () => {
	const none = { absent: "no change" }, row = (value, change) => ["2026-01-01T00:00:00Z", "c0ffee", 1, value, "ns", ...(change || [none, none, none])];
	const t = { name: "history/points", columns: columns("time", "commit", "records", "value", "unit", "before", "after", "change"), rows: [row(1), row(1), row(3, [1, 3, "200 % worse"]), row(3), row(2, [3, 2, "33 % better"])] };
	assert.deepEqual(trendOf({ tables: [t] }).levels, [{ from: 0, to: 1, y: 1 }, { from: 2, to: 3, y: 3 }, { from: 4, to: 4, y: 2 }]);
	assert.deepEqual(trendOf({ tables: [t] }).cuts.map(c => [c.x, c.change]), [[2, "200 % worse"], [4, "33 % better"]]);
});

test("values of laps stand at their own laps", () => {
	const r = { series: [{ tag: "laps/epoch/wall", unit: "ns", at_ns: [0, 10, 20], values: [5, 6, 7] }, { tag: "laps/epoch/loss", unit: "1", at_ns: [0, 20], values: [0.5, 0.25] }, { tag: "laps/epoch/cpu", unit: "ns", values: [1, 1, 1] }, { tag: "laps/all/wall", values: [1] }] };
	const [lap, ...more] = lapsOf(r);
	assert.equal(more.length, 0);
	assert.deepEqual(lap.values.map(v => [v.name, v.points]), [["loss", [{ i: 0, v: 0.5 }, { i: 2, v: 0.25 }]]]);
});

test("laps of a series from which some were left out have their own numbers", () => {
	const values = new Array(40000).fill(1), wall = [{ tag: "laps/step/wall", unit: "ns", values }];
	const of = (all, series = wall) => lapsOf({ series, metrics: [{ tag: "lap/count/step", value: all, unit: "1" }] }).map(l => [l.each, l.all])[0];
	assert.deepEqual([of(40000), of(79999), of(80000), of(159999)], [[1, 40000], [2, 79999], [2, 80000], [4, 159999]]);
	assert.deepEqual(of(9, [{ ...wall[0], values: [1, 2, 3] }]), [1, 3]); /* the others were lost */
});

test("bars of steps are means of neighbours, and add up", () => {
	const s = (name, values) => ({ tag: `steps/${name}`, unit: "ns", warmup: 2, values });
	const r = { series: [s("data", [1, 3, 5, 7, 9]), s("forward", [2, 2, 2, 2, 2])], tables: [{ name: "steps", columns: columns("part", "what"), rows: [["data", "waiting for data"], ["forward", "forward"], ["step", "step"]] }] };
	assert.deepEqual(stepBars(r, 3).bars, [{ from: 0, n: 2, sums: [2, 2] }, { from: 2, n: 2, sums: [6, 2] }, { from: 4, n: 1, sums: [9, 2] }]);
	assert.equal(stepBars(r).each, 1);
	assert.equal(stepBars({}), null);
});

test("records that differ in the items of a run have a curve, and their titles for names", () => {
	const of = (items, value, title) => ({ command: "x", facts: [{ section: "subject", key: "name", value: "Net" }, { section: "subject", key: "items_per_run", value: items, unit: "1" },
		...(title ? [{ section: "subject", key: "title", value: title }] : [])], metrics: [{ tag: "throughput/items", value, unit: "items/s" }, { tag: "latency/median", value: 1, unit: "ns" }] });
	assert.deepEqual(itemsOf([of(8, 70, "batch 8"), of(1, 10, "batch 1")]).map(p => [p.x, p.y, p.name]), [[1, 10, "2. batch 1"], [8, 70, "1. batch 8"]]);
	assert.deepEqual(itemsOf([of(8, 70), of(8, 10)]), []);
	assert.deepEqual(medians([of(8, 70, "batch 8"), of(1, 10)]).map(m => m.name), ["1. batch 8", "2. Net"]);
});

test("mistakes stand by how far they move the number, those that give 0 are left out", () => {
	const t = { name: "pitfalls/mistakes", columns: columns("mistake", "factor", "verdict"), rows: [["coarse", 0, "harm"], ["warm", { value: 1.1, lo: 1, hi: 1.2, level: 0.95 }, "not resolved"], ["half", 0.25, "harm"], ["none", { absent: "no device" }, ""]] };
	assert.deepEqual(mistakesOf({ tables: [t] }).map(m => [m.name, m.value, m.class]), [["half", 0.25, "c2"], ["warm", 1.1, "c8"]]);
	assert.deepEqual(mistakesOf({}), []);
});

test("whole numbers have operations and no FLOPs", () => {
	assert.deepEqual([wholeText("peak/int8/all", "2.1 TFLOP/s"), wholeText("peak/fp32/1", "2.1 TFLOP/s")], ["2.1 TOP/s", "2.1 TFLOP/s"]);
});

test("effects of options stand by their size, without those that were not measured", () => {
	const effects = { name: "tune/effects", columns: columns("option", "speedup", "verdict"), rows: [["a=1", { value: 0.5, lo: 0.4, hi: 0.6, level: 0.95 }, "slower"], ["b=2", { absent: "there was no time for it" }, "not known"], ["c=3", 3, "faster"]] };
	const front = { name: "tune/front", columns: columns("configuration", "speedup", "latency", "memory"), rows: [["c=3", 3, 10, 200], ["d=4", 1.1, 30, { absent: "the system does not report it" }]] };
	assert.deepEqual(effectsOf({ tables: [effects] }).map(e => [e.name, e.value, e.lo, e.class]), [["c=3", 3, undefined, "c3"], ["a=1", 0.5, 0.4, "c2"]]);
	assert.deepEqual(frontOf({ tables: [front] }), [{ name: "c=3", x: 200, y: 10, speedup: 3 }]);
	assert.deepEqual([effectsOf({}), frontOf({})], [[], []]);
});

test("gaps of generation begin with the second token, first tokens need several lengths", () => {
	const t = { name: "generate/lengths", columns: columns("case", "prompt", "batch", "ttft"), rows: [["8 x 1", 8, 1, { value: 5, lo: 4, hi: 6, level: 0.95 }], ["16 x 1", 16, 1, 9]] };
	const r = { series: [{ tag: "generate/gap_by_position/8x1", values: [3, 4] }], tables: [t] };
	assert.deepEqual(gapsOf(r).map(l => [l.name, l.points]), [["8 x 1", [{ x: 2, y: 3 }, { x: 3, y: 4 }]]]);
	assert.deepEqual(firstTokensOf(r).map(l => [l.name, l.points.map(p => [p.x, p.y, p.hi])]), [["batch 1", [[8, 5, 6], [16, 9, undefined]]]]);
	assert.deepEqual([firstTokensOf({ tables: [{ ...t, rows: t.rows.slice(1) }] }), gapsOf({}), firstTokensOf({})], [[], [], []]);
});

test("the ranks of a job: those with times, and the map by time", () => {
	const r = { tables: [{ name: "ranks", columns: columns("rank", "wait", "cost"), rows: [[0, 5e6, 0], [1, { absent: "it never connected" }, { absent: "it never connected" }], [2, 0, { value: 4e6, lo: 3e6, hi: 5e6, level: 0.95 }]] },
		{ name: "ranks/times", columns: columns("rank", "from", "to", "wait", "cost"), rows: [[0, 3, 4, 8e6, 0], [0, 5, 6, 2e6, 0], [2, 3, 4, 0, 8e6], [2, 5, 6, 0, 2e6]] }] };
	assert.deepEqual(ranksOf(r).map(row => [row.name, row.cost.level || 0]), [["rank 0", 0], ["rank 2", 0.95]]);
	assert.deepEqual(rankTimesOf(r).ranks, [0, 2]);
	assert.deepEqual(rankTimesOf(r).cells.map(c => [c.row, c.from, c.share]), [[0, 3, 1], [0, 5, 0.25], [1, 3, 0], [1, 5, 0]]);
	assert.equal(rankTimesOf({}), null);
	assert.equal(rankTimesOf({ tables: [{ name: "ranks/times", columns: [{ key: "rank" }], rows: [] }] }), null);
});

test("the steps of a job on one clock, rank by rank", () => {
	const t = { name: "ranks/spans", columns: columns("step", "rank", "kind", "name", "begin", "end"),
		rows: [[7, 0, "step", "step", 0, 9], [7, 0, "part", "forward", 1, 3], [7, 4, "step", "step", 2, 9], [7, 4, "collective", "collective:sum", 5, 8], [3, 4, "part", "update", 0, 1]] };
	const [long, typical, none] = rankStepsOf({ tables: [t] });
	assert.deepEqual([long.step, long.ranks, long.names, typical.step, typical.ranks, typical.names, none], [7, [0, 4], ["forward"], 3, [4], ["update"], undefined]);
	assert.deepEqual(long.spans.map(s => [s.rank, s.row, s.kind, s.begin, s.end]), [[0, 0, "step", 0, 9], [0, 0, "part", 1, 3], [4, 1, "step", 2, 9], [4, 1, "collective", 5, 8]]);
	assert.deepEqual(rankStepsOf({}), []);
});
