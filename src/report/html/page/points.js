// points.js - common parts of charts of values: a value has its interval, labels do not
// overlap, and the numbers are in a table too.
//
// SPDX-License-Identifier: Apache-2.0

import { el } from "./dom.js";
import { lively, textWidth } from "./marks.js";

/** Margins of a chart for axes and their titles. */
export const ROOM = { left: 56, right: 16, top: 36, bottom: 44 };

/** Shows lines(datum) as the tooltip of a mark on hover or focus: Tab goes to the first, arrows to
 * the others. */
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
	/* A mark of a few pixels is hard to hit: its hover area is larger. */
	g.append("circle").attr("r", 11).attr("cx", place.x).attr("cy", place.y).attr("fill", "none").attr("pointer-events", "all");
	return pointable(g, lines);
}

/** Returns the position of a label within [from, to], at one of the heights, that covers the fewest
 * dots {x, y}: {x, y}. */
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

/** Positions for labels close to `wanted` (px, any order), at least `gap` apart and within [from,
 * to]. */
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

/** The numbers of a figure as a table, created when it is opened. */
export function numbersBelow(box, title, fill) {
	const details = el("details", {}, el("summary", {}, title));

	details.addEventListener("toggle", () => {
		if (details.open && details.childElementCount === 1)
			fill(details);
	});
	box.append(details);
}
