// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import { NO_NODE, layout, totalOf } from "../../src/report/html/page/calltree.js";
import { DIFF_BOTH, changeAt, diffFunctions, diffPaths, mergeTrees, openDiff } from "../../src/report/html/page/calldiff.js";

const columns = [{ key: "time", title: "time", unit: "ns" }];
const a = { columns, frames: [{ name: "main", line: 1 }, { name: "old" }, { name: "work", file: "w.c", line: 7 }], nodes: [[-1, 0, 10], [0, 1, 30], [0, 2, 60]] };
const b = { columns, frames: [{ name: "main", line: 3 }, { name: "work", file: "w.c", line: 9 }, { name: "new" }], nodes: [[-1, 0, 10], [0, 1, 20], [0, 2, 20]] };

test("the same function is the same at another line; what only one has is added or removed", () => {
	const c = mergeTrees(a, 0, b, 0, false), rows = diffFunctions(c);
	assert.deepEqual(c.wholes, [100, 50]);
	assert.equal(c.n, 4);
	assert.deepEqual(rows.map(r => [r.fn.name, r.self, r.state]), [["work", -40, "changed"], ["old", -30, "removed"], ["new", 20, "added"], ["main", 0, "changed"]]);
	assert.ok(Math.abs(rows[0].selfShare - (20 / 50 - 60 / 100)) < 1e-15);
	assert.deepEqual(diffPaths(c, 2).rows.map(r => r.path), ["main;work", "main;old"]);
	assert.equal(diffPaths(c, 2).n, 4);
	assert.equal(changeAt(c, NO_NODE).total, -50);
});

test("normalised, the first has the second's sum", () => {
	const c = mergeTrees(a, 0, b, 0, true), rows = diffFunctions(c);
	assert.deepEqual(c.wholes, [50, 50]);
	assert.deepEqual(rows.map(r => [r.fn.name, r.self]), [["new", 20], ["old", -15], ["work", -10], ["main", 5]]);
});

test("a picture of both has room for what only one of them has", () => {
	const c = mergeTrees(a, 0, b, 0, false), l = layout(c, DIFF_BOTH, NO_NODE);
	assert.equal(totalOf(c, NO_NODE, DIFF_BOTH), 10 + 30 + 60 + 20);
	assert.equal(l.marks.length, 5);
	assert.equal(diffFunctions(openDiff({ columns: [columns[0], columns[0]], frames: a.frames, nodes: [[-1, 0, 1, 2]] })).length, 1);
});
