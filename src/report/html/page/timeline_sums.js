// timeline_sums.js - time by name within a part of a timeline, and the search for names.
//
// SPDX-License-Identifier: Apache-2.0

import { KEY_INNER, KEY_MARK, KEY_NO_SELF, KEY_PIECE, firstAfter } from "./timeline_data.js";

const overlapOf = (begin, end, from, to) => Math.max(0, Math.min(end, to) - Math.max(begin, from));

/** Covered time of a row in [from, to); rough: includes blocks that are partly outside. */
function coveredOf(t, row, from, to) {
	const l = t.levels[0];
	let ns = 0, rough = false;

	if (row === undefined)
		return { ns, rough };
	for (let i = firstAfter(t.starts[row], t.starts[row + 1], k => t.begin[k] + t.took[k] > from); i < t.starts[row + 1] && t.begin[i] < to; i++)
		ns += overlapOf(t.begin[i], t.begin[i] + t.took[i], from, to);
	for (let i = firstAfter(l.starts[row], l.starts[row + 1], k => (l.bin[k] + 1) * l.step > from); i < l.starts[row + 1] && l.bin[i] * l.step < to; i++) {
		ns += l.took[i] * overlapOf(l.bin[i] * l.step, (l.bin[i] + 1) * l.step, from, to) / l.step;
		rough = true;
	}
	return { ns, rough };
}

/** Maps each row to the row below. */
function rowsBelow(t) {
	const below = new Array(t.rows);

	for (const track of t.tracks)
		(track.rows || []).forEach((row, i) => { below[row] = track.rows[i + 1]; });
	return below;
}

/** By name, within [from, to): [{name, calls, total, self, rough}], the most total first. A range
 * that is only partly in it counts with that part. rough: includes sums of merged ranges that are
 * only partly inside; self null: unknown. */
export function sumsWithin(t, from, to) {
	const found = new Map(), below = rowsBelow(t);
	const add = (key, calls, took, self, rough) => {
		const flags = t.keyFlags[key], name = t.keyName[key];

		if (flags & KEY_MARK)
			return;
		const s = found.get(name) || found.set(name, { name: t.names[name].name, index: name, calls: 0, total: 0, self: 0, rough: false }).get(name);
		s.calls += flags & KEY_PIECE ? 0 : calls;
		s.total += flags & KEY_INNER ? 0 : took;
		s.self = flags & KEY_NO_SELF || s.self === null ? null : s.self + self;
		s.rough = s.rough || rough;
	};

	for (let row = 0; row < t.rows; row++) {
		const first = row === t.about.undrawn_row ? t.starts[row] : firstAfter(t.starts[row], t.starts[row + 1], k => t.begin[k] + t.took[k] >= from);
		for (let i = first; i < t.starts[row + 1] && t.begin[i] < to; i++) {
			const end = t.begin[i] + t.took[i], whole = t.begin[i] >= from && end <= to;
			if (end < from || (end === from && t.took[i] > 0))
				continue;
			if (whole) {
				add(t.key[i], 1, t.took[i], t.took[i] - t.inside[i], false);
				continue;
			}
			const took = overlapOf(t.begin[i], end, from, to);
			const in_ = coveredOf(t, below[row], Math.max(from, t.begin[i]), Math.min(to, end));
			add(t.key[i], 1, took, Math.max(0, took - in_.ns), in_.rough);
		}
	}
	const s = t.sums;
	for (let p = 0; p < s.owners.length; p++)
		for (let i = firstAfter(s.starts[p], s.starts[p + 1], k => (s.bin[k] + 1) * s.step > from); i < s.starts[p + 1] && s.bin[i] * s.step < to; i++) {
			/* The last step ends with the last event. */
			const begin = s.bin[i] * s.step, end = Math.min(begin + s.step, Math.max(begin + 1, t.ended));
			const part = overlapOf(begin, end, from, to) / (end - begin);
			add(s.key[i], s.ranges[i] * part, s.took[i] * part, (s.took[i] - s.inside[i]) * part, part < 1);
		}
	return [...found.values()].map(r => ({ ...r, calls: Math.round(r.calls) }))
		.sort((a, b) => b.total - a.total || (a.name < b.name ? -1 : 1));
}

/** Names that contain the word: {names, calls, total, places: [{begin, took, row, range | block}]} in
 * the order of time; null for no word. Merged ranges count as places of the name with most of their
 * time; calls and total include all. */
export function searchTimeline(t, word) {
	const wanted = word.trim().toLowerCase();

	if (!wanted)
		return null;
	const has = t.names.map(n => n.name.toLowerCase().includes(wanted)), l = t.levels[0];
	const keys = Array.from(t.keyName, name => has[name]), rows = drawnRows(t), places = [];
	let calls = 0, total = 0;

	for (const row of rows) {
		for (let i = t.starts[row]; i < t.starts[row + 1]; i++)
			if (keys[t.key[i]])
				places.push({ begin: t.begin[i], took: t.took[i], row, range: i });
		for (let i = l.starts[row]; i < l.starts[row + 1]; i++)
			if (keys[l.key[i]])
				places.push({ begin: l.bin[i] * l.step, took: l.step, row, block: i });
	}
	for (const s of sumsWithin(t, 0, t.ended + 1))
		if (has[s.index]) {
			calls += s.calls;
			total += s.total;
		}
	places.sort((a, b) => a.begin - b.begin || a.row - b.row);
	return { keys, names: has.filter(Boolean).length, calls, total, places };
}

/** The rows that tracks show. */
export function drawnRows(t) {
	const rows = new Set(t.about.lanes);

	for (const track of t.tracks) {
		for (const row of track.rows || [])
			rows.add(row);
		if (track.marks)
			rows.add(track.marks);
	}
	rows.delete(0);
	return [...rows];
}
