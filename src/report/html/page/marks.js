// marks.js - marks with tooltips, selection and keyboard focus, and their labels.
//
// SPDX-License-Identifier: Apache-2.0
/* global d3 */

import { el, tipHide, tipShow } from "./dom.js";

let pen = null;

export function textWidth(text, size = 12) {
	pen = pen || document.createElement("canvas").getContext("2d");
	pen.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
	return pen.measureText(text).width;
}

/** Truncates a text to a width in px, with … at the end; "" if less than 3 letters fit. */
export function fitText(text, width, size = 12) {
	let low = 0, high = text.length;

	if (textWidth(text, size) <= width)
		return text;
	while (low < high) {
		const middle = Math.ceil((low + high) / 2);
		if (textWidth(`${text.slice(0, middle)}…`, size) <= width)
			low = middle;
		else
			high = middle - 1;
	}
	return low < 3 ? "" : `${text.slice(0, low)}…`;
}

/** Marks with the tooltip lines(datum) on hover or focus, and act(datum) on click or Enter.
 * label(datum): for screen readers. With many marks the arrow keys go from one to the next, and Tab
 * skips the others (`many`). */
export function lively(marks, { lines, act, label, many = false }) {
	const nodes = marks.nodes();

	marks.attr("tabindex", (d, i) => (many && i > 0 ? -1 : 0)).attr("role", act ? "button" : "img").attr("aria-label", label)
		.classed("lively", !!act)
		.on("mousemove", d => tipShow(d3.event, lines(d)))
		.on("mouseleave", tipHide)
		.on("focus", (d, i) => tipShow({ target: nodes[i] }, lines(d)))
		.on("blur", tipHide)
		.on("click", d => {
			tipHide();
			if (act)
				act(d);
		})
		.on("keydown", (d, i) => {
			const key = d3.event.key, step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[key];
			if (act && (key === "Enter" || key === " ")) {
				d3.event.preventDefault();
				tipHide();
				act(d);
			} else if (step && many) {
				const next = nodes[Math.max(0, Math.min(nodes.length - 1, i + step))];
				d3.event.preventDefault();
				nodes[i].setAttribute("tabindex", -1);
				next.setAttribute("tabindex", 0);
				next.focus();
			}
		});
}

/** Radio buttons: options [[key, text]]; change(key) is called with the selected key. */
export function oneOf(title, options, chosen, change) {
	const buttons = options.map(([key, text]) => el("button", { type: "button", "data-key": key, "aria-pressed": String(key === chosen), click: () => {
		for (const b of buttons)
			b.setAttribute("aria-pressed", String(b.dataset.key === key));
		change(key);
	} }, text));

	return el("span", { class: "choice", role: "group", "aria-label": title }, el("span", { class: "dim" }, title), buttons);
}
