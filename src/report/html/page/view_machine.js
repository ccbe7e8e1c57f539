// view_machine.js - what a machine can do at best: peaks of arithmetic, bandwidth of each memory.
//
// SPDX-License-Identifier: Apache-2.0

import { bars } from "./bars.js";
import { el } from "./dom.js";
import { oneOf } from "./marks.js";
import { format, formatInterval } from "./units.js";
import { cell, metric } from "./record.js";

const ELEMENTS = [["fp64", "FP64"], ["fp32", "FP32"], ["fp16", "FP16"], ["bf16", "BF16"], ["int8", "INT8"]];
const PLACES = [["l1", "L1"], ["l2", "L2"], ["l3", "L3"], ["dram", "memory"]];
const WAYS = [["read", "read"], ["write", "write"], ["write_nt", "write past caches"], ["copy", "copy"], ["triad", "triad"]];

/** A bar for a metric; without a value the reason stands in its place. */
export function limitRow(r, name, tag, more = []) {
	const m = metric(r, tag), c = cell(m), known = !("absent" in c);

	return m === undefined ? null : { name, parts: [["c1", known ? c.value : 0]], text: known ? format(c.value, m.unit) : "absent",
		lines: [`${name}: ${tag}`, known ? format(c.value, m.unit) : `absent: ${c.absent}`, c.level > 0 ? formatInterval(c.lo, c.hi, c.level, m.unit) : null, ...more].filter(Boolean) };
}

/** What each set of instructions reaches: [[name, value]]. */
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

		function chart(holder, name, title, note, list) {
			holder.replaceChildren();
			const known = list.filter(Boolean);
			if (known.length)
				bars(holder, { name, title, note, says: `${title}: ${known.map(row => `${row.name} ${row.text}`).join(", ")}`, rows: known });
		}
		function draw() {
			const of = threads === "1" ? "one thread" : "all threads", name = WAYS.find(w => w[0] === way)[1];
			chart(left, "arithmetic", "Arithmetic at best", `${of}, the best of all instruction sets`, ELEMENTS.map(([key, text]) => limitRow(r, text, `peak/${key}/${threads}`, instructionSets(r, key, threads))));
			chart(right, "bandwidth", "Bandwidth of each memory", `${of}: ${name}`, PLACES.map(([key, text]) => limitRow(r, text, `bandwidth/${key}_${way}/${threads}`)));
		}
		box.append(el("div", { class: "controls" }, oneOf("threads", [["1", "one"], ["all", "all"]], threads, key => { threads = key; draw(); }),
			oneOf("memory is", WAYS, way, key => { way = key; draw(); })), el("div", { class: "pair" }, left, right));
		draw();
	},
};
