// plot_rows.js - values with intervals: one in each row, or against a number.
//
// SPDX-License-Identifier: Apache-2.0
/* global d3 */

import { intervalColumns, intervalFields } from "./csv.js";
import { axisX, axisY, figure } from "./figure.js";
import { fitText, textWidth } from "./marks.js";
import { ROOM, intervalMarks, placeFree, spaced } from "./points.js";
import { formatInterval } from "./units.js";

const HIGH = 30, NARROW = 560, LANE = 14; /* px */
const finite = list => list.filter(Number.isFinite), positive = list => list.filter(v => v > 0);
const COLORS = 8;
export const colorOf = i => `c${i % COLORS + 1}`;

/** Tooltip of a point: name, value and interval. */
const pointLines = (name, d, unit, text) => [name, ["value", text(d)], ...(d.level > 0 ? [["interval", formatInterval(d.lo, d.hi, d.level, unit)]] : [])];

/** Rows of {name, value, lo, hi, level, lines, class}; text(row): the text at the right; lines: the
 * tooltip. zone: [from, to, meaning]: a shaded range. bars: each value is a bar from 0 too,
 * unless the axis is logarithmic. The axis is logarithmic if `log` is true, or, without it, if the
 * values span a wide range. */
export function plotRows(box, { name, title, note, says, rows, unit, text, axis, zone, at, bars = false, log: asked }) {
	const all = finite(rows.flatMap(row => [row.value, row.lo, row.hi]).concat(zone ? zone.slice(0, 2) : [], at === undefined ? [] : [at]));
	const least = d3.min(all), most = d3.max(all), pad = (most - least || Math.abs(most) || 1) * 0.08;
	const log = least > 0 && (asked ?? most / least > 8), barred = bars && !log && least >= 0;

	figure(box, {
		name, title, note, says, height: width => (width < NARROW ? 2 : 1) * HIGH * rows.length + 60,
		data: () => ({ columns: ["name", ...intervalColumns(axis || title, unit)], rows: rows.map(row => [row.name, row.value, ...intervalFields(row)]) }),
		draw(svg, width, height) {
			/* On a phone name and value are above their mark, which then has the full
			 * width. */
			const narrow = width < NARROW, high = narrow ? 2 * HIGH : HIGH, middle = narrow ? 0.72 : 0.5;
			const widest = list => Math.max(0, ...list.map(t => textWidth(t))) + 16;
			const left = narrow ? 0 : Math.min(220, width * 0.34, widest(rows.map(row => row.name))), right = narrow ? 0 : Math.min(330, width * 0.36, widest(rows.map(text)));
			const x = (log ? d3.scaleLog : d3.scaleLinear)(log ? [least / 1.2, most * 1.2] : [barred ? 0 : least - pad, most + pad], [left + 12, width - right - 12]);
			const y = d3.scaleLinear([0, rows.length], [6, 6 + high * rows.length]);
			const bottom = height - 50, shown = rows.map((row, i) => ({ ...row, x: row.value, y: i + middle }));

			if (zone) {
				svg.append("rect").attr("class", "band zone").attr("x", x(zone[0])).attr("width", x(zone[1]) - x(zone[0])).attr("y", 0).attr("height", bottom);
			}
			if (at !== undefined)
				svg.append("line").attr("class", "rule thin").attr("x1", x(at)).attr("x2", x(at)).attr("y1", 0).attr("y2", bottom);
			if (barred)
				svg.selectAll(null).data(shown.filter(row => Number.isFinite(row.value))).join("g").attr("class", d => d.class || "c1").append("rect").attr("class", "fill soft bar")
					.attr("x", x(0)).attr("width", d => x(d.value) - x(0)).attr("y", d => y(d.y) - 8).attr("height", 16);
			intervalMarks(svg, x, y, shown.filter(row => Number.isFinite(row.value)), { along: "x", name: "row", lines: d => d.lines || pointLines(d.name, d, unit, text) });
			const names = svg.selectAll(null).data(shown).join("g").attr("transform", d => `translate(0,${y(narrow ? d.y - 0.4 : d.y)})`);
			names.append("text").attr("class", "strong halo").attr("dy", "0.35em").text(d => fitText(d.name, narrow ? width - textWidth(text(d)) - 12 : left));
			names.append("text").attr("class", "strong halo").attr("dy", "0.35em").attr("x", width).attr("text-anchor", "end").text(d => fitText(text(d), narrow ? width : right));
			axisX(svg, x, { y: bottom, unit, title: axis, count: Math.max(2, (width - left - right) / 90), format: unit === "1" && !log ? v => d3.format("~r")(Number(v.toPrecision(6))) : undefined });
		},
	});
}


/** A position for the name of a line along the axis, where it covers the fewest marks; later names do not overlap it. */
function nameAlong(rule, ends, y, taken) {
	const spot = placeFree(rule.text, ends, [y - 5, y + 14], taken), wide = textWidth(rule.text);

	for (let x = 0; x <= wide; x += 8)
		taken.push({ x: spot.x + x, y: spot.y - 4 });
	return spot;
}

/** Lists of points {x, y, lo, hi, level} against a number: lists [{name, class, points}], each named at its end.
 * rules: [{x, text}] or [{y, text}] are marked, levels [{from, to, y, end: y at `to`, if it differs}] too. x: {title, unit, log: base, format, domain:
 * further numbers that the axis includes}; y: {title, unit, zero, log}; equal: the text of the line y = x. told:
 * [[title, p => text]]: further fields of a point. */
export function plotAgainst(box, { name, title, note, says, lists, rules = [], x: ax, y: ay, lines, height = 280, joined = true, legend, levels = [], equal, told = [] }) {
	const points = lists.flatMap(l => l.points).filter(p => Number.isFinite(p.y));
	const xs = points.map(p => p.x).concat(finite(rules.map(r => r.x)), ax.domain || []), ys = finite(points.flatMap(p => [p.y, p.lo, p.hi]).concat(rules.map(r => r.y), equal ? [d3.max(points, p => p.x)] : []));
	const across = rules.filter(r => r.x !== undefined).map((r, i) => ({ ...r, lane: i })), along = rules.filter(r => r.y !== undefined);

	if (points.length === 0)
		return;
	figure(box, {
		name, title, note, says, height, legend,
		data: () => ({ columns: [...(lists.some(l => l.name) ? ["name"] : []), ...told.map(([what]) => what), [ax.title, ax.unit], ...intervalColumns(ay.title, ay.unit)],
			rows: lists.flatMap(l => l.points.map(p => [...(lists.some(o => o.name) ? [l.name] : []), ...told.map(([, of]) => of(p)), p.x, p.y, ...intervalFields(p)])) }),
		draw(svg, width, high) {
			const named = lists.some(l => l.name), beside = along.length > 0 && !named && width > 480; /* space for the names of lines along the axis */
			const right = named ? Math.min(130, width * 0.25) : beside ? Math.min(190, width * 0.28, Math.max(...along.map(r => textWidth(r.text))) + 14) : ROOM.right;
			const above = ROOM.top + LANE * across.length;
			/* A logarithmic axis has no 0, which an interval may reach down to. */
			const [x0, x1] = d3.extent(xs), [y0, y1] = d3.extent(ay.log ? positive(ys) : ys);
			const x = (ax.log ? d3.scaleLog().base(ax.log).domain(x0 === x1 ? [x0 / 2, x0 * 2] : [x0, x1]) : d3.scaleLinear().domain(x0 === x1 ? [0.9 * x0 - 1, 1.1 * x1 + 1] : [x0, x1])).range([ROOM.left + 10, width - right - 10]);
			const low = ay.zero ? 0 : y0 - (y1 - y0 || Math.abs(y1)) * 0.06, top = y1 + (y1 - y0 || Math.abs(y1) || 1) * 0.06;
			const y = (ay.log ? d3.scaleLog().domain([y0, y1]).clamp(true) : d3.scaleLinear().domain([low, top])).range([high - ROOM.bottom, above]).nice(5);
			const g = svg.selectAll(null).data(across).join("g").attr("class", "rule-x").attr("transform", r => `translate(${x(r.x)},0)`);

			g.append("line").attr("class", "rule thin").attr("y1", r => 4 + LANE * r.lane).attr("y2", high - ROOM.bottom);
			g.append("text").attr("class", "strong halo").attr("y", r => 12 + LANE * r.lane).attr("text-anchor", r => (x(r.x) > width / 2 ? "end" : "start")).attr("x", r => (x(r.x) > width / 2 ? -5 : 5)).text(r => r.text);
			axisY(svg, y, { x: ROOM.left, unit: ay.unit, title: ay.title, format: ay.format, width: width - ROOM.left - right, count: 4 });
			axisX(svg, x, { y: high - ROOM.bottom, unit: ax.unit, title: ax.title, format: ax.format, count: Math.max(2, width / 110) });
			if (equal) {
				const [e0, e1] = [Math.max(x.domain()[0], y.domain()[0]), Math.min(x.domain()[1], y.domain()[1])];
				svg.append("line").attr("class", "rule thin equal").attr("x1", x(e0)).attr("y1", y(e0)).attr("x2", x(e1)).attr("y2", y(e1));
				/* No point is above the line. */
				svg.append("text").attr("class", "halo name-of-equal").attr("x", x(e1)).attr("y", Math.max(y(e1) - 8, above - 4)).attr("text-anchor", "end").text(equal);
			}
			const h = svg.selectAll(null).data(along).join("g").attr("class", "rule-y").attr("transform", r => `translate(0,${y(r.y)})`);
			h.append("line").attr("class", "rule thin").attr("x1", ROOM.left).attr("x2", width - right);
			svg.append("g").attr("class", "c2").selectAll("line").data(levels).join("line").attr("class", "stroke level")
				.attr("x1", l => x(l.from)).attr("x2", l => x(l.to)).attr("y1", l => y(l.y)).attr("y2", l => y(l.end ?? l.y));
			const ends = [];
			for (const l of lists) {
				const own = l.points.filter(p => Number.isFinite(p.y) && (!ay.log || p.y > 0)).sort((a, b) => a.x - b.x);
				const group = svg.append("g").attr("class", l.class || "c1");
				if (own.length === 0)
					continue;
				if (joined && l.joined !== false)
					group.append("path").attr("class", "stroke soft").attr("d", d3.line().x(p => x(p.x)).y(p => y(p.y))(own));
				intervalMarks(group, x, y, own, { lines, name: "point" });
				ends.push({ l, y: y(own[own.length - 1].y), x: x(own[own.length - 1].x) });
			}
			/* The names of lines along the axis are next to them, or, on a phone, where
			 * the fewest points are. */
			const beyond = spaced(along.map(r => y(r.y)), 14, above, high - ROOM.bottom), taken = points.filter(p => !ay.log || p.y > 0).map(p => ({ x: x(p.x), y: y(p.y) }));
			const spots = along.map((r, i) => (beside ? { x: width - right + 6, y: beyond[i] + 4 } : nameAlong(r, [ROOM.left + 4, width - right - 4], y(r.y), taken)));
			svg.append("g").selectAll("text").data(along).join("text").attr("class", "strong halo name-of-rule").attr("x", (r, i) => spots[i].x).attr("y", (r, i) => spots[i].y)
				.text(r => (beside ? fitText(r.text, right - 8) : r.text));
			const last = ends.filter(e => e.l.name), places = spaced(last.map(e => e.y), 14, above, high - ROOM.bottom);
			svg.append("g").selectAll("text").data(last).join("text").attr("class", "strong name-of-list").attr("dy", "0.35em")
				.attr("x", width - right + 6).attr("y", (e, i) => places[i]).text(e => fitText(e.l.name, right - 8));
		},
	});
}

