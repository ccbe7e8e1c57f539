// view_trend.js - series over time: a metric over commits with its changes, laps of a training, parts of steps.
//
// SPDX-License-Identifier: Apache-2.0
/* global d3 */

import { axisX, axisY, figure } from "../figure.js";
import { lively } from "../marks.js";
import { colorOf, plotAgainst } from "../plot_rows.js";
import { ROOM, spaced } from "../points.js";
import { factValue, metricNumber, number, rows, table } from "../record.js";
import { digits, format, formatInterval, percent } from "../units.js";

const textOf = c => (c === undefined || "absent" in c ? "" : String(c.value));

/** The points of a trend, and the levels between its changes: [{from, to, y}] by indices of points. */
export function trendOf(r) {
	const t = table(r, "history/points"), list = t ? rows(t) : [];
	const points = list.map((row, i) => ({
		x: i, y: number(row.value), lo: number(row.lo), hi: number(row.hi), level: number(row.level), time: textOf(row.time), commit: textOf(row.commit), id: textOf(row.id),
		records: number(row.records), change: textOf(row.change), before: number(row.before), after: number(row.after), p: number(row.change_p),
	})).filter(p => Number.isFinite(p.y));
	const changes = points.filter(p => Number.isFinite(p.before) && Number.isFinite(p.after)), levels = [];
	/* One at the first point is a drift of all. */
	const cuts = changes.filter(p => p.x > 0), drift = changes.find(p => p.x === 0);

	cuts.forEach((c, i) => {
		levels.push({ from: i === 0 ? 0 : cuts[i - 1].x, to: c.x - 1, y: c.before });
		if (i === cuts.length - 1)
			levels.push({ from: c.x, to: list.length - 1, y: c.after });
	});
	if (drift)
		levels.push({ from: 0, to: list.length - 1, y: drift.before, end: drift.after });
	return { points, changes, cuts, drift, levels, unit: list.length > 0 ? textOf(list[0].unit) || t.columns.find(c => c.key === "value").unit : "" };
}

const day = p => p.time.slice(0, 10);
const commitName = p => (p.commit ? p.commit.slice(0, 8) : day(p));

export const viewTrend = {
	id: "trend",
	title: "Over time",
	match: ([r]) => !!table(r, "history/points") && trendOf(r).points.length > 1,
	draw(box, [r]) {
		const { points, changes, cuts, drift, levels, unit } = trendOf(r), byPlace = new Map(points.map(p => [p.x, p]));
		const changeText = c => `${c.change || format(c.after, unit)}, ${commitName(c)}`;

		plotAgainst(box, {
			name: "trend", told: [["time", p => p.time], ["commit", p => p.commit], ["records", p => p.records]],
			title: factValue(r, "trend", "metric"),
			note: changes.length > 0 ? changes.map(c => `${c === drift ? "drifts, " : ""}${changeText(c)}: ${format(c.before, unit)} to ${format(c.after, unit)}; p ${digits(c.p, 2)} by noise alone.`).join(" ") : "No change of the level is shown.",
			says: `${points.length} points from ${day(points[0])} to ${day(points[points.length - 1])}, ${cuts.length} changes of the level`,
			lists: [{ class: "c1", points: points.map(p => (points.length > 200 ? { ...p, radius: 2 } : p)), joined: false }],
			levels, rules: cuts.map(c => ({ x: c.x - 0.5, text: changeText(c) })),
			x: { title: "commit", unit: "1", format: v => (byPlace.has(v) ? commitName(byPlace.get(v)) : "") }, y: { title: factValue(r, "trend", "metric"), unit }, height: 320,
			lines: p => [p.time, ...(p.commit ? [["commit", p.commit.slice(0, 12)]] : []), ["value", format(p.y, unit)], ...(p.level > 0 ? [["interval", formatInterval(p.lo, p.hi, p.level, unit)]] : []), ["records", digits(p.records)]],
		});
	},
};

const OWN = ["wall", "cpu", "thread_cpu", "items"];
const KEPT_LEAST = 32768; /* laps of a series from which some were left out: src/profiler/lap/lap_store.h */

/** Of how many laps each one in the series is the first: a power of two. */
function lapsEach(kept, all) {
	let each = 1;

	while (kept >= KEPT_LEAST && Math.ceil(all / each) > kept)
		each *= 2;
	return each;
}

/** The laps of each name that has several: {name, all: their number, each: of how many one is in the series, at, wall,
 * values: [{name, unit, points}]}; points by the indices of the laps in the series. */
export function lapsOf(r) {
	const names = new Map();

	for (const s of r.series || []) {
		const m = /^laps\/(.+)\/([^/]+)$/.exec(s.tag);
		if (m)
			names.set(m[1], { ...names.get(m[1]), [m[2]]: s });
	}
	return [...names].filter(([, own]) => own.wall && own.wall.values.filter(Number.isFinite).length > 1).map(([name, own]) => {
		const at = (own.wall.at_ns || own.wall.values.map((_, i) => i)).map(Number), places = new Map(), kept = own.wall.values.length;
		const each = lapsEach(kept, metricNumber(r, `lap/count/${name}`));

		at.forEach((ns, i) => places.has(ns) || places.set(ns, i));
		return {
			name, all: each > 1 ? metricNumber(r, `lap/count/${name}`) : kept, each, at, wall: own.wall.values,
			values: Object.entries(own).filter(([key]) => !OWN.includes(key)).map(([key, s]) => ({
				name: key, unit: s.unit, points: s.values.map((v, i) => ({ i: s.at_ns ? places.get(Number(s.at_ns[i])) : i, v })).filter(p => p.i !== undefined && Number.isFinite(p.v)),
			})),
		};
	});
}

const MARKED = 300;

function drawLaps(box, lap) {
	const extra = lap.values.filter(v => (v.unit === "1" || v.unit === undefined) && v.points.length > 0);
	const known = lap.wall.map((v, i) => ({ i, v })).filter(p => Number.isFinite(p.v)), place = i => i * lap.each + 1;

	figure(box, {
		name: "laps",
		title: `Laps of ${lap.name}`,
		note: lap.each > 1 ? `Of every ${digits(lap.each)} laps the record has the first: ${digits(lap.wall.length)} of ${digits(lap.all)}.` : "",
		says: `${lap.all} laps, ${format(known[0].v, "ns")} the first, ${format(known[known.length - 1].v, "ns")} the last; ${extra.map(v => `${v.name} ends at ${digits(v.points[v.points.length - 1].v)}`).join(", ")}`,
		height: 300,
		data: () => {
			const values = lap.values.map(own => new Map(own.points.map(p => [p.i, p.v])));

			return { columns: ["lap", ["time", "ns"], ...lap.values.map(v => [v.name, v.unit])], rows: lap.wall.map((v, i) => [place(i), v, ...values.map(own => own.get(i))]) };
		},
		draw(svg, width, height) {
			const right = extra.length > 0 ? Math.min(150, width * 0.3) : ROOM.right, n = place(lap.wall.length - 1);
			const x = d3.scaleLinear([1, n], [ROOM.left + 12, width - right - 12]), all = extra.flatMap(v => v.points.map(p => p.v));
			const y = d3.scaleLinear([0, d3.max(lap.wall)], [height - ROOM.bottom, ROOM.top]).nice(5);
			const y2 = d3.scaleLinear([Math.min(0, d3.min(all) || 0), d3.max(all) || 1], [height - ROOM.bottom, ROOM.top]).nice(5);
			const one = (points, scale, color, name, text) => {
				const g = svg.append("g").attr("class", `${color} lap-line`).attr("data-name", name);
				g.append("path").attr("class", "stroke").datum(points).attr("d", d3.line().x(p => x(place(p.i))).y(p => scale(p.v)));
				if (points.length <= MARKED)
					lively(g.selectAll("circle").data(points).join("circle").attr("class", "fill lap").attr("r", 3.5).attr("cx", p => x(place(p.i))).attr("cy", p => scale(p.v)),
						{ lines: p => [`${lap.name} ${place(p.i)}`, [name, text(p.v)]], label: p => `${lap.name} ${place(p.i)}: ${name} ${text(p.v)}`, many: true });
			};

			axisY(svg, y, { x: ROOM.left, unit: "ns", title: "time", width: width - ROOM.left - right, count: 4 });
			axisX(svg, x, { y: height - ROOM.bottom, unit: "1", title: lap.name, format: v => (Number.isInteger(v) ? digits(v) : ""), count: Math.min(n, Math.max(2, width / 90)) });
			one(known, y, "c1", "time", v => format(v, "ns"));
			if (extra.length === 0)
				return;
			const axis = svg.append("g").attr("class", "axis y").attr("transform", `translate(${width - right},0)`).call(d3.axisRight(y2).ticks(4).tickSizeOuter(0).tickFormat(v => digits(v, 3)));
			axis.append("text").attr("x", 0).attr("y", ROOM.top - 8).attr("text-anchor", "start").text("values");
			const places = spaced(extra.map(v => y2(v.points[v.points.length - 1].v)), 15, ROOM.top, height - ROOM.bottom);
			extra.forEach((v, i) => {
				one(v.points, y2, colorOf(i + 1), v.name, value => digits(value));
				const g = svg.append("g").attr("class", colorOf(i + 1));
				g.append("circle").attr("class", "fill").attr("r", 4).attr("cx", width - right + 56).attr("cy", places[i]);
				g.append("text").attr("class", "strong").attr("dy", "0.35em").attr("x", width - right + 64).attr("y", places[i]).text(v.name);
			});
		},
		legend: [["c1", "time of a lap (left axis)"], ...extra.map((v, i) => [colorOf(i + 1), `${v.name} (right axis)`])],
	});
}

const BARS = 100;

/** Breakdown of steps: {parts: [{key, name}], bars: [{from, n, sums}]}: a bounded number of bars,
 * each the mean of its steps. */
export function stepBars(r, most = BARS) {
	const t = table(r, "steps");
	if (!t)
		return null;
	const parts = rows(t).filter(row => row.part.value !== "step").map(row => ({ key: String(row.part.value), name: textOf(row.what) || String(row.part.value), s: (r.series || []).find(s => s.tag === `steps/${row.part.value}`) })).filter(p => p.s);
	const n = parts.length > 0 ? parts[0].s.values.length : 0, each = Math.max(1, Math.ceil(n / most));
	const bars = d3.range(0, n, each).map(from => ({ from, n: Math.min(each, n - from), sums: parts.map(p => d3.mean(p.s.values.slice(from, from + each))) }));
	return n > 0 ? { parts: parts.map(({ key, name, s }) => ({ key, name, values: s.values })), bars, each, n, warmup: parts[0].s.warmup || 0 } : null;
}

function drawSteps(box, { parts, bars, each, n, warmup }) {
	const tops = bars.map(b => d3.sum(b.sums)), cells = bars.flatMap((b, i) => parts.map((p, k) => ({ bar: i, from: b.from, n: b.n, part: p.name, k, value: b.sums[k], below: d3.sum(b.sums.slice(0, k)), all: tops[i] }))).filter(c => c.value > 0);
	const steady = tops.slice(Math.min(bars.length - 1, Math.ceil(warmup / each))), high = Math.max(3 * d3.median(steady), d3.max(steady)), beyond = tops.filter(v => v > high).length;

	figure(box, {
		name: "steps",
		title: "Steps taken apart",
		note: [each > 1 ? `Each bar is the mean of ${each} of the ${digits(n)} steps.` : "", beyond > 0 ? `Bars are cut off at the top of the chart: ${beyond} of them, up to ${format(d3.max(tops), "ns")}.` : ""].filter(Boolean).join(" "),
		says: `${digits(n)} steps; ${parts.map((p, k) => `${p.name} ${percent(d3.sum(bars, b => b.sums[k]) / d3.sum(tops))}`).join(", ")}`,
		height: 300, legend: parts.map((p, k) => [colorOf(k), p.name]),
		data: () => ({ columns: ["step", ...parts.map(p => [p.name, "ns"])], rows: d3.range(n).map(i => [i + 1, ...parts.map(p => p.values[i])]) }),
		draw(svg, width, height) {
			const x = d3.scaleLinear([0, n], [ROOM.left, width - ROOM.right]), y = d3.scaleLinear([0, Math.min(high, d3.max(tops))], [height - ROOM.bottom, ROOM.top]), top = y.domain()[1];
			const gap = (x(each) - x(0)) > 5 ? 1 : 0, clamp = v => y(Math.min(top, v));

			axisY(svg, y, { x: ROOM.left, unit: "ns", title: "time of a step", width: width - ROOM.left - ROOM.right, count: 4 });
			if (warmup > 0)
				svg.append("rect").attr("class", "band").attr("x", x(0)).attr("width", x(Math.min(n, warmup)) - x(0)).attr("y", ROOM.top).attr("height", height - ROOM.bottom - ROOM.top);
			lively(svg.selectAll(null).data(cells).join("rect").attr("class", c => `fill step-part ${colorOf(c.k)}`).attr("x", c => x(c.from) + gap / 2).attr("width", c => Math.max(0.5, x(c.from + c.n) - x(c.from) - gap))
				.attr("y", c => clamp(c.below + c.value)).attr("height", c => Math.max(0, clamp(c.below) - clamp(c.below + c.value))),
			{ lines: c => [c.n > 1 ? `steps ${c.from + 1} to ${c.from + c.n}` : `step ${c.from + 1}`, [c.part, format(c.value, "ns")], ["of", format(c.all, "ns")], ["share", percent(c.value / c.all)]],
				label: c => `step ${c.from + 1}, ${c.part}: ${format(c.value, "ns")}`, many: true });
			axisX(svg, x, { y: height - ROOM.bottom, unit: "1", title: "step", count: Math.max(2, width / 110) });
		},
	});
}

export const viewTraining = {
	id: "training",
	title: "Training",
	match: ([r]) => lapsOf(r).length > 0 || stepBars(r) !== null,
	draw(box, [r]) {
		const steps = stepBars(r);

		if (steps)
			drawSteps(box, steps);
		for (const lap of lapsOf(r))
			drawLaps(box, lap);
	},
};
