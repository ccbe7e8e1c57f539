// view_ops.js - the operators of a model: bars by type, module, class and line of code, and one table of all.
//
// SPDX-License-Identifier: Apache-2.0

import { bars } from "../bars.js";
import { el } from "../dom.js";
import { listing } from "../listing.js";
import { oneOf } from "../marks.js";
import { compactName, countText, grouped, groupsOf, has, operators, reasons, reasonsText, partText, sumOf, sumText, tells, weightsOf } from "../ops.js";
import { digits, format, formatInterval, percent, unitColumn } from "../units.js";
import { fact, factValue, metric, number } from "../record.js";

const MOST_BARS = 12; /* maximum number of bars; the rest is one more */
const OP_NUMBERS = ["macs", "flops", "params", "bytes"];

export const opMark = o => `op-${o.i}`;

/** Tooltip of an operator. */
export function opLines(o, total) {
	const row = (name, key, unit) => ("absent" in o[key] ? null : [name, countText(number(o[key]), unit)]);
	const time = number(o.time);

	return [o.name, [o.type, o.shape], o.scope ? ["module", o.scope] : null,
		time >= 0 ? ["time", `${format(time, "ns")}${total > 0 ? `, ${partText(time / total)}` : ""}`] : null,
		row("MACs", "macs", "1"), row("FLOPs", "flops", "FLOP"), row("moved", "bytes", "B"),
		"absent" in o.rate ? null : ["rate", format(number(o.rate), "FLOP/s")],
		"absent" in o.share ? null : ["of its roof", `${percent(number(o.share))}${o.bound ? `, ${o.bound}` : ""}`]].filter(Boolean);
}

/** A bar for each group, the heaviest first; act(test, text) is called on selection. */
function opBarRows(ops, group, weight, total, act) {
	const all = grouped(ops, group, weight.key), seen = all.filter(g => g.sum > 0);
	const first = seen.length > MOST_BARS + 1 ? seen.slice(0, MOST_BARS) : seen, rest = seen.slice(first.length);
	const row = (name, list, cls) => {
		const s = sumOf(list, weight.key), members = new Set(list);
		return { name, parts: [[cls, s.sum]], text: `${sumText(s, weight.unit)}${total > 0 ? `, ${partText(s.sum / total)}` : ""}`,
			lines: [name, ["operators", digits(list.length)], ...weightsOf(ops).map(w => [w.name, sumText(sumOf(list, w.key), w.unit)])],
			act: () => act(o => members.has(o), `${group.name}: ${name}`) };
	};

	return { rows: [...first.map(g => row(g.name, g.ops, "c1")),
		...(rest.length ? [row(`${digits(rest.length)} others`, rest.flatMap(g => g.ops), "c8")] : [])], none: all.length - seen.length, all: all.length };
}

function drawOpBars(box, ops, act) {
	const weights = weightsOf(ops), groups = groupsOf(ops), holder = el("div");
	let weight = weights[0], group = groups[0];

	if (weights.length === 0 || groups.length === 0)
		return;
	function draw() {
		const { sum, unknown } = sumOf(ops, weight.key), total = unknown ? 0 : sum; /* unknown values have no shares */
		const { rows, none, all } = opBarRows(ops, group, weight, total, act);
		const notes = [none ? `${digits(none)} of ${digits(all)} ${group.many} have no ${weight.name}` : "",
			unknown ? `${weight.name} of ${digits(unknown)} operator${unknown === 1 ? " is" : "s are"} unknown: sums with them are lower bounds` : ""].filter(Boolean);

		holder.replaceChildren();
		bars(holder, { name: "operators", alone: `${weight.name} by ${group.name}`, rows, note: notes.join("; "), columns: [[weight.name, weight.unit]],
			says: `${weight.name} by ${group.name}: ${rows.slice(0, 3).map(r => `${r.name} ${r.text}`).join(", ")}` });
	}
	box.append(el("div", { class: "controls bars-of" },
		oneOf("by", groups.map(g => [g.key, g.name]), group.key, key => { group = groups.find(g => g.key === key); draw(); }),
		oneOf("weight", weights.map(w => [w.key, w.name]), weight.key, key => { weight = weights.find(w => w.key === key); draw(); })), holder);
	draw();
}

/** The columns of the table that have a value. */
export function opColumns(ops, r) {
	const total = sumOf(ops, "time").sum;
	const why = (o, key) => ("absent" in o[key] ? `absent: ${o[key].absent}` : "");
	const text = (key, title, more) => ({ key, title, text: o => o[key], value: o => o[key], more: o => more && more(o) || o[key] });
	const value = (key, name, unit, sum) => {
		const { title, text: written } = unitColumn(name, ops.map(o => number(o[key])), unit, v => countText(v, unit));

		return { key, title, number: true, text: o => ("absent" in o[key] ? "–" : written(number(o[key]))),
			more: o => why(o, key), value: o => number(o[key]), foot: sum ? list => sumText(sumOf(list, key), unit, written) : null };
	};
	const ratio = (key, title) => ({ ...value(key, title, "1"), text: o => ("absent" in o[key] ? "–" : percent(number(o[key]))) });
	const half = o => (o.time.level > 0 ? (o.time.hi - o.time.lo) / 2 / number(o.time) : NaN);
	const peer = factValue(r, "cost", "as");

	return [
		{ ...text("name", "operator", o => (o.origins.length ? `${o.name}, fused from ${o.origins.join(", ")}` : "")), text: o => o.compact, path: true, foot: list => `sum of ${digits(list.length)}` },
		text("type", "type"),
		/* A name that begins with its module shows it, and so does its mark in the
		 * charts. */
		ops.filter(o => o.scope && !o.compact.startsWith(compactName(o.scope))).length > 0.1 * ops.length && { ...text("scope", "module", o => (o.className ? `${o.scope} (${o.className})` : "")), path: true },
		ops.some(o => o.line) && { ...text("line", "line", o => `${o.line} ${o.code}`.trim()), text: o => o.line.slice(o.line.lastIndexOf("/") + 1) },
		text("shape", "shape"),
		tells(ops, "time") && { ...value("time", "time", "ns", true), more: o => (o.time.level > 0 ? formatInterval(o.time.lo, o.time.hi, o.time.level, "ns") : why(o, "time")) },
		tells(ops, "time") && { key: "half", title: "±", number: true, text: o => (Number.isNaN(half(o)) ? "–" : percent(half(o), 2)), value: half,
			more: o => (o.time.level > 0 ? formatInterval(o.time.lo, o.time.hi, o.time.level, "ns") : "absent: the record has no interval of it") },
		total > 0 && { key: "part", title: "share", number: true, text: o => ("absent" in o.time ? "–" : partText(number(o.time) / total)),
			more: o => why(o, "time"), value: o => number(o.time), foot: list => partText(sumOf(list, "time").sum / total) },
		value("macs", "MACs", "1", true), value("flops", "FLOPs", "FLOP", true), value("params", "parameters", "1", true),
		value("bytes", "moved", "B", true), value("intensity", "FLOP/B", "1"),
		tells(ops, "rate") && value("rate", "rate", "FLOP/s"),
		tells(ops, "roof") && ratio("share", "of its roof"),
		ops.some(o => o.bound) && text("bound", "bound by"),
		tells(ops, "memory") && value("memory", "arena", "B"),
		tells(ops, "peer") && value("peer", peer ? `as ${peer}` : "as another counter", "1", true),
	].filter(Boolean);
}

/** Compares the sums with the record's: a sentence, with the differences. */
export function sumsText(ops, r) {
	const bytes = ["cost/read_bytes", "cost/write_bytes"].map(tag => number(metric(r, tag)));
	const statistic = ["median", "mean"].map(name => [`${name} latency`, number(metric(r, `latency/${name}`))]);
	const time = sumOf(ops, "time");
	const same = (a, b) => Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));
	const pairs = [["MACs", "macs", number(metric(r, "cost/macs"))], ["FLOPs", "flops", number(metric(r, "cost/flops"))],
		["parameters", "params", number(metric(r, "cost/params"))], ["bytes moved", "bytes", bytes[0] + bytes[1]]]
		.filter(([, key, whole]) => !Number.isNaN(whole) && sumOf(ops, key).unknown === 0);
	const equal = pairs.filter(([, key, whole]) => same(sumOf(ops, key).sum, whole)).map(p => p[0]);
	const differ = pairs.filter(([, key, whole]) => !same(sumOf(ops, key).sum, whole))
		.map(([name, key, whole]) => `${name} of the operators add up to ${countText(sumOf(ops, key).sum, "1")}, the model has ${countText(whole, "1")}`);
	const whole = time.known > 0 ? statistic.find(([, v]) => same(v, time.sum)) : null;

	if (whole)
		equal.push(`the times to the ${whole[0]}`);
	return [equal.length ? `All operators together add up to the record's own numbers: ${equal.join(", ")}.` : "", differ.length ? `${differ.join("; ")}.` : ""].filter(Boolean).join(" ");
}

export const viewOps = {
	id: "operators",
	title: "Operators",
	match: ([r]) => (r.ops || []).length > 0,
	draw(box, [r], page) {
		const ops = operators(r), chip = el("span", { class: "chip" }), tableBox = el("div", { class: "operators" });
		const keys = [...OP_NUMBERS, ...["time", "rate", "roof"].filter(key => has(ops, key))];
		const absent = reasons(ops, keys);

		function only(test, text) {
			chip.replaceChildren(...(test ? [el("span", {}, text), el("button", { type: "button", "aria-label": `All operators, not only ${text}`, click: () => only(null) }, "×")] : []));
			table.only(test);
		}
		drawOpBars(box, ops, only);
		box.append(el("div", { class: "controls" }, chip), tableBox);
		/* On a phone the numbers come first: there is space for two columns. */
		const all = opColumns(ops, r), columns = innerWidth < 640 ? [all[0], ...all.slice(1).filter(c => c.number), ...all.slice(1).filter(c => !c.number)] : all;
		const table = listing(tableBox, { columns, rows: ops, sort: has(ops, "time") ? "time" : has(ops, "macs") ? "macs" : undefined, mark: opMark });
		box.append(el("p", { class: "dim small" }, sumsText(ops, r)));
		if (absent.length)
			box.append(el("p", { class: "dim small absent-why" }, `Where – is shown: ${reasonsText(absent.slice(0, 4))}${absent.length > 4 ? `; and ${absent.length - 4} more reasons` : ""}.`));
		if (fact(r, "cost", "convention"))
			box.append(el("p", { class: "dim small" }, String(factValue(r, "cost", "convention"))));
		/* Other views select rows of this table. */
		page.operators = { ops, only, show(o) {
			only(null);
			table.show(o);
		} };
	},
};
