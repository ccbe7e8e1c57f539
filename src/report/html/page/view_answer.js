// view_answer.js - the first screen: what was measured, the answer with its interval, and the
// reasons to doubt it.
//
// SPDX-License-Identifier: Apache-2.0

import { el } from "./dom.js";
import { format } from "./units.js";
import { cell, cellMore, metric, number } from "./record.js";

const DOUBTS = 3;
const RANK = { error: 0, warning: 1, info: 2 };
const TILES = ["latency/median", "latency/mean", "latency/stddev", "latency/min", "latency/p90", "latency/p99", "latency/max", "throughput/items"];

const doubt = n => el("li", { class: n.severity }, n.text);

function notes(r) {
	const own = (r.notes || []).filter(n => !n.under).sort((a, b) => RANK[a.severity] - RANK[b.severity]);

	return { first: own.slice(0, DOUBTS), rest: own.slice(DOUBTS), under: (r.notes || []).filter(n => n.under) };
}

/** The metrics beside the answer, absent ones with their reason. */
function tiles(r, page) {
	return TILES.map(tag => metric(r, tag)).filter(Boolean).map(m => {
		const c = cell(m);
		return el("div", { class: "tile", title: [page.metrics[m.tag] ? page.metrics[m.tag].help : "", m.how, cellMore(c, m.unit)].filter(Boolean).join("\n") },
			el("div", { class: "name" }, page.metrics[m.tag] ? page.metrics[m.tag].name : m.tag),
			el("div", { class: "number" }, "absent" in c ? "absent" : format(number(m), m.unit)),
			"absent" in c ? el("div", { class: "small dim" }, c.absent) : null);
	});
}

export const viewAnswer = {
	id: "answer",
	title: "Answer",
	match: () => true,
	draw(box, [r], page) {
		const said = page.answers[page.records.indexOf(r)];
		const n = notes(r);
		const [first, ...lines] = said.answer;

		box.append(el("div", { class: "answer" },
			el("h1", {}, said.what || r.command || "A record of deepclock"),
			first ? el("p", { class: first.length > 70 ? "value long" : "value" }, first) : null,
			lines.map(line => el("p", { class: /^(INCOMPLETE|FAILS|FAILED)/.test(line) ? "line fail" : "line" }, line)),
			n.first.length ? el("ul", { class: "doubts", "aria-label": "Reasons to doubt it" }, n.first.map(doubt)) : null,
			n.rest.length + n.under.length ? el("details", {}, el("summary", {}, `${n.rest.length + n.under.length} more notes`),
				el("ul", { class: "doubts" }, [...n.rest, ...n.under].map(doubt))) : null,
			el("div", { class: "tiles" }, (r.series || []).some(s => s.tag === "latency") ? tiles(r, page) : [])));
	},
};
