// timeline_data.js - decodes the timeline of src/profiler/timeline/timeline_lod.h into arrays.
//
// SPDX-License-Identifier: Apache-2.0

import { usesAsRates } from "./timeline_uses.js";

/** Key of a range's sum, besides its name. */
export const KEY_INNER = 1, KEY_PIECE = 2, KEY_NO_SELF = 4, KEY_MARK = 8;

/** Reads consecutive columns of numbers. */
class Columns {
	constructor(bytes) {
		this.bytes = bytes;
		this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
		this.at = 0;
	}
	number() {
		const b = this.bytes;
		let v = b[this.at++];

		if (v < 128)
			return v;
		v &= 127;
		for (let scale = 128; ; scale *= 128) {
			const next = b[this.at++];
			if (next === undefined)
				throw new Error("the data of the timeline end too early");
			v += (next & 127) * scale;
			if (next < 128)
				return v;
		}
	}
	column(into) {
		for (let i = 0; i < into.length; i++)
			into[i] = this.number();
		return into;
	}
	/** Undoes delta coding: cumulative sums within each part. */
	steps(into, parts) {
		for (let p = 0; p + 1 < parts.length; p++)
			for (let i = parts[p], v = 0; i < parts[p + 1]; i++)
				into[i] = v += this.number();
		return into;
	}
	reals(into) {
		for (let i = 0; i < into.length; i++, this.at += 8)
			into[i] = this.view.getFloat64(this.at, true);
		return into;
	}
}

/** Start offsets of parts: [2, 3] -> [0, 2, 5]. */
export function startsOf(counts) {
	const starts = new Uint32Array(counts.length + 1);

	counts.forEach((n, i) => { starts[i + 1] = starts[i] + n; });
	return starts;
}

function readBlocks(c, counts, shift) {
	const starts = startsOf(counts), n = starts[counts.length];

	return {
		step: 2 ** shift, starts,
		bin: c.steps(new Float64Array(n), starts),
		ranges: c.column(new Float64Array(n)),
		took: c.column(new Float64Array(n)),
		key: c.column(new Uint32Array(n)),
	};
}

/** The ranges that a level draws individually. */
function rangesOf(t, level) {
	const starts = new Uint32Array(t.starts.length), list = [];

	for (let row = 0; row + 1 < t.starts.length; row++) {
		for (let i = t.starts[row]; i < t.starts[row + 1]; i++)
			if (t.last[i] >= level)
				list.push(i);
		starts[row + 1] = list.length;
	}
	return { alone: Uint32Array.from(list), aloneStarts: starts };
}

function readCounters(c, tracks) {
	const list = tracks.filter(t => t.values), starts = startsOf(list.map(t => t.values)), n = starts[list.length];
	const ns = c.steps(new Float64Array(n), starts), made = c.column(new Float64Array(n)), last = c.reals(new Float64Array(n));
	const several = made.filter(v => v > 1).length;
	const least = c.reals(new Float64Array(several)), most = c.reals(new Float64Array(several));
	const low = Float64Array.from(last), high = Float64Array.from(last);

	for (let i = 0, k = 0; i < n; i++)
		if (made[i] > 1) {
			low[i] = least[k];
			high[i] = most[k++];
		}
	list.forEach((t, i) => {
		const part = a => a.subarray(starts[i], starts[i + 1]);
		t.counter = { ns: part(ns), last: part(last), least: part(low), most: part(high) };
	});
}

/** The description and the bytes of src/profiler/timeline/timeline_lod.h. */
export function readTimeline(about, bytes) {
	const c = new Columns(bytes), rows = about.ranges.length, starts = startsOf(about.ranges), n = starts[rows];
	const t = { about, names: about.names, starts, rows, ended: Math.max(1, about.ended_ns) };

	t.begin = c.steps(new Float64Array(n), starts);
	t.took = c.column(new Float64Array(n));
	t.inside = c.column(new Float64Array(n));
	t.key = c.column(new Uint32Array(n));
	t.last = bytes.slice(c.at, c.at + n);
	c.at += n;
	t.levels = [readBlocks(c, about.blocks, Math.max(0, about.shift))];
	for (const level of about.levels)
		t.levels.push(readBlocks(c, level.blocks, level.shift));
	t.levels.forEach((level, i) => Object.assign(level, i ? rangesOf(t, i) : { alone: null, aloneStarts: starts }));
	const owners = about.sums.filter((v, i) => i % 2 === 0), parts = startsOf(about.sums.filter((v, i) => i % 2 === 1)), m = parts[owners.length];
	t.sums = {
		step: 2 ** about.sums_shift, owners, starts: parts,
		bin: c.steps(new Float64Array(m), parts),
		ranges: c.column(new Float64Array(m)),
		took: c.column(new Float64Array(m)),
		inside: c.column(new Float64Array(m)),
		key: c.column(new Uint32Array(m)),
	};
	t.tracks = about.tracks.map(track => ({ ...track }));
	readCounters(c, t.tracks);
	t.tracks = usesAsRates(t.tracks);
	if (c.at !== bytes.length || bytes.length !== about.bytes)
		throw new Error(`the timeline has ${bytes.length} bytes of data, and ${c.at} of them are used`);
	t.keyName = Uint32Array.from(about.keys.filter((v, i) => i % 2 === 0));
	t.keyFlags = Uint8Array.from(about.keys.filter((v, i) => i % 2 === 1));
	return t;
}

/** The first of list[from .. to) for which `after(list[i])` holds; to: none. */
export function firstAfter(from, to, after) {
	let a = from, b = to;

	while (a < b) {
		const mid = (a + b) >>> 1;
		if (after(mid))
			b = mid;
		else
			a = mid + 1;
	}
	return a;
}

/** The coarsest level whose steps are at most two pixels long. */
export function timelineLevel(t, nsOfPixel) {
	let level = 0;

	while (level + 1 < t.levels.length && t.levels[level + 1].step <= 2 * nsOfPixel)
		level++;
	return level;
}

/** The items of a row of a level that overlap [from, to): {alone: [first, end), blocks:
 * [first, end)}; the range at index i is rangeAt(level, i). */
export function inSight(t, level, row, from, to) {
	const l = t.levels[level], at = l.alone ? i => l.alone[i] : i => i;
	const a0 = l.aloneStarts[row], a1 = l.aloneStarts[row + 1], b0 = l.starts[row], b1 = l.starts[row + 1];

	return {
		firstRange: firstAfter(a0, a1, i => t.begin[at(i)] + t.took[at(i)] > from),
		endRange: firstAfter(a0, a1, i => t.begin[at(i)] >= to),
		firstBlock: firstAfter(b0, b1, i => (l.bin[i] + 1) * l.step > from),
		endBlock: firstAfter(b0, b1, i => l.bin[i] * l.step >= to),
	};
}

export const rangeAt = (level, i) => (level.alone ? level.alone[i] : i);
