// listing.js - tables that can be sorted by any column and filtered by a word.
//
// SPDX-License-Identifier: Apache-2.0

import { el } from "./dom.js";
import { digits } from "./units.js";

const BRIEF = 20;
const LEAD = 24; /* letters of the first column on one line, on a phone too */
const LONG = 40; /* letters: a text that needs a wide column, and may break into lines in it */
const MORE_ROWS = 1000; /* rows drawn at a time, so that a long table responds fast */

/** A name with optional line breaks between its parts. */
const pathParts = text => text.match(text.includes("/") ? /[^/]*\/?/g : /[^.]*\.?/g).filter(Boolean).flatMap((part, i) => (i ? [el("wbr"), part] : [part]));

/** columns: [{key, title, number: bool, text(row) -> shown, more(row) -> tooltip, aside(row) ->
 * after it, dimmed; path: a name of parts, which breaks into lines between them; value(row) ->
 * sorted by, heat(row) -> 0 to 5, foot(rows) -> below the column, for the filtered rows}]; rows:
 * any objects. sort: the initial sort key (numbers in descending order). mark(row) -> an
 * id for rows that can be jumped to. Shows the first rows, and more on request. Returns { box,
 * show(row), only(test) }: test(row) -> visible; null: all rows. */
export function listing(box, { columns, rows, sort, filter = rows.length > BRIEF, brief = BRIEF, mark, click, caption }) {
	let by = columns.find(c => c.key === sort) || null, down = by ? !!by.number : true, word = "", test = null, from = 0, to = brief;
	const head = el("tr"), body = el("tbody"), foot = columns.some(c => c.foot) ? el("tr", { class: "sum" }) : null;
	const count = el("span", { class: "dim", role: "status" });
	const more = el("button", { type: "button", click: () => {
		const all = found().length;
		if (from > 0)
			from = Math.max(0, from - MORE_ROWS);
		to = from === 0 && to >= all ? brief : to + MORE_ROWS;
		fill();
	} });
	const order = (a, b) => {
		if (by.number && Number.isNaN(a) !== Number.isNaN(b))
			return Number.isNaN(a) ? 1 : -1; /* unknown values are last in both directions */
		return (a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1);
	};
	const lead = Math.min(LEAD, Math.max(0, ...rows.slice(0, 2 * BRIEF).map(r => columns[0].text(r).length)));
	const texts = new Map(), long = new Set(columns.filter(c => !c.number && rows.slice(0, BRIEF).some(r => c.text(r).length > LONG)));

	function textOf(r) {
		if (!texts.has(r))
			texts.set(r, columns.map(c => (c.path && c.more ? `${c.text(r)}\n${c.more(r)}` : c.text(r))).join("\n").toLowerCase());
		return texts.get(r);
	}
	function found() {
		const list = rows.filter(r => (!test || test(r)) && (!word || textOf(r).includes(word)));
		return by ? list.map(r => [by.value(r), r]).sort((a, b) => order(a[0], b[0])).map(p => p[1]) : list;
	}
	function fill() {
		const list = found();
		if (list.length <= brief + 5)
			from = 0;
		const end = list.length <= brief + 5 ? list.length : Math.min(to, list.length);

		body.style.setProperty("--lead", `calc(${lead}ch + 16px)`);
		body.replaceChildren(...list.slice(from, end).map(r => el("tr", { id: mark ? mark(r) : null, click: click ? () => click(r) : null },
			columns.map((c, i) => {
				const text = c.text(r), why = c.more ? c.more(r) : "", aside = c.aside ? c.aside(r) : "";
				const shown = c.path ? pathParts(text) : text.length > LONG && !c.number ? el("span", { class: "clamp", title: text }, text) : text;
				return el("td", { class: (c.number ? "number" : "text") + (long.has(c) ? " long" : "") + (c.path ? " path" : "") + (text === "–" ? " absent" : "") + (c.heat ? ` heat${c.heat(r)}` : "") + (c.code ? " mono" : "") + (c.whole ? " whole" : ""), title: why || null },
					click && i === 0 ? el("button", { type: "button", class: "plain" }, shown) : shown,
					aside ? el("span", { class: "interval" }, aside) : null);
			}))));
		if (foot)
			foot.replaceChildren(...columns.map(c => el("td", { class: c.number ? "number" : "text", "data-key": c.key }, c.foot ? c.foot(list) : "")));
		count.hidden = !filter && rows.length <= brief;
		count.textContent = list.length === rows.length ? `${digits(rows.length)} row${rows.length === 1 ? "" : "s"}` : `${digits(list.length)} of ${digits(rows.length)} rows`;
		const rest = list.length - (end - from);
		more.hidden = list.length <= brief + 5;
		more.textContent = rest === 0 ? `only the first ${brief}` : rest <= MORE_ROWS ? `all ${digits(list.length)}` : `${digits(MORE_ROWS)} more`;
		for (const th of head.children)
			th.setAttribute("aria-sort", by && th.dataset.key === by.key ? (down ? "descending" : "ascending") : "none");
	}
	function reset() {
		from = 0;
		to = brief;
		fill();
	}
	for (const c of columns) {
		head.append(el("th", { class: c.number ? "number" : "", scope: "col", "data-key": c.key },
			el("button", { type: "button", click: () => {
				down = by === c ? !down : !!c.number;
				by = c;
				fill();
			} }, c.title)));
	}
	const search = el("input", { type: "search", placeholder: "filter", "aria-label": "Show rows with this word", input: e => {
		word = e.target.value.toLowerCase();
		reset();
	} });
	box.append(el("div", { class: "controls" }, filter ? search : null, count, more),
		el("div", { class: "scroll" }, el("table", {}, caption ? el("caption", {}, caption) : null, el("thead", {}, head), body,
			foot ? el("tfoot", {}, foot) : null)));
	fill();
	return {
		box,
		show(r) { /* scrolls a row into view, with the rows around it */
			word = search.value = "";
			if (test && !test(r))
				test = null;
			const at = found().indexOf(r);
			if (at < from || at >= to) {
				from = at < brief ? 0 : at - brief / 2;
				to = from + brief;
			}
			fill();
			const tr = document.getElementById(mark(r));
			for (const old of body.querySelectorAll(".marked"))
				old.classList.remove("marked");
			if (tr) {
				tr.classList.add("marked");
				tr.tabIndex = -1;
				tr.scrollIntoView({ block: "center" });
				tr.focus({ preventScroll: true });
			}
		},
		only(keep) {
			test = keep;
			reset();
		},
	};
}
