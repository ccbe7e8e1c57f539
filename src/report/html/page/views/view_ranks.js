// view_ranks.js - the ranks of a job: how long each waits and what it costs the others, over time and in all.
//
// SPDX-License-Identifier: Apache-2.0
/* global d3 */

import { tipHide, tipShow } from "../dom.js";
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

	if (!t)
		return null;
	const list = t.rows.map(row => row.map(c => number(cell(c)))), ranks = [...new Set(list.map(([rank]) => rank))], most = Math.max(...list.map(row => row[3]));
	return { ranks, cells: list.map(([rank, from, to, wait, cost]) => ({ rank, row: ranks.indexOf(rank), from, to, wait, cost, share: most > 0 ? wait / most : 0 })) };
}

function drawRankTimes(box, { ranks, cells }) {
	figure(box, {
		name: "ranks-times", title: "In collectives, each rank by time",
		note: "The darker, the longer the rank waited in a step. A row that is pale where the others are dark is a rank that they wait for.",
		says: `${ranks.length} ranks; the longest wait is ${format(Math.max(...cells.map(c => c.wait)), "ns")}`,
		height: ranks.length * ROW_HIGH + 50,
		data: () => ({ columns: ["rank", "first step", "last step", ["in collectives", "ns"], ["cost to others", "ns"]], rows: cells.map(c => [c.rank, c.from, c.to, c.wait, c.cost]) }),
		draw(svg, width) {
			const x = d3.scaleLinear([cells[0].from - 0.5, cells[cells.length - 1].to + 0.5], [NAMES_WIDE, width - 12]);

			svg.selectAll(null).data(ranks).join("text").attr("x", NAMES_WIDE - 8).attr("text-anchor", "end").attr("dy", "0.35em").attr("y", (_, i) => (i + 0.5) * ROW_HIGH).text(rank => `rank ${rank}`);
			svg.append("g").attr("class", "c1").selectAll(null).data(cells).join("rect").attr("class", "fill rank-time")
				.attr("x", c => x(c.from - 0.5)).attr("width", c => Math.max(1, x(c.to + 0.5) - x(c.from - 0.5))).attr("y", c => c.row * ROW_HIGH + 1).attr("height", ROW_HIGH - 2)
				.attr("fill-opacity", c => 0.05 + 0.95 * c.share)
				.on("mousemove", (e, c) => tipShow(e, [`rank ${c.rank}, steps ${digits(c.from)} to ${digits(c.to)}`, ["in collectives", format(c.wait, "ns")], ["cost to others", format(c.cost, "ns")]])).on("mouseleave", tipHide);
			axisX(svg, x, { y: ranks.length * ROW_HIGH + 4, unit: "1", title: "step", count: Math.max(2, width / 110) });
		},
	});
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
		const list = ranksOf(r), heat = rankTimesOf(r);

		drawRanks(box, list, "wait", "ranks-wait", "Time in collectives", "Per step. The rank that waits least holds the others up.");
		drawRanks(box, list, "cost", "ranks-cost", "Cost to others", "Per step: how long all others waited for that rank alone.");
		if (heat)
			drawRankTimes(box, heat);
	},
};
