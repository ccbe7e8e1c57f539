// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import test from "node:test";
import { histogram, quantile, sorted } from "../../src/report/html/page/spread.js";

test("every sample is in a bin or beyond an end", () => {
	const values = Array.from({ length: 1000 }, (_, i) => 100 + 10 * Math.sin(i) + (i % 50 === 0 ? 1000 : 0));
	const h = histogram(values);
	assert.equal(h.bins.reduce((n, b) => n + b.n, 0) + h.below + h.above, values.length);
	assert.equal(h.above, 20);
	assert.ok(h.bins.length >= 8 && h.bins.length <= 80);
});

test("equal samples and two samples make a histogram too", () => {
	assert.equal(histogram([5, 5, 5, 5]).bins.reduce((n, b) => n + b.n, 0), 4);
	assert.equal(histogram([1, 2]).bins.reduce((n, b) => n + b.n, 0), 2);
});

test("quantiles lie between the nearest two", () => {
	assert.equal(quantile(sorted([4, 1, 3, 2]), 0.5), 2.5);
	assert.equal(quantile(sorted([7]), 0.9), 7);
});
