// csv.js - the numbers of a chart as CSV (RFC 4180), by the rules of src/base/csv_write.c: a text is quoted only if
// necessary, a text that a spreadsheet would interpret as a formula gets an apostrophe, numbers have all digits, and an
// absent value is an empty field.
//
// SPDX-License-Identifier: Apache-2.0

const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
/* Characters that control the display: the list of src/base/utf8.c. */
const HIDDEN = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb]/gu;

const shown = text => text.replace(HIDDEN, c => (c === "\n" || c === "\t" ? c : c < " " ? " " : "?"));

function field(v) {
	if (v === null || v === undefined || (typeof v === "number" && !Number.isFinite(v)))
		return "";
	if (typeof v === "number")
		return String(v);
	const text = String(v), formula = FORMULA.test(text);
	return formula || text === "" || /[",\r\n]/.test(text) ? `"${formula ? "'" : ""}${shown(text).replaceAll('"', '""')}"` : shown(text);
}

/** columns: [title, unit] or a title; rows: lists of numbers, texts, and null for absent values. */
export function csvText({ columns, rows }) {
	const head = columns.map(c => (Array.isArray(c) ? (c[1] && c[1] !== "1" ? `${c[0]} [${c[1]}]` : c[0]) : c));

	return [head, ...rows].map(row => `${row.map(field).join(",")}\n`).join("");
}

/** The columns and fields of a value with its interval. */
export const intervalColumns = (title, unit) => [[title, unit], ["from", unit], ["to", unit], "level"];
export const intervalFields = d => (d.level > 0 ? [d.lo, d.hi, d.level] : [null, null, null]);
