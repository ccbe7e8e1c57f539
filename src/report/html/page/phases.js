// phases.js - which series of a record are runs, and a complete breakdown of its time.
//
// SPDX-License-Identifier: Apache-2.0
/* global d3 */

import { factValue, metric, metricNumber, number, series } from "./record.js";

/** The runs of each process: [{name, unit, warmup, at, values}]; `at` (ns since the start of the first run) is null if
 * the record has no times. */
export function runsOf(r) {
	const one = series(r, "latency");
	const all = one ? [one] : (r.series || []).filter(s => /^latency\/process\/\d+$/.test(s.tag));

	return all.filter(s => s.values.length > 0).map((s, i) => ({
		name: one ? "" : `process ${i + 1}`,
		unit: s.unit,
		warmup: s.warmup || 0,
		begin: s.at_ns ? Number(s.at_ns[0]) : NaN,
		at: s.at_ns ? s.at_ns.map(t => t - s.at_ns[0]) : null,
		values: s.values.map(v => (v === null ? NaN : v)),
	}));
}

/** The measured runs, without warm-up. */
export const measuredOf = run => run.values.slice(run.warmup).filter(Number.isFinite);

const NAMED = [["load the library", "time/library"], ["open the session", "time/session"], ["make the inputs", "time/inputs"]];

const phaseNs = (r, tag) => {
	const v = metricNumber(r, tag);
	return Number.isFinite(v) ? v : 0;
};

/** Breakdown of the time until the end of the last run: {rows: [{name, ns, from, tag, rest}],
 * wall}; null if the record lacks it. The rows sum to `wall`: time outside the phases is a row too. For several
 * processes all numbers are means. */
export function ledger(r) {
	const runs = runsOf(r).filter(run => run.at);
	const measuredNs = metricNumber(r, "time/measured");

	if (runs.length === 0 || !metric(r, "time/warmup") || !Number.isFinite(measuredNs))
		return null;
	const first = d3.mean(runs, run => run.begin);
	const begun = d3.mean(runs, run => run.begin + run.at[Math.min(run.warmup, run.at.length - 1)]);
	const wall = begun + measuredNs;
	const rows = NAMED.map(([name, tag]) => ({ name, ns: phaseNs(r, tag), tag, absent: number(metric(r, tag)) >= 0 ? "" : (metric(r, tag) || {}).absent || "" }));
	const firstRun = phaseNs(r, "time/first_run"), warmup = phaseNs(r, "time/warmup"), barriers = phaseNs(r, "time/barriers");
	const before = first - d3.sum(rows, row => row.ns), between = begun - first - warmup - barriers;

	rows.push({ name: "else, before the first run", ns: before, rest: true },
		{ name: "first run", ns: firstRun, tag: "time/first_run" },
		{ name: "test of the barriers", ns: barriers, tag: "time/barriers" },
		{ name: "the rest of the warm-up", ns: warmup - firstRun, tag: "time/warmup" },
		{ name: "else, before measuring", ns: between, rest: true },
		{ name: "measured", ns: measuredNs, tag: "time/measured" });
	if (rows.some(row => row.ns < -0.001 * wall))
		return null; /* overlapping phases have no breakdown */
	let from = 0;
	for (const row of rows) {
		row.from = from;
		from += row.ns;
	}
	return { rows: rows.filter(row => row.ns > 0 || row.absent), wall, processes: runs.length };
}

/** Start of the steady state, in ns since the first run; NaN: unknown. */
export const steadyAfter = r => {
	const v = factValue(r, "method", "steady_after");
	return typeof v === "number" ? v : NaN;
};
