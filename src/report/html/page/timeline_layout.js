// timeline_layout.js - positions of tracks, times on an axis, and texts on omitted ranges.
//
// SPDX-License-Identifier: Apache-2.0

import { isOwnCounter } from "./timeline_uses.js";
import { digits, format } from "./units.js";

const OUTLINE = 6, BORDERS = 60; /* rows; laps */
export const TRACK_ROW = 18, TRACK_HEAD = 20, TRACK_COUNTER = 36, TRACK_MARKS = 12, TRACK_GAP = 6;

const trackName = track => {
	const id = track.kind === "process" ? track.pid : track.tid || track.pid;

	if (track.kind === "counter")
		return track.name || "counter";
	if (track.kind === "device")
		return track.name || "device";
	return track.name ? `${track.name} ${id}` : `${track.kind} ${id}`;
};

/** Start and end times of ranges that any thread may end, such as laps: if they are few, they are vertical lines through all tracks. */
export function lapBorders(t) {
	const times = new Set();

	if (t.about.lanes.length > OUTLINE)
		return [];
	for (const row of t.about.lanes)
		for (let i = t.starts[row]; i < t.starts[row + 1] && times.size <= 2 * BORDERS; i++) {
			times.add(t.begin[i]);
			times.add(t.begin[i] + t.took[i]);
		}
	return times.size > 2 * BORDERS ? [] : [...times].sort((a, b) => a - b);
}

/** The tracks as a tree: processes, in each the program's own counters, its threads (the main one
 * first), then their resource use. */
export function trackTree(t) {
	const nodes = t.tracks.map(track => ({ track, title: trackName(track), inside: [] })), roots = [];
	const rank = n => (isOwnCounter(n.track) ? 0 : n.track.kind === "thread" ? (n.track.tid === n.track.pid ? 1 : 2) : n.track.kind === "device" ? 2.5 : n.track.kind !== "counter" ? 5 : n.track.name === "CPU share" ? 3 : 4);

	nodes.filter(n => !n.track.empty).forEach(n => (n.track.in === undefined ? roots : nodes[n.track.in].inside).push(n));
	/* Ranges such as laps: if they are few, they are the outline of the tracks below. */
	if (t.about.lanes.length)
		roots[t.about.lanes.length <= OUTLINE ? "unshift" : "push"]({ track: { kind: "lanes", rows: t.about.lanes }, title: "across threads", inside: [] });
	nodes.forEach(n => n.inside.sort((a, b) => rank(a) - rank(b)));
	return roots;
}

/** The tree as lines: [{node, depth, y, high, head, parts: [{kind: "rows" | "marks" | "counter", row,
 * y, high}]}], and their total height. folded: a Set of nodes whose children are hidden; a thread still shows its
 * outermost ranges. */
export function layoutTracks(roots, folded) {
	const lines = [];
	let y = 0;
	const place = (node, depth) => {
		const { track } = node, line = { node, depth, y, parts: [] }, shut = folded.has(node);
		const part = (kind, high, row) => {
			line.parts.push({ kind, row, y, high });
			y += high;
		};

		if (track.marks && !shut)
			part("marks", TRACK_MARKS, track.marks);
		for (const row of (track.rows || []).slice(0, shut ? 1 : undefined))
			part("rows", TRACK_ROW, row);
		if (track.counter)
			part("counter", shut ? TRACK_MARKS : TRACK_COUNTER);
		y = Math.max(y, line.y + TRACK_HEAD); /* space for its name */
		y += TRACK_GAP;
		line.high = y - line.y;
		lines.push(line);
		if (!shut)
			node.inside.forEach(n => place(n, depth + 1));
	};

	roots.forEach(n => place(n, 0));
	return { lines, high: y };
}

/** Tick positions of a time axis, about `many`: round numbers of ns. */
export function timeTicks(from, to, many) {
	const rough = Math.max(1, (to - from) / Math.max(1, many)), ten = 10 ** Math.floor(Math.log10(rough));
	const step = [1, 2, 5, 10].map(k => k * ten).find(s => s >= rough * 0.999999), ticks = [];

	for (let v = Math.ceil(from / step) * step; v <= to; v += step)
		ticks.push(v);
	return { step, ticks };
}

/** A time on an axis with ticks `step` apart: with the digits that distinguish two ticks. */
export function tickText(ns, step) {
	const [factor, name] = step >= 1e9 ? [1e9, "s"] : step >= 1e6 ? [1e6, "ms"] : step >= 1e3 ? [1e3, "µs"] : [1, "ns"];

	return `${Math.round(ns / factor).toLocaleString("en-US")} ${name}`;
}

/** Describes the ranges that are not drawn individually, and the location of the complete data. */
export function thinnedText(about, file) {
	const said = [], count = v => Math.round(v).toLocaleString("en-US"), step = 2 ** about.shift;
	const told = about.ranges_told + about.marks_told;

	if (about.merged > 0)
		said.push(`${count(told - about.merged)} of ${count(told)} ranges and marks are drawn individually at the closest zoom; ` +
			`the other ${count(about.merged)}, all shorter than ${format(step, "ns")}, are blocks of ${format(step, "ns")} with their number and total time. ` +
			`The sums by name are of all of them; within a part of the timeline they are exact to steps of ${format(2 ** about.sums_shift, "ns")}.`);
	else
		said.push(`All ${count(told)} ranges and marks are here; several in one pixel are drawn as one.`);
	if (about.values_kept < about.values_told)
		said.push(`Of ${count(about.values_told)} values of counters ${count(about.values_kept)} points are left, with the least and the greatest of each.`);
	if (about.undrawn > 0)
		said.push(`${count(about.undrawn)} ranges are nested too deep, or are of too many threads, to be drawn; they are in the sums.`);
	if (file && about.merged > 0)
		said.push(`Everything is in ${file}, which ui.perfetto.dev opens.`);
	return said;
}

export const busyText = share => (share >= 0.9995 ? "100 %" : `${digits(100 * share, 3)} %`);
