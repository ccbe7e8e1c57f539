// page.js - entry point of the page: reads the embedded data, and draws every view that has
// something to show.
//
// SPDX-License-Identifier: Apache-2.0

import { el } from "./dom.js";
import { readBlock } from "./block.js";
import { recordName } from "./record.js";
import { views } from "./views.js";

function theme() {
	const root = document.documentElement, asked = matchMedia("(prefers-color-scheme: dark)");
	const set = name => {
		root.dataset.theme = name;
		dispatchEvent(new Event("themechange"));
	};

	set(asked.matches ? "dark" : "light");
	asked.addEventListener("change", () => set(asked.matches ? "dark" : "light"));
	document.getElementById("theme").addEventListener("click", () => set(root.dataset.theme === "dark" ? "light" : "dark"));
}

/** Draws one view; an error in it must not affect the others. Returns its promise. */
function drawView(main, nav, view, records, page) {
	const { id, title } = view, box = el("section", { id, class: view.many ? "many" : null, "aria-label": title });

	try {
		if (!view.match(records, page))
			return null;
		if (id !== "answer")
			box.append(el("h2", {}, title));
		main.append(box);
		nav.append(el("a", { href: `#${id}` }, title));
		return view.draw(box, records, page);
	} catch (error) {
		main.append(box);
		box.append(el("p", { class: "dim" }, `This part (${title}) could not be drawn: `, error.message));
		console.error(error);
		return null;
	}
}

/** Returns a promise that is resolved when all is drawn. */
function drawRecord(page, i) {
	const main = document.getElementById("record"), nav = document.getElementById("nav");

	main.replaceChildren();
	nav.replaceChildren();
	const [first, ...fine] = views.filter(v => !v.many), many = page.records.length > 1 ? views.filter(v => v.many) : [];
	return Promise.all([first, ...many, ...fine].map(v => drawView(main, nav, v, v.many ? page.records : [page.records[i]], page)));
}

async function begin() {
	const main = document.getElementById("main");

	theme();
	const page = { ...await readBlock("deepclock-page"), records: await readBlock("deepclock-records"), block: readBlock };
	main.replaceChildren();
	if (page.records.length > 1)
		main.append(el("p", { class: "controls" }, el("label", {}, "Record ",
			el("select", { id: "which", change: e => drawRecord(page, Number(e.target.value)) },
				page.records.map((r, i) => el("option", { value: i }, `${i + 1}. ${recordName(r, i)}`))))));
	main.append(el("div", { id: "record" }));
	drawRecord(page, 0);
	document.documentElement.dataset.ready = "yes";
	return null;
}

if (typeof document !== "undefined")
	begin().catch(error => {
		document.getElementById("main").append(el("p", {}, "This page cannot be drawn: ", error.message));
		console.error(error);
	});
