// view_answer.js - the first screen: the subject, the answer with its interval, and the warnings.
//
// SPDX-License-Identifier: Apache-2.0

import { el } from "../dom.js";
import { format } from "../units.js";
import { cell, cellMore, factValue, metric, number, recordName } from "../record.js";

const DOUBTS = 3;
const RANK = { error: 0, warning: 1, info: 2 };
const TILES = ["latency/median", "latency/undisturbed", "latency/less_run_delay", "latency/mean", "latency/stddev", "latency/min", "latency/p90", "latency/p99", "latency/max", "throughput/items"];
/* The parts of a run on a device. */
const PARTS = ["device/time", "device/enqueue", "transfer/to_device", "transfer/from_device", "time/first_run"];

/** Joins a number and the short word after it by a non-breaking space: "42.53 ms". */
const joined = text => text.replace(/(\d) (?=[^\s\d[(]{1,8}(?:[\s,;:]|$))/g, "$1\u00a0");

const doubt = n => el("li", { class: n.severity }, n.text);

function notes(r) {
	const own = (r.notes || []).filter(n => !n.cause).sort((a, b) => RANK[a.severity] - RANK[b.severity]);

	return { first: own.slice(0, DOUBTS), rest: own.slice(DOUBTS), under: (r.notes || []).filter(n => n.cause) };
}

/* Those that the answer gives by their name; others, such as the rate, it gives without. */
const NAMED_IN_ANSWER = ["latency/median", "latency/mean", "latency/stddev", "latency/min", "latency/p90", "latency/p99", "latency/max"];

/** Whether the answer has the value of a metric, "5.0 ms", in these or other digits, "5.00 ms", and not as a part of another one, "15.0 ms". */
export function answerHas(told, tag, name, value) {
	const [, whole, unit] = /^([\d.,]*)(.*)$/.exec(value), before = NAMED_IN_ANSWER.includes(tag) ? `${name} ` : "";
	const plain = text => Number(text.replaceAll(",", ""));

	return whole !== "" && [...told.matchAll(/(?<![\d.,])\d+(?:,\d{3})*(?:\.\d+)?/g)].some(({ 0: shown, index: at }) =>
		told.slice(0, at).endsWith(before) && told.startsWith(unit, at + shown.length) && !/\w/.test(told[at + shown.length + unit.length] || "") &&
		Number(plain(whole).toFixed((shown.split(".")[1] || "").length)) === plain(shown));
}

/** The metrics next to the answer, without the ones that it contains; below them the absent ones, with their reason. */
function tiles(r, page, told) {
	const all = [...TILES, ...(metric(r, PARTS[0]) ? PARTS : [])].map(tag => metric(r, tag)).filter(Boolean).map(m => ({ m, c: cell(m), about: page.metrics[m.tag] || { name: m.tag, help: "" } }));
	const known = all.filter(t => !("absent" in t.c) && !answerHas(told, t.m.tag, t.about.name, format(number(t.m), t.m.unit))), why = new Map();

	for (const t of all.filter(one => "absent" in one.c))
		why.set(t.c.absent, [...(why.get(t.c.absent) || []), t.about.name]);
	return [el("div", { class: "tiles" }, known.map(({ m, c, about }) =>
		el("div", { class: "tile", title: [about.help, m.how].filter(Boolean).join("\n") },
			el("div", { class: "name" }, about.name),
			el("div", { class: "number" }, format(number(m), m.unit)),
			c.level > 0 ? el("div", { class: "name" }, cellMore(c, m.unit)) : null))),
	...[...why].map(([reason, names]) => el("p", { class: "small dim absent" }, `${names.join(", ")}: absent, ${reason}`))];
}

/** The first number of the answer with its interval dimmed, the others below it. */
function verdict(text) {
	const [first, ...more] = text.split(/ {3,}/), [, value, interval] = /^(.*?)((?:\s+\[[^\]]*\]\*?(?: [\d.]+ %)?(?: of (?:one|\d+) (?:starts?|process(?:es)?))?(?: beside other programs)?)?)$/.exec(first);

	return [el("p", { class: text.length > 70 ? "value long" : "value" }, joined(value), interval ? " " : null, interval ? el("span", { class: "interval" }, interval.trim()) : null),
		...more.map(line => el("p", { class: "line" }, line))];
}

/** What the stars after the answer's intervals mean, as in the text report; without the reasons that the notes give. */
export function starReasons(r, told, given) {
	const why = new Map(), own = [`latency/${factValue(r, "plan", "statistic") || "median"}`, "latency/starts", "latency/undisturbed", "latency/less_run_delay", "throughput/items"];

	for (const m of told.includes("]*") ? (r.metrics || []).filter(one => one.narrow && own.includes(one.tag)) : [])
		why.set(m.narrow, [...(why.get(m.narrow) || []), m.tag]);
	return [...why].filter(([reason]) => !given.some(n => n.text.includes(reason)));
}

export const viewAnswer = {
	id: "answer",
	title: "Answer",
	match: () => true,
	draw(box, [r], page) {
		const said = page.answers[page.records.indexOf(r)];
		const n = notes(r);
		const [first, ...lines] = said.answer;

		/* A listing is titled by its table, not by its command. */
		const listed = factValue(r, "result", "listing") === true && (!said.what || said.what === r.command) && (r.tables || []).length > 0 ? r.tables[0].title : "";

		box.append(el("div", { class: "answer" },
			el("h1", {}, listed || said.what || recordName(r, page.records.indexOf(r))),
			first ? verdict(first) : null,
			lines.map(line => el("p", { class: /^(INCOMPLETE|FAILS|FAILED)/.test(line) ? "line fail" : "line" }, line)),
			starReasons(r, said.answer.join(" "), n.first).map(([reason, tags]) => el("p", { class: "small dim" },
				`*: the interval is too narrow, because ${reason}: ${tags.map(tag => (page.metrics[tag] || { name: tag }).name).join(", ")}`)),
			n.first.length ? el("ul", { class: "doubts", "aria-label": "Reasons to doubt it" }, n.first.map(doubt)) : null,
			n.rest.length + n.under.length ? el("details", {}, el("summary", {}, `${n.rest.length + n.under.length} more note${n.rest.length + n.under.length === 1 ? "" : "s"}`),
				el("ul", { class: "doubts" }, [...n.rest, ...n.under].map(doubt))) : null,
			(r.series || []).some(s => /^latency(\/process\/\d+)?$/.test(s.tag)) ? tiles(r, page, said.answer.join(" ")) : null));
	},
};
