// view_runs.js - the runs of a measurement: distribution of the times, their order, and the autocorrelation of
// consecutive runs.
//
// SPDX-License-Identifier: Apache-2.0

import { el } from "../dom.js";
import { measuredOf, runsOf } from "../phases.js";
import { plotHistogram, plotShares } from "../plot_spread.js";
import { plotLag, plotTime } from "../plot_time.js";

export const viewRuns = {
	id: "runs",
	title: "Runs",
	match: ([r]) => {
		const runs = runsOf(r);
		return runs.length > 0 && runs.some(run => measuredOf(run).length >= 2);
	},
	draw(box, [r]) {
		const runs = runsOf(r).filter(run => measuredOf(run).length >= 2), all = runs.flatMap(measuredOf);
		const row = el("div", { class: "trio" }), wide = el("div"), lag = el("div");
		const show = run => {
			wide.replaceChildren();
			lag.replaceChildren();
			plotTime(wide, r, run);
			/* The record's autocorrelation refers to the first process. */
			plotLag(lag, run === runs[0] ? r : { facts: [] }, run);
		};

		if (runs.length > 1)
			box.append(el("p", { class: "controls" }, el("label", {}, "Process ",
				el("select", { "aria-label": "Which process", change: e => show(runs[Number(e.target.value)]) },
					runs.map((run, i) => el("option", { value: i }, run.name))))));
		box.append(wide, row);
		plotHistogram(row, r, all, runs[0].unit);
		plotShares(row, r, all, runs[0].unit);
		row.append(lag);
		show(runs[0]);
	},
};
