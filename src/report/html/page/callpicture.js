// callpicture.js - a tree of call paths drawn as an icicle, a flame graph or a sunburst, with navigation by mouse and
// keyboard.
//
// SPDX-License-Identifier: Apache-2.0
/* global d3 */

import { tipHide, tipShow } from "./dom.js";
import { figure } from "./figure.js";
import { NO_NODE, functionOf, layout, pathTo } from "./calltree.js";

const ROW = 20, MOST = 4000, RINGS = 8, RADIUS = 320;
export const LEAST_PX = 0.5;

/** Cuts a text to a width in px. */
const cutter = () => {
	const pen = document.createElement("canvas").getContext("2d"), widths = new Map();

	pen.font = "12px " + getComputedStyle(document.body).fontFamily;
	return (text, room) => {
		if (room < 14)
			return "";
		if (!widths.has(text))
			widths.set(text, pen.measureText(text).width);
		const wide = widths.get(text);
		const n = Math.floor(text.length * (room - 14) / wide);
		return wide <= room ? text : n < 2 ? "" : text.slice(0, n) + "…";
	};
};

function drawBars(g, shown, width, state, cut) {
	const flame = state.form === "flame";
	const y = m => ROW * (flame ? shown.deepest - m.level : m.level);
	const wide = m => (m.to - m.from) * width;

	g.append("rect").attr("x", m => m.from * width).attr("y", y).attr("width", wide).attr("height", ROW - 1);
	g.filter(m => wide(m) > 20).append("text").attr("x", m => m.from * width + 4).attr("y", m => y(m) + 14)
		.text(m => cut(state.label(m.node), wide(m) - 8));
}

function drawRings(svg, g, shown, width, state, cut) {
	const ring = state.height / 2 / (shown.deepest + 1), turn = 2 * Math.PI;
	const arc = d3.arc().startAngle(m => m.from * turn).endAngle(m => m.to * turn)
		.innerRadius(m => m.level * ring).outerRadius(m => (m.level + 1) * ring - 1);
	const radius = m => (m.level + 0.5) * ring;
	/* Straight texts: along the ring where it is straight enough, else radially. */
	const along = m => Math.min((m.to - m.from) * turn * radius(m) - 8, Math.sqrt(4 * radius(m) * Math.max(0, ring - 14)));

	svg.select(".marks").attr("transform", `translate(${width / 2},${state.height / 2})`);
	g.append("path").attr("d", arc);
	g.filter(m => m.level > 0 && ring > 16 && (m.to - m.from) * turn * radius(m) > 15).append("text").attr("text-anchor", "middle").attr("dy", "0.35em")
		.attr("transform", m => {
			const middle = (m.from + m.to) * 180, lower = middle > 90 && middle < 270;
			return along(m) > ring - 6 ? `rotate(${middle}) translate(0,${-radius(m)}) rotate(${lower ? 180 : 0})`
				: `rotate(${middle - 90}) translate(${radius(m)},0) rotate(${middle > 180 ? 180 : 0})`;
		}).text(m => cut(state.label(m.node), Math.max(along(m), ring - 6)));
	g.filter(m => m.level === 0).append("text").attr("text-anchor", "middle").attr("dy", "0.35em").text(m => cut(state.label(m.node).split("  ").pop(), 2 * ring - 6));
}

/** state: { c, k, root, form: "icicle", "flame" or "sunburst", levels, least (minimum share of the whole; 0: by the
 * pixels), colour(node) -> class, label(node), tip(node) -> lines, found: nothing or by node, says(shown) }.
 * zoom(node) is called when a node is selected; name and title: of the saved files; columns and fields(node): their numbers.
 * Returns { show(state), shown() }. */
export function callPicture(box, zoom) {
	let state = null, shown = null, at = NO_NODE, svgNode = null;
	const cut = cutter();

	function markAt(node) {
		return d3.select(svgNode).selectAll(".mark").filter(m => m.node === node);
	}
	function focusOn(node) {
		at = node;
		d3.select(svgNode).selectAll(".mark").attr("tabindex", m => (m.node === node ? 0 : -1));
		const mark = markAt(node).node();
		if (mark) {
			mark.focus({ preventScroll: false });
			tipShow({ target: mark }, state.tip(node));
		}
	}
	/* The adjacent node of the level; the heaviest child; the parent. */
	function beside(way) {
		const here = shown.marks.find(m => m.node === at);
		const row = shown.marks.filter(m => m.level === here.level).sort((a, b) => a.from - b.from);
		const next = row[row.indexOf(here) + way];
		return next ? next.node : at;
	}
	function inwards() {
		const here = shown.marks.find(m => m.node === at);
		const next = shown.marks.find(m => m.level === here.level + 1 && m.from >= here.from - 1e-12 && m.from < here.to);
		return next ? next.node : at;
	}
	const outwards = () => (at === state.root ? at : state.c.parent[at]);

	function key() {
		const up = state.form === "flame" ? inwards : outwards, down = state.form === "flame" ? outwards : inwards;
		const moves = { ArrowLeft: () => beside(-1), ArrowRight: () => beside(1), ArrowUp: up, ArrowDown: down };
		const e = d3.event;

		if (moves[e.key])
			focusOn(moves[e.key]());
		else if (e.key === "Enter" || e.key === " ")
			go(at, true);
		else if (e.key === "Escape")
			go(state.root === NO_NODE ? NO_NODE : state.c.parent[state.root], true);
		else
			return;
		e.preventDefault();
	}
	function go(node, keys) {
		tipHide();
		zoom(node);
		if (keys)
			focusOn(node);
	}
	const pointed = () => {
		const m = d3.select(d3.event.target).datum();
		return m && m.node !== undefined ? m : null;
	};

	function draw(svg, width) {
		const round = state.form === "sunburst";
		const thin = LEAST_PX / (round ? 3 * Math.min(width, 2 * RADIUS) : width);

		svgNode = svg.node();
		shown = layout(state.c, state.k, state.root, { least: Math.max(state.least, thin), levels: round ? Math.min(state.levels, RINGS) : state.levels, most: MOST });
		shown.deepest = shown.marks.reduce((d, m) => Math.max(d, m.level), 0);
		state.height = round ? Math.min(width, 2 * RADIUS) : ROW * (shown.deepest + 1);
		svg.attr("height", state.height).attr("viewBox", `0 0 ${width} ${state.height}`).attr("role", "tree").classed("calls", true);
		if (!shown.marks.some(m => m.node === at))
			at = state.root;
		const said = state.says(shown);
		svg.attr("aria-label", said);
		const g = svg.append("g").attr("class", "marks").selectAll("g").data(shown.marks).join("g")
			.attr("class", m => `mark ${state.colour(m.node)}${state.found && m.node !== NO_NODE ? (state.found[m.node] ? " found" : " lost") : ""}`)
			.attr("role", "treeitem").attr("aria-level", m => m.level + 1).attr("tabindex", m => (m.node === at ? 0 : -1))
			.attr("aria-label", m => state.tip(m.node).map(line => (Array.isArray(line) ? line.join(" ") : line)).join(", "));
		if (round)
			drawRings(svg, g, shown, width, state, cut);
		else
			drawBars(g, shown, width, state, cut);
		svg.on("mousemove", () => (pointed() ? tipShow(d3.event, state.tip(pointed().node)) : tipHide()))
			.on("mouseleave", tipHide).on("keydown", key).on("focusout", tipHide)
			.on("click", () => pointed() && go(pointed().node, false));
	}

	let frame = null;
	return {
		show(next) {
			state = next;
			if (frame)
				frame.redraw();
			else
				frame = figure(box, { name: state.name, alone: state.title, draw, data: () => pathData(state) });
			Object.assign(frame.box.dataset, { name: state.name, title: state.title });
		},
		shown: () => shown,
	};
}

/** Every path below the shown one, its functions from the outermost on separated by ";", as in folded stacks. */
function pathData({ c, root, columns, fields }) {
	const rows = [], isBelow = node => {
		for (let at = node; at !== NO_NODE; at = c.parent[at])
			if (at === root)
				return true;
		return root === NO_NODE;
	};

	for (let node = 0; node < c.n; node++)
		if (isBelow(node))
			rows.push([pathTo(c, node).map(at => functionOf(c, at).name).join(";"), ...fields(node)]);
	return { columns: ["path", ...columns], rows };
}
