// view_tables.js - every table and every fact of a record, for who wants all of it.
//
// SPDX-License-Identifier: Apache-2.0

import { el } from "./dom.js";
import { listing } from "./listing.js";
import { digits, format, percent, scaleOf } from "./units.js";
import { cell, cellMore, cellText, number, rows } from "./record.js";

/** "[1.774, 4.667]", in the unit that the value beside it has. */
function intervalText(c, unit, share) {
	const factor = share ? 0.01 : scaleOf(Math.abs(number(c)), unit)[0], n = share ? 3 : 4;
	return `[${digits(c.lo / factor, n)}, ${digits(c.hi / factor, n)}]`;
}

/** The columns of a record's table for listing(). */
export function columnsOf(t, page) {
	return t.columns.map(c => {
		const isNumber = c.unit !== undefined && c.unit !== "", share = c.unit === "1" && page.shares.includes(c.key);
		return {
			key: c.key,
			title: c.title,
			number: isNumber,
			text: row => (share && Number.isFinite(number(row[c.key])) ? percent(number(row[c.key])) : cellText(row[c.key], c.unit)),
			aside: row => (row[c.key].level > 0 ? intervalText(row[c.key], c.unit, share) : ""),
			more: row => cellMore(row[c.key], c.unit),
			value: row => (isNumber ? number(row[c.key]) : String(row[c.key].value === undefined ? "" : row[c.key].value)),
		};
	});
}

export const viewTables = {
	id: "tables",
	title: "Tables",
	match: ([r]) => (r.tables || []).length > 0,
	draw(box, [r], page) {
		for (const t of r.tables) {
			box.append(el("h3", {}, t.title));
			listing(box, { columns: columnsOf(t, page), rows: rows(t) });
		}
	},
};

/** All metrics, then the facts by their sections. */
export const viewFacts = {
	id: "facts",
	title: "Method and machine",
	match: ([r]) => (r.facts || []).length > 0,
	draw(box, [r], page) {
		const sections = new Map();

		if ((r.metrics || []).length > 0) {
			const about = m => page.metrics[m.tag] || { name: m.tag, help: "" };
			box.append(el("h3", {}, "All metrics"));
			listing(box, { rows: r.metrics, columns: [
				{ key: "tag", title: "metric", text: m => m.tag, more: m => about(m).help, value: m => m.tag },
				{ key: "value", title: "value", number: true, text: m => cellText(cell(m), m.unit), more: m => cellMore(cell(m)), value: m => number(m) },
				{ key: "interval", title: "interval", whole: true, text: m => (m.level > 0 ? cellMore(m, m.unit) : ""), value: m => (m.lo === undefined ? "" : m.lo) },
				{ key: "how", title: "how", text: m => ("absent" in cell(m) ? `absent: ${cell(m).absent}` : m.how || ""), value: m => m.how || "" },
			] });
		}
		for (const f of r.facts)
			sections.set(f.section, [...(sections.get(f.section) || []), f]);
		for (const [name, facts] of sections) {
			box.append(el("details", {}, el("summary", {}, `${name} (${facts.length})`),
				el("div", { class: "scroll" }, el("table", {}, facts.map(f => {
					const c = cell(f);
					return el("tr", {}, el("th", { scope: "row" }, f.key),
						el("td", { class: "text" }, "absent" in c ? `absent: ${c.absent}` : format(c.value, f.unit)));
				})))));
		}
		box.append(el("p", { class: "dim small" }, [`deepclock ${r.deepclock}`, r.id && `record ${r.id}`, r.began].filter(Boolean).join(", ")));
	},
};
