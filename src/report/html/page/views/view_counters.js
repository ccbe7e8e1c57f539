// view_counters.js - performance counters of a program: its time, and every event with its rate.
//
// SPDX-License-Identifier: Apache-2.0

import { bars } from "../bars.js";
import { el } from "../dom.js";
import { listing } from "../listing.js";
import { cell, metric, metricNumber, number } from "../record.js";
import { digits, format, percent } from "../units.js";

const COUNTER_TAG = "counter/", COUNTER_TIMES = ["user_time", "system_time", "duration_time", "task-clock", "cpu-clock"];

/** The events with their number: [{name, value, rate: in each second of the program's processor time, m}]; events without one, by their reason. */
export function eventsOf(r) {
	const all = (r.metrics || []).filter(m => m.tag.startsWith(COUNTER_TAG) && !COUNTER_TIMES.includes(m.tag.slice(COUNTER_TAG.length))), why = new Map();
	const cpu = ["task-clock", "cpu-clock"].map(key => metricNumber(r, COUNTER_TAG + key)).find(v => v > 0) || NaN;

	for (const m of all.filter(one => "absent" in cell(one)))
		why.set(cell(m).absent, [...(why.get(cell(m).absent) || []), m.tag.slice(COUNTER_TAG.length)]);
	return { known: all.filter(m => !("absent" in cell(m))).map(m => ({ name: m.tag.slice(COUNTER_TAG.length), value: number(m), rate: 1e9 * number(m) / cpu, m })), why: [...why] };
}

export const viewCounters = {
	id: "counters",
	title: "Counters",
	match: ([r]) => metric(r, `${COUNTER_TAG}task-clock`) !== undefined || metric(r, `${COUNTER_TAG}user_time`) !== undefined,
	draw(box, [r], page) {
		const wall = metricNumber(r, `${COUNTER_TAG}duration_time`), { known, why } = eventsOf(r);
		const times = [["in the program (user)", "user_time"], ["in the kernel (system)", "system_time"], ["from start to end", "duration_time"]]
			.map(([name, key]) => ({ name, key, value: metricNumber(r, COUNTER_TAG + key) })).filter(t => Number.isFinite(t.value));

		if (times.length > 0)
			bars(box, {
				name: "times", title: "Time", columns: [["time", "ns"]], note: "Processor time of all its processes and threads, beside the time that went by: with several threads it can be more.",
				says: times.map(t => `${t.name} ${format(t.value, "ns")}`).join(", "),
				rows: times.map(t => ({ name: t.name, parts: [[t.key === "duration_time" ? "c8" : "c1", t.value]], text: `${format(t.value, "ns")}${t.key !== "duration_time" && wall > 0 ? `, ${percent(t.value / wall)} of a core` : ""}`, lines: [t.name, format(t.value, "ns")] })),
			});
		if (known.length > 0) {
			box.append(el("h3", {}, "Events"));
			listing(box, { rows: known, filter: known.length > 20, columns: [
				{ key: "name", title: "event", text: e => e.name, value: e => e.name, more: e => (page.metrics[e.m.tag] || { help: "" }).help },
				{ key: "value", title: "count", number: true, text: e => format(e.value, e.m.unit), value: e => e.value },
				{ key: "rate", title: "per CPU second", number: true, text: e => (Number.isFinite(e.rate) ? digits(e.rate) : "–"), value: e => e.rate },
				{ key: "how", title: "how", text: e => e.m.how || "", value: e => e.m.how || "" }] });
		}
		for (const [reason, names] of why)
			box.append(el("p", { class: "dim small absent" }, `Not counted here: ${names.join(", ")} (${reason}).`));
	},
};
