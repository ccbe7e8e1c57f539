// timeline_uses.js - the counters of a timeline for drawing: resource use of threads, which the file has as cumulative
// sums, as rates; counters of the program unchanged.
//
// SPDX-License-Identifier: Apache-2.0

import { digits, format, percent } from "./units.js";

/* Names and units of src/profiler/timeline/thread_table.c. A share is time over time: 1 is one core all the time. */
const USE_SUMS = { "CPU time": ["CPU share", "share", "ns"], "run queue wait": ["waits for a core", "share", "ns"], "minor page faults": ["minor page faults", "/s", "1"],
	"major page faults": ["major page faults", "/s", "1"], "voluntary switches": ["voluntary switches", "/s", "1"], "involuntary switches": ["involuntary switches", "/s", "1"] };
const USE_LEVELS = { "CPU share": "1", "resident memory": "B" };
const isKnownUse = (list, track) => Object.prototype.hasOwnProperty.call(list, track.name || "");

const isSum = track => isKnownUse(USE_SUMS, track) && USE_SUMS[track.name][2] === track.unit;
const isLevel = track => isKnownUse(USE_LEVELS, track) && USE_LEVELS[track.name] === track.unit;

/** Whether the program set the counter, and not deepclock from the kernel's statistics. */
export const isOwnCounter = track => track.kind === "counter" && !isSum(track) && !isLevel(track) && !track.rate;

/** Converts cumulative sums to rates between consecutive times; the first from `begin`, 0 after the
 * last. */
export function ratesOf(counter, begin, scale) {
	const ns = [], last = [];
	let from = begin, sum = 0;

	counter.ns.forEach((at, i) => {
		if (at > from) {
			ns.push(from);
			last.push(scale * Math.max(0, counter.last[i] - sum) / (at - from));
		}
		from = Math.max(from, at);
		sum = counter.last[i];
	});
	if (ns.length > 0) {
		ns.push(from);
		last.push(0);
	}
	return { ns: Float64Array.from(ns), last: Float64Array.from(last), least: Float64Array.from(last), most: Float64Array.from(last) };
}

/** The tracks with cumulative sums converted to rates; invisible ones are marked `empty` and not removed, because others refer to their indices. */
export function usesAsRates(tracks) {
	const beside = (track, name) => tracks.find(other => other.counter && other.in === track.in && other.name === name);

	return tracks.map(track => {
		if (!track.counter)
			return track;
		if (!isSum(track)) {
			const share = isLevel(track) && track.name === "CPU share";
			return { ...track, ...(share ? { unit: "share", rate: true } : {}), empty: !track.counter.most.some(v => v !== 0) && !isOwnCounter(track) };
		}
		const [name, unit] = USE_SUMS[track.name], clock = beside(track, "CPU time"), begin = clock ? clock.counter.ns[0] : 0;
		const counter = ratesOf(track.counter, begin, unit === "share" ? 1 : 1e9);
		return { ...track, name, unit, rate: true, counter, empty: !counter.most.some(v => v > 0) || (track.name === "CPU time" && !!beside(track, "CPU share")) };
	});
}

/** A value of a counter as text. */
export const useText = (v, unit) => (unit === "share" ? percent(v) : unit === "/s" ? `${digits(v)}/s` : format(v, unit));
