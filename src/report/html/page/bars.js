// bars.js - horizontal bars with names and values.
//
// SPDX-License-Identifier: Apache-2.0

import { figure } from "./figure.js";
import { fitText, lively, textWidth } from "./marks.js";

const BAR_ROW = 26, BAR_HIGH = 16, BAR_NARROW = 620, BAR_GAP = 10;

/** rows: [{name, parts: [[class, value]], text, lines: [...], act()}], from above; the parts of a bar are stacked from left to right.
 * columns: names and units of the parts, as for csvText().
 * act: omitted if bars cannot be selected. most: the value of a bar of full length (default: the longest). The rest as for figure(). */
export function bars(box, { rows, most, columns, ...frame }) {
	const sum = row => row.parts.reduce((s, [, v]) => s + v, 0);
	const whole = most || Math.max(...rows.map(sum));
	const textWide = Math.max(...rows.map(row => textWidth(row.text)));
	const narrow = width => width < BAR_NARROW;

	return figure(box, {
		...frame,
		data: () => ({ columns: ["name", ...columns], rows: rows.map(row => [row.name, ...row.parts.map(p => p[1])]) }),
		height: width => rows.length * (narrow(width) ? BAR_ROW + 12 : BAR_ROW) + 4,
		draw(svg, width) {
			const two = narrow(width), step = two ? BAR_ROW + 12 : BAR_ROW;
			const names = two ? 0 : Math.min(0.42 * width, Math.max(...rows.map(row => textWidth(row.name))) + 4);
			const left = two ? 0 : names + BAR_GAP, room = Math.max(20, width - left - textWide - BAR_GAP);
			const scale = v => (whole > 0 ? v / whole * room : 0);
			const g = svg.selectAll(".bar-row").data(rows).join("g").attr("class", "bar-row").attr("transform", (row, i) => `translate(0,${i * step + 2})`);
			const y = two ? 15 : (BAR_ROW - BAR_HIGH) / 2 - 2;

			g.append("rect").attr("class", "hit").attr("width", width).attr("height", step);
			g.append("text").attr("class", "strong").attr("x", two ? 0 : names).attr("y", two ? 11 : y + 12).attr("text-anchor", two ? "start" : "end")
				.text(row => fitText(row.name, two ? width : names));
			g.selectAll(".part").data(row => row.parts.map(([name, v], k) => ({ name, v, at: row.parts.slice(0, k).reduce((s, p) => s + p[1], 0) })))
				.join("rect").attr("class", p => `fill part ${p.name}`).attr("x", p => left + scale(p.at)).attr("y", y)
				.attr("width", p => Math.max(p.v > 0 ? 1.5 : 0, scale(p.v))).attr("height", BAR_HIGH);
			g.append("text").attr("x", row => left + scale(sum(row)) + 6).attr("y", y + 12).text(row => row.text);
			lively(g, { lines: row => row.lines, act: rows.some(row => row.act) ? row => row.act && row.act() : null,
				label: row => `${row.name}: ${row.text}` });
		},
	});
}
