// view_treemap.js - treemap of the modules of a model by weight.
//
// SPDX-License-Identifier: Apache-2.0
/* global d3 */

import { el } from "../dom.js";
import { figure } from "../figure.js";
import { listing } from "../listing.js";
import { fitText, lively, oneOf } from "../marks.js";
import { countText, moduleTree, operatorsIn, partText, sumOf, sumText, weightsOf } from "../ops.js";
import { numbersBelow } from "../points.js";
import { opLines } from "./view_ops.js";
import { digits, unitColumn } from "../units.js";
import { number } from "../record.js";

const MAP_HIGH = 460, DEEP = 3, HEAD = 20, SEEN = 1.5; /* px */

/** The weight of an operator; unknown weights have no area. */
const weightIn = key => d => (d.op ? Math.max(0, number(d.op[key]) || 0) : 0);
const title = d => (d.className ? `${d.name} (${d.className})` : d.name);

export const viewTreemap = {
	id: "modules",
	title: "Modules",
	match: ([r]) => (r.ops || []).some(op => op.scope),
	draw(box, _, page) {
		const { ops } = page.operators, whole = moduleTree(ops), weights = weightsOf(ops);
		const trail = el("nav", { class: "crumbs", "aria-label": "Where in the model" }), says = el("p", { class: "dim small" });
		let weight = weights[0], path = [whole];

		if (weights.length === 0) {
			box.append(el("p", { class: "dim" }, "Neither time nor cost of its operators is known."));
			return;
		}
		function zoom(steps) {
			const keyboard = document.activeElement && document.activeElement.closest(".treemap") !== null;
			path = steps;
			redraw();
			if (keyboard)
				box.querySelector(".tile").focus();
		}
		function lines(d) {
			const inside = operatorsIn(d.data), own = sumOf(inside, weight.key), all = sumOf(ops, weight.key);
			if (d.data.op)
				return opLines(d.data.op, sumOf(ops, "time").sum);
			return [title(d.data), ["of the model", partText(own.sum / all.sum)], ["operators", digits(inside.length)],
				...weights.map(w => [w.name, sumText(sumOf(inside, w.key), w.unit)])];
		}
		function draw(svg, width, height) {
			const root = d3.hierarchy(path[path.length - 1], d => d.children).sum(weightIn(weight.key)).sort((a, b) => b.value - a.value);
			const nested = d => d.children && d.depth > 0 && d.depth < DEEP;
			const room = d => (nested(d) ? 2 : 0);
			d3.treemap().size([width, height]).paddingInner(2).paddingTop(d => (nested(d) ? HEAD : 0)).paddingRight(room).paddingLeft(room).paddingBottom(room)(root);
			const all = root.descendants().filter(d => d.depth > 0 && d.depth <= DEEP);
			const seen = all.filter(d => d.value > 0 && d.x1 - d.x0 >= SEEN && d.y1 - d.y0 >= SEEN);
			const small = all.filter(d => d.value > 0).length - seen.length, none = all.filter(d => !(d.value > 0)).length;
			const sum = sumOf(operatorsIn(root.data), weight.key);
			const part = d => partText(d.value / root.value);

			svg.classed("treemap", true);
			const g = svg.selectAll(".tile").data(seen).join("g").attr("class", d => `tile c1 ${d.depth === 1 ? "outer" : "inner"} ${d.data.op ? "single" : ""}`)
				.attr("transform", d => `translate(${d.x0},${d.y0})`);
			g.append("rect").attr("width", d => d.x1 - d.x0).attr("height", d => d.y1 - d.y0);
			g.append("text").attr("class", "strong").attr("x", 6).attr("y", 14).text(d => {
				const wide = d.x1 - d.x0 - 12, high = d.y1 - d.y0;
				const both = `${title(d.data)}  ${part(d)}`;
				return high < 17 ? "" : nested(d) && fitText(both, wide) === both ? `${title(d.data)} · ${part(d)}` : fitText(title(d.data), wide);
			});
			g.filter(d => !nested(d) && d.y1 - d.y0 >= 34).append("text").attr("x", 6).attr("y", 29).text(d => {
				const text = `${sumText(sumOf(operatorsIn(d.data), weight.key), weight.unit)} · ${part(d)}`;
				return fitText(text, d.x1 - d.x0 - 12) === text ? text : fitText(part(d), d.x1 - d.x0 - 12);
			});
			lively(g, { many: true, lines,
				label: d => `${title(d.data)}: ${sumText(sumOf(operatorsIn(d.data), weight.key), weight.unit)}, ${partText(d.value / root.value)}`,
				act: d => (d.data.op ? page.operators.show(d.data.op) : zoom([...path, ...d.ancestors().reverse().slice(1).map(a => a.data)])) });
			says.textContent = [`${digits(seen.length)} areas of modules and operators; ${weight.name}: ${sumText(sum, weight.unit)} in all${path.length > 1 ? " here" : ""}.`,
				small ? `${digits(small)} are too small to be visible.` : "", none ? `${digits(none)} have no ${weight.name}.` : "",
				sum.unknown ? `Of ${digits(sum.unknown)} operators it is not known; they have no area.` : ""].filter(Boolean).join(" ");
		}
		function redraw() {
			trail.replaceChildren(...path.flatMap((node, i) => [i ? " › " : null, el("button", { type: "button", "aria-current": i === path.length - 1 ? "location" : null,
				click: () => zoom(path.slice(0, i + 1)) }, i ? title(node) : "model")]).filter(Boolean));
			chart.redraw();
		}
		box.append(el("div", { class: "controls" }, oneOf("weight", weights.map(w => [w.key, w.name]), weight.key, key => {
			weight = weights.find(w => w.key === key);
			redraw();
		})), trail);
		const holder = el("div");
		box.append(holder, says);
		const data = () => ({ columns: ["path", [weight.name, weight.unit]], rows: d3.hierarchy(path[path.length - 1], d => d.children).descendants().filter(d => d.depth > 0)
			.map(d => [d.ancestors().reverse().slice(1).map(a => a.data.name).join("/"), sumOf(operatorsIn(d.data), weight.key).sum]) });
		const chart = figure(holder, { data, name: "treemap", alone: `Modules by ${weight.name}`, says: "Modules as areas: choose one to see what is in it, an operator to see its row in the table", height: width => (width < 620 ? 360 : MAP_HIGH), draw });
		numbersBelow(box, "The modules as numbers", details => {
			const modules = d3.hierarchy(whole, d => d.children).descendants().filter(d => d.depth > 0 && !d.data.op)
				.map(d => ({ name: d.ancestors().reverse().slice(1).map(a => a.data.name).join("/"), ops: operatorsIn(d.data) }));
			listing(details, { rows: modules, sort: weights[0].key, columns: [
				{ key: "name", title: "module", path: true, text: m => m.name, value: m => m.name },
				{ key: "operators", title: "operators", number: true, text: m => digits(m.ops.length), value: m => m.ops.length },
				...weights.map(w => {
					const { title: head, text } = unitColumn(w.name, modules.map(m => sumOf(m.ops, w.key).sum), w.unit, v => countText(v, w.unit));

					return { key: w.key, title: head, number: true, text: m => sumText(sumOf(m.ops, w.key), w.unit, text), value: m => sumOf(m.ops, w.key).sum };
				})] });
		});
		redraw();
	},
};
