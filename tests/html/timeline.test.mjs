// timeline.test.mjs - a timeline as arrays: what is drawn where, sums by name, search, tracks, axis.
//
// SPDX-License-Identifier: Apache-2.0

import assert from "node:assert/strict";
import { test } from "node:test";
import { KEY_INNER, KEY_MARK, KEY_NO_SELF, firstAfter, timelineLevel, readTimeline, inSight } from "../../src/report/html/page/timeline_data.js";
import { drawnRows, searchTimeline, sumsWithin } from "../../src/report/html/page/timeline_sums.js";
import { lapBorders, layoutTracks, thinnedText, tickText, timeTicks, trackTree } from "../../src/report/html/page/timeline_layout.js";
import { isOwnCounter, ratesOf, usesAsRates, useText } from "../../src/report/html/page/timeline_uses.js";
import { counterAt, counterColumns, counterRange, nameHash, paintRow } from "../../src/report/html/page/timeline_paint.js";

/* --- bytes as src/profiler/timeline/timeline_lod.h has them */

const number = v => {
	const bytes = [];

	for (; v > 127; v = Math.floor(v / 128))
		bytes.push(v % 128 + 128);
	return [...bytes, v];
};
const column = list => list.flatMap(number);
const steps = list => column(list.map((v, i) => v - (i ? list[i - 1] : 0)));
const reals = list => [...new Uint8Array(Float64Array.from(list).buffer)];

/* A thread with two rows, one of another that any may end, a mark, a counter. Row 3: outer [0, 100),
 * outer [200, 300); row 4: inner [10, 40), inner [220, 260), and 4 short ones of "tiny" in [64, 80). */
function example() {
	const rows = { 3: [[0, 100, 30 + 8, 0, 1], [200, 100, 40, 0, 1]], 4: [[10, 30, 0, 1, 1], [220, 40, 0, 1, 0]], 5: [[50, 500, 0, 2, 1]], 6: [[7, 0, 0, 3, 1]] };
	const ranges = [0, 0, 0, 2, 2, 1, 1], all = Object.values(rows);
	const bytes = Uint8Array.from([
		...all.flatMap(r => steps(r.map(x => x[0]))), ...[1, 2, 3].flatMap(k => column(all.flat().map(x => x[k]))), ...all.flat().map(x => x[4]),
		...[4], ...[4], ...[8], ...[4], /* the block at 64: bin, ranges, took, key */
		...[0, 3], ...[4, 1], ...number(8), ...number(40), ...[4, 1], /* a level with steps of 64: [0, 64) and [192, 256) */
		...[1], ...[4], ...[8], ...[0], ...[4], /* sums in steps of 64: bin, ranges, took, inside, key */
		...steps([5, 300]), ...column([1, 3]), ...reals([2.5, 4]), ...reals([1]), ...reals([9]),
	]);
	const about = {
		version: 1, ended_ns: 550, bytes: bytes.length, ranges_told: 9, marks_told: 1, values_told: 4, values_kept: 2, merged: 4, alone: 6,
		shift: 4, sums_shift: 6, values_shift: 1, undrawn: 0, undrawn_row: 2,
		names: [{ name: "(other names)" }, { name: "outer" }, { name: "inner" }, { name: "copy" }, { name: "here" }, { name: "tiny" }],
		keys: [1, 0, 2, 0, 3, KEY_NO_SELF, 4, KEY_MARK, 5, KEY_INNER],
		tracks: [{ kind: "process", pid: 7 }, { kind: "counter", name: "queue", pid: 7, tid: 9, in: 3, unit: "1", values: 2 },
			{ kind: "thread", name: "late", pid: 7, tid: 9, in: 0, rows: [] }, { kind: "thread", name: "main", pid: 7, tid: 7, in: 0, owner: 3, marks: 6, rows: [3, 4] }],
		lanes: [5], ranges, blocks: [0, 0, 0, 0, 1, 0, 0], sums: [3, 1], levels: [{ shift: 6, alone: 5, blocks: [0, 0, 0, 0, 2, 0, 0] }],
	};
	return { about, bytes };
}

const read = () => {
	const { about, bytes } = example();

	return readTimeline(about, bytes);
};
const by = (rows, name) => rows.find(r => r.name === name);

test("columns are read back", () => {
	const t = read();

	assert.deepEqual([...t.begin], [0, 200, 10, 220, 50, 7]);
	assert.deepEqual([...t.took], [100, 100, 30, 40, 500, 0]);
	assert.deepEqual([...t.levels[0].bin], [4]);
	assert.deepEqual([...t.levels[1].bin], [0, 3]);
	assert.deepEqual([...t.levels[1].alone], [0, 1, 2, 4, 5]);
	assert.deepEqual([...t.tracks[1].counter.most], [2.5, 9]);
	assert.deepEqual([...t.tracks[1].counter.least], [2.5, 1]);
	assert.equal(t.names[t.keyName[4]].name, "tiny");
});

test("data that are cut off, or too many, are refused", () => {
	const { about, bytes } = example();

	for (let n = 0; n < bytes.length; n++)
		assert.throws(() => readTimeline(about, bytes.slice(0, n)));
	assert.throws(() => readTimeline(about, Uint8Array.from([...bytes, 0])), /of them are used/);
});

test("numbers beyond 32 bits", () => {
	const { about } = example(), big = 2 ** 52 + 12345;

	Object.assign(about, { ranges: [1], blocks: [0], sums: [], levels: [], tracks: [], lanes: [], shift: -1 });
	const bytes = Uint8Array.from([...number(big), ...number(big), ...number(0), 0, 0]);
	about.bytes = bytes.length;
	const t = readTimeline(about, bytes);
	assert.deepEqual([t.begin[0], t.took[0]], [big, big]);
});

test("what is in sight, by level", () => {
	const t = read();

	assert.equal(firstAfter(0, 10, i => i >= 4), 4);
	assert.equal(timelineLevel(t, 0.001), 0);
	assert.equal(timelineLevel(t, 31), 0);
	assert.equal(timelineLevel(t, 32), 1);
	assert.deepEqual(inSight(t, 0, 4, 0, 1000), { firstRange: 2, endRange: 4, firstBlock: 0, endBlock: 1 });
	assert.deepEqual(inSight(t, 0, 4, 40, 64), { firstRange: 3, endRange: 3, firstBlock: 0, endBlock: 0 });
	assert.deepEqual(inSight(t, 0, 4, 39, 65), { firstRange: 2, endRange: 3, firstBlock: 0, endBlock: 1 });
});

test("sums of all of it are those of the trace", () => {
	const rows = sumsWithin(read(), 0, 551);

	assert.deepEqual(rows.map(r => r.name), ["copy", "outer", "inner", "tiny"]);
	assert.deepEqual(by(rows, "outer"), { name: "outer", index: 1, calls: 2, total: 200, self: 122, rough: false });
	assert.deepEqual(by(rows, "inner"), { name: "inner", index: 2, calls: 2, total: 70, self: 70, rough: false });
	assert.deepEqual(by(rows, "tiny"), { name: "tiny", index: 5, calls: 4, total: 0, self: 8, rough: false });
	assert.equal(by(rows, "copy").self, null);
});

test("a part counts what lies in it", () => {
	const rows = sumsWithin(read(), 20, 230);

	assert.equal(by(rows, "outer").total, 80 + 30);
	assert.equal(by(rows, "outer").self, 80 - 20 - 8 + 30 - 10); /* the block is wholly inside it */
	assert.equal(by(rows, "inner").total, 20 + 10);
	assert.equal(by(rows, "inner").calls, 2);
	assert.equal(by(rows, "inner").rough, false);
	assert.equal(by(rows, "copy").total, 180);
	const half = by(sumsWithin(read(), 64, 96), "tiny");
	assert.equal(half.rough, true);
	assert.equal(half.self, 4);
	assert.equal(sumsWithin(read(), 100, 150).length, 2); /* copy, and half of a step of tiny */
});

test("search finds places in the order of time, and sums of all", () => {
	const t = read(), found = searchTimeline(t, " INN"), tiny = searchTimeline(t, "tiny");

	assert.equal(searchTimeline(t, "  "), null);
	assert.deepEqual(found.places.map(p => p.begin), [10, 220]);
	assert.equal(found.calls, 2);
	assert.equal(found.total, 70);
	assert.deepEqual(tiny.places, [{ begin: 64, took: 16, row: 4, block: 0 }]);
	assert.equal(tiny.calls, 4);
	assert.equal(searchTimeline(t, "absent").places.length, 0);
	assert.deepEqual(drawnRows(t).sort(), [3, 4, 5, 6]);
});

test("tracks lie below their process, the main thread first, and fold", () => {
	const roots = trackTree(read()), open = layoutTracks(roots, new Set()), shut = layoutTracks(roots, new Set([roots[1]]));

	assert.deepEqual(open.lines.map(l => l.node.title), ["across threads", "process 7", "main 7", "queue", "late 9"]);
	assert.deepEqual(open.lines.map(l => l.depth), [0, 0, 1, 2, 1]);
	assert.deepEqual(open.lines[2].parts.map(p => p.row), [6, 3, 4]);
	assert.deepEqual(shut.lines.map(l => l.node.title), ["across threads", "process 7"]);
	assert.ok(shut.high < open.high);
	const folded = layoutTracks(roots, new Set([roots[1].inside[0]]));
	assert.deepEqual(folded.lines[2].parts.map(p => p.row), [3]);
	open.lines.forEach((l, i) => assert.ok(i === 0 || l.y >= open.lines[i - 1].y + open.lines[i - 1].high));
});

test("the axis has round times", () => {
	assert.deepEqual(timeTicks(0, 100, 5), { step: 20, ticks: [0, 20, 40, 60, 80, 100] });
	assert.equal(timeTicks(1e9, 1e9 + 3e6, 6).step, 5e5);
	assert.equal(tickText(1.5e9, 5e5), "1,500,000 µs");
	assert.equal(tickText(2e9, 1e9), "2 s");
});

test("a row is painted once, and blocks by how busy they are", () => {
	const t = read(), line = new Uint32Array(60), texts = [];
	const palette = { paper: 99, of: key => Array.from({ length: 8 }, (v, i) => 100 * (key + 1) + i) };

	const painted = paintRow(t, 0, 4, 0, 10, line, palette, null, texts);
	assert.equal(painted, 3);
	assert.deepEqual([...line.slice(0, 9)], [0, 207, 207, 207, 0, 0, 504, 504, 0]); /* 8 of 16 ns busy */
	assert.equal(line[22], 207);
	assert.equal(line[25], 99); /* apart from what follows */
	const far = new Uint32Array(10);
	paintRow(t, 1, 4, 0, 64, far, palette, null, null);
	assert.deepEqual([...far.slice(0, 5)], [207, 0, 0, 205, 0]);
	assert.equal(nameHash("a"), nameHash("a"));
	assert.notEqual(nameHash("a"), nameHash("b"));
});

test("counters hold their value until the next", () => {
	const { counter } = read().tracks[1], c = counterColumns(counter, 0, 100, 5);

	assert.deepEqual([...c.low].map(v => String(v)), ["2.5", "2.5", "2.5", "1", "4"]);
	assert.deepEqual([...c.high].map(v => String(v)), ["2.5", "2.5", "2.5", "9", "4"]);
	assert.equal(counterAt(counter, 4), null);
	assert.equal(counterAt(counter, 299), 2.5);
	assert.deepEqual(counterRange(counter), { least: 0, most: 9 });
});

test("what was thinned is said exactly", () => {
	const { about } = example(), said = thinnedText(about, "/tmp/x.pftrace");

	assert.match(said[0], /^6 of 10 ranges and marks .* the other 4, all shorter than 16(\.0+)? ns/);
	assert.match(said[said.length - 1], /\/tmp\/x\.pftrace/);
	assert.equal(thinnedText({ ...about, merged: 0, values_told: 2 }, "x").length, 1);
});

test("what threads used is drawn as rates, from the thread's beginning", () => {
	const counter = (ns, last) => ({ ns: Float64Array.from(ns), last: Float64Array.from(last), least: Float64Array.from(last), most: Float64Array.from(last) });
	const track = (name, unit, c, inside = 0) => ({ kind: "counter", name, unit, in: inside, counter: c });
	const rate = ratesOf(counter([0, 100, 300], [0, 50, 50]), 0, 1);
	assert.deepEqual([...rate.ns, ...rate.last], [0, 100, 300, 0.5, 0, 0]);
	assert.equal(ratesOf(counter([], []), 0, 1).ns.length, 0);

	const tracks = usesAsRates([{ kind: "thread" }, track("CPU time", "ns", counter([40, 140], [0, 50])), track("voluntary switches", "1", counter([140], [7])),
		track("major page faults", "1", counter([140], [0])), track("loss", "", counter([1, 2], [0, 0])), track("CPU time", "", counter([1], [5]))]);
	assert.deepEqual(tracks.map(t => [t.name, t.unit, !!t.empty]), [[undefined, undefined, false], ["CPU share", "share", false], ["voluntary switches", "/s", false],
		["major page faults", "/s", true], ["loss", "", false], ["CPU time", "", false]]);
	assert.deepEqual([...tracks[2].counter.ns, ...tracks[2].counter.last], [40, 140, 7e7, 0]);
	assert.deepEqual(tracks.map(t => isOwnCounter(t)), [false, false, false, false, true, true]);
	assert.deepEqual([useText(0.5, "share"), useText(20, "/s"), useText(2048, "B")], ["50 %", "20/s", "2 KiB"]);
	/* A share computed from the sums is omitted if the file has one. */
	assert.deepEqual(usesAsRates([track("CPU time", "ns", counter([0, 9], [0, 9])), track("CPU share", "1", counter([0], [1]))]).map(t => [t.name, !!t.empty]), [["CPU share", true], ["CPU share", false]]);
});

test("the program's own counters come first, and few laps are borders of all tracks", () => {
	const about = { lanes: [] }, nodes = [{ kind: "process", pid: 1 }, { kind: "thread", pid: 1, tid: 1, in: 0 }, { kind: "counter", name: "loss", in: 0 },
		{ kind: "counter", name: "CPU share", unit: "share", rate: true, in: 0 }, { kind: "counter", name: "quiet", in: 0, empty: true }];
	assert.deepEqual(trackTree({ about, tracks: nodes })[0].inside.map(n => n.title), ["loss", "thread 1", "CPU share"]);

	/* A device's queues follow the threads, under their names. */
	const queues = [{ kind: "process", pid: 1 }, { kind: "device", name: "cuda:0 queue 1", pid: 1, in: 0 }, { kind: "thread", pid: 1, tid: 2, in: 0 }, { kind: "counter", name: "CPU share", unit: "share", rate: true, in: 0 }];
	assert.deepEqual(trackTree({ about, tracks: queues })[0].inside.map(n => n.title), ["thread 2", "cuda:0 queue 1", "CPU share"]);

	const t = { about: { lanes: [0] }, starts: [0, 2], begin: [10, 60], took: [50, 40] };
	assert.deepEqual(lapBorders(t), [10, 60, 100]);
	assert.deepEqual(lapBorders({ ...t, about: { lanes: [] } }), []);
	assert.deepEqual(lapBorders({ about: { lanes: [0] }, starts: [0, 500], begin: Array.from({ length: 500 }, (_, i) => 9 * i), took: Array(500).fill(5) }), []);
});
