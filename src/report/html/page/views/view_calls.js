// view_calls.js - call paths of a record: the chart of its tree with switchable weight, the table of functions
// with pstats' columns, and the callers and callees of a function.
//
// SPDX-License-Identifier: Apache-2.0

import { el } from "../dom.js";
import { listing } from "../listing.js";
import { digits, percent, unitColumn } from "../units.js";
import { NO_NODE, byFunctions, calleeRows, callerRows, coloursOf, exactRows, functionOf, functionRows, inverted, isImport, mainWeight, openTree, pathTo, placeOf, search, selfOf, totalOf } from "../calltree.js";
import { choice, crumbs, formControls, foundText, leftOut, pressed, searchControl, shareText, weightText } from "../callcontrols.js";
import { drawLines } from "../calllines.js";
import { LEAST_PX, callPicture } from "../callpicture.js";

const WIDEST = 1200;
const FILES = { icicle: "icicle", flame: "flamegraph", sunburst: "sunburst" };

function tipOf(c, k, node, root, upside) {
	const unit = v => weightText(c, k, v), total = totalOf(c, node, k);

	if (node === NO_NODE)
		return ["all", [c.columns[k].title, unit(total)]];
	const f = functionOf(c, node);
	return [f.name, placeOf(f, c.line[node] || f.start_line || f.line), f.module && f.file ? f.module : null,
		[upside ? `self of ${functionOf(c, pathTo(c, node)[0]).name}` : "total", `${unit(total)}  ${shareText(total, totalOf(c, NO_NODE, k))}`],
		root === NO_NODE ? null : ["of what is shown", shareText(total, totalOf(c, root, k))],
		upside ? null : ["self", `${unit(selfOf(c, node, k))}  ${shareText(selfOf(c, node, k), totalOf(c, NO_NODE, k))}`],
		...(upside ? [] : c.columns.map((column, j) => (j === k ? null : [column.title, weightText(c, j, totalOf(c, node, j))])))].filter(Boolean);
}

/** Draws the chart with its controls, which include `weights`; zoomed(f) is called with the selected function.
 * title: of the tree. Returns { weigh(k) }. */
function picture(box, c, k, weights, zoomed, title) {
	const s = { c, k, root: NO_NODE, form: "icicle", levels: 25, least: 0, word: "", upside: false, lines: false };
	const trail = el("nav", { class: "crumbs", "aria-label": "Where in the tree" }), says = el("p", { class: "dim small", role: "status" });
	const legend = el("div", { class: "legend" }), chart = el("div");
	const functions = byFunctions(c), folded = c.functions.some(isImport);
	let last = null, colours = null;

	function tree() {
		const base = s.lines ? c : functions;
		if (!s.upside)
			return base;
		if (!last || last.k !== s.k || last.base !== base)
			last = { k: s.k, base, tree: inverted(base, s.k, Math.abs(c.sums[s.k]) * LEAST_PX / WIDEST, s.lines) };
		return last.tree;
	}
	const nameAt = (t, node) => functionOf(t, node).name + (t.line[node] ? `:${t.line[node]}` : "");
	function draw() {
		const shownTree = tree(), whole = totalOf(shownTree, s.root, s.k);
		const found = s.word ? search(shownTree, s.word, s.k, s.root) : null;

		if (!colours || colours.k !== s.k) {
			colours = { k: s.k, ...coloursOf(c, s.k) };
			legend.replaceChildren(...colours.legend.map(([colour, text]) => el("span", {}, el("i", { class: `fill soft ${colour}` }), text)));
		}
		crumbs(trail, shownTree, s.root, zoom);
		find.said.textContent = found ? foundText(found, c, s.k, whole) : "";
		image.show({ ...s, c: shownTree, found: found && found.of, name: FILES[s.form], title: `${title}: ${c.columns[s.k].title}`,
			columns: [["self", c.columns[s.k].unit], ["total", c.columns[s.k].unit]], fields: node => [selfOf(shownTree, node, s.k), totalOf(shownTree, node, s.k)],
			colour: node => (node === NO_NODE ? "c8" : `c${colours.of[shownTree.fn[node]]}`),
			label: node => (node === NO_NODE ? `all  ${weightText(c, s.k, totalOf(c, NO_NODE, s.k))}` : nameAt(shownTree, node)),
			tip: node => tipOf(shownTree, s.k, node, s.root, s.upside),
			says: shown => {
				const text = `${digits(shown.marks.length - 1, 12)} of ${digits(shownTree.n, 12)} ${s.upside ? "paths from their inner ends" : "call paths"} by ${c.columns[s.k].title}, ` +
					`${weightText(c, s.k, whole)} in all${s.root === NO_NODE ? "" : " here"}. ${leftOut(shownTree, shown, s.k, whole)}`;
				says.textContent = folded && !s.lines ? `${text} Frames of Python's import system that follow each other are drawn as one.` : text;
				return text;
			} });
	}
	function zoom(node) {
		s.root = node;
		draw();
		if (zoomed && node !== NO_NODE)
			zoomed(functionOf(tree(), node));
	}
	const find = searchControl(word => {
		s.word = word;
		draw();
	});
	const flag = (key, text, hint) => {
		const button = el("button", { type: "button", title: hint, "data-flag": key, "aria-pressed": "false", click: () => {
			s[key] = !s[key];
			s.root = NO_NODE;
			pressed(button, s[key]);
			draw();
		} }, text);
		return button;
	};
	const flags = [flag("upside", "callers", "from the functions with self weight to their callers")];
	if (c.line.some(line => line > 0))
		flags.push(flag("lines", "lines", "each calling line separately"));
	const reset = el("button", { type: "button", click: () => {
		s.root = NO_NODE;
		s.word = find.input.value = "";
		draw();
	} }, "reset");
	box.append(el("div", { class: "controls" }, weights, formControls(s, draw), el("span", { class: "group" }, flags)), el("div", { class: "controls" }, find.parts, reset), trail, chart, legend, says);
	const image = callPicture(chart, zoom);
	draw();
	return {
		weigh(column) {
			s.k = column;
			if (s.upside)
				s.root = NO_NODE;
			draw();
		},
	};
}

/** The columns of `report --by function`, with pstats' keys. */
function functionColumns(c, k, rows) {
	const count = ["calls", "samples"].map(key => c.columns.findIndex(column => column.key === key)).find(i => i >= 0 && i !== k);
	const numberColumn = (key, title, value, text, more) => ({ key, title, number: true, value, text: r => (Number.isFinite(value(r)) ? text(value(r)) : "–"), more });
	const share = v => percent(v), whole = c.sums[k];
	const weighed = (key, name, value) => {
		const { title, text } = unitColumn(name, rows.map(value), c.columns[k].unit, v => weightText(c, k, v));

		return numberColumn(key, title, value, text);
	};
	const list = [{ key: "name", title: "function", text: r => r.fn.name, value: r => r.fn.name, more: r => r.fn.module || "" },
		weighed("tottime", "self", r => r.self[k]),
		numberColumn("self_share", "share", r => r.self[k] / whole, share),
		weighed("cumtime", "total", r => r.total[k]),
		numberColumn("total_share", "share", r => r.total[k] / whole, share)];

	if (count !== undefined)
		list.push(numberColumn("ncalls", c.columns[count].title, r => r.self[count], v => weightText(c, count, v)));
	if (count !== undefined && c.columns[count].key === "calls")
		list.push(weighed("percall", "self/call", r => r.self[k] / r.self[count]),
			weighed("cumpercall", "total/call", r => r.total[k] / r.outer[count]));
	if (c.functions.some(f => placeOf(f)))
		list.push({ key: "file", title: "place", text: r => placeOf(r.fn), value: r => `${r.fn.file || "~"} ${String(r.fn.start_line || r.fn.line || 0).padStart(8, "0")}` });
	return list;
}

const any = r => [...r.self, ...r.total].some(v => v !== 0);

function aroundFunction(box, c, k, f, open) {
	const at = functionAt(c, f), callers = callerRows(c, at).filter(any), callees = calleeRows(c, at).filter(any);
	const columns = functionColumns(c, k, [...callers, ...callees]).filter(column => ["name", "cumtime", "tottime", "ncalls"].includes(column.key));
	const side = (title, rows) => {
		const part = el("div", {}, el("h3", {}, title));
		listing(part, { columns, rows, sort: "cumtime", brief: 8, click: r => r.fn.at !== undefined && open(r.fn) });
		return part;
	};

	box.replaceChildren(el("p", { class: "small" }, el("b", {}, f.name), " ", el("span", { class: "dim" }, placeOf(f))),
		el("div", { class: "pair" }, side("Called by", callers), side("Calls", callees)));
}

const functionAt = (c, f) => c.functions.findIndex(g => g.at === f.at);

const FUNCTIONS = ["Functions", "Self is without callees, total with them; a recursive function counts once. pstats' names: tottime, cumtime, ncalls, percall. Choose one to see its callers."];
const MODULES = ["Modules and operators", "Self is without submodules, total with them. Select one to see its parents and children."];

/** Draws one tree with its chart, tables and lines. */
export function drawCalls(box, t, { weight, words = FUNCTIONS, page = null, record = {} } = {}) {
	const c = openTree(t), rows = exactRows(functionRows(c), c, record).filter(any), around = el("div", { class: "around", "aria-live": "polite" }), list = el("div"), lines = el("div");
	let k = weight === undefined ? mainWeight(t.columns) : weight, chosen = null, sources = {};

	function open(f) {
		chosen = f;
		aroundFunction(around, c, k, f, open);
	}
	function table() {
		list.replaceChildren();
		listing(list, { columns: functionColumns(c, k, rows), rows, sort: "tottime", brief: 15, filter: true, click: r => open(r.fn) });
		lines.replaceChildren();
		drawLines(lines, c, k, sources);
	}
	const weights = choice("weight", c.columns.map(column => column.title), i => {
		k = i;
		image.weigh(k);
		table();
		if (chosen)
			open(chosen);
	});
	weights.querySelector("select").value = k;
	const image = picture(box, c, k, c.width > 1 ? weights : null, open, t.title);
	box.append(el("h3", {}, words[0]), el("p", { class: "dim small" }, words[1]), list, around, lines);
	table();
	if (page) /* resolved when it is decompressed */
		page.block("deepclock-sources").then(found => {
			sources = found || {};
			if (found)
				table();
		});
}

const viewOfTrees = (id, title, wanted, words) => ({
	id,
	title,
	match: ([r]) => (r.trees || []).some(t => wanted(t) && t.nodes.length > 0),
	draw(box, [r], page) {
		const trees = r.trees.filter(t => wanted(t) && t.nodes.length > 0), inner = el("div");
		const show = i => {
			inner.replaceChildren();
			inner.append(el("h3", {}, trees[i].title));
			drawCalls(inner, trees[i], { words, page, record: r });
		};

		if (trees.length > 1)
			box.append(el("div", { class: "controls" }, choice("tree", trees.map(t => t.title), show)));
		box.append(inner);
		show(0);
	},
});

const OTHERS = ["modules", "allocations", "diff"];

export const viewCalls = viewOfTrees("calls", "Call paths", t => !OTHERS.includes(t.name));
/* For records with operators view_treemap.js draws the modules. */
const modulesAlone = viewOfTrees("modules", "By module", t => t.name === "modules", MODULES);
export const viewModules = { ...modulesAlone, match: records => !(records[0].ops || []).length && modulesAlone.match(records) };
