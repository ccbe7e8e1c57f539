// callcontrols.js - the controls around a chart of call paths, its breadcrumbs and its texts.
//
// SPDX-License-Identifier: Apache-2.0

import { el } from "./dom.js";
import { digits, format, percent } from "./units.js";
import { NO_NODE, functionOf, pathTo } from "./calltree.js";

const FORMS = [["icicle", "icicle"], ["flame", "flame graph"], ["sunburst", "sunburst"]];
const LEVELS = [10, 25, 50, 100], LEASTS = [0, 0.001, 0.005, 0.01, 0.05], CRUMBS = 6;

export const choice = (label, list, change) => el("label", {}, `${label} `,
	el("select", { change: e => change(Number(e.target.value)) }, list.map((text, i) => el("option", { value: i }, text))));
export const pressed = (button, on) => button.setAttribute("aria-pressed", on ? "true" : "false");
export const weightText = (c, k, v) => (c.columns[k].unit === "1" ? digits(v, Number.isInteger(v) && Math.abs(v) < 1e9 ? 12 : 4) : format(v, c.columns[k].unit));
export const shareText = (v, whole) => (whole > 0 ? percent(v / whole) : "–");

/** Describes the omitted paths; "" if all are drawn. */
export function leftOut(c, shown, k, whole) {
	const { thin, deep } = shown, list = [];
	const paths = n => `${digits(n, 12)} path${n === 1 ? "" : "s"}`;

	if (thin.paths)
		list.push(`${paths(thin.paths)} of less than ${percent(shown.least, 2)} each (${shareText(thin.weight, whole)} together)`);
	if (deep.paths)
		list.push(`${paths(deep.paths)} below the last level shown (${shareText(deep.weight, whole)})`);
	if (c.cut)
		list.push(`the callers of ${paths(c.cut)} too thin to be visible`);
	return list.length ? `Not drawn: ${list.join("; ")}.` : "";
}

/** Breadcrumbs from the outermost path to the current one. */
export function crumbs(box, c, root, zoom) {
	const path = pathTo(c, root), from = Math.max(0, path.length - CRUMBS);
	const step = node => el("button", { type: "button", click: () => zoom(node), "aria-current": node === root ? "location" : null }, node === NO_NODE ? "all" : functionOf(c, node).name);

	box.replaceChildren(step(NO_NODE), ...(from > 0 ? [" … "] : []), ...path.slice(from).flatMap(node => [" › ", step(node)]));
}

/** A row of controls for the kind of chart, its levels and its cutoff, which change `s`. */
export function formControls(s, draw) {
	const buttons = FORMS.map(([key, text]) => el("button", { type: "button", "data-form": key, click: () => {
		s.form = key;
		buttons.forEach(b => pressed(b, b.dataset.form === key));
		draw();
	} }, text));
	buttons.forEach(b => pressed(b, b.dataset.form === s.form));
	const levels = choice("levels", [...LEVELS, "all"].map(String), i => {
		s.levels = LEVELS[i] || Infinity;
		draw();
	});
	levels.querySelector("select").value = LEVELS.indexOf(s.levels);
	return [el("span", { role: "group", "aria-label": "Form of the chart", class: "group" }, buttons), levels,
		choice("at least", LEASTS.map(v => (v ? percent(v) : "what can be seen")), i => {
			s.least = LEASTS[i];
			draw();
		})];
}

/** A search box: set(word) is called on input; `said` shows the result. */
export function searchControl(set) {
	const said = el("span", { class: "dim", role: "status" });
	const input = el("input", { type: "search", placeholder: "search functions", "aria-label": "Search functions, files and modules", input: e => set(e.target.value) });

	return { input, said, parts: [input, said] };
}

/** Describes the result of a search. */
export const foundText = (f, c, k, whole) => (f.paths === 0 ? "nothing is called so"
	: `${digits(f.functions, 12)} function${f.functions === 1 ? "" : "s"} on ${digits(f.paths, 12)} path${f.paths === 1 ? "" : "s"}: ${shareText(f.weight, whole)} (${weightText(c, k, f.weight)})`);
