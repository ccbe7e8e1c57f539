// points.js - what charts of values have in common: a value has its interval, texts beside each other do not
// overlap, and the numbers stand in a table too.
//
// SPDX-License-Identifier: Apache-2.0

import { el } from "./dom.js";
import { lively, textWidth } from "./marks.js";

/** The room that axes and their titles take around a chart. */
export const ROOM = { left: 56, right: 16, top: 36, bottom: 44 };

/** Says lines(datum) of a mark that the mouse or the keyboard is on: Tab comes to the first, arrows go on. */
export function pointable(marks, lines) {
	lively(marks, { lines, label: d => lines(d).map(line => (Array.isArray(line) ? line.join(" ") : line)).join(", "), many: true });
	return marks;
}

/** Values with their intervals as a dot and a line: list of {x, y, lo, hi} in the units of the scales; the line goes
 * along `along` ("x" or "y"). Returns the groups, each with the datum. */
export function intervalMarks(svg, x, y, list, { along = "y", lines, name = "value" }) {
	const g = svg.selectAll(null).data(list).join("g").attr("class", d => `${name} ${d.class || ""}`);
	const [a, b] = along === "y" ? ["x", "y"] : ["y", "x"];
	const place = { x: d => x(d.x), y: d => y(d.y) }, scale = { x, y };

	g.filter(d => Number.isFinite(d.lo) && Number.isFinite(d.hi)).append("line").attr("class", "stroke interval")
		.attr(`${a}1`, place[a]).attr(`${a}2`, place[a])
		.attr(`${b}1`, d => scale[b](d.lo)).attr(`${b}2`, d => scale[b](d.hi));
	g.append("circle").attr("class", "fill").attr("r", d => d.radius || 4).attr("cx", place.x).attr("cy", place.y);
	/* A mark of a few pixels is hard to meet: what can be pointed at is larger. */
	g.append("circle").attr("r", 11).attr("cx", place.x).attr("cy", place.y).attr("fill", "none").attr("pointer-events", "all");
	return pointable(g, lines);
}

/** Where a text stands between the ends [from, to] at one of the heights so that the fewest dots {x, y} lie under it: {x, y}. */
export function placeFree(text, [from, to], heights, dots) {
	const wide = textWidth(text), last = Math.max(from, to - wide), steps = 12;
	let best = null;

	for (const y of heights)
		for (let i = 0; i <= steps; i++) {
			const x = from + (last - from) * i / steps;
			const under = dots.filter(d => d.x > x - 5 && d.x < x + wide + 5 && d.y > y - 15 && d.y < y + 6).length;
			if (!best || under < best.under)
				best = { x, y, under };
		}
	return { x: best.x, y: best.y };
}

/** Places for texts at `wanted` (px, any order), at least `gap` apart and within [from, to]. */
export function spaced(wanted, gap, from, to) {
	const order = wanted.map((at, i) => ({ at, i })).sort((p, q) => p.at - q.at), out = [];
	let at = -Infinity;

	for (const p of order)
		p.at = at = Math.max(p.at, at + gap, from);
	for (let i = order.length - 1, most = to; i >= 0; i--, most = order[i + 1].at - gap)
		order[i].at = Math.max(from, Math.min(order[i].at, most));
	for (const p of order)
		out[p.i] = p.at;
	return out;
}

/** The numbers of a figure as a table, made when it is opened. */
export function numbersBelow(box, title, fill) {
	const details = el("details", {}, el("summary", {}, title));

	details.addEventListener("toggle", () => {
		if (details.open && details.childElementCount === 1)
			fill(details);
	});
	box.append(details);
}
