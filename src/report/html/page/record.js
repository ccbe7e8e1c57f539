// record.js - accessors of a record, by name (docs/reference/record.md).
//
// SPDX-License-Identifier: Apache-2.0

import { format, formatInterval } from "./units.js";

export const fact = (r, section, key) =>
	(r.facts || []).find(f => f.section === section && f.key === key);
export const metric = (r, tag) => (r.metrics || []).find(m => m.tag === tag);
export const series = (r, tag) => (r.series || []).find(s => s.tag === tag);
export const table = (r, name) => (r.tables || []).find(t => t.name === name);
export const tree = (r, name) => (r.trees || []).find(t => t.name === name);

/** Converts any value (17.5, {value, lo, hi, level}, {absent}, null; a fact, a metric) to {value,
 * lo, hi, level, absent}: either `value` or `absent`, the reason. */
export function cell(v) {
	if (v === null || v === undefined)
		return { absent: "not known" };
	if (typeof v !== "object")
		return { value: v };
	if ("absent" in v)
		return { absent: v.absent };
	return v.value === null || v.value === undefined ? { absent: "not known" } : v;
}

/** The number, or NaN. Integers beyond 2^53 are strings in JSON. */
export function number(v) {
	const c = cell(v);

	if (typeof c.value === "number")
		return c.value;
	return typeof c.value === "string" && /^-?\d{16,}$/.test(c.value) ? Number(c.value) : NaN;
}

export const factValue = (r, section, key) => {
	const f = fact(r, section, key);
	return f ? cell(f).value : undefined;
};

export const metricNumber = (r, tag) => {
	const m = metric(r, tag);
	return m ? number(m) : NaN;
};

/** Rows of a table as objects by the columns' keys; each value as a cell. */
export function rows(t) {
	return t.rows.map(row => Object.fromEntries(t.columns.map((c, i) => [c.key, cell(row[i])])));
}

/** A cell as text, with its unit. */
export function cellText(c, unit) {
	if ("absent" in c)
		return "–";
	const v = number(c);
	return unit && !Number.isNaN(v) ? format(v, unit) : format(c.value, unit);
}

/** Tooltip of a cell: the reason of absence, the interval, and the reason of undercoverage. */
export function cellMore(c, unit) {
	if ("absent" in c)
		return `absent: ${c.absent}`;
	if (!(c.level > 0))
		return "";
	return formatInterval(c.lo, c.hi, c.level, unit) + (c.narrow ? `, narrower than its level: ${c.narrow}` : "");
}

/** The name of a record among several, as by dck_record_name(). */
export function recordName(r, i) {
	return factValue(r, "subject", "title") || factValue(r, "compare", "subjects") || factValue(r, "subject", "name") || factValue(r, "subject", "command") || r.command || `record ${i + 1}`;
}
