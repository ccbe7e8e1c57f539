// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import { NO_NODE, byFunctions, calleeRows, callerRows, coloursOf, exactRows, functionRows, groupOf, inverted, layout, lineRows, mainWeight, openTree, search, totalOf } from "../../src/report/html/page/calltree.js";

const columns = [{ key: "calls", title: "calls", unit: "1" }, { key: "self", title: "self", unit: "ns" }];
const frames = [{ name: "main", file: "a.c", line: 9, start_line: 5 }, { name: "work", module: "libw.so" }, { name: "fib", file: "f.py", line: 3 }, { name: "main", file: "a.c", line: 7, start_line: 5 }];
/* main -> work -> fib -> fib, main (another line) -> fib */
const tree = () => openTree({ name: "calls", title: "Calls", columns, frames,
	nodes: [[-1, 0, 1, 100], [0, 1, 2, 40], [1, 2, 3, 30], [2, 2, 5, 20], [-1, 3, 0, 10], [4, 2, 1, 50]] });
const row = (rows, name) => rows.find(r => r.fn.name === name);

/** A random tree with these numbers of nodes and functions. */
function made(n, functions) {
	let seed = 1;
	const random = m => (seed = (seed * 48271) % 2147483647) % m;

	return openTree({ name: "x", title: "X", columns, frames: Array.from({ length: functions }, (_, i) => ({ name: `f${i}`, module: `m${i % 9}` })),
		nodes: Array.from({ length: n }, (_, i) => [i === 0 ? -1 : Math.max(-1, i - 1 - random(Math.min(i, 300))), random(functions), random(5), random(1000)]) });
}

test("where paths are estimated, functions have the numbers of the table", () => {
	const c = tree(), record = { notes: [{ code: "profile-paths" }], tables: [{ name: "functions",
		columns: ["name", "calls", "primitive", "total", "self", "file", "line"].map(key => ({ key, title: key })),
		rows: [["main", 2, 1, 300, 110, "a.c", 5], ["work", 2, 2, 90, 40, "", { absent: "not known" }]] }] };
	const main = row(exactRows(functionRows(c), c, record), "main");

	assert.deepEqual([main.self, main.total[1], main.outer[0]], [[2, 110], 300, 1]);
	assert.deepEqual(exactRows(functionRows(c), c, { ...record, notes: [] }), functionRows(c));
});

test("totals are with all below, and a function that calls itself counts once", () => {
	const c = tree(), rows = functionRows(c);
	assert.deepEqual(c.sums, [12, 250]);
	assert.equal(mainWeight(c.columns), 1);
	assert.equal(totalOf(c, 0, 1), 190);
	assert.deepEqual(row(rows, "fib").self, [9, 100]);
	assert.deepEqual(row(rows, "fib").total, [9, 100]);
	assert.deepEqual(row(rows, "fib").outer, [4, 80]);
	assert.deepEqual(row(rows, "main").total, [12, 250]);
	assert.equal(row(rows, "main").fn.line, 7);
	assert.equal(rows.length, 3);
});

test("what measuring took is not the weight that counts", () => {
	assert.equal(mainWeight([columns[0], { key: "overhead", unit: "ns" }, columns[1]]), 2);
	assert.equal(mainWeight([{ key: "peak", unit: "B" }, { key: "leaked", unit: "B" }, { key: "n", unit: "1" }]), 0);
});

test("callers and callees add up to the function", () => {
	const c = tree(), callers = callerRows(c, 2), callees = calleeRows(c, 1);
	assert.deepEqual(callers.map(r => [r.fn.name, r.self[1], r.total[1]]), [["main", 50, 50], ["work", 30, 50], ["fib", 20, 0]]);
	assert.deepEqual(callees.map(r => [r.fn.name, r.total[1]]), [["fib", 50], ["(itself)", 40]]);
	assert.deepEqual(callerRows(c, 0).map(r => r.fn.name), ["(none: outermost)"]);
});

test("paths that differ in lines alone are one by function", () => {
	const c = byFunctions(tree());
	assert.equal(c.n, 5);
	assert.deepEqual(c.sums, [12, 250]);
	assert.equal(totalOf(c, 0, 1), 250);
});

test("lines: a line that is on a path twice counts once in total", () => {
	const lines = lineRows(tree());
	assert.deepEqual(lines.map(l => [l.file, l.line, l.self[1], l.total[1]]), [["a.c", 9, 100, 190], ["f.py", 3, 100, 100], ["a.c", 7, 10, 60]]);
});

test("turned over, each function stands outermost with its own weight, and callers divide it", () => {
	for (const c of [tree(), made(3000, 40)]) {
		const i = inverted(c, 1, 0), rows = functionRows(c);
		for (let n = i.first; n !== NO_NODE; n = i.next[n])
			assert.equal(totalOf(i, n, 1), rows.find(r => r.fn.at === i.functions[i.fn[n]].at).self[1]);
		assert.equal(i.cut, 0);
		assert.equal(i.self.reduce((a, b) => a + b, 0), c.self.reduce((a, b) => a + b, 0));
	}
	const i = inverted(tree(), 1, 45);
	assert.ok(i.cut > 0, "thin paths are not followed");
});

test("a picture has every path that is wide enough, and says the rest", () => {
	const c = made(20000, 200), whole = c.sums[1], least = 1e-3;
	const l = layout(c, 1, NO_NODE, { least });
	let above = 0;
	for (let i = 0; i < c.n; i++)
		above += totalOf(c, i, 1) / whole >= least ? 1 : 0;
	assert.equal(l.marks.length - 1, above);
	assert.equal(above + l.thin.paths, c.n);
	const left = c.sums[1] - l.marks.slice(1).reduce((s, m) => s + c.self[m.node * 2 + 1], 0);
	assert.ok(Math.abs(l.thin.weight - left) < 1e-6 * whole);
	for (const m of l.marks.slice(1))
		assert.ok(Math.abs((m.to - m.from) - totalOf(c, m.node, 1) / whole) < 1e-12);
	const few = layout(c, 1, NO_NODE, { most: 50 });
	assert.ok(few.marks.length <= 50 && few.marks.length > 40);
	assert.equal(few.marks.length - 1 + few.thin.paths, c.n - 0);
	const flat = layout(c, 1, NO_NODE, { levels: 1 });
	assert.ok(flat.deep.paths > 0 && Math.max(...flat.marks.map(m => m.level)) === 1);
	assert.equal(flat.marks.length - 1 + flat.deep.paths + flat.thin.paths, c.n);
});

test("a part of the tree fills the whole width", () => {
	const l = layout(tree(), 1, 1);
	assert.deepEqual(l.marks.map(m => [m.node, m.level]), [[1, 0], [2, 1], [3, 2]]);
	assert.ok(Math.abs(l.marks[1].to - 50 / 90) < 1e-12);
});

test("a weight that was taken away makes no negative width", () => {
	const c = openTree({ name: "x", title: "X", columns: [columns[1]], frames, nodes: [[-1, 0, -30], [0, 1, 50], [0, 2, -5]] });
	for (const m of layout(c, 0, NO_NODE).marks)
		assert.ok(m.from >= 0 && m.to <= 1 && m.to >= m.from, JSON.stringify(m));
});

test("search counts a path once", () => {
	const c = tree();
	assert.deepEqual({ ...search(c, "FIB", 1, NO_NODE), of: 0 }, { of: 0, functions: 1, paths: 3, weight: 100 });
	assert.equal(search(c, "libw", 1, NO_NODE).weight, 90);
	assert.equal(search(c, "fib", 1, 4).weight, 50);
	assert.equal(search(c, "nothing", 1, NO_NODE).paths, 0);
});

test("colours: the heaviest libraries have one each", () => {
	const c = made(3000, 40), colours = coloursOf(c, 1);
	assert.equal(new Set(colours.legend.map(l => l[0])).size, 8);
	assert.equal(colours.legend.length, 8);
	assert.equal(groupOf({ name: "f", file: "/usr/lib/python3.11/json/encoder.py" }), "json");
	assert.equal(groupOf({ name: "f", file: "/x/site-packages/torch/nn/a.py" }), "torch");
	assert.equal(groupOf({ name: "f", file: "src/a.c", module: "liba.so" }), "liba.so");
	assert.equal(groupOf({ name: "built-in method time.sleep" }), "functions in C");
	assert.equal(groupOf({ name: "Conv" }), "Conv");
});

test("a chain of a hundred thousand calls", () => {
	const n = 100000;
	const c = openTree({ name: "x", title: "X", columns: [columns[1]], frames, nodes: Array.from({ length: n }, (_, i) => [i - 1, 1 + i % 2, 1]) });
	assert.equal(totalOf(c, 0, 0), n);
	assert.equal(row(functionRows(c), "work").total[0], n);
	assert.equal(layout(c, 0, NO_NODE, { levels: 25 }).marks.length, 26);
});

test("frames of Python's import system that follow each other are one path, and no weight is lost", () => {
	const list = [{ name: "<module>", file: "a.py" }, { name: "_find_and_load", file: "<frozen importlib._bootstrap>" }, { name: "exec_module", file: "<frozen importlib._bootstrap_external>" }, { name: "<module>", file: "b.py" }];
	const c = openTree({ name: "calls", title: "Calls", columns, frames: list, nodes: [[-1, 0, 1, 1], [0, 1, 1, 2], [1, 2, 1, 4], [2, 3, 1, 8], [3, 1, 1, 16], [4, 2, 1, 32]] });
	const shown = byFunctions(c);
	assert.deepEqual([...shown.fn].map(f => c.functions[f].name), ["<module>", "_find_and_load", "<module>", "_find_and_load"]);
	assert.deepEqual(Array.from({ length: shown.n }, (_, i) => shown.self[2 * i + 1]), [1, 6, 8, 48]);
	assert.deepEqual(shown.sums, c.sums);
	assert.equal(row(functionRows(c), "exec_module").self[1], 36);
});
