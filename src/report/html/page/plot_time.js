// plot_time.js - the runs in order with their warm-up, and each run against the next (lag plot).
//
// SPDX-License-Identifier: Apache-2.0
/* global d3 */

import { el } from "./dom.js";
import { axisX, axisY, figure } from "./figure.js";
import { listing } from "./listing.js";
import { textWidth } from "./marks.js";
import { ROOM, numbersBelow, pointable } from "./points.js";
import { factValue, metric, number } from "./record.js";
import { measuredOf, steadyAfter } from "./phases.js";
import { fence, lagPairs, thin } from "./spread.js";
import { digits, format } from "./units.js";

const SLOWEST = 500;

/** The range of drawn times: without far outliers, with the warm-up if it is near. */
function timeSpan(run) {
	const measured = measuredOf(run), warm = run.values.slice(0, run.warmup).filter(Number.isFinite);
	const [low, high] = fence(measured.length > 1 ? measured : run.values), [least, most] = warm.length > 1 ? fence(warm) : [low, high];
	return [Math.min(low, Math.max(least, 0)), Math.max(high, Math.min(most, 3 * high))];
}

/** The run's number, from 1. */
const runName = (run, i) => (i < run.warmup ? `warm-up run ${digits(i + 1)}` : `run ${digits(i - run.warmup + 1)}`);

export function plotTime(box, r, run) {
	const x0 = run.at || run.values.map((_, i) => i), timed = run.at !== null, end = x0.length - 1;
	const [low, high] = timeSpan(run), last = x0[end] + (timed ? run.values[end] || 0 : 0);
	/* The ends of the axis are round numbers, beyond those of the range. */
	const [bottom, ceiling] = d3.scaleLinear([low, high], [0, 1]).nice(5).domain(), above = run.values.filter(v => v > ceiling).length, below = run.values.filter(v => v < bottom).length;
	const steady = steadyAfter(r), median = metric(r, "latency/median");
	const cellOf = box.appendChild(el("div", { class: "time" }));
	const warmEnd = run.warmup === 0 ? 0 : run.warmup <= end ? x0[run.warmup] : last;
	const columns = 1100, isThin = run.values.length > 2 * columns;
	const group = factValue(r, "method", "group");

	figure(cellOf, {
		name: "runs",
		data: () => ({ columns: ["phase", "run", ...(timed ? [["since the first run", "ns"]] : []), ["time of a run", run.unit]],
			rows: run.values.map((v, i) => [i < run.warmup ? "warmup" : "measured", i < run.warmup ? i + 1 : i - run.warmup + 1, ...(timed ? [x0[i]] : []), v]) }),
		title: `The runs one after the other${run.name ? `, ${run.name}` : ""}`,
		note: [isThin ? `${digits(run.values.length)} runs are more than the chart has columns: each column has the median of its runs, and a line from the fastest to the slowest.` : "",
			above ? `${digits(above)} run${above === 1 ? " is" : "s are"} above the chart (marks at its upper edge), up to ${format(d3.max(run.values), run.unit)}.` : "",
			below ? `${digits(below)} run${below === 1 ? " is" : "s are"} below the chart (drawn at its lower edge), down to ${format(d3.min(run.values), run.unit)}.` : "",
			group > 1 ? `A measured point is the mean of ${digits(group)} runs; single runs, as in the warm-up, include the clock's own time.` : ""].filter(Boolean).join(" "),
		says: `${digits(run.values.length)} runs in order, ${digits(run.warmup)} of them warm-up${Number.isFinite(steady) ? `, steady ${format(steady, "ns")} after the first run began` : ""}`,
		height: 280,
		draw(svg, width, height) {
			/* Labels of lines and range are placed around the points, not on them. */
			const told = median && Number.isFinite(number(median)) && warmEnd < last ? ["median", format(number(median), run.unit)] : [];
			const right = told.length > 0 ? Math.max(...told.map(text => textWidth(text))) + 14 : ROOM.right, top = ROOM.top + 14;
			const x = d3.scaleLinear([0, Math.max(last, 1e-9)], [ROOM.left, width - right]);
			const y = d3.scaleLinear([low, high], [height - ROOM.bottom, top]).nice(5);
			const [yLow, yHigh] = y.domain(), clamp = v => Math.min(yHigh, Math.max(yLow, v));
			const across = Math.max(40, Math.min(columns, Math.round(width - ROOM.left - right)));

			if (warmEnd > 0) {
				svg.append("rect").attr("class", "band warmup").attr("x", x(0)).attr("width", Math.max(1, x(warmEnd) - x(0))).attr("y", top).attr("height", height - ROOM.bottom - top);
				svg.append("text").attr("class", "strong halo warm-name").attr("x", x(0)).attr("y", 12).text("warm-up (grey)");
			}
			axisY(svg, y, { x: ROOM.left, unit: run.unit, title: "time of a run", width: width - ROOM.left - right });
			for (const [from, to, color] of [[0, run.warmup, "c8"], [run.warmup, run.values.length, "c1"]]) {
				const points = thin(x0.slice(from, to), run.values.slice(from, to), 0, last, across).map(p => ({ ...p, i: p.i + from }));
				const g = svg.append("g").attr("class", color), thick = points.some(p => p.n > 1);
				if (thick) {
					g.append("path").attr("class", "stroke runs soft").datum(points).attr("d", points.map(p =>
						`M${x(p.at).toFixed(1)},${(y(clamp(p.low)) + 0.5).toFixed(1)}V${(y(clamp(p.high)) - 0.5).toFixed(1)}`).join(""));
					g.append("path").attr("class", "stroke middles").datum(points).attr("d", d3.line().x(p => x(p.at).toFixed(1)).y(p => y(clamp(p.mid)).toFixed(1)));
				} else {
					pointable(g.selectAll("circle").data(points).join("circle").attr("class", "fill run").attr("r", points.length > 400 ? 1.6 : 2.5)
						.attr("cx", p => x(p.at)).attr("cy", p => y(clamp(p.low))),
					p => [runName(run, p.i), ["took", format(p.low, run.unit)], timed ? ["began after", format(x0[p.i], "ns")] : "a run"]);
				}
				const out = points.filter(p => p.high > yHigh);
				g.append("path").attr("class", "fill soft beyond").attr("d", out.map(p => `M${x(p.at)},${top - 5}l-3,5h6z`).join(""));
			}
			if (told.length > 0) {
				const at = y(clamp(number(median)));
				if (median.level > 0)
					svg.append("rect").attr("class", "band median").attr("x", x(warmEnd)).attr("width", x(last) - x(warmEnd))
						.attr("y", y(clamp(median.hi))).attr("height", Math.max(1, y(clamp(median.lo)) - y(clamp(median.hi))));
				svg.append("line").attr("class", "rule median").attr("x1", x(warmEnd)).attr("x2", x(last)).attr("y1", at).attr("y2", at);
				svg.append("g").selectAll("text").data(told).join("text").attr("class", "strong median-name").attr("x", x(last) + 8).attr("y", (text, i) => at - 3 + 14 * i).text(text => text);
			}
			if (Number.isFinite(steady) && timed && x(steady) <= width) {
				svg.append("line").attr("class", "rule thin steady").attr("x1", x(steady)).attr("x2", x(steady)).attr("y1", 16).attr("y2", height - ROOM.bottom);
				const ends = x(steady) > width - 120, room = warmEnd > 0 ? x(0) + textWidth("warm-up (grey)") + 12 : 0;
				svg.append("text").attr("class", "strong halo steady-name").attr("x", ends ? Math.max(x(steady), room + 100) : Math.max(x(steady) - 2, room)).attr("text-anchor", ends ? "end" : "start").attr("y", 12).text("┆ steady from here");
			}
			axisX(svg, x, { y: height - ROOM.bottom, unit: timed ? "ns" : "1", title: timed ? "time since the first run" : "number of the run", count: Math.max(2, width / 110) });
		},
	});
	numbersBelow(cellOf, `The slowest runs as numbers`, details => {
		const rows = run.values.map((v, i) => ({ i, v })).filter(p => Number.isFinite(p.v)).sort((a, b) => b.v - a.v).slice(0, SLOWEST);
		listing(details, { rows, columns: [
			{ key: "run", title: "run", text: p => runName(run, p.i), value: p => p.i },
			{ key: "took", title: "took", number: true, text: p => format(p.v, run.unit), value: p => p.v },
			{ key: "began", title: "began after", number: true, text: p => (timed ? format(x0[p.i], "ns") : "–"), value: p => x0[p.i] }] });
	});
}

export function plotLag(box, r, run) {
	const values = measuredOf(run), [low, high] = fence(values);
	const inside = v => v >= low && v <= high;
	const pairs = lagPairs(values), drawn = pairs.filter(p => inside(p.now) && inside(p.next));
	const lag1 = factValue(r, "samples", "lag1_autocorrelation"), worth = factValue(r, "samples", "effective_runs");
	const many = values.length - 1 > pairs.length, told = typeof worth === "number" && typeof lag1 === "number";
	const cellOf = box.appendChild(el("div", { class: "lag" }));
	const what = told ? `${digits(values.length)} runs have an effective sample size of ${digits(worth, 3)} for the mean; correlation of adjacent runs ${digits(lag1, 2)}, far outliers counted.` : "";

	figure(cellOf, {
		name: "lag",
		data: () => ({ columns: [["a run", run.unit], ["the next", run.unit]], rows: pairs.map(p => [p.now, p.next]) }),
		title: `Each run with the next${run.name ? `, ${run.name}` : ""}`,
		says: `Each of ${digits(values.length)} runs against the next. ${what}`,
		height: 280,
		draw(svg, width, height) {
			const x = d3.scaleLinear([low, high], [ROOM.left, Math.min(width - ROOM.right, ROOM.left + 360)]).nice(4);
			const y = d3.scaleLinear(x.domain(), [height - ROOM.bottom, ROOM.top]);

			axisY(svg, y, { x: ROOM.left, unit: run.unit, width: x.range()[1] - x.range()[0], title: "the next", count: 4 });
			axisX(svg, x, { y: height - ROOM.bottom, unit: run.unit, title: "a run", count: 4 });
			svg.append("line").attr("class", "rule thin").attr("x1", x.range()[0]).attr("y1", y.range()[0]).attr("x2", x.range()[1]).attr("y2", y.range()[1]);
			pointable(svg.append("g").attr("class", drawn.length > 300 ? "c1 soft" : "c1").selectAll("circle").data(drawn).join("circle").attr("class", "fill pair-of-runs")
				.attr("r", drawn.length > 300 ? 1.6 : 2.5).attr("cx", p => x(p.now)).attr("cy", p => y(p.next)),
			p => [`run ${digits(p.i + 1)} and the next`, ["took", format(p.now, run.unit)], ["the next", format(p.next, run.unit)]]);
		},
	});
	cellOf.append(el("p", { class: "dim small" }, [what, "A round cloud: consecutive runs are independent; a rising one: they are correlated.",
		many ? `${digits(pairs.length)} of ${digits(values.length - 1)} pairs are drawn.` : "",
		drawn.length < pairs.length ? `${digits(pairs.length - drawn.length)} pair${pairs.length - drawn.length === 1 ? " is" : "s are"} beyond the ends.` : ""].filter(Boolean).join(" ")));
}
