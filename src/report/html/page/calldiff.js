// calldiff.js - merges two trees of call paths and computes the changes, by the rules of `report --diff`: the same function has the same name, file and module, whatever its lines.
//
// SPDX-License-Identifier: Apache-2.0

import { NO_NODE, functionOf, functionRows, openTree, pathTo } from "./calltree.js";

export const DIFF_A = 0, DIFF_B = 1, DIFF_BOTH = 2;

/** Opens the arrays of two weights, A and B, with a third: the greater self weight of both, so that paths of one side
 * alone have an area in a chart. */
function withBoth(t, wholes) {
	const columns = [...t.columns, { key: "both", title: "the greater of both", unit: t.columns[DIFF_A].unit }];
	const c = openTree({ ...t, columns, nodes: t.nodes.map(n => [n[0], n[1], Number(n[2]), Number(n[3]), Math.max(0, n[2], n[3])]) });

	c.wholes = wholes || [DIFF_A, DIFF_B].map(k => t.nodes.reduce((sum, n) => sum + Number(n[2 + k]), 0));
	return c;
}

/** Opens a record's tree "diff", which has both sides already. */
export const openDiff = t => withBoth(t);

/** Merges both trees by the columns ka and kb; normalise: scales the first to the sum of the second. */
export function mergeTrees(a, ka, b, kb, normalise) {
	const frames = [], frameNumbers = new Map(), nodes = [], known = new Map(), wholes = [0, 0];

	[[a, ka], [b, kb]].forEach(([t, k], side) => {
		const to = [], frameOf = [];
		for (const node of t.nodes) {
			const { name, file, module } = t.frames[node[1]], own = Number(node[2 + k]);
			if (frameOf[node[1]] === undefined) {
				const key = JSON.stringify([name, file, module]);
				if (!frameNumbers.has(key)) {
					frameNumbers.set(key, frames.length);
					frames.push({ name, file, module });
				}
				frameOf[node[1]] = frameNumbers.get(key);
			}
			const parent = node[0] < 0 ? NO_NODE : to[node[0]], key = `${parent} ${frameOf[node[1]]}`;
			if (!known.has(key)) {
				known.set(key, nodes.length);
				nodes.push([parent, frameOf[node[1]], 0, 0]);
			}
			to.push(known.get(key));
			nodes[known.get(key)][2 + side] += own;
			wholes[side] += own;
		}
	});
	if (normalise && wholes[DIFF_A] !== 0) {
		const scale = wholes[DIFF_B] / wholes[DIFF_A];
		for (const node of nodes)
			node[2] *= scale;
		wholes[DIFF_A] = wholes[DIFF_B];
	}
	const unit = b.columns[kb].unit;
	return withBoth({ name: "diff", title: "Call paths of both", columns: [{ key: "a", title: "A", unit }, { key: "b", title: "B", unit }], frames, nodes }, wholes);
}

function changeOf(c, self, total) {
	const share = v => (c.wholes[DIFF_A] !== 0 && c.wholes[DIFF_B] !== 0 ? v[DIFF_B] / c.wholes[DIFF_B] - v[DIFF_A] / c.wholes[DIFF_A] : NaN);
	const was = self[DIFF_A] !== 0 || total[DIFF_A] !== 0, is = self[DIFF_B] !== 0 || total[DIFF_B] !== 0;

	return { self: self[DIFF_B] - self[DIFF_A], selfShare: share(self), selfA: self[DIFF_A], selfB: self[DIFF_B],
		total: total[DIFF_B] - total[DIFF_A], totalShare: share(total), totalA: total[DIFF_A], totalB: total[DIFF_B],
		state: was && is ? "changed" : is ? "added" : "removed" };
}

/** Returns the change of the path of that node, or of all (NO_NODE). */
export function changeAt(c, node) {
	const at = list => (node === NO_NODE ? c.wholes : [list[node * c.width], list[node * c.width + 1]]);
	return changeOf(c, node === NO_NODE ? [0, 0] : at(c.self), at(c.total));
}

const differ = r => r.selfA !== r.selfB || r.totalA !== r.totalB;
const bySelf = (a, b) => Math.abs(b.self) - Math.abs(a.self) || a.at - b.at;

/** Functions that changed, the largest change first. */
export const diffFunctions = c => functionRows(c).map(r => ({ fn: r.fn, at: r.fn.at, ...changeOf(c, r.self, r.total) })).filter(differ).sort(bySelf);

/** Call paths that changed, the largest change first: at most `most`; {rows, n: all}. */
export function diffPaths(c, most) {
	const rows = [];

	for (let i = 0; i < c.n; i++) {
		const r = { fn: functionOf(c, i), at: i, ...changeAt(c, i) };
		if (differ(r))
			rows.push(r);
	}
	const list = rows.sort(bySelf).slice(0, most);
	for (const r of list)
		r.path = pathTo(c, r.at).map(node => functionOf(c, node).name).join(";");
	return { rows: list, n: rows.length };
}
