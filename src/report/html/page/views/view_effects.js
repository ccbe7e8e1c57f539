// view_effects.js - what each option does to the speed, and the configurations that no other beats in time and memory.
//
// SPDX-License-Identifier: Apache-2.0

import { colorOf, plotAgainst, plotRows } from "../plot_rows.js";
import { factValue, number, rows, table } from "../record.js";
import { digits, format, formatInterval, percent } from "../units.js";

const EFFECTS = { faster: "c3", slower: "c2" };
const effectSize = e => Math.abs(Math.log(e.value));

/** The effect of each value alone, the largest first: [{name, class, value, lo, hi, level, verdict}]. */
export function effectsOf(r) {
	const t = table(r, "tune/effects");

	return t ? rows(t).map(row => ({ name: String(row.option.value), verdict: String(row.verdict.value), class: EFFECTS[row.verdict.value] || "c8", value: number(row.speedup), lo: row.speedup.lo, hi: row.speedup.hi, level: row.speedup.level }))
		.filter(e => e.value > 0).sort((a, b) => effectSize(b) - effectSize(a)) : [];
}

/** The front: [{name, x: bytes, y: ns, speedup}]. */
export function frontOf(r) {
	const t = table(r, "tune/front");

	return t ? rows(t).map(row => ({ name: String(row.configuration.value), x: number(row.memory), y: number(row.latency), speedup: number(row.speedup) })).filter(p => p.x > 0 && p.y > 0) : [];
}

export const viewEffects = {
	id: "effects",
	title: "Options",
	match: ([r]) => effectsOf(r).length > 0,
	draw(box, [r]) {
		const list = effectsOf(r), front = frontOf(r), margin = factValue(r, "plan", "min-change"), text = e => `${e.verdict} ${digits(e.value, 3)}`;

		plotRows(box, {
			name: "effects", title: "Times as fast as the default, one option changed",
			note: `More than 1 is faster.${margin > 0 ? ` Within ${percent(margin)} of 1 a difference does not matter.` : ""} The intervals of all hold together.`,
			says: list.map(e => `${e.name}: ${text(e)}`).join("; "), rows: list.map(e => ({ ...e, lines: [e.name, e.verdict, ["times as fast", digits(e.value)], ...(e.level > 0 ? [["interval", formatInterval(e.lo, e.hi, e.level, "1")]] : [])] })),
			unit: "1", axis: "times as fast", at: 1, log: true, text,
		});
		if (front.length > 1)
			plotAgainst(box, {
				name: "front", title: "Latency and memory", note: "Configurations that no other beats in time, memory and error at once, and the default.",
				says: front.map(p => `${p.name}: ${format(p.y, "ns")}, ${format(p.x, "B")}`).join("; "),
				told: [["configuration", p => p.name], ["times as fast", p => p.speedup]],
				lists: front.map((p, i) => ({ class: colorOf(i), points: [p] })), legend: front.map((p, i) => [colorOf(i), p.name]),
				x: { title: "memory", unit: "B" }, y: { title: "latency", unit: "ns", zero: true },
				lines: p => [p.name, ["latency", format(p.y, "ns")], ["memory", format(p.x, "B")], ["times as fast", digits(p.speedup)]], joined: false,
			});
	},
};
