// view_accuracy.js - predictions against labels: which classes are confused, and the recall of each.
//
// SPDX-License-Identifier: Apache-2.0

import { bars } from "../bars.js";
import { el, tipHide, tipShow } from "../dom.js";
import { oneOf } from "../marks.js";
import { partText } from "../ops.js";
import { digits } from "../units.js";
import { cell, number, rows, table } from "../record.js";

const RATES = [["f1", "f1-score", "between precision and recall"], ["recall", "recall", "of the items of a class, the part that was found"],
	["precision", "precision", "of the items called so, the part that are"]];
const WORST = 15;

/** The matrix of a table: [{truth, sum, cells: [{predicted, n, share, same}]}]; share: of the row's items. */
export function confusion(t) {
	const names = t.columns.slice(1).map(c => c.title);

	return t.rows.map((row, k) => {
		const truth = String(cell(row[0]).value), counts = row.slice(1).map(number), sum = counts.reduce((a, b) => a + b, 0);
		return { truth, sum, cells: counts.map((n, i) => ({ predicted: names[i], n, share: sum > 0 ? n / sum : 0, same: i === k && truth !== "(other)" })) };
	});
}

function drawConfusion(box, t) {
	const matrix = confusion(t), all = matrix.flatMap(row => row.cells.map(c => ({ ...c, truth: row.truth, sum: row.sum })));
	const wrong = all.filter(c => !c.same && c.n > 0).sort((a, b) => b.n - a.n);
	const lines = (row, c) => [`${row.truth} predicted as ${c.predicted}`, ["items", digits(c.n)], [`of all ${row.truth}`, partText(c.share)]];

	box.append(el("h3", {}, "Confusion matrix"),
		el("p", { class: "dim small" }, "A row for each label, a column for each prediction; the darker, the larger its part of the row. Correct predictions are framed."),
		el("div", { class: "scroll" }, el("table", { class: "confusion" },
			el("thead", {}, el("tr", {}, el("th", {}, "label"), t.columns.slice(1).map(c => el("th", { scope: "col", class: "number" }, c.title)), el("th", { class: "number" }, "items"))),
			el("tbody", {}, matrix.map(row => el("tr", {}, el("th", { scope: "row" }, row.truth), row.cells.map(c => {
				const td = el("td", { class: `number heat${c.same ? " same" : ""}${c.n === 0 ? " absent" : ""}`, mousemove: e => tipShow(e, lines(row, c)), mouseleave: tipHide }, digits(c.n));
				td.style.setProperty("--share", String(0.65 * c.share));
				return td;
			}), el("td", { class: "number" }, digits(row.sum))))))));
	if (wrong.length)
		box.append(el("p", { class: "small" }, `Most often: ${wrong.slice(0, 3).map(c => `${c.truth} taken for ${c.predicted}, ${digits(c.n)} of ${digits(c.sum)}`).join("; ")}.`));
}

function drawClasses(box, t) {
	const list = rows(t), holder = el("div");
	let [key] = RATES[0];

	function draw() {
		const [, name, means] = RATES.find(r => r[0] === key);
		const known = list.filter(r => !Number.isNaN(number(r[key]))).sort((a, b) => number(a[key]) - number(b[key]));
		const first = known.slice(0, WORST), absent = list.length - known.length;

		holder.replaceChildren();
		if (first.length === 0)
			return;
		bars(holder, { name: "classes", most: 1, columns: [name], title: `Classes by ${name}, the worst first`, says: `${first[0].label.value} has the least ${name}: ${digits(number(first[0][key]), 3)}`,
			note: [means, known.length > WORST ? `the worst ${WORST} of ${digits(known.length)}` : "", absent ? `of ${digits(absent)} it is not known` : ""].filter(Boolean).join("; "),
			rows: first.map(r => ({ name: String(r.label.value), parts: [["c1", number(r[key])]], text: digits(number(r[key]), 3),
				lines: [String(r.label.value), ...RATES.map(([k, title]) => [title, "absent" in r[k] ? `absent: ${r[k].absent}` : digits(number(r[k]), 3)]), ["items", digits(number(r.support))]] })) });
	}
	box.append(el("div", { class: "controls" }, oneOf("by", RATES.map(([k, title]) => [k, title]), key, k => { key = k; draw(); })), holder);
	draw();
}

export const viewAccuracy = {
	id: "classes",
	title: "Classes",
	match: ([r]) => Boolean(table(r, "accuracy/classes")),
	draw(box, [r]) {
		const matrix = table(r, "accuracy/confusion");

		drawClasses(box, table(r, "accuracy/classes"));
		if (matrix)
			drawConfusion(box, matrix);
	},
};
