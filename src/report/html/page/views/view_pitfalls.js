// view_pitfalls.js - how far each mistake of benchmarking moves the number.
//
// SPDX-License-Identifier: Apache-2.0

import { plotRows } from "../plot_rows.js";
import { number, rows, table } from "../record.js";
import { digits, formatInterval } from "../units.js";

const HARM = { harm: "c2", "no harm here": "c3" };

/** The mistakes with a positive factor, for a logarithmic axis, the largest change first: [{name, class, value, lo, hi, level, verdict}]. */
export function mistakesOf(r) {
	const t = table(r, "pitfalls/mistakes"), far = m => Math.abs(Math.log(m.value));

	return t ? rows(t).map(row => ({ name: String(row.mistake.value), verdict: String(row.verdict.value), class: HARM[row.verdict.value] || "c8", value: number(row.factor), lo: row.factor.lo, hi: row.factor.hi, level: row.factor.level }))
		.filter(m => m.value > 0).sort((a, b) => far(b) - far(a)) : [];
}

export const viewPitfalls = {
	id: "mistakes",
	title: "Mistakes",
	match: ([r]) => mistakesOf(r).length > 1,
	draw(box, [r]) {
		const list = mistakesOf(r), text = m => `${m.verdict} ${digits(m.value, 3)}`;

		plotRows(box, {
			name: "mistakes", title: "Number with the mistake over the honest number", note: "1: the mistake changes nothing. A mistake that gives 0 has no place here; the table has all of them.",
			says: list.map(m => `${m.name}: ${text(m)}`).join("; "), rows: list.map(m => ({ ...m, lines: [m.name, m.verdict, ["factor", digits(m.value)], ...(m.level > 0 ? [["interval", formatInterval(m.lo, m.hi, m.level, "1")]] : [])] })),
			unit: "1", axis: "factor", at: 1, log: true, text,
		});
	},
};
