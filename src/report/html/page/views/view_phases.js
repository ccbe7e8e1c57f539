// view_phases.js - complete breakdown of the time of a measurement into phases.
//
// SPDX-License-Identifier: Apache-2.0
/* global d3 */

import { figure } from "../figure.js";
import { listing } from "../listing.js";
import { numbersBelow, pointable } from "../points.js";
import { ledger } from "../phases.js";
import { format } from "../units.js";

const PHASE_ROW = 26;
const phaseShare = ratio => (ratio > 0 && ratio < 0.001 ? "< 0.1 %" : `${(100 * ratio).toFixed(1)} %`);

export const viewPhases = {
	id: "phases",
	title: "Where the time went",
	match: ([r]) => ledger(r) !== null,
	draw(box, [r]) {
		const { rows, wall, processes } = ledger(r), rest = d3.sum(rows.filter(row => row.rest), row => row.ns);

		figure(box, {
			name: "phases",
			alone: "Where the time went",
			data: () => ({ columns: ["phase", ["time", "ns"]], rows: rows.map(row => [row.name, row.absent ? null : row.ns]) }),
			note: [`${format(wall, "ns")} until the last run ended${processes > 1 ? `, in the mean of ${processes} processes` : ""}; ${format(rest, "ns")} (${phaseShare(rest / wall)}) of them are in no phase:`,
				"reading the model, looking at the machine, deciding. The statistics came after it and are not in it."].join(" "),
			says: `${rows.map(row => `${row.name} ${format(row.ns, "ns")}`).join(", ")}: together ${format(wall, "ns")}`,
			height: PHASE_ROW * (rows.length + 1) + 12,
			draw(svg, width, height) {
				const left = Math.min(190, width * 0.42), right = 140;
				const x = d3.scaleLinear([0, wall], [left, width - right]);
				const g = svg.selectAll(null).data(rows).join("g").attr("class", row => `phase ${row.rest ? "c8" : "c1"}`).attr("transform", (row, i) => `translate(0,${PHASE_ROW * i})`);

				g.append("text").attr("class", "strong").attr("x", left - 10).attr("y", 17).attr("text-anchor", "end").text(row => row.name);
				g.append("rect").attr("class", row => (row.rest ? "fill soft" : "fill")).attr("x", row => x(row.from)).attr("y", 5).attr("height", PHASE_ROW - 10).attr("width", row => Math.max(row.ns > 0 ? 1 : 0, x(row.from + row.ns) - x(row.from)));
				g.append("text").attr("x", width - 60).attr("y", 17).attr("text-anchor", "end").text(row => (row.absent ? "–" : format(row.ns, "ns")));
				g.append("text").attr("x", width).attr("y", 17).attr("text-anchor", "end").text(row => (row.absent ? "" : phaseShare(row.ns / wall)));
				pointable(g, row => [row.name, row.absent ? `absent: ${row.absent}` : [format(row.ns, "ns"), phaseShare(row.ns / wall)]]);
				svg.append("line").attr("class", "rule thin").attr("x1", left).attr("x2", width).attr("y1", height - PHASE_ROW - 8).attr("y2", height - PHASE_ROW - 8);
				svg.append("text").attr("class", "strong").attr("x", left - 10).attr("y", height - 12).attr("text-anchor", "end").text("together");
				svg.append("text").attr("class", "strong").attr("x", width - 60).attr("y", height - 12).attr("text-anchor", "end").text(format(wall, "ns"));
			},
		});
		numbersBelow(box, "The phases as numbers", details => listing(details, { rows, filter: false, columns: [
			{ key: "phase", title: "phase", text: row => row.name, value: row => row.from },
			{ key: "time", title: "time", number: true, text: row => (row.absent ? "–" : format(row.ns, "ns")), more: row => (row.absent ? `absent: ${row.absent}` : ""), value: row => row.ns },
			{ key: "share", title: "share", number: true, text: row => (row.absent ? "–" : phaseShare(row.ns / wall)), value: row => row.ns }] }));
	},
};
