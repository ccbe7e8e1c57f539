// view_roofline.js - how near each operator is to the machine's limits, and the possible gain.
// Williams, Waterman, Patterson: Roofline, Communications of the ACM 52 (2009).
//
// SPDX-License-Identifier: Apache-2.0
/* global d3 */

import { bars } from "../bars.js";
import { el } from "../dom.js";
import { axisX, axisY, figure } from "../figure.js";
import { fitText, lively, textWidth } from "../marks.js";
import { gains, leastTime, operators, partText, placed, reasons, reasonsText, roofsOf, sumOf } from "../ops.js";
import { opLines } from "./view_ops.js";
import { digits, format, formatCount, percent } from "../units.js";
import { factValue, metric, number } from "../record.js";

const ROOF_SPACE = { left: 84, right: 16, top: 30, bottom: 46 };
const ROOF_HIGH = 460, DOT_MOST = 20, DOT_LEAST = 3.5, LABELS = 6, NAME_WIDE = 240, KINDS = 7, GAINS = 12;

/** Roofs of a record without the machine's, derived from its operators: each is limited by a peak or by a bandwidth. */
export function roofsSeen(ops) {
	const peaks = new Map(), levels = new Map();

	for (const o of ops) {
		const roof = number(o.roof), x = number(o.intensity);
		if (roof > 0 && o.bound === "compute")
			peaks.set(roof.toPrecision(4), { key: "peak", name: "peak", value: roof });
		if (roof > 0 && x > 0 && o.bound === "memory")
			levels.set((roof / x).toPrecision(4), { key: "bandwidth", name: "bandwidth", value: roof / x, capacity: NaN });
	}
	return peaks.size + levels.size > 0 ? { peaks: [...peaks.values()], levels: [...levels.values()] } : null;
}

/** The peaks that limit operators, and the peak of single precision. */
function peaksUsed(roofs, ops) {
	const used = roofs.peaks.filter(p => p.key === "fp32" || p.key === "peak" || ops.some(o => o.bound === "compute" && Math.abs(number(o.roof) / p.value - 1) < 1e-9));

	return used.length ? used : roofs.peaks.slice(0, 1);
}

/** The range of the axes: includes all dots and the ridge point of every roof. */
export function roofDomain(dots, peaks, levels) {
	const bends = levels.flatMap(l => peaks.map(p => p.value / l.value));
	const xs = [...dots.map(d => d.x), ...bends], ys = [...dots.map(d => d.y), ...peaks.map(p => p.value)];

	return { x: [Math.min(...xs) / 2.5, Math.max(...xs) * 2.5], y: [Math.min(...ys) / 2.5, Math.max(...ys) * 2] };
}

/** Colours for the types with most time; the others share one. */
function typeColours(dots) {
	const time = new Map();

	for (const d of dots)
		time.set(d.op.type, (time.get(d.op.type) || 0) + (d.time || 0));
	const first = [...time].sort((a, b) => b[1] - a[1]).slice(0, KINDS).map(([type]) => type);
	const of = type => (first.includes(type) ? `c${first.indexOf(type) + 1}` : "c8");
	return { of, legend: [...first.map(type => [of(type), type || "(no type)"]), ...(time.size > KINDS ? [["c8", `${time.size - KINDS} other types`]] : [])] };
}

function drawRoofs(svg, x, y, peaks, levels) {
	const [left, right] = x.domain(), top = Math.max(...peaks.map(p => p.value));
	const lines = [
		...levels.map(l => ({ ...l, kind: "level", from: [left, left * l.value], to: [top / l.value, top] })),
		...peaks.map(p => ({ ...p, kind: "peak", from: [p.value / Math.max(...levels.map(l => l.value), p.value / right), p.value], to: [right, p.value] })),
	];

	svg.append("g").selectAll("line").data(lines).join("line").attr("class", d => `rule roof ${d.kind}`)
		.attr("x1", d => x(d.from[0])).attr("y1", d => y(d.from[1])).attr("x2", d => x(d.to[0])).attr("y2", d => y(d.to[1]));
	/* The labels of the slopes are on them; if two slopes are close, the lower one's label
	 * starts after the other. */
	const turn = -Math.atan2(y(1) - y(10), x(10) - x(1)) * 180 / Math.PI;
	let above = -Infinity, begin = 8;
	for (const d of lines.filter(l => l.kind === "level" && l.from[1] < top).sort((a, b) => b.value - a.value)) {
		const text = `${d.name} ${format(d.value, "B/s")}`, wide = textWidth(text) * Math.cos(turn * Math.PI / 180);
		begin = y(d.from[1]) - above < 18 ? begin + wide + 24 : 8;
		above = y(d.from[1]);
		if (x(left) + begin + wide < x(d.to[0]))
			svg.append("text").attr("class", "strong halo").attr("transform", `translate(${x(left) + begin},${y(x.invert(x(left) + begin) * d.value) - 4}) rotate(${turn})`).text(text);
	}
	for (const d of lines.filter(p => p.kind === "peak"))
		svg.append("text").attr("class", "strong halo").attr("x", x(right)).attr("y", y(d.value) - 6).attr("text-anchor", "end").text(`${d.name}${d.name === "peak" ? "" : " peak"} ${format(d.value, "FLOP/s")}`);
}

/** Names of the largest dots, where they cover nothing else. */
function nameDots(svg, list, width) {
	const had = list.map(d => ({ x0: d.px - d.r, x1: d.px + d.r, y0: d.py - d.r, y1: d.py + d.r, of: d })), named = new Set();
	let n = 0;

	for (const d of list.slice(0, 4 * LABELS)) {
		const text = fitText(d.op.compact, NAME_WIDE), wide = textWidth(text);
		const places = [d.px + d.r + 5, d.px - d.r - 5 - wide].map(x0 => ({ x0, x1: x0 + wide, y0: d.py - 7, y1: d.py + 7 }));
		const place = places.find(p => p.x0 > ROOF_SPACE.left && p.x1 < width && !had.some(b => b.of !== d && b.x0 < p.x1 && p.x0 < b.x1 && b.y0 < p.y1 && p.y0 < b.y1));
		if (!text || !place || n >= LABELS || named.has(text))
			continue;
		had.push(place);
		named.add(text);
		n++;
		svg.append("text").attr("class", "strong halo dot-name").attr("x", place.x0).attr("y", d.py + 4).text(text);
	}
}

function drawRoofline(box, r, ops, roofs, page) {
	const { dots, rest } = placed(ops), total = sumOf(ops, "time").sum;
	const peaks = roofs ? peaksUsed(roofs, ops) : [], levels = roofs ? roofs.levels : [];
	const colours = typeColours(dots), most = Math.max(...dots.map(d => d.time || 0));
	const domain = roofDomain(dots, peaks, levels), of = factValue(r, "profile", "roofs_of");
	const near = dots.filter(d => number(d.op.share) >= 0.5), known = dots.filter(d => !Number.isNaN(number(d.op.share))), at = near.reduce((s, d) => s + (d.time || 0), 0);

	figure(box, {
		name: "roofline",
		title: "Operators and the roofs of this machine",
		note: "Each dot is an operator, as large as its time: FLOPs for each byte that it moves against the FLOP/s that it reached. Above the slopes memory is too slow, above the flat line arithmetic. A slope is the fastest of reading, copying and the triad.",
		says: `${digits(dots.length)} operators among ${roofs ? `${peaks.length + levels.length} roofs` : "no roofs"}, ${digits(near.length)} of them at half of their roof or more`,
		legend: colours.legend,
		height: width => (width < 620 ? 380 : ROOF_HIGH),
		data: () => ({ columns: ["operator", "type", ["intensity", "FLOP/B"], ["rate", "FLOP/s"], ["roof", "FLOP/s"], ["time", "ns"]],
			rows: dots.map(d => [d.op.name, d.op.type, d.x, d.y, number(d.op.roof), d.time]) }),
		draw(svg, width, height) {
			const x = d3.scaleLog(domain.x, [ROOF_SPACE.left, width - ROOF_SPACE.right]), y = d3.scaleLog(domain.y, [height - ROOF_SPACE.bottom, ROOF_SPACE.top]);
			const list = dots.map(d => ({ ...d, px: x(d.x), py: y(d.y), r: Math.max(DOT_LEAST, most > 0 ? DOT_MOST * Math.sqrt((d.time || 0) / most) : 0) }))
				.sort((a, b) => b.r - a.r || a.op.i - b.op.i);

			axisY(svg, y, { x: ROOF_SPACE.left, title: "reached", width: width - ROOF_SPACE.left - ROOF_SPACE.right, unit: "FLOP/s" });
			axisX(svg, x, { y: height - ROOF_SPACE.bottom, title: "FLOPs for each byte moved", format: v => String(Number(v.toPrecision(3))) });
			if (roofs)
				drawRoofs(svg, x, y, peaks, levels);
			const marks = svg.append("g").selectAll("circle").data(list).join("circle").attr("class", d => `dot ${colours.of(d.op.type)}`)
				.attr("cx", d => d.px).attr("cy", d => d.py).attr("r", d => d.r).attr("data-op", d => d.op.i);
			lively(marks, { many: true, lines: d => opLines(d.op, total), act: d => page.operators.show(d.op),
				label: d => `${d.op.name}, ${d.op.type}: ${format(d.y, "FLOP/s")} at ${digits(d.x)} FLOPs for each byte${"absent" in d.op.share ? "" : `, ${percent(number(d.op.share))} of its roof`}` });
			nameDots(svg, list, width);
		},
	});
	const why = reasonsText(reasons(rest, ["rate"]).slice(0, 4));
	box.append(el("p", { class: "small" }, `${digits(dots.length)} of ${digits(ops.length)} operators have a place, with ${partText(dots.reduce((s, d) => s + (d.time || 0), 0) / total)} of the time. `,
		roofs ? near.length ? `${digits(near.length)} reach half of their roof or more, with ${partText(at / total)} of the time.` : known.length === dots.length ? "None reaches half of its roof." : known.length ? `None of the ${digits(known.length)} with a known roof reaches half of it.` : "The roof of none is known." : "There are no roofs: ", roofs ? null : reasons(ops.filter(o => "absent" in o.roof), ["roof"]).map(x => x.reason).join("; ")));
	box.append(el("p", { class: "dim small unplaced" }, rest.length ? `Without a place: ${digits(rest.length)}${why ? `, because: ${why}` : ""}. ` : "",
		of ? `Roofs are of ${of}, measured ${String(factValue(r, "profile", "roofs_measured")).slice(0, 10)}. ` : "",
		roofs && roofs.levels.some(l => l.capacity) ? "An operator's slope is that of the smallest memory that holds all it moves." : ""));
}

/** The possible gains at the roofs, the largest first. */
function drawGains(box, r, ops, roofs, page) {
	const list = gains(ops, roofs), total = sumOf(ops, "time").sum, gained = list.reduce((s, g) => s + g.gain, 0);
	const whole = metric(r, "profile/attainable"), least = number(whole), first = list.filter(g => g.gain > 0).slice(0, GAINS);

	if (first.length === 0)
		return;
	const unknown = ops.filter(o => number(o.time) > 0 && Number.isNaN(leastTime(o, roofs)));
	box.append(el("div", { class: "gains" }));
	bars(box.lastChild, {
		name: "gains", columns: [["time at its roof", "ns"], ["time above it", "ns"]],
		title: "What would be gained at the roofs",
		note: least > 0 ? `If every operator reached its roof, the model would take ${format(least, "ns")} instead of ${format(total, "ns")}.` : "",
		says: `${first[0].op.name} would gain most: ${format(first[0].gain, "ns")}`,
		legend: [["c1", "time at its roof"], ["c1 soft", "time above it, to be gained"]],
		rows: first.map(g => ({ name: g.op.compact, parts: [["c1", Math.min(g.least, g.time)], ["c1 soft", g.gain]],
			text: `${format(g.gain, "ns")}, ${partText(g.gain / total)}`,
			lines: [g.op.name, ["time now", format(g.time, "ns")], ["at its roof", format(g.least, "ns")], ["gain", `${format(g.gain, "ns")}, ${partText(g.gain / total)} of the model`],
				g.least > 0 ? ["times as fast", formatCount(g.time / g.least)] : null].filter(Boolean),
			act: () => page.operators.show(g.op) })),
	});
	box.append(el("p", { class: "dim small" }, `These ${digits(first.length)} make ${partText(first.reduce((s, g) => s + g.gain, 0) / gained)} of what all ${digits(list.length)} operators with a known roof could gain. `,
		unknown.length ? `Of ${digits(unknown.length)} with ${partText(sumOf(unknown, "time").sum / total)} of the time it is not known. ` : "", "More fusion could be faster still."));
}

export const viewRoofline = {
	id: "roofline",
	title: "Roofline",
	match: ([r]) => {
		const ops = operators(r);
		return placed(ops).dots.length > 0 && sumOf(ops, "time").sum > 0;
	},
	draw(box, [r], page) {
		const { ops } = page.operators, roofs = roofsOf(r) || roofsSeen(ops);

		drawRoofline(box, r, ops, roofs, page);
		if (roofs)
			drawGains(box, r, ops, roofs, page);
	},
};
