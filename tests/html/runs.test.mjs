// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import "./d3.mjs";
import { ledger, runsOf, steadyAfter } from "../../src/report/html/page/phases.js";
import { lanes } from "../../src/report/html/page/plot_spread.js";
import { density, ecdf, lagPairs, sorted, thin } from "../../src/report/html/page/spread.js";
import { spaced } from "../../src/report/html/page/points.js";
import { answerHas, starReasons } from "../../src/report/html/page/views/view_answer.js";
import { columnsOf } from "../../src/report/html/page/views/view_tables.js";

const noise = (n, seed = 1) => Array.from({ length: n }, () => {
	let sum = 0;
	for (let i = 0; i < 12; i++) {
		seed = (seed * 48271) % 2147483647;
		sum += seed / 2147483647;
	}
	return sum - 6; /* near enough to normal(0, 1) */
});

test("the density of a normal is its bell, and one over all", () => {
	const curve = density(noise(20000), -4, 4, 161), step = 8 / 160;
	assert.ok(Math.abs(curve.reduce((sum, p) => sum + p[1] * step, 0) - 1) < 0.01);
	assert.ok(Math.abs(curve[80][1] - 0.3989) < 0.02, String(curve[80][1]));
	assert.ok(Math.abs(curve[100][1] - 0.2420) < 0.02, String(curve[100][1]));
});

test("a density that would say nothing is none", () => {
	assert.deepEqual(density(noise(29), -4, 4), []);
	assert.deepEqual(density(Array(1000).fill(7), 0, 10), []);
	assert.deepEqual(density(Array.from({ length: 1000 }, (_, i) => i % 10), 0, 10), []);
});

test("shares end at one and rise by whole steps", () => {
	assert.deepEqual(ecdf(sorted([3, 1, 2, 2]), 1, 3), [[1, 0.25], [2, 0.75], [2, 0.75], [3, 1], [3, 1]]);
});

test("thinning keeps every run's column, the least, the middle and the greatest", () => {
	const values = noise(131072), at = values.map((_, i) => i);
	values[70000] = 99;
	values[5] = NaN;
	const out = thin(at, values, 0, 131072, 1000);
	assert.ok(out.length <= 1000);
	assert.equal(out.reduce((n, p) => n + p.n, 0), 131071);
	assert.equal(Math.max(...out.map(p => p.high)), 99);
	for (const p of out.slice(0, 20)) {
		const own = values.slice(p.i, p.i + p.n).filter(Number.isFinite);
		assert.ok(p.low <= p.mid && p.mid <= p.high && p.low === Math.min(...own) || p.i === 0);
	}
	assert.equal(thin(at.slice(0, 1500), values.slice(0, 1500), 0, 1500, 1000).length, 1499);
});

test("pairs of neighbours are taken evenly", () => {
	assert.deepEqual(lagPairs([1, 2, 4]), [{ i: 0, now: 1, next: 2 }, { i: 1, now: 2, next: 4 }]);
	assert.ok(lagPairs(noise(131072)).length <= 3000);
});

const timed = { tag: "latency", unit: "ns", warmup: 2, at_ns: [1000, 1500, 2100, 2400], values: [400, 300, 200, 300] };
const phase = (name, value) => ({ tag: `time/${name}`, unit: "ns", ...(value === null ? { absent: "there are none" } : { value }) });

test("the ledger adds up to the wall time, with a row for what is in no phase", () => {
	const r = { series: [timed], metrics: [phase("library", 100), phase("session", 500), phase("inputs", null), phase("first_run", 400), phase("warmup", 900), phase("measured", 620)] };
	const { rows, wall } = ledger(r);
	assert.equal(wall, 2720);
	assert.equal(rows.reduce((sum, row) => sum + row.ns, 0), wall);
	assert.deepEqual(rows.map(row => [row.name, row.ns]), [["load the library", 100], ["open the session", 500], ["make the inputs", 0],
		["else, before the first run", 400], ["first run", 400], ["the rest of the warm-up", 500], ["else, before measuring", 200], ["measured", 620]]);
	assert.equal(rows[2].absent, "there are none");
	r.metrics[1].value = 5000;
	assert.equal(ledger(r), null);
	assert.equal(ledger({ series: [], metrics: r.metrics }), null);
});

test("runs of several processes are told apart; without times there is no ledger", () => {
	const r = { series: [{ ...timed, tag: "latency/process/1" }, { ...timed, tag: "latency/process/2", at_ns: undefined }, { tag: "cpu", values: [1] }], metrics: [] };
	assert.deepEqual(runsOf(r).map(run => [run.name, run.at === null]), [["process 1", false], ["process 2", true]]);
	assert.deepEqual(runsOf(r)[0].at, [0, 500, 1100, 1400]);
	assert.ok(Number.isNaN(steadyAfter({ facts: [] })));
	assert.equal(steadyAfter({ facts: [{ section: "method", key: "steady_after", value: 7, unit: "ns" }] }), 7);
});

test("texts of marks touch neither each other nor the end", () => {
	const x = v => v, list = [10, 12, 300, 390].map(v => ({ name: "p", unit: "ns", c: { value: v } }));
	const placed = lanes(list, x, 400).map(m => ({ lane: m.lane, from: m.left ? m.at - 7 * m.text.length : m.at, to: m.left ? m.at : m.at + 7 * m.text.length }));
	for (const [i, a] of placed.entries())
		for (const b of placed.slice(0, i))
			assert.ok(a.lane !== b.lane || a.from >= b.to || b.from >= a.to);
	assert.ok(placed.every(p => p.to <= 400));
	const places = spaced([50, 52, 51, 100], 14, 0, 100);
	assert.ok(Math.abs(places[0] - places[2]) >= 14 && Math.abs(places[1] - places[2]) >= 14 && Math.max(...places) <= 100);
});

test("a metric is in the answer under its name, or as a whole number", () => {
	const told = "median 15.000 ms  [14.9, 15.1] ms 95 %   66.70 items/s";
	assert.ok(answerHas(told, "latency/median", "median", "15.000 ms"));
	assert.ok(!answerHas(told, "latency/mean", "mean", "15.000 ms"));
	assert.ok(answerHas(told, "throughput/items", "throughput", "66.70 items/s"));
	assert.ok(answerHas("median 23.00 ns  [23.00, 24.00]", "latency/median", "median", "23 ns"));
	assert.ok(answerHas("median 6.48 µs", "latency/median", "median", "6.484 µs"));
	assert.ok(!answerHas("median 6.49 µs", "latency/median", "median", "6.484 µs"));
	assert.ok(!answerHas(told, "latency/undisturbed", "undisturbed", "5.000 ms"));
});

test("a star in the answer is explained, unless a note does it", () => {
	const r = { metrics: [{ tag: "latency/median", narrow: "few runs" }, { tag: "latency/mean", narrow: "long runs" }, { tag: "throughput/items", narrow: "few runs" }] };
	assert.deepEqual(starReasons(r, "median 1 ms [1, 1]* 95 %", []), [["few runs", ["latency/median", "throughput/items"]]]);
	assert.deepEqual(starReasons(r, "median 1 ms [1, 1]* 95 %", [{ text: "imprecise, because of few runs" }]), []);
	assert.deepEqual(starReasons(r, "median 1 ms [1, 1] 95 %", []), []);
});

test("numbers without a unit are sorted as numbers", () => {
	const t = { name: "t", columns: [{ key: "line", title: "line" }, { key: "file", title: "file" }, { key: "code", title: "code" }], rows: [[10, "a", "x"], [9, "b", 3], [{ absent: "no" }, "c", 4]] };
	const row = { line: { value: 9 }, file: { value: "b" }, code: { value: 3 } };
	assert.deepEqual(columnsOf(t, { shares: [] }).map(c => [c.number, c.value(row), c.text(row)]), [[true, 9, "9"], [false, "b", "b"], [false, "3", "3"]]);
});
