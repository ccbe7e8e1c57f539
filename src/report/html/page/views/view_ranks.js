// view_ranks.js - the ranks of a job: how long each waits and what it costs the others, over time and in all; one step of all.
//
// SPDX-License-Identifier: Apache-2.0
/* global d3 */

import { choice } from "../callcontrols.js";
import { el, tipHide, tipShow } from "../dom.js";
import { axisX, figure } from "../figure.js";
import { plotRows } from "../plot_rows.js";
import { cell, number, rows, table } from "../record.js";
import { digits, format, formatInterval } from "../units.js";

const ROW_HIGH = 18, NAMES_WIDE = 70; /* px */

/** The ranks that have times: [{name, rank, wait, cost}], in their order; wait and cost are cells. */
export function ranksOf(r) {
	const t = table(r, "ranks");

	return t ? rows(t).filter(row => Number.isFinite(number(row.wait))).map(row => ({ name: `rank ${number(row.rank)}`, rank: number(row.rank), wait: row.wait, cost: row.cost })) : [];
}

/** The heat map: {ranks, cells: [{row, from, to, wait, cost, share}]}; share: of the longest wait; null if the record has none. */
export function rankTimesOf(r) {
	const t = table(r, "ranks/times");

	if (!t || t.rows.length === 0)
		return null;
	const list = t.rows.map(row => row.map(c => number(cell(c)))), ranks = [...new Set(list.map(([rank]) => rank))], most = Math.max(...list.map(row => row[3]).filter(Number.isFinite));
	return { ranks, cells: list.map(([rank, from, to, wait, cost]) => ({ rank, row: ranks.indexOf(rank), from, to, wait, cost, share: most > 0 ? wait / most : 0 })) };
}

function drawRankTimes(box, { ranks, cells }) {
	figure(box, {
		name: "ranks-times", title: "In collectives, each rank by time",
		note: "The darker, the longer the rank waited in a step. A row that is pale where the others are dark is a rank that they wait for.",
		says: `${ranks.length} ranks; the longest wait is ${format(Math.max(...cells.map(c => c.wait).filter(Number.isFinite)), "ns")}`,
		height: ranks.length * ROW_HIGH + 50,
		data: () => ({ columns: ["rank", "first step", "last step", ["in collectives", "ns"], ["cost to others", "ns"]], rows: cells.map(c => [c.rank, c.from, c.to, c.wait, c.cost]) }),
		draw(svg, width) {
			const x = d3.scaleLinear([cells[0].from - 0.5, cells[cells.length - 1].to + 0.5], [NAMES_WIDE, width - 12]);

			svg.selectAll(null).data(ranks).join("text").attr("x", NAMES_WIDE - 8).attr("text-anchor", "end").attr("dy", "0.35em").attr("y", (_, i) => (i + 0.5) * ROW_HIGH).text(rank => `rank ${rank}`);
			svg.append("g").attr("class", "c1").selectAll(null).data(cells).join("rect").attr("class", "fill rank-time")
				.attr("x", c => x(c.from - 0.5)).attr("width", c => Math.max(1, x(c.to + 0.5) - x(c.from - 0.5))).attr("y", c => c.row * ROW_HIGH + 1).attr("height", ROW_HIGH - 2)
				.attr("fill-opacity", c => (Number.isFinite(c.wait) ? 0.05 + 0.95 * c.share : 0))
				.on("mousemove", c => tipShow(d3.event, [`rank ${c.rank}, steps ${digits(c.from)} to ${digits(c.to)}`, ["in collectives", format(c.wait, "ns")], ["cost to others", format(c.cost, "ns")]])).on("mouseleave", tipHide);
			axisX(svg, x, { y: ranks.length * ROW_HIGH + 4, unit: "1", title: "step", count: Math.max(2, width / 110) });
		},
	});
}

/** The timelines of steps: [{step, ranks, names, spans: [{rank, row, kind, name, begin, end}]}], in the record's order; names: of the parts. */
export function rankStepsOf(r) {
	const t = table(r, "ranks/spans"), steps = new Map();

	for (const row of t ? rows(t) : []) {
		const step = number(row.step), rank = number(row.rank), kind = row.kind.value, name = row.name.value;
		const own = steps.get(step) || { step, ranks: [], names: [], spans: [] };

		steps.set(step, own);
		if (!own.ranks.includes(rank))
			own.ranks.push(rank);
		if (kind === "part" && !own.names.includes(name))
			own.names.push(name);
		own.spans.push({ rank, row: own.ranks.indexOf(rank), kind, name, begin: number(row.begin), end: number(row.end) });
	}
	return [...steps.values()];
}

/* The first parts have a colour each, the others one. */
const SPAN_COLOURS = [1, 3, 4, 5, 6, 7];
const spanColour = (step, span) => (span.kind === "collective" ? "c2" : `c${SPAN_COLOURS[step.names.indexOf(span.name)] || 8}`);

function drawRankStep(box, step) {
	const legend = [...step.names.slice(0, SPAN_COLOURS.length).map(name => [spanColour(step, { kind: "part", name }), name]),
		...(step.names.length > SPAN_COLOURS.length ? [["c8", "other parts"]] : []), ["c2", "collectives"]];
	const most = Math.max(...step.spans.map(s => s.end)), slots = { step: [0, 1], part: [0.12, 0.46], collective: [0.58, 0.3] };

	figure(box, {
		name: "ranks-step", alone: "One step of all ranks", legend,
		says: `step ${digits(step.step)} of ${step.ranks.length} ranks takes ${format(most, "ns")}`,
		height: step.ranks.length * ROW_HIGH + 50,
		data: () => ({ columns: ["step", "rank", "kind", "name", ["begin", "ns"], ["end", "ns"]], rows: step.spans.map(s => [step.step, s.rank, s.kind, s.name, s.begin, s.end]) }),
		draw(svg, width) {
			const x = d3.scaleLinear([0, most], [NAMES_WIDE, width - 12]);

			svg.selectAll(null).data(step.ranks).join("text").attr("x", NAMES_WIDE - 8).attr("text-anchor", "end").attr("dy", "0.35em").attr("y", (_, i) => (i + 0.5) * ROW_HIGH).text(rank => `rank ${rank}`);
			svg.append("g").selectAll(null).data(step.spans).join("rect").attr("class", s => `fill rank-span ${s.kind === "step" ? "c8" : spanColour(step, s)}`)
				.attr("x", s => x(s.begin)).attr("width", s => Math.max(1, x(s.end) - x(s.begin)))
				.attr("y", s => (s.row + slots[s.kind][0]) * ROW_HIGH).attr("height", s => slots[s.kind][1] * ROW_HIGH - (s.kind === "step" ? 1 : 0))
				.attr("fill-opacity", s => (s.kind === "step" ? 0.15 : 1))
				.on("mousemove", s => tipShow(d3.event, [`rank ${s.rank}: ${s.name}`, ["from", format(s.begin, "ns")], ["to", format(s.end, "ns")], ["takes", format(s.end - s.begin, "ns")]])).on("mouseleave", tipHide);
			axisX(svg, x, { y: step.ranks.length * ROW_HIGH + 4, unit: "ns", title: "time since the first begin of the step", count: Math.max(2, width / 110) });
		},
	});
}

function drawRankSteps(box, steps) {
	const holder = el("div", {});
	const show = i => {
		holder.replaceChildren();
		drawRankStep(holder, steps[i]);
	};

	box.append(el("h3", {}, "One step of all ranks"),
		el("p", { class: "dim small" }, "On rank 0's clock: parts above, collectives below. The rank whose collective begins last is the one that the others wait for."),
		el("div", { class: "controls" }, choice("step", steps.map((s, i) => `${s.step}, ${i ? "typical waits" : "the longest waits"}`), show)), holder);
	show(0);
}

function drawRanks(box, list, key, name, title, note) {
	const text = row => format(row.value, "ns");

	plotRows(box, {
		name, title, note, unit: "ns", axis: title.toLowerCase(), bars: true, log: false, text,
		says: list.map(row => `${row.name}: ${format(number(row[key]), "ns")}`).join("; "),
		rows: list.map(row => ({ name: row.name, class: "c1", value: number(row[key]), lo: row[key].lo, hi: row[key].hi, level: row[key].level,
			lines: [row.name, [title.toLowerCase(), format(number(row[key]), "ns")], ...(row[key].level > 0 ? [["interval", formatInterval(row[key].lo, row[key].hi, row[key].level, "ns")]] : [])] })),
	});
}

export const viewRanks = {
	id: "ranks",
	title: "Ranks",
	match: ([r]) => ranksOf(r).length > 1,
	draw(box, [r]) {
		const list = ranksOf(r), heat = rankTimesOf(r), steps = rankStepsOf(r);

		drawRanks(box, list, "wait", "ranks-wait", "Time in collectives", "Per step. The rank that waits least holds the others up.");
		drawRanks(box, list, "cost", "ranks-cost", "Cost to others", "Per step: how long all others waited for that rank alone.");
		if (heat)
			drawRankTimes(box, heat);
		if (steps.length)
			drawRankSteps(box, steps);
	},
};
