// figure.js - the frame of every chart: its title, a one-sentence description for screen readers, its size, and axes
// with units.
//
// SPDX-License-Identifier: Apache-2.0
/* global d3 */

import { el } from "./dom.js";
import { saveButtons } from "./pictures.js";
import { digits, roundText, scaleOf } from "./units.js";

const AXIS_TITLE = 16; /* px from the end of an axis to its title */

/** A chart below a heading. draw(svg, width, height): d3 selection of an emptied <svg>, sizes in px; called
 * again when the width changes. height: px, or a function of the width. says: the description, one sentence; legend: [[class, text]].
 * name: of the saved files (pictures.js), in which `alone` is the title of a chart without one here.
 * data(): the drawn numbers, as for csvText(). Returns { box, redraw }. */
export function figure(box, { name, alone, title, says, note, legend, height = 240, draw, data }) {
	const holder = el("div", { class: "figure", "data-name": name, "data-title": title || alone, "data-note": note || null });
	const svg = d3.select(holder).append("svg").attr("role", "group").attr("aria-label", says || title);
	let width = 0;

	function redraw() {
		width = Math.max(240, Math.round(holder.clientWidth));
		const high = typeof height === "function" ? height(width) : height;
		svg.selectAll("*").remove();
		svg.attr("width", width).attr("height", high).attr("viewBox", `0 0 ${width} ${high}`);
		draw(svg, width, high);
	}
	box.append(...[title ? el("h3", {}, title) : null, note ? el("p", { class: "dim small" }, note) : null, holder].filter(Boolean));
	if (legend)
		holder.prepend(el("div", { class: "legend" }, legend.map(([c, text]) => el("span", {}, el("i", { class: `fill ${c}` }), text))));
	if (name)
		holder.append(saveButtons({ name: () => holder.dataset.name, title: title || alone || name, data, drawn: take => take(holder) }));
	redraw();
	new ResizeObserver(() => {
		if (Math.abs(holder.clientWidth - width) > 1 && holder.clientWidth > 0)
			redraw();
	}).observe(holder);
	return { box: holder, redraw };
}

/** As scaleOf(); a unit without prefixes that would need more than five digits is shown in thousands or millions. */
function shortScale(most, unit) {
	const [factor, name] = scaleOf(most, unit);

	return factor > 1 || most < 1e5 || !name ? [factor, name] : most < 1e6 ? [1e3, `1,000 ${name}`] : [1e6, `million ${name}`];
}

/** Ticks of a numeric axis in one unit; the unit is in the axis' title, not after each number. */
export function tickFormat(most, unit) {
	const [factor, name] = shortScale(most, unit);
	return { name, factor, text: v => (v === 0 ? "0" : digits(v / factor, 3)) };
}

/** Formats evenly spaced numbers with equal decimals: 0, 0.5, 1.0. */
export function evenText(values, factor = 1) {
	const places = Math.max(0, ...values.map(v => ((/\.(\d+)$/.exec(String(Number((v / factor).toPrecision(8)))) || ["", ""])[1].length)));
	return v => (v === 0 ? "0" : (v / factor).toLocaleString("en-US", { minimumFractionDigits: places, maximumFractionDigits: places }));
}

/** Ticks at round numbers of the unit that is shown. */
function ticksEvenly(axis, scale, f, count) {
	const values = ticksOf(scale, f.factor, count);
	axis.tickValues(values);
	if (values.every(v => Math.abs(v / f.factor) < 1e15 && (v === 0 || Math.abs(v / f.factor) >= 1e-4)))
		axis.tickFormat(evenText(values, f.factor));
}

function ticksOf(scale, factor, count) {
	/* Round numbers of the unit that is shown, not of nanoseconds or bytes. */
	const shown = scale.copy().domain(scale.domain().map(v => v / factor));
	return shown.ticks(count).map(v => v * factor);
}

/** The numbers of a logarithmic axis: 1, 2 and 5 of each power of ten where they are `gap` px apart, else 1 and 3, else the powers. */
export function logTicks(scale, gap) {
	const [from, to] = scale.domain(), px = Math.abs(scale(10 * from) - scale(from)), places = [[1, 2, 5], [1, 3], [1]];
	const steps = places.find(list => px * Math.min(...list.map((v, i) => Math.log10((list[i + 1] || 10 * list[0]) / v))) >= gap) || [1];
	const first = Math.floor(Math.log10(from)), last = Math.ceil(Math.log10(to)), every = steps.length === 1 ? Math.max(1, Math.ceil(gap / px)) : 1, out = [];

	for (let e = first; e <= last; e++)
		if ((e - first) % every === 0)
			out.push(...steps.map(v => v * 10 ** e).filter(v => v >= from * 0.999999 && v <= to * 1.000001));
	return out;
}

/** The numbers of a logarithmic axis in tens, each with its unit if they span several, and the common unit, or "". */
function logAxis(axis, scale, unit, gap, format) {
	const values = logTicks(scale, gap), [from, to] = scale.domain(), same = scaleOf(from, unit)[1] === scaleOf(to, unit)[1];
	const f = format ? { name: "", text: format } : same ? tickFormat(to, unit) : { name: "", text: v => roundText(v, unit) };

	axis.tickValues(values).tickFormat(same && !format ? v => String(Number((v / f.factor).toPrecision(3))) : f.text);
	return f.name;
}

/** Sets the ticks of an axis; f.name becomes the unit of a logarithmic one. gap: px between its ticks; unit undefined,
 * with a format: the ticks of d3. */
function ticksSet(axis, scale, f, { most, gap, unit, count, format, values }) {
	if (values)
		axis.tickValues(values);
	else if (scale.base && scale.base() === 10)
		f.name = logAxis(axis, scale, unit, gap, format);
	else if (scale.base)
		axis.ticks(count);
	else if (!format && scale.ticks)
		ticksEvenly(axis, scale, f, count);
	else if (unit !== undefined && scale.ticks)
		axis.tickValues(ticksOf(scale, scaleOf(most, unit)[0], count));
}

const axisTitle = (title, f) => [title, f.name ? `[${f.name}]` : ""].filter(Boolean).join(" ");

/** The x axis below a chart of that height and the y axis left of it. Units as in records; a logarithmic scale has the
 * powers only. values: the positions of all ticks. */
export function axisX(svg, scale, { y, unit, title, count = 6, format, values }) {
	const most = Math.abs(scale.domain()[1]);
	const f = format ? { name: "", text: format } : tickFormat(most, unit);
	const axis = d3.axisBottom(scale).tickSizeOuter(0).tickFormat(f.text);

	ticksSet(axis, scale, f, { most, gap: 52, unit, count, format, values });
	const g = svg.append("g").attr("class", "axis x").attr("transform", `translate(0,${y})`).call(axis);
	const [a, b] = scale.range();
	g.append("text").attr("x", (a + b) / 2).attr("y", 34).attr("text-anchor", "middle").text(axisTitle(title, f));
	return g;
}

export function axisY(svg, scale, { x, unit, title, count = 5, width = 0, format, values }) {
	const most = Math.max(...scale.domain().map(Math.abs));
	const f = format ? { name: "", text: format } : tickFormat(most, unit);
	const axis = d3.axisLeft(scale).tickSizeOuter(0).tickFormat(f.text);

	ticksSet(axis, scale, f, { most, gap: 24, unit: unit || "", count, format, values });
	if (width > 0) {
		const lines = d3.axisLeft(scale).tickSize(-width).tickFormat("");
		lines.tickValues(axis.tickValues() || scale.ticks(count));
		svg.append("g").attr("class", "grid").attr("transform", `translate(${x},0)`).call(lines);
	}
	const g = svg.append("g").attr("class", "axis y").attr("transform", `translate(${x},0)`).call(axis);
	/* Above the highest number of the axis, not on it. */
	g.append("text").attr("class", "halo").attr("x", -x + 2).attr("y", Math.min(...scale.range()) - AXIS_TITLE).attr("text-anchor", "start").text(axisTitle(title, f));
	return g;
}
