// view_tables.js - every table and every fact of a record.
//
// SPDX-License-Identifier: Apache-2.0

import { el } from "../dom.js";
import { listing } from "../listing.js";
import { numbersBelow } from "../points.js";
import { columnScale, digits, formatInterval, percent, wholeText } from "../units.js";
import { cell, cellMore, cellText, number, rows } from "../record.js";

/** "[1.774, 4.667]", in the unit of its column. */
function intervalText(c, factor, share) {
	const n = share ? 3 : 4;
	return `[${digits(c.lo / factor, n)}, ${digits(c.hi / factor, n)}]`;
}

const INSTANT = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/, ID = /^[0-9a-f]{32}$/;
/* Columns that the page shows next to their value. */
const IN_COLUMNS = { of: "value", lo: "lo", hi: "hi", level: "level", unit: "unit" }, BESIDE = { "history/points": IN_COLUMNS, "history/records": IN_COLUMNS };

/** Shortens long texts of a table: an instant to the second, an id to the digits that identify the record. */
const shortText = text => (INSTANT.test(text) ? text.replace(INSTANT, "$1 $2") : ID.test(text) ? text.slice(0, 8) : text);

/** Moves intervals from separate columns into the cells of their values. */
function withIntervals(t) {
	const b = BESIDE[t.name], list = rows(t);

	return b ? list.map(row => ({ ...row, [b.of]: number(row[b.level]) > 0 ? { ...row[b.of], lo: number(row[b.lo]), hi: number(row[b.hi]), level: number(row[b.level]) } : row[b.of] })) : list;
}

/** Columns without a value, by the reason: [[reason, columns]]. */
export function emptyColumns(t) {
	const list = rows(t), why = new Map();

	for (const c of t.columns.filter(col => list.length > 0 && list.every(row => "absent" in row[col.key] && row[col.key].absent === list[0][col.key].absent)))
		why.set(list[0][c.key].absent, [...(why.get(list[0][c.key].absent) || []), c]);
	return [...why];
}

/** Whether all that is known in a column are numbers, even without a unit, as of lines and processes. */
function holdsNumbers(t, c) {
	const known = t.rows.map(row => cell(row[t.columns.indexOf(c)])).filter(v => !("absent" in v));

	return known.length > 0 && known.every(v => typeof v.value === "number");
}

/** The columns of a record's table for listing(). */
export function columnsOf(t, page) {
	const b = BESIDE[t.name], beside = b ? [b.lo, b.hi, b.level, b.unit] : [], empty = emptyColumns(t).flatMap(([, columns]) => columns);

	return t.columns.filter(c => !beside.includes(c.key) && !empty.includes(c)).map(c => {
		const isNumber = c.unit !== undefined && c.unit !== "", ordered = isNumber || holdsNumbers(t, c), share = c.unit === "1" && page.shares.includes(c.key);
		const [factor, name] = share ? [0.01, ""] : columnScale(t.rows.map(row => number(cell(row[t.columns.indexOf(c)]))), c.unit);
		return {
			key: c.key,
			title: name ? `${c.title} [${name}]` : c.title,
			number: ordered,
			text: row => (share && Number.isFinite(number(row[c.key])) ? percent(number(row[c.key])) : isNumber && Number.isFinite(number(row[c.key])) ? digits(number(row[c.key]) / factor) : shortText(cellText(row[c.key], c.unit))),
			whole: t.rows.length > 0 && t.rows.every((row, i) => INSTANT.test(String(t.rows[i][t.columns.indexOf(c)]))),
			aside: row => (row[c.key].level > 0 ? intervalText(row[c.key], factor, share) : ""),
			more: row => cellMore(row[c.key], c.unit) || (!isNumber && shortText(String(row[c.key].value)) !== String(row[c.key].value) ? String(row[c.key].value) : ""),
			value: row => (ordered ? number(row[c.key]) : String(row[c.key].value === undefined ? "" : row[c.key].value)),
		};
	});
}

const SHOWN = ["functions", "memory/functions"];

export const viewTables = {
	id: "tables",
	title: "Tables",
	match: ([r]) => (r.tables || []).length > 0,
	draw(box, [r], page) {
		for (const t of r.tables) {
			/* Tables that another view shows are repeated here as the record's rows. */
			const again = SHOWN.includes(t.name) && (r.trees || []).some(one => one.nodes.length > 0);
			const put = part => {
				const columns = columnsOf(t, page);

				if (columns.length > 0)
					listing(part, { columns, rows: withIntervals(t) });
				for (const [reason, empty] of emptyColumns(t))
					part.append(el("p", { class: "dim small empty-columns" }, `Left out: ${empty.map(c => c.title).join(", ")} (${reason}).`));
			};

			if (again) {
				numbersBelow(box, `${t.title}: the record's table (${digits(t.rows.length)} row${t.rows.length === 1 ? "" : "s"})`, put);
			} else {
				box.append(el("h3", {}, t.title));
				put(box);
			}
		}
	},
};

/** All metrics, then the facts by their sections. */
export const viewFacts = {
	id: "facts",
	title: "Method and machine",
	match: ([r]) => (r.facts || []).length > 0 || (r.metrics || []).length > 0,
	draw(box, [r], page) {
		const sections = new Map();

		if ((r.metrics || []).length > 0) {
			const about = m => page.metrics[m.tag] || { name: m.tag, help: "" };
			box.append(el("h3", {}, "All metrics"));
			const known = r.metrics.filter(m => !("absent" in cell(m))), why = new Map();
			const how = m => [m.how, m.narrow ? `the interval is narrower than its level: ${m.narrow}` : ""].filter(Boolean).join("; ");
			for (const m of r.metrics.filter(one => "absent" in cell(one)))
				why.set(cell(m).absent, [...(why.get(cell(m).absent) || []), m.tag]);
			listing(box, { rows: known, columns: [
				{ key: "tag", title: "metric", text: m => m.tag, more: m => about(m).help, value: m => m.tag },
				{ key: "value", title: "value", number: true, text: m => wholeText(m.tag, cellText(cell(m), m.unit)), more: m => cellMore(cell(m), m.unit), value: m => number(m) },
				{ key: "interval", title: "interval", whole: true, text: m => (m.level > 0 ? `${wholeText(m.tag, formatInterval(m.lo, m.hi, m.level, m.unit))}${m.narrow ? " *" : ""}` : ""), value: m => (m.lo === undefined ? "" : m.lo) },
				{ key: "how", title: "how", text: how, value: how },
			] });
			for (const [reason, tags] of why)
				box.append(el("p", { class: "dim small absent" }, `Absent: ${tags.join(", ")} (${reason}).`));
		}
		for (const f of r.facts || [])
			sections.set(f.section, [...(sections.get(f.section) || []), f]);
		for (const [name, facts] of sections) {
			box.append(el("details", {}, el("summary", {}, `${name} (${facts.length})`),
				el("div", { class: "scroll" }, el("table", {}, facts.map(f => {
					const c = cell(f);
					return el("tr", {}, el("th", { scope: "row" }, f.key),
						el("td", { class: "text" }, "absent" in c ? `absent: ${c.absent}` : cellText(c, f.unit)));
				})))));
		}
		box.append(el("p", { class: "dim small" }, [`deepclock ${r.deepclock}`, r.id && `record ${r.id}`, r.began].filter(Boolean).join(", ")));
	},
};
