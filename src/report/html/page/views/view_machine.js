// view_machine.js - limits of a machine: arithmetic peaks, bandwidth of each memory level.
//
// SPDX-License-Identifier: Apache-2.0

import { el } from "../dom.js";
import { oneOf } from "../marks.js";
import { plotRows } from "../plot_rows.js";
import { format, formatInterval, wholeText } from "../units.js";
import { cell, metric } from "../record.js";

const ELEMENTS = [["fp64", "FP64"], ["fp32", "FP32"], ["fp16", "FP16"], ["bf16", "BF16"], ["int8", "INT8"]];
const PLACES = [["l1", "L1"], ["l2", "L2"], ["l3", "L3"], ["dram", "memory"]];
const WAYS = [["read", "read"], ["write", "write"], ["write_nt", "write past caches"], ["copy", "copy"], ["triad", "triad"]];

/** A row for a metric; without a value it has the reason. Integer arithmetic is not FLOPs. */
export function limitRow(r, name, tag, more = []) {
	const m = metric(r, tag), c = cell(m), known = !("absent" in c), whole = tag.startsWith("peak/int");
	const text = t => wholeText(tag, t);

	return m === undefined ? null : { name, class: whole ? "c2" : "c1", value: known ? c.value : NaN, lo: c.lo, hi: c.hi, level: c.level, text: known ? text(format(c.value, m.unit)) : "absent",
		lines: [`${name}: ${tag}`, known ? text(format(c.value, m.unit)) : `absent: ${c.absent}`, c.level > 0 ? text(formatInterval(c.lo, c.hi, c.level, m.unit)) : null, ...more].filter(Boolean) };
}

/** Peak of each instruction set: [[name, value]]. */
export const instructionSets = (r, element, threads) => (r.metrics || [])
	.filter(m => m.tag.startsWith(`peak/${element}/`) && m.tag.endsWith(`/${threads}`) && m.tag.split("/").length === 4 && !("absent" in cell(m)))
	.map(m => [m.tag.split("/")[2], format(cell(m).value, m.unit)]);

export const viewMachine = {
	id: "limits",
	title: "Limits",
	match: ([r]) => metric(r, "peak/fp32/1") !== undefined && metric(r, "latency/median") === undefined,
	draw(box, [r]) {
		const left = el("div"), right = el("div");
		let threads = "all", way = "read";

		/* Dots on a logarithmic axis: eight-bit arithmetic can be sixty times as fast as double precision. */
		function chart(holder, name, title, note, list, unit) {
			holder.replaceChildren();
			const told = list.filter(Boolean);
			if (told.some(row => Number.isFinite(row.value)))
				plotRows(holder, { name, title, note, says: `${title}: ${told.map(row => `${row.name} ${row.text}`).join(", ")}`, rows: told, unit, log: true, text: row => row.text });
		}
		function draw() {
			const of = threads === "1" ? "one thread" : "all threads", name = WAYS.find(w => w[0] === way)[1];
			chart(left, "arithmetic", "Arithmetic at best", `${of}, the best of all instruction sets`, ELEMENTS.map(([key, text]) => limitRow(r, text, `peak/${key}/${threads}`, instructionSets(r, key, threads))), "FLOP/s");
			chart(right, "bandwidth", "Bandwidth of each memory", `${of}: ${name}`, PLACES.map(([key, text]) => limitRow(r, text, `bandwidth/${key}_${way}/${threads}`)), "B/s");
		}
		box.append(el("div", { class: "controls" }, oneOf("threads", [["1", "one"], ["all", "all"]], threads, key => { threads = key; draw(); }),
			oneOf("memory is", WAYS, way, key => { way = key; draw(); })), el("div", { class: "pair" }, left, right));
		draw();
	},
};
