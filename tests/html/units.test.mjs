// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import { columnScale, digits, format, formatCount, formatInterval, levelText, percent, unitColumn } from "../../src/report/html/page/units.js";

test("times have the unit that leaves at least one digit before the point", () => {
	assert.equal(format(17.84e6, "ns"), "17.84 ms");
	assert.equal(format(999.96e6, "ns"), "1.000 s");
	assert.equal(format(0.5, "ns"), "0.5000 ns");
	assert.equal(format(3723e9, "ns"), "3,723 s");
});

test("sizes count in powers of 1024, rates in powers of 1000", () => {
	assert.equal(format(4435476, "B"), "4.230 MiB");
	assert.equal(format(2.5e9, "B/s"), "2.500 GB/s");
	assert.equal(format(1.065e12, "FLOP/s"), "1.065 TFLOP/s");
	assert.equal(format(56.743, "items/s"), "56.74 items/s");
	assert.equal(formatCount(1814073344), "1.814 G");
	assert.equal(formatCount(999999), "1.000 M");
	assert.equal(format(999.96, "items/s"), "1,000 items/s");
});

test("a column has one unit, however far its numbers lie apart", () => {
	assert.deepEqual(columnScale([17.6e6, 475.8e6], "ns"), [1e6, "ms"]);
	assert.deepEqual(columnScale([5163, NaN, 7.6e6, 0], "ns"), [1e3, "µs"]);
	assert.deepEqual(columnScale([0.5, 1.5e6], "ns"), [1, "ns"]);
	assert.deepEqual(columnScale([-4096, 102300672], "B"), [1024, "KiB"]);
	assert.deepEqual(columnScale([3, 4e6], "1"), [1, ""]);
	assert.deepEqual(columnScale([], "ns"), [1, ""]);
});

test("what is not a number is said as it is", () => {
	assert.equal(format(NaN, "ns"), "? ns");
	assert.equal(format(true), "yes");
	assert.equal(format("ort"), "ort");
	assert.equal(digits(0), "0");
	assert.equal(digits(-12345.6), "-12,346");
	assert.equal(percent(0.0125), "1.25 %");
	assert.equal(formatInterval(17.55e6, 17.71e6, 0.95, "ns"), "[17.55, 17.71] ms 95 %");
});

test("a column of bytes, times or rates has one unit, in its title; counts have none", () => {
	const moved = unitColumn("moved", [17, 694 * 1024, NaN], "B"), time = unitColumn("time", [350, 412000], "ns");
	const macs = unitColumn("MACs", [17, 4e9], "1", v => `${v} each`);

	assert.deepEqual([moved.title, moved.text(17), moved.text(694 * 1024)], ["moved [KiB]", "0.01660", "694"]);
	assert.deepEqual([time.title, time.text(350), time.text(412000)], ["time [µs]", "0.3500", "412"]);
	assert.deepEqual([macs.title, macs.text(17)], ["MACs", "17 each"]);
});

test("a level is below 100 %, however near", () => {
	assert.equal(levelText(0.958), "95.8 %");
	assert.equal(levelText(0.9999), "99.99 %");
	assert.equal(levelText(0.99999), "99.999 %");
	assert.equal(formatInterval(1, 2, 0.9999, "1"), "[1, 2] 99.99 %");
});
