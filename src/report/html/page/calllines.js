// calllines.js - source lines by weight, with heat; the text of each if the page has it.
//
// SPDX-License-Identifier: Apache-2.0

import { el } from "./dom.js";
import { listing } from "./listing.js";
import { percent, unitColumn } from "./units.js";
import { lineRows } from "./calltree.js";
import { weightText } from "./callcontrols.js";

const STEPS = 5;
/** Heat of a line relative to the hottest: 0 to 5. */
export const heatOf = (v, most) => (v > 0 && most > 0 ? Math.max(1, Math.ceil(STEPS * v / most)) : 0);

/** The lines of an opened tree with their self weight k; nothing without lines. sources: {file: {line: text}}. */
export function drawLines(box, c, k, sources = {}) {
	const rows = lineRows(c).filter(r => r.self[k] !== 0 || r.total[k] !== 0), whole = c.sums[k];
	const most = rows.reduce((m, r) => Math.max(m, r.self[k]), 0);
	const textOf = r => (Object.prototype.hasOwnProperty.call(sources, r.file) && sources[r.file][r.line]) || "";
	const number = (key, title, value, text) => ({ key, title, number: true, value, text: r => text(value(r)) });
	const weighed = (key, value) => {
		const { title, text } = unitColumn(key, rows.map(value), c.columns[k].unit, v => weightText(c, k, v));

		return number(key, title, value, text);
	};

	if (rows.length === 0)
		return;
	const columns = [{ key: "place", title: "line", text: r => `${r.file}:${r.line}`, value: r => `${r.file} ${String(r.line).padStart(8, "0")}` },
		weighed("self", r => r.self[k]),
		{ ...number("self_share", "share", r => r.self[k] / whole, v => percent(v)), heat: r => heatOf(r.self[k], most) },
		weighed("total", r => r.total[k]),
		{ key: "function", title: "function", text: r => r.fn.name, value: r => r.fn.name }];
	if (Object.keys(sources).length > 0)
		columns.splice(1, 0, { key: "text", title: "source", text: r => textOf(r).trim(), code: true, value: textOf });
	box.append(el("h3", {}, "Lines"));
	listing(box, { columns, rows, sort: "self", brief: 15, filter: true });
}
