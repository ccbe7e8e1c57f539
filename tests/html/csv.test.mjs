// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import { csvText, intervalColumns, intervalFields } from "../../src/report/html/page/csv.js";

const line = (...row) => csvText({ columns: ["x"], rows: [row] }).slice(2, -1);

test("the header has titles with units, one line a row", () => {
	assert.equal(csvText({ columns: ["a", ["b", "ns"], ["c", "1"], ["d", undefined]], rows: [[1, 2, 3, 4], ["x", null, undefined, ""]] }),
		"a,b [ns],c,d\n1,2,3,4\nx,,,\"\"\n");
	assert.equal(csvText({ columns: ["a"], rows: [] }), "a\n");
});

test("numbers keep all their digits; what is not a number is empty", () => {
	assert.equal(line(0.1 + 0.2, 1e21, -5e-324, 2 ** 53, -0), "0.30000000000000004,1e+21,-5e-324,9007199254740992,0");
	assert.equal(line(NaN, Infinity, -Infinity), ",,");
});

test("texts are quoted only where they need it", () => {
	assert.equal(line("a b", "a,b", 'a"b', "a\nb"), 'a b,"a,b","a""b","a\nb"');
});

test("formulas, also in full width, get an apostrophe", () => {
	for (const begin of ["=", "+", "-", "@", "\t", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"])
		assert.equal(line(`${begin}1`), `"'${begin}1"`);
	assert.equal(line("\r1"), '"\' 1"');
	assert.equal(line("a=1"), "a=1");
});

test("control characters and marks that turn text around are not written", () => {
	assert.equal(line("a\u0000b\u001bc\u007fd\u009be\u202ef\ufeffg"), "a b c?d?e?f?g");
	assert.equal(line("日本語 é \u{1f600}"), "日本語 é \u{1f600}");
});

test("an interval has its level, or three empty fields", () => {
	assert.deepEqual(intervalColumns("time", "ns"), [["time", "ns"], ["from", "ns"], ["to", "ns"], "level"]);
	assert.deepEqual([intervalFields({ lo: 1, hi: 2, level: 0.95 }), intervalFields({ lo: 1, hi: 2, level: 0 })], [[1, 2, 0.95], [null, null, null]]);
});
