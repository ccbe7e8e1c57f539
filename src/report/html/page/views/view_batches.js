// view_batches.js - throughput and latency against the batch, latency against the rate, and the tail of latencies.
//
// SPDX-License-Identifier: Apache-2.0
/* global d3 */

import { el } from "../dom.js";
import { intervalColumns, intervalFields } from "../csv.js";
import { axisX, axisY, figure } from "../figure.js";
import { measuredOf, runsOf } from "../phases.js";
import { percentilesOf } from "../plot_spread.js";
import { colorOf, plotAgainst } from "../plot_rows.js";
import { ROOM, intervalMarks } from "../points.js";
import { cell, cellMore, cellText, factValue, metricNumber, number, rows, table } from "../record.js";
import { quantile, sorted } from "../spread.js";
import { digits, format, formatInterval } from "../units.js";

const TIME_NS = { ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9 };

/** The time in a limit such as p99<=20ms, in ns; NaN: none. */
export function limitNs(text) {
	const m = /<=?\s*([\d.]+)\s*(ns|us|µs|ms|s)$/.exec(String(text));
	return m ? Number(m[1]) * TIME_NS[m[2]] : NaN;
}

/** The limits requested by --slo: [{text, stat, ns}]; stat is a name of columns and percentiles: p99, p999, mean. */
export const limitsOf = r => (r.facts || []).filter(f => f.section === "plan" && /^slo(\/\d+)?$/.test(f.key)).map(f => String(cell(f).value))
	.map(text => ({ text: `limit ${text}`, stat: text.split("<")[0].trim().replace(".", ""), ns: limitNs(text) })).filter(l => Number.isFinite(l.ns));

const point = (x, c, more) => ({ x, y: number(c), lo: c.lo, hi: c.hi, level: c.level, ...more });
const intervalLine = (d, unit) => (d.level > 0 ? [["interval", formatInterval(d.lo, d.hi, d.level, unit)]] : []);

/** Points of a search by the settings varied besides the batch: [{name, class, points: rows}]. */
export function batchLists(r) {
	const t = table(r, "throughput/points"), groups = new Map();
	if (!t)
		return [];
	for (const row of rows(t)) {
		const has = k => row[k] && !("absent" in row[k]);
		const name = [has("threads") && `${row.threads.value} thread${row.threads.value === 1 ? "" : "s"}`,
			has("in_flight") && `${row.in_flight.value} in flight`].filter(Boolean).join(", ");
		groups.set(name, [...(groups.get(name) || []), row]);
	}
	return [...groups].map(([name, list], i) => ({ name: groups.size > 1 ? name : "", class: colorOf(i), rows: list }));
}

const batchTold = [["status", p => p.status]];
const batchLines = unit => d => [`batch ${digits(d.x)}`, [d.what, format(d.y, unit)], ...intervalLine(d, unit), ["status", d.status]];

/** The marked sizes. A search that ended before the sizes were compared knows the highest so far, and no best. */
export function batchMarks(lists, best, knee) {
	if (lists.some(l => l.rows.some(row => row.status.value === "highest")))
		return [{ x: best, text: `highest so far: ${digits(best)}` }];
	return best === knee ? [{ x: best, text: `best and knee: ${digits(best)}` }] : [{ x: best, text: `best: ${digits(best)}` }, { x: knee, text: `knee: ${digits(knee)}` }];
}

export const viewBatches = {
	id: "batches",
	title: "Throughput",
	match: ([r]) => batchLists(r).some(l => l.rows.some(row => Number.isFinite(number(row.throughput)))),
	draw(box, [r]) {
		const lists = batchLists(r), best = metricNumber(r, "throughput/best_batch"), knee = metricNumber(r, "throughput/knee_batch");
		const marked = batchMarks(lists, best, knee).filter(rule => Number.isFinite(rule.x)), limit = limitNs(factValue(r, "plan", "slo")), budget = factValue(r, "throughput", "memory_budget");
		const batch = { title: "batch", unit: "1", log: 2, format: v => (Number.isInteger(v) ? digits(v) : "") };
		const of = key => lists.map(l => ({ name: l.name, class: l.class, points: l.rows.filter(row => row[key]).map(row => point(number(row.batch), row[key], { status: row.status.value, what: key })) }));
		const pair = box.appendChild(el("div", { class: "pair" })), place = () => pair.appendChild(el("div"));
		const limited = `${factValue(r, "throughput", "limited_by") || "not known"}`;
		const memory = of("memory"), most = d3.max(memory.flatMap(l => l.points), p => p.y);

		plotAgainst(place(), { told: batchTold, name: "throughput", title: "Items per second", says: `Throughput by batch: ${marked.length > 0 ? marked[0].text.split(":")[0] : "best"} ${format(metricNumber(r, "throughput/best"), "items/s")} at ${digits(best)}`, lists: of("throughput"), rules: marked,
			x: batch, y: { title: "throughput", unit: "items/s", zero: true }, lines: batchLines("items/s") });
		plotAgainst(place(), { told: batchTold, name: "batch-latency", title: "Latency of a batch", says: "Latency by batch", lists: of("latency"), rules: Number.isFinite(limit) ? [...marked, { y: limit, text: `limit ${factValue(r, "plan", "slo")}` }] : marked,
			x: batch, y: { title: "latency", unit: "ns", zero: true }, lines: batchLines("ns") });
		drawPareto(pair, lists);
		plotAgainst(place(), { told: batchTold, name: "batch-memory", title: "Memory", says: `Memory by batch, at most ${format(most, "B")}`, lists: memory, rules: budget > 0 && budget < 4 * most ? [{ y: budget, text: `there is ${format(budget, "B")}` }] : [],
			x: batch, y: { title: "memory", unit: "B", zero: true }, lines: batchLines("B") });
		box.append(el("p", { class: "dim small" }, `The search ended by: ${limited}.`, budget > 0 ? ` Memory that a measurement may have: ${format(budget, "B")}.` : ""));
	},
};

/** Latency against throughput: a line joins the Pareto-optimal sizes. */
function drawPareto(pair, lists) {
	const all = lists.flatMap(l => l.rows.map(row => ({ x: number(row.throughput), y: number(row.latency), batch: row.batch.value, name: l.name, front: row.pareto && row.pareto.value === "yes" }))).filter(p => Number.isFinite(p.x) && Number.isFinite(p.y));
	if (all.length < 2)
		return;
	const lines = d => [`batch ${digits(d.batch)}${d.name ? `, ${d.name}` : ""}`, ["throughput", format(d.x, "items/s")], ["latency", format(d.y, "ns")], d.front ? "no other size is better in both" : "another size is better in both"];

	plotAgainst(pair.appendChild(el("div")), { told: [["batch", p => p.batch], ["other sizes", p => p.name || null], ["Pareto front", p => (p.front ? "yes" : "no")]], name: "pareto", title: "Latency for throughput", says: `Latency against throughput; ${all.filter(p => p.front).length} of ${all.length} sizes are on the Pareto front`,
		lists: [{ class: "c8", points: all.filter(p => !p.front), joined: false }, { class: "c1", points: all.filter(p => p.front) }].filter(l => l.points.length > 0), legend: [["c1", "Pareto front: no size is better in both"], ...(all.every(p => p.front) ? [] : [["c8", "others"]])],
		x: { title: "throughput", unit: "items/s" }, y: { title: "latency", unit: "ns", zero: true }, lines });
}

const limitsTold = [["limits", p => p.verdict || null]];
const VERDICTS = { met: "c3", inconclusive: "c5", violated: "c2", unstable: "c4" };

export const viewRates = {
	id: "rates",
	title: "Rates",
	match: ([r]) => !!table(r, "load/steps") && rows(table(r, "load/steps")).length > 1,
	draw(box, [r]) {
		const t = table(r, "load/steps"), list = rows(t), peak = metricNumber(r, "load/peak_rate");
		const seen = [...new Set(list.map(row => String(row.verdict ? row.verdict.value : "")))], limits = limitsOf(r);
		const legend = seen.map(v => [VERDICTS[v] || "c8", v || "no limit"]), rules = Number.isFinite(peak) ? [{ x: peak, text: `peak ${format(peak, "Hz")}` }] : [];
		const of = key => seen.map(v => ({ class: VERDICTS[v] || "c8", joined: false, points: list.filter(row => String(row.verdict ? row.verdict.value : "") === v).map(row => point(number(row.rate), row[key], { verdict: v, busy: number(row.utilisation) })) }));
		const rates = d3.extent(list.map(row => number(row.rate)).filter(Number.isFinite));
		const lines = (what, unit) => d => [`${format(d.x, "Hz")} requested`, [what, format(d.y, unit)], ...intervalLine(d, unit), ["limits", d.verdict]];
		const pair = box.appendChild(el("div", { class: "pair" })), place = () => pair.appendChild(el("div"));

		plotAgainst(place(), { told: limitsTold, name: "served", title: "Served", says: "Requests served against the rate at which they came", lists: of("served"), rules, legend, equal: "all are served", x: { title: "rate of arrivals", unit: "Hz" }, y: { title: "served", unit: "Hz", zero: true }, lines: lines("served", "Hz") });
		for (const c of t.columns.filter(col => col.unit === "ns")) {
			const lists = of(c.key), ys = lists.flatMap(l => l.points).map(p => p.y).filter(Number.isFinite);
			if (ys.length === 0)
				continue;
			if (ys.length === 1 && list.length > 1) {
				const at = lists.flatMap(l => l.points).find(p => Number.isFinite(p.y));
				box.append(el("p", { class: "dim small single" }, `Latency, ${c.title}: known at one of ${list.length} rates, ${format(at.y, "ns")} at ${format(at.x, "Hz")}${limits.filter(l => l.stat === c.key).map(l => ` (${l.text})`).join("")}; at the others there are too few requests for it; see the table.`));
				continue;
			}
			plotAgainst(place(), { told: limitsTold, name: `latency-${c.key}`, title: `Latency, ${c.title}`, says: `${c.title} of the latency against the rate`, note: ys.length < list.length ? `At ${list.length - ys.length} of ${list.length} rates the requests are too few for it; the table says why.` : "",
				lists, legend, rules: [...rules, ...limits.filter(l => l.stat === c.key).map(l => ({ y: l.ns, text: l.text }))],
				x: { title: "rate of arrivals", unit: "Hz", domain: rates }, y: d3.max(ys) > 20 * d3.min(ys) ? { title: "latency", log: true, format: v => format(Number(v.toPrecision(3)), "ns").replace(/\.0+ /, " ") } : { title: "latency", unit: "ns", zero: true }, lines: lines(c.title, "ns") });
		}
	},
};

const SHARES = [0, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999];

/** The tail of the latencies: [{x: 1/(1-share), y}] up to the last percentile of the record; left: the percentiles that it lacks. */
export function tailOf(r) {
	const list = sorted(runsOf(r).flatMap(measuredOf)), told = percentilesOf(r), have = told.filter(p => Number.isFinite(number(p.c)));
	if (have.length === 0 || list.length < 2)
		return null;
	const end = d3.max(have, p => p.share), most = 1 / (1 - end), points = 240;
	const curve = Array.from({ length: points + 1 }, (_, i) => most ** (i / points)).map(x => ({ x, y: quantile(list, 1 - 1 / x) }));
	return { curve, end, have, left: told.filter(p => "absent" in p.c), unit: have[0].unit };
}

export const viewTail = {
	id: "tail",
	title: "Tail of the latencies",
	match: ([r]) => !!factValue(r, "load", "scenario") && tailOf(r) !== null,
	draw(box, [r]) {
		const { curve, end, have, left, unit } = tailOf(r), told = percentilesOf(r);
		/* The position of a limit next to the curve: at its percentile, or beyond the end
		 * if that is unknown. */
		const limits = limitsOf(r).map(l => ({ ...l, share: (told.find(p => p.name.replace(".", "") === l.stat) || {}).share })).filter(l => l.share > 0);

		figure(box, {
			name: "tail",
			alone: "Tail of the latencies",
			data: () => ({ columns: ["percentile", "share of the requests", ...intervalColumns("latency", unit)], rows: told.map(p => [p.name, p.share, number(p.c), ...intervalFields(p.c)]) }),
			note: left.length > 0 ? `Ends at ${have[have.length - 1].name}: ${left.map(p => p.name).join(", ")} left out, since the requests cannot distinguish ${left.length > 1 ? "them" : "it"} (${left[0].c.absent}).` : "",
			says: `Latency by percentile: ${have.map(p => `${p.name} ${cellText(p.c, p.unit)}`).join(", ")}`,
			height: 300,
			draw(svg, width, height) {
				const x = d3.scaleLog([1, 1 / (1 - end)], [ROOM.left, width - 24]);
				const y = d3.scaleLinear([0, 1.05 * d3.max([...curve.map(p => p.y), ...have.map(p => p.c.hi || 0), ...limits.map(l => l.ns)])], [height - ROOM.bottom, ROOM.top]).nice(5);
				const axis = axisX(svg, x, { y: height - ROOM.bottom, title: "percentile" });

				axis.call(d3.axisBottom(x).tickSizeOuter(0).tickValues(SHARES.filter(s => s <= end + 1e-9).map(s => 1 / (1 - s))).tickFormat(v => `${digits(100 * (1 - 1 / v), 6)} %`));
				axisY(svg, y, { x: ROOM.left, unit, title: "latency", width: width - ROOM.left - 24 });
				svg.append("g").attr("class", "c1").append("path").attr("class", "stroke tail-curve").datum(curve).attr("d", d3.line().x(p => x(p.x)).y(p => y(p.y)));
				const h = svg.selectAll(null).data(limits).join("g").attr("class", "limit").attr("transform", l => `translate(0,${y(l.ns)})`);
				h.append("line").attr("class", "rule thin").attr("x1", ROOM.left).attr("x2", width - 24);
				h.append("text").attr("class", "strong halo").attr("x", ROOM.left + 6).attr("y", -5).text(l => (l.share > end + 1e-9 ? `${l.text} (that percentile is not known)` : l.text));
				const marks = have.map(p => ({ ...p, x: 1 / (1 - p.share), y: number(p.c), lo: p.c.lo, hi: p.c.hi, level: p.c.level, class: "c2" }));
				intervalMarks(svg, x, y, marks, { name: "percentile", lines: p => [[p.name, cellText(p.c, p.unit)], ["interval", cellMore(p.c, p.unit) || "none"]] });
				svg.append("g").selectAll("text").data(marks).join("text").attr("class", "strong halo").attr("x", p => x(p.x) - 8).attr("y", p => y(p.y) - 8).attr("text-anchor", "end").text(p => `${p.name} ${cellText(p.c, p.unit)}`);
			},
		});
	},
};
