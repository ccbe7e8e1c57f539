// page.js - where the page begins: it reads the data that stand in it, and draws every view that has
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

/** One view; a fault in it must not take the others with it. */
function drawView(main, nav, view, records, page, suffix) {
	if (!view.match(records, page))
		return;
	const id = `${view.id}${suffix}`;
	const box = el("section", { id, "aria-label": view.title });

	if (view.id !== "answer")
		box.append(el("h2", {}, view.title));
	main.append(box);
	nav.append(el("a", { href: `#${id}` }, view.title));
	try {
		view.draw(box, records, page);
	} catch (error) {
		box.append(el("p", { class: "dim" }, "This part could not be drawn: ", error.message));
		console.error(error);
	}
}

function drawRecord(page, i) {
	const main = document.getElementById("record"), nav = document.getElementById("nav");

	main.replaceChildren();
	nav.replaceChildren();
	const fine = views.filter(v => !v.many);
	drawView(main, nav, fine[0], [page.records[i]], page, "");
	if (page.records.length > 1)
		for (const v of views.filter(view => view.many))
			drawView(main, nav, v, page.records, page, "");
	for (const v of fine.slice(1))
		drawView(main, nav, v, [page.records[i]], page, "");
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
}

if (typeof document !== "undefined")
	begin().catch(error => {
		document.getElementById("main").append(el("p", {}, "This page cannot be drawn: ", error.message));
		console.error(error);
	});
