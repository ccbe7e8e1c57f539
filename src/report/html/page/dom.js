// dom.js - elements. Every text from a record goes through here, as text and never as markup.
//
// SPDX-License-Identifier: Apache-2.0

/** An element with attributes (`class`, `href`; functions are listeners: `click`) and children
 * (elements, texts; null is omitted). */
export function el(tag, attributes, ...children) {
	const e = document.createElement(tag);

	for (const [key, value] of Object.entries(attributes || {})) {
		if (typeof value === "function")
			e.addEventListener(key, value);
		else if (value !== null && value !== undefined && value !== false)
			e.setAttribute(key, value === true ? "" : value);
	}
	e.append(...children.flat().filter(c => c !== null && c !== undefined));
	return e;
}

const tipBox = () => document.getElementById("tip");

/** Shows lines of text (a list; [name, value] makes a row of two) near the mouse or an element. */
export function tipShow(at, lines) {
	const box = tipBox();

	box.replaceChildren(...lines.map(line => Array.isArray(line)
		? el("div", { class: "row" }, el("span", {}, String(line[0])), el("b", {}, String(line[1])))
		: el("div", {}, String(line))));
	box.hidden = false;
	const rect = at.target && at.clientX === undefined ? at.target.getBoundingClientRect() : null;
	const x = rect ? rect.right : at.clientX, y = rect ? rect.top : at.clientY;
	const wide = box.offsetWidth, high = box.offsetHeight;
	box.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - wide - 8))}px`;
	box.style.top = `${Math.max(4, y + 18 + high > innerHeight ? y - high - 10 : y + 18)}px`;
}

export function tipHide() {
	tipBox().hidden = true;
}
