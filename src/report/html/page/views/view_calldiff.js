// view_calldiff.js - changes between the call paths of two records.
//
// SPDX-License-Identifier: Apache-2.0

import { el } from "../dom.js";
import { listing } from "../listing.js";
import { digits, format, percent } from "../units.js";
import { recordName } from "../record.js";
import { NO_NODE, functionOf, mainWeight, placeOf, search, totalOf } from "../calltree.js";
import { DIFF_A, DIFF_B, DIFF_BOTH, changeAt, diffFunctions, diffPaths, mergeTrees, openDiff } from "../calldiff.js";
import { callPicture } from "../callpicture.js";
import { choice, crumbs, formControls, foundText, leftOut, pressed, searchControl } from "../callcontrols.js";

const PATHS = 1000;
/** The thresholds of the shades of colour: changes as shares of the whole. */
const STRENGTHS = [0.05, 0.01, 0.001];

const signed = (v, unit) => (v > 0 ? "+" : v < 0 ? "−" : "") + (unit === "1" ? digits(Math.abs(v)) : format(Math.abs(v), unit));
const signedShare = v => (Number.isFinite(v) ? (v > 0 ? "+" : v < 0 ? "−" : "") + percent(Math.abs(v)) : "–");

function colourOf(c, node) {
	const share = changeAt(c, node).total / Math.max(...c.wholes.map(Math.abs), 1e-300);
	const at = STRENGTHS.findIndex(s => Math.abs(share) >= s);

	return at < 0 ? "same" : `${share > 0 ? "grew" : "shrank"} by${at}`;
}

const columnOf = (key, title, value, text) => ({ key, title, number: true, value, text: r => text(value(r)) });

function diffColumns(unit, first) {
	const plain = v => (unit === "1" ? digits(v, 12) : format(v, unit));

	return [first,
		columnOf("self_change", "self change", r => r.self, v => signed(v, unit)),
		columnOf("self_change_share", "of the whole", r => r.selfShare, signedShare),
		columnOf("self_a", "self A", r => r.selfA, plain), columnOf("self_b", "self B", r => r.selfB, plain),
		columnOf("total_change", "total change", r => r.total, v => signed(v, unit)),
		columnOf("total_a", "total A", r => r.totalA, plain), columnOf("total_b", "total B", r => r.totalB, plain),
		{ key: "state", title: "", text: r => r.state, value: r => r.state }];
}

/** Draws the chart and the tables of the merged tree. names: of A and B. */
function drawDiff(box, c, names) {
	const unit = c.columns[DIFF_A].unit, plain = v => (unit === "1" ? digits(v) : format(v, unit));
	const s = { k: DIFF_BOTH, root: NO_NODE, form: "icicle", levels: 25, least: 0, word: "" };
	const trail = el("nav", { class: "crumbs", "aria-label": "Where in the tree" }), says = el("p", { class: "dim small", role: "status" }), chart = el("div");
	const legend = el("div", { class: "legend" }, [["grew by0", `B is more, by ${percent(STRENGTHS[0])} of the whole and above`], ["grew by1", percent(STRENGTHS[1], 1)], ["grew by2", percent(STRENGTHS[2], 1)],
		["same", "about the same"], ["shrank by2", percent(STRENGTHS[2], 1)], ["shrank by1", percent(STRENGTHS[1], 1)], ["shrank by0", `B is less, by ${percent(STRENGTHS[0])} and above`]]
		.map(([colour, text]) => el("span", {}, el("i", { class: colour }), text)));
	const [wholeA, wholeB] = c.wholes;

	function tip(node) {
		const r = changeAt(c, node), list = node === NO_NODE ? ["all"] : [functionOf(c, node).name, placeOf(functionOf(c, node)), r.state];
		list.push(["A", plain(r.totalA)], ["B", plain(r.totalB)], ["change", `${signed(r.total, unit)}${r.totalA > 0 ? `  ${signedShare(r.total / r.totalA)}` : ""}`]);
		if (node !== NO_NODE)
			list.push(["of the whole", signedShare(r.totalShare)], ["self change", signed(r.self, unit)]);
		return list;
	}
	function draw() {
		const found = s.word ? search(c, s.word, s.k, s.root) : null;

		crumbs(trail, c, s.root, zoom);
		find.said.textContent = found ? foundText(found, c, s.k, totalOf(c, s.root, s.k)) : "";
		image.show({ ...s, c, name: "diff", title: `${names[0]} and ${names[1]}`, found: found && found.of, tip,
			columns: [["total A", unit], ["total B", unit]], fields: node => [changeAt(c, node).totalA, changeAt(c, node).totalB],
			colour: node => colourOf(c, node),
			label: node => `${node === NO_NODE ? "all" : functionOf(c, node).name}  ${signed(changeAt(c, node).total, unit)}`,
			says: shown => {
				const at = changeAt(c, s.root);
				const text = `A ${plain(at.totalA)}, B ${plain(at.totalB)}: ${signed(at.total, unit)}. As wide as ${["A", "B", "the greater of both"][s.k]}; ` +
					`${digits(shown.marks.length - 1, 12)} of ${digits(c.n, 12)} call paths. ${leftOut(c, shown, s.k, totalOf(c, s.root, s.k))}`;
				says.textContent = text;
				return text;
			} });
	}
	function zoom(node) {
		s.root = node;
		draw();
	}
	const find = searchControl(word => {
		s.word = word;
		draw();
	});
	const widths = choice("as wide as", ["the greater of both", "A", "B"], i => {
		s.k = [DIFF_BOTH, DIFF_A, DIFF_B][i];
		draw();
	});
	const reset = el("button", { type: "button", click: () => {
		s.root = NO_NODE;
		s.word = find.input.value = "";
		draw();
	} }, "reset");
	box.append(el("p", { class: "small" }, el("b", {}, "A "), `${names[0]}, `, el("b", {}, "B "), names[1],
		wholeA > 0 ? `; all of B is ${digits(wholeB / wholeA)} times A` : ""),
	el("div", { class: "controls" }, widths, formControls(s, draw)), el("div", { class: "controls" }, find.parts, reset), trail, chart, legend, says);
	const image = callPicture(chart, zoom);
	draw();
	box.append(el("h3", {}, "Functions that changed"));
	listing(box, { columns: diffColumns(unit, { key: "name", title: "function", text: r => r.fn.name, value: r => r.fn.name, more: r => placeOf(r.fn) }), rows: diffFunctions(c), brief: 15, filter: true });
	const paths = diffPaths(c, PATHS);
	box.append(el("details", {}, el("summary", {}, `Call paths that changed${paths.n > PATHS ? ` (the first ${PATHS} of ${digits(paths.n, 12)})` : ` (${digits(paths.n, 12)})`}`)));
	listing(box.lastChild, { columns: diffColumns(unit, { key: "name", title: "path", text: r => r.path, value: r => r.path }), rows: paths.rows, brief: 15, filter: true });
}

const treesOf = r => (r.trees || []).filter(t => t.nodes.length > 0 && t.name !== "diff");
/** [key, key in a, key in b] of the common weights. */
const shared = (a, b) => a.columns.map((column, i) => [column, i, b.columns.findIndex(o => o.key === column.key && o.unit === column.unit)]).filter(p => p[2] >= 0);
const pairs = (records, a, b) => treesOf(records[a]).map(t => [t, treesOf(records[b]).find(o => o.name === t.name)]).filter(([t, o]) => o && shared(t, o).length > 0);

export const viewDiff = {
	id: "diff",
	title: "What changed in call paths",
	many: true,
	match: records => records.some((r, i) => records.some((o, j) => i < j && pairs(records, i, j).length > 0)),
	draw(box, records) {
		const with_ = records.map((r, i) => i).filter(i => records.some((o, j) => i !== j && pairs(records, i, j).length > 0));
		const names = with_.map(i => `${i + 1}. ${recordName(records[i], i)}`), inner = el("div");
		const s = { a: with_[0], b: with_[1], tree: 0, weight: null, normalise: false };
		const more = el("span", { class: "controls" });

		function draw() {
			const list = pairs(records, s.a, s.b);
			inner.replaceChildren();
			more.replaceChildren();
			if (list.length === 0) {
				inner.append(el("p", { class: "dim" }, "These two have no tree of the same name and weight."));
				return;
			}
			const [a, b] = list[Math.min(s.tree, list.length - 1)], weights = shared(a, b);
			const main = weights.findIndex(w => w[1] === mainWeight(a.columns));
			const at = weights.some((w, i) => i === s.weight) ? s.weight : Math.max(0, main);
			const trees = choice("tree", list.map(p => p[0].title), i => {
				s.tree = i;
				s.weight = null;
				draw();
			});
			const weight = choice("weight", weights.map(w => w[0].title), i => {
				s.weight = i;
				draw();
			});
			trees.querySelector("select").value = Math.min(s.tree, list.length - 1);
			weight.querySelector("select").value = at;
			more.append(...(list.length > 1 ? [trees] : []), weight);
			drawDiff(inner, mergeTrees(a, weights[at][1], b, weights[at][2], s.normalise), [recordName(records[s.a], s.a), recordName(records[s.b], s.b)]);
		}
		const side = (label, key) => {
			const select = choice(label, names, i => {
				s[key] = with_[i];
				draw();
			});
			select.querySelector("select").value = with_.indexOf(s[key]);
			return select;
		};
		const normalise = el("button", { type: "button", "aria-pressed": "false", "data-flag": "normalise", title: "A is scaled to the sum of B: what changed its share", click: () => {
			s.normalise = !s.normalise;
			pressed(normalise, s.normalise);
			draw();
		} }, "normalise");
		box.append(el("div", { class: "controls" }, records.length > 2 ? [side("A", "a"), side("B", "b")] : null, more, normalise), inner);
		draw();
	},
};

/** Whether `report --diff` made the record. */
export const viewDiffRecord = {
	id: "calldiff",
	title: "What changed in call paths",
	match: ([r]) => (r.trees || []).some(t => t.name === "diff" && t.columns.length === 2 && t.nodes.length > 0),
	draw(box, [r]) {
		drawDiff(box, openDiff(r.trees.find(t => t.name === "diff")), ["the first", "the second"]);
	},
};
