// view_memory.js - memory of a program: its use over time with the peaks, then the functions that held it at
// the peak, leaked it, and allocated it, by call path, function and line.
//
// SPDX-License-Identifier: Apache-2.0
/* global d3 */

import { el, tipHide, tipShow } from "../dom.js";
import { axisX, axisY, figure } from "../figure.js";
import { listing } from "../listing.js";
import { spaced } from "../points.js";
import { format } from "../units.js";
import { cell, cellText, metric, metricNumber, tree } from "../record.js";
import { drawCalls } from "./view_calls.js";

const MEMORY_MARGIN = { left: 64, right: 20, top: 28, bottom: 44 };
/* Series, the metric of its peak, colour, description. */
const USES = [["memory/rss", "memory/peak_rss", "c1", "resident"], ["memory/anonymous", "memory/peak_anonymous", "c3", "anonymous"],
	["memory/file", "memory/peak_file", "c8", "of files"], ["memory/heap", "memory/heap_peak", "c2", "heap, requested bytes"],
	["memory/heap_estimated", "memory/heap_peak", "c2", "heap, requested bytes, estimated"]];

/** {tag, colour, name, points: [[ns, bytes]], top: the highest of them, peak: the record's value of it, or NaN}. */
function uses(r) {
	return USES.map(([tag, peak, colour, name]) => {
		const s = (r.series || []).find(q => q.tag === tag && q.at_ns && q.at_ns.length === q.values.length && q.values.length > 0);
		if (!s)
			return null;
		const points = s.values.map((v, i) => [Number(s.at_ns[i]), Number(v)]);
		return { tag, colour, name, points, top: points.reduce((a, b) => (b[1] > a[1] ? b : a)), peak: metricNumber(r, peak), metric: metric(r, peak) };
	}).filter(Boolean);
}

/** Labels of peaks, each next to its point, without overlap: [{use, x, y, anchor}]. */
function peakLabels(list, x, y, width) {
	const labels = list.map(use => ({ use, x: x(use.top[0]), y: y(use.top[1]) - 8, anchor: x(use.top[0]) > width - 170 ? "end" : "start" })).sort((a, b) => a.y - b.y);

	/* There is space above the curves: labels of close peaks are stacked upwards. */
	spaced(labels.map(l => l.y), 15, 12, y(0)).forEach((at, i) => { labels[i].y = at; });
	return labels;
}

function drawUses(box, list) {
	const wide = list[0].points;
	const end = d3.max(list, u => u.points[u.points.length - 1][0]), most = d3.max(list, u => u.top[1]);
	const main = list[0];

	figure(box, {
		name: "memory",
		data: () => ({ columns: ["memory", ["since the program began", "ns"], ["in use", "B"]], rows: list.flatMap(u => u.points.map(p => [u.name, ...p])) }),
		title: "Use over time",
		says: `${main.name} memory over ${format(end, "ns")}, at most ${format(main.top[1], "B")} at ${format(main.top[0], "ns")}`,
		legend: list.map(u => [u.colour, u.name]),
		height: 280,
		draw(svg, width, height) {
			const x = d3.scaleLinear([0, end || 1], [MEMORY_MARGIN.left, width - MEMORY_MARGIN.right]);
			const y = d3.scaleLinear([0, most * (1 + 0.07 * list.length) || 1], [height - MEMORY_MARGIN.bottom, MEMORY_MARGIN.top]);
			const path = d3.line().x(p => x(p[0])).y(p => y(p[1])).curve(d3.curveStepAfter);

			axisY(svg, y, { x: MEMORY_MARGIN.left, unit: "B", title: "in use", width: width - MEMORY_MARGIN.left - MEMORY_MARGIN.right });
			axisX(svg, x, { y: height - MEMORY_MARGIN.bottom, unit: "ns", title: "since the program began" });
			const g = svg.selectAll(".use").data(list).join("g").attr("class", u => `use ${u.colour}`);
			g.append("path").attr("class", "stroke").attr("d", u => path(u.points));
			g.append("circle").attr("class", "fill peak").attr("r", 4).attr("cx", u => x(u.top[0])).attr("cy", u => y(u.top[1]));
			svg.selectAll(".peaklabel").data(peakLabels(list, x, y, width)).join("text").attr("class", "strong halo peaklabel").attr("x", l => l.x + (l.anchor === "end" ? -6 : 6))
				.attr("y", l => l.y).attr("text-anchor", l => l.anchor).text(l => `${l.use.name} ${format(Number.isNaN(l.use.peak) ? l.use.top[1] : l.use.peak, "B")}`);
			const line = svg.append("line").attr("class", "rule thin").attr("y1", MEMORY_MARGIN.top).attr("y2", height - MEMORY_MARGIN.bottom).style("display", "none");
			svg.on("mousemove", () => {
				const at = x.invert(d3.mouse(svg.node())[0]), i = Math.max(0, d3.bisector(p => p[0]).right(wide, at) - 1);
				line.style("display", null).attr("x1", x(wide[i][0])).attr("x2", x(wide[i][0]));
				tipShow(d3.event, [["at", format(wide[i][0], "ns")], ...list.filter(u => u.points[i]).map(u => [u.name, format(u.points[i][1], "B")])]);
			}).on("mouseleave", () => {
				line.style("display", "none");
				tipHide();
			});
		},
	});
	listing(box, { filter: false, rows: list, columns: [
		{ key: "name", title: "memory", text: u => u.name, value: u => u.name },
		{ key: "peak", title: "peak", number: true, text: u => (u.metric ? cellText(cell(u.metric), "B") : "–"), value: u => u.peak, more: u => (u.metric ? u.metric.how || "" : "") },
		{ key: "seen", title: "highest sample", number: true, text: u => format(u.top[1], "B"), value: u => u.top[1] },
		{ key: "at", title: "at", number: true, text: u => format(u.top[0], "ns"), value: u => u.top[0] },
		{ key: "end", title: "at the last sample", number: true, text: u => format(u.points[u.points.length - 1][1], "B"), value: u => u.points[u.points.length - 1][1] }] });
}

const ALLOCATIONS = ["Functions that allocate", "Self is what a function allocates itself, total with callees. Select one to see its callers."];

export const viewMemory = {
	id: "memory",
	title: "Memory",
	match: ([r]) => uses(r).some(u => u.points.length > 1) || (tree(r, "allocations") || { nodes: [] }).nodes.length > 0,
	draw(box, [r], page) {
		const list = uses(r).filter(u => u.points.length > 1), t = tree(r, "allocations");

		if (list.length > 0)
			drawUses(box, list);
		if (t && t.nodes.length > 0) {
			box.append(el("h3", {}, "Allocations by call path"),
				el("p", { class: "dim small" }, "By memory at the peak; select another weight for leaks, temporary allocations, and all allocations. 'callers' inverts the chart: the allocating functions first."));
			drawCalls(box, t, { words: ALLOCATIONS, page });
		}
	},
};
