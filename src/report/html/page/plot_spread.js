// plot_spread.js - distributions of values: histogram with density, empirical distribution function (ECDF), dots by subject.
//
// SPDX-License-Identifier: Apache-2.0
/* global d3 */

import { el } from "./dom.js";
import { axisX, axisY, figure } from "./figure.js";
import { listing } from "./listing.js";
import { ROOM, numbersBelow, pointable } from "./points.js";
import { cell, cellMore, cellText, metric, number } from "./record.js";
import { fitText } from "./marks.js";
import { atMost, density, ecdf, histogram, quantile, sorted } from "./spread.js";
import { digits, format, percent } from "./units.js";

const PERCENTILES = [["median", "latency/median", 0.5], ["p90", "latency/p90", 0.9], ["p95", "latency/p95", 0.95], ["p99", "latency/p99", 0.99], ["p99.9", "latency/p999", 0.999]];

/** The percentiles of the record: {name, share, tag, unit, c}, c a cell. */
export const percentilesOf = r => PERCENTILES.map(([name, tag, share]) => ({ name, tag, share, unit: (metric(r, tag) || {}).unit, c: cell(metric(r, tag)) }))
	.filter(p => metric(r, p.tag));

const beyondText = (h, values, unit) => {
	const n = h.below + h.above;
	return n ? `${digits(n)} of ${digits(values.length)} runs ${n === 1 ? "is" : "are"} beyond the ends, ${h.above ? `up to ${format(d3.max(values), unit)}` : `down to ${format(d3.min(values), unit)}`}.` : "";
};

/** Positions of the labels of marks: right of their line, or left of it at the end of the chart,
 * each in the first lane without a collision. */
export function lanes(list, x, last) {
	const ends = [];

	return list.map(m => {
		const at = x(number(m.c)), text = `${m.name} ${cellText(m.c, m.unit)}`, long = 7 * text.length + 8;
		const left = at + long > last, begin = left ? at - long : at;
		const free = ends.findIndex(e => e <= begin), lane = free < 0 ? ends.length : free;
		ends[lane] = begin + long;
		return { ...m, at, text, lane, left };
	});
}

export function plotHistogram(box, r, values, unit) {
	const h = histogram(values), wide = h.bins[0].to - h.bins[0].from;
	const marks = percentilesOf(r).filter(p => number(p.c) >= h.from && number(p.c) <= h.to);
	const curve = density(values, h.from, h.to).map(([at, d]) => [at, d * (values.length - h.below - h.above) * wide]);
	const most = Math.max(d3.max(h.bins, b => b.n), d3.max(curve, p => p[1]) || 0);
	const cellOf = box.appendChild(el("div", { class: "histogram" }));

	figure(cellOf, {
		name: "histogram",
		data: () => ({ columns: [["from", unit], ["to", unit], "runs"], rows: h.bins.map(b => [b.from, b.to, b.n]) }),
		title: "How long the runs took",
		says: `Histogram of ${values.length} runs from ${format(h.from, unit)} to ${format(h.to, unit)}, most near ${format(h.mode, unit)}`,
		height: 280,
		draw(svg, width, height) {
			const x = d3.scaleLinear([h.from, h.to], [ROOM.left, width - ROOM.right]);
			const placed = lanes(marks, x, width);
			const y = d3.scaleLinear([0, most], [height - ROOM.bottom, ROOM.top + 14 * (1 + Math.max(0, ...placed.map(m => m.lane)))]);

			axisY(svg, y, { x: ROOM.left, width: width - ROOM.left - ROOM.right, title: "runs", count: Math.min(4, most) });
			pointable(svg.append("g").attr("class", "c1").selectAll("rect").data(h.bins).join("rect").attr("class", "fill bin")
				.attr("x", b => x(b.from) + 0.5).attr("width", b => Math.max(0.5, x(b.to) - x(b.from) - 1))
				.attr("y", b => y(b.n)).attr("height", b => y(0) - y(b.n)),
			b => [[`${format(b.from, unit)} to ${format(b.to, unit)}`, `${digits(b.n)} runs`]]);
			if (curve.length > 0)
				svg.append("g").attr("class", "c2").append("path").attr("class", "stroke density").datum(curve)
					.attr("d", d3.line().x(p => x(p[0])).y(p => y(p[1])));
			axisX(svg, x, { y: height - ROOM.bottom, unit, title: "time of a run", count: Math.max(2, width / 90) });
			const g = svg.selectAll(".percentile").data(placed).join("g").attr("class", "percentile").attr("transform", m => `translate(${m.at},0)`);
			g.append("line").attr("class", "rule thin").attr("y1", m => 6 + 14 * m.lane).attr("y2", height - ROOM.bottom);
			/* The line of one must not cross the text of another. */
			const texts = svg.selectAll(null).data(placed).join("g").attr("transform", m => `translate(${m.at},0)`);
			texts.append("text").attr("class", "strong halo").attr("x", m => (m.left ? -4 : 4)).attr("text-anchor", m => (m.left ? "end" : "start"))
				.attr("y", m => 14 + 14 * m.lane).text(m => m.text);
		},
	});
	cellOf.append(el("p", { class: "dim small" }, [curve.length > 0 ? "The line is the density (a kernel estimate)." : "", beyondText(h, values, unit)].join(" ")));
	numbersBelow(cellOf, "The bars as numbers", details => listing(details, { rows: h.bins, filter: false, columns: [
		{ key: "from", title: "from", number: true, text: b => format(b.from, unit), value: b => b.from },
		{ key: "to", title: "to", number: true, text: b => format(b.to, unit), value: b => b.to },
		{ key: "n", title: "runs", number: true, text: b => digits(b.n), value: b => b.n }] }));
}

/** ECDFs of lists of sorted values: [{sorted, class}]; at most one point per pixel. */
export function ecdfLines(svg, lists, x, y, from, to) {
	const [left, right] = x.range(), line = d3.line().x(p => x(p[0])).y(p => y(p[1])).curve(d3.curveStepAfter);
	const points = list => (list.length > right - left ? d3.range(left, right + 1).map(px => x.invert(px)).map(v => [v, atMost(list, v) / list.length]) : ecdf(list, from, to));

	svg.selectAll(null).data(lists).join("path").attr("class", l => `stroke share ${l.class}`).attr("d", l => line(points(l.sorted)));
}

const VIOLIN_ROW = 74, VIOLIN_LEAST = 8, VIOLIN_POINTS = 160; /* px, values, points of an outline */

/** Vertical offset of the i-th dot of a row from the middle, in half heights: deterministic, and
 * different for dots of equal times. */
const scatter = i => 2 * ((i * 0.618034) % 1) - 1;

/** The values of several subjects, one row each, on one axis: every value as a dot, the density around them, the median as a
 * line. list: [{name, class, values}]; the axis is logarithmic if they are far apart. */
export function plotViolins(box, { name, title, note, list, unit, axis, what }) {
	const all = list.flatMap(l => l.values), least = d3.min(all), most = d3.max(all), log = least > 0 && most / least > 8;
	const scaled = log ? Math.log : v => v, pad = (scaled(most) - scaled(least) || Math.abs(scaled(most)) || 1) * 0.06;
	const [from, to] = [scaled(least) - pad, scaled(most) + pad], back = log ? Math.exp : v => v;
	const shapes = list.map(l => ({ ...l, sorted: sorted(l.values), outline: density(l.values.map(scaled), from, to, VIOLIN_POINTS, VIOLIN_LEAST) }));

	figure(box, {
		name, title, note,
		data: () => ({ columns: ["name", what.replace(/s$/, ""), [axis, unit]], rows: list.flatMap(l => l.values.map((v, i) => [l.name, i + 1, v])) }),
		says: shapes.map(s => `${s.name}: ${digits(s.values.length)} ${what}, from ${format(s.sorted[0], unit)} to ${format(s.sorted[s.sorted.length - 1], unit)}`).join("; "),
		height: VIOLIN_ROW * list.length + 56,
		draw(svg, width, height) {
			const x = (log ? d3.scaleLog : d3.scaleLinear)([back(from), back(to)], [12, width - 12]), half = VIOLIN_ROW / 2 - 14;

			const ticks = axisX(svg, x, { y: height - 48, unit, title: axis, count: Math.max(2, width / 110) });
			ticks.selectAll(".tick line").clone().attr("y2", -(height - 48)).style("stroke", "var(--grid)").lower();
			const g = svg.selectAll(null).data(shapes).join("g").attr("class", s => `violin ${s.class}`).attr("transform", (s, i) => `translate(0,${VIOLIN_ROW * i + 16 + VIOLIN_ROW / 2})`);
			g.filter(s => s.outline.length > 0).append("path").attr("class", "fill violin-shape").attr("d", s => {
				const top = d3.max(s.outline, p => p[1]), seen = s.outline.filter(p => p[1] > 0.002 * top);
				return d3.area().x(p => x(back(p[0]))).y0(p => half * p[1] / top).y1(p => -half * p[1] / top)(seen);
			});
			pointable(g.append("g").selectAll("circle").data(s => s.values.map((v, i) => ({ s, v, i }))).join("circle").attr("class", "fill violin-dot").attr("r", 2.5)
				.attr("cx", d => x(d.v)).attr("cy", d => 0.55 * half * scatter(d.i)), d => [d.s.name, [`${what.replace(/s$/, "")} ${d.i + 1}`, format(d.v, unit)]]);
			g.append("line").attr("class", "rule").attr("x1", s => x(quantile(s.sorted, 0.5))).attr("x2", s => x(quantile(s.sorted, 0.5))).attr("y1", -half).attr("y2", half);
			g.append("text").attr("class", "strong halo").attr("x", 0).attr("y", 4 - VIOLIN_ROW / 2).text(s => fitText(`${s.name}: median ${format(quantile(s.sorted, 0.5), unit)} of ${digits(s.values.length)} ${what}`, width));
		},
	});
}

export function plotShares(box, r, values, unit) {
	const list = sorted(values), h = histogram(values);
	const marks = percentilesOf(r), drawn = marks.filter(p => number(p.c) >= h.from && number(p.c) <= h.to);
	const cellOf = box.appendChild(el("div", { class: "shares" }));
	const lines = p => [[p.name, cellText(p.c, p.unit)], ["interval", cellMore(p.c, p.unit) || "none"]];

	figure(cellOf, {
		name: "ecdf",
		data: () => ({ columns: [["time of a run", unit], "share of the runs up to it"], rows: Array.from(list, (v, i) => [v, (i + 1) / list.length]) }),
		title: "Share of the runs up to a time",
		says: `${percent(atMost(list, number(metric(r, "latency/median"))) / list.length)} of the runs took at most the median; ` +
			marks.map(p => `${p.name} ${"absent" in p.c ? "absent" : cellText(p.c, p.unit)}`).join(", "),
		height: 280,
		draw(svg, width, height) {
			const x = d3.scaleLinear([h.from, h.to], [ROOM.left, width - ROOM.right]);
			const y = d3.scaleLinear([0, 1], [height - ROOM.bottom, ROOM.top]);

			axisY(svg, y, { x: ROOM.left, width: width - ROOM.left - ROOM.right, count: 4, format: v => `${Math.round(100 * v)} %` });
			ecdfLines(svg, [{ sorted: list, class: "c1" }], x, y, h.from, h.to);
			axisX(svg, x, { y: height - ROOM.bottom, unit, title: "time of a run", count: Math.max(2, width / 90) });
			const g = svg.selectAll(null).data(drawn).join("g").attr("class", "percentile c2");
			g.filter(p => p.c.level > 0).append("line").attr("class", "stroke interval").attr("y1", p => y(p.share)).attr("y2", p => y(p.share))
				.attr("x1", p => x(Math.max(h.from, p.c.lo))).attr("x2", p => x(Math.min(h.to, p.c.hi)));
			g.append("circle").attr("class", "fill").attr("r", 3.5).attr("cx", p => x(number(p.c))).attr("cy", p => y(p.share));
			pointable(g, lines);
		},
	});
	cellOf.append(el("p", { class: "dim small" }, [drawn.length > 0 ? "Dots are percentiles with their intervals." : "", ...marks.filter(p => "absent" in p.c).slice(0, 1).map(p => `${p.name} is absent: ${p.c.absent}.`)].join(" ")));
	numbersBelow(cellOf, "Percentiles as numbers", details => listing(details, { rows: marks, filter: false, columns: [
		{ key: "name", title: "percentile", text: p => p.name, value: p => p.share },
		{ key: "value", title: "time", number: true, text: p => cellText(p.c, p.unit), value: p => number(p.c) },
		{ key: "more", title: "interval", text: p => cellMore(p.c, p.unit), value: p => p.share }] }));
}
