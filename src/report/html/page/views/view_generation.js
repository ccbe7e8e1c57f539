// view_generation.js - a decoder token by token: the gap over the position, and the time to the first token over the prompt.
//
// SPDX-License-Identifier: Apache-2.0

import { colorOf, plotAgainst } from "../plot_rows.js";
import { number, rows, series, table } from "../record.js";
import { digits, format, formatInterval } from "../units.js";

const GAPS = "generate/gap_by_position/";

/** The median gap before each token, from the second on: [{name, class, points: [{x: token, y: ns}]}]. */
export function gapsOf(r) {
	const t = table(r, "generate/lengths");

	return t ? rows(t).map((row, i) => {
		const s = series(r, GAPS + String(row.case.value).replaceAll(" ", ""));

		return { name: String(row.case.value), class: colorOf(i), points: Array.from(s ? s.values : [], (y, k) => ({ x: k + 2, y })) };
	}).filter(l => l.points.length > 1) : [];
}

/** TTFT against the tokens of the prompt, a list for each batch; empty with one length. */
export function firstTokensOf(r) {
	const t = table(r, "generate/lengths"), all = t ? rows(t) : [], batches = [...new Set(all.map(row => number(row.batch)))];
	const of = b => all.filter(row => number(row.batch) === b).map(row => ({ x: number(row.prompt), y: number(row.ttft), lo: row.ttft.lo, hi: row.ttft.hi, level: row.ttft.level }));

	return new Set(all.map(row => number(row.prompt))).size > 1 ? batches.map((b, i) => ({ name: `batch ${b}`, class: colorOf(i), points: of(b) })) : [];
}

export const viewGeneration = {
	id: "generation",
	title: "Generation",
	match: ([r]) => gapsOf(r).length + firstTokensOf(r).length > 0,
	draw(box, [r]) {
		const gaps = gapsOf(r), first = firstTokensOf(r), ends = l => `${l.name}: ${format(l.points[0].y, "ns")} to ${format(l.points[l.points.length - 1].y, "ns")}`;

		plotAgainst(box, {
			name: "gaps", title: "Gap before each token", note: "The median over the requests, by prompt length x batch; the first token is apart.", says: gaps.map(ends).join("; "), lists: gaps,
			x: { title: "token", unit: "1" }, y: { title: "gap", unit: "ns", zero: true }, lines: p => [`token ${digits(p.x)}`, ["gap", format(p.y, "ns")]],
		});
		plotAgainst(box, {
			name: "first", title: "Time to the first token", says: first.map(ends).join("; "), lists: first,
			x: { title: "tokens of the prompt", unit: "1" }, y: { title: "TTFT", unit: "ns", zero: true },
			lines: p => [`${digits(p.x)} tokens`, ["TTFT", format(p.y, "ns")], ...(p.level > 0 ? [["interval", formatInterval(p.lo, p.hi, p.level, "ns")]] : [])],
		});
	},
};
