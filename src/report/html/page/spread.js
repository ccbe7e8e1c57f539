// spread.js - statistics of samples for charts. Numbers that a record contains (a percentile, an interval) are used and
// not computed again.
//
// SPDX-License-Identifier: Apache-2.0
/* global d3 */

export const sorted = values => Float64Array.from(values).sort();

/** Quantile of sorted values, by linear interpolation (Hyndman and Fan's type 7). */
export function quantile(list, p) {
	const at = (list.length - 1) * p, i = Math.floor(at);

	return i + 1 < list.length ? list[i] + (at - i) * (list[i + 1] - list[i]) : list[i];
}

/** Bins of the Freedman-Diaconis width, 8 to 80, without far outliers: from and to are at most 3
 * interquartile ranges beyond the quartiles. */
export function histogram(values) {
	const list = sorted(values), n = list.length;
	const q1 = quantile(list, 0.25), q3 = quantile(list, 0.75), middle = q3 - q1;
	const from = Math.max(list[0], q1 - 3 * middle), to = Math.max(Math.min(list[n - 1], q3 + 3 * middle), from + 1e-9 * Math.max(1, Math.abs(from)));
	const wide = 2 * middle / Math.cbrt(n);
	const count = Math.min(80, Math.max(8, wide > 0 ? Math.ceil((to - from) / wide) : 8));
	const bins = Array.from({ length: count }, (_, i) => ({ from: from + i * (to - from) / count, to: from + (i + 1) * (to - from) / count, n: 0 }));
	let below = 0, above = 0;

	for (const v of list) {
		if (v < from)
			below++;
		else if (v > to)
			above++;
		else
			bins[Math.min(count - 1, Math.floor((v - from) / (to - from) * count))].n++;
	}
	const top = bins.reduce((a, b) => (b.n > a.n ? b : a));
	return { bins, from, to, below, above, mode: (top.from + top.to) / 2 };
}

/** The range of a chart of values: without far outliers, as in histogram(). */
export function fence(values) {
	const { from, to } = histogram(values);
	return [from, to];
}

/** A kernel density estimate (Gaussian, Silverman's bandwidth) over [from, to], as [x, density];
 * empty where it would be misleading: fewer than `least` samples, fewer distinct values than two
 * thirds of them, or no spread. */
export function density(values, from, to, points = 128, least = 30) {
	const list = sorted(values).filter(v => v >= from && v <= to), n = list.length;
	const mean = d3.mean(list), sd = d3.deviation(list) || 0;
	const middle = n > 0 ? (quantile(list, 0.75) - quantile(list, 0.25)) / 1.34 : 0;
	const wide = 0.9 * Math.min(sd, middle > 0 ? middle : sd) * n ** -0.2;
	const different = list.reduce((count, v, i) => count + (i === 0 || v !== list[i - 1] ? 1 : 0), 0);

	if (n < least || different < 2 * least / 3 || !(wide > 0) || !Number.isFinite(mean))
		return [];
	/* Counted on a fine grid first: the cost does not grow with samples times points. */
	const cells = Math.min(4096, Math.max(256, Math.ceil(4 * (to - from) / wide))), cell = (to - from) / cells;
	const counts = new Float64Array(cells), reach = Math.ceil(4 * wide / cell);
	for (const v of list)
		counts[Math.min(cells - 1, Math.floor((v - from) / cell))]++;
	return Array.from({ length: points }, (_, i) => {
		const x = from + i * (to - from) / (points - 1), middleCell = Math.floor((x - from) / cell);
		let sum = 0;
		for (let c = Math.max(0, middleCell - reach); c <= Math.min(cells - 1, middleCell + reach); c++)
			sum += counts[c] * Math.exp(-0.5 * ((from + (c + 0.5) * cell - x) / wide) ** 2);
		return [x, sum / (n * wide * Math.sqrt(2 * Math.PI))];
	});
}

/** Returns the number of sorted values that are at most v. */
export function atMost(list, v) {
	let low = 0, high = list.length;

	while (low < high) {
		const middle = (low + high) >> 1;
		if (list[middle] <= v)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/** The share of sorted values at or below x, as [x, share] at the steps. */
export function ecdf(list, from, to) {
	const n = list.length, share = x => [x, atMost(list, x) / n];

	return [share(from), ...Array.from(list).filter(v => v > from && v <= to).map(share), share(to)];
}

/** Points in order of x, decimated for a chart of this many columns: with more than two points per
 * column, each column has its minimum, median and maximum. [{at, i, n, low, mid, high}]: i is the
 * first of n. */
export function thin(at, values, from, to, columns) {
	const out = [], points = Array.from(at, (x, i) => ({ at: x, i, v: values[i] })).filter(p => Number.isFinite(p.v));
	const column = p => Math.min(columns - 1, Math.max(0, Math.floor((p.at - from) / (to - from) * columns)));

	if (points.length <= 2 * columns)
		return points.map(p => ({ at: p.at, i: p.i, n: 1, low: p.v, mid: p.v, high: p.v }));
	for (let i = 0, end; i < points.length; i = end) {
		for (end = i + 1; end < points.length && column(points[end]) === column(points[i]);)
			end++;
		const list = sorted(points.slice(i, end).map(p => p.v));
		out.push({ at: from + (column(points[i]) + 0.5) * (to - from) / columns, i: points[i].i, n: list.length, low: list[0], mid: quantile(list, 0.5), high: list[list.length - 1] });
	}
	return out;
}

/** Pairs of each value with the next, evenly subsampled to a maximum number. */
export function lagPairs(values, most = 3000) {
	const every = Math.max(1, Math.ceil((values.length - 1) / most)), out = [];

	for (let i = 0; i + 1 < values.length; i += every)
		out.push({ i, now: values[i], next: values[i + 1] });
	return out;
}
