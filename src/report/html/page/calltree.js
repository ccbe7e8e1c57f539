// calltree.js - a record's tree of call paths, as arrays: functions, totals, callers, and the nodes that a chart
// shows or omits. The rules are the same as in src/record/tree (report --by function, --tree), and the sums are equal
// to the last bit: the weight of a recursive function counts once.
//
// SPDX-License-Identifier: Apache-2.0

import { number, rows, table } from "./record.js";

export const NO_NODE = -1;
const INVERTED_MAX = 200000;

const rank = column => (column.key === "overhead" ? 0 : column.unit === "ns" ? 2 : column.unit && column.unit !== "1" ? 1 : 0);

/** The default weight: the time, else the first that is not a count. */
export function mainWeight(columns) {
	let best = 0;

	for (let k = columns.length - 1; k >= 0; k--)
		if (rank(columns[k]) >= rank(columns[best]))
			best = k;
	return best;
}

function functionsOf(frames) {
	const numbers = new Map(), functions = [];
	const of = frames.map(f => {
		const key = JSON.stringify([f.name, f.file, f.module, f.start_line || 0]);

		if (!numbers.has(key)) {
			numbers.set(key, functions.length);
			functions.push({ ...f, paths: 0, at: functions.length });
		}
		const had = functions[numbers.get(key)];
		if (f.line && (!had.line || f.line < had.line))
			had.line = f.line;
		return numbers.get(key);
	});

	return { of, functions };
}

/** Computes from the arrays `parent`, `fn` and `self`: children, totals, depths, sizes, and which
 * paths are inside the same function (recursion). */
function link(c) {
	const { n, width, parent } = c;
	const open = new Int32Array(c.functions.length + 1);

	c.child = new Int32Array(n).fill(NO_NODE);
	c.next = new Int32Array(n);
	c.total = new Float64Array(n * width);
	c.size = new Int32Array(n);
	c.depth = new Int32Array(n);
	c.again = new Uint8Array(n);
	c.first = NO_NODE;
	for (let i = n - 1; i >= 0; i--) {
		const p = parent[i];

		c.next[i] = p < 0 ? c.first : c.child[p];
		if (p < 0)
			c.first = i;
		else
			c.child[p] = i;
		c.size[i]++;
		if (p >= 0)
			c.size[p] += c.size[i];
		for (let k = 0; k < width; k++) {
			c.total[i * width + k] += c.self[i * width + k];
			if (p >= 0)
				c.total[p * width + k] += c.total[i * width + k];
		}
	}
	for (let i = 0; i < n; i++)
		c.depth[i] = parent[i] < 0 ? 0 : c.depth[parent[i]] + 1;
	let last = NO_NODE;
	for (let i = c.first; i !== NO_NODE; i = nodeAfter(c, i)) {
		for (; last !== parent[i]; last = parent[last])
			open[c.fn[last]]--;
		c.again[i] = open[c.fn[i]]++ > 0 ? 1 : 0;
		c.functions[c.fn[i]].paths++;
		last = i;
	}
	c.sums = c.columns.map((_, k) => {
		let sum = 0;
		for (let i = c.first; i !== NO_NODE; i = c.next[i])
			sum += c.total[i * width + k];
		return sum;
	});
	return c;
}

/** The next node in pre-order; NO_NODE: the end. */
function nodeAfter(c, node) {
	if (c.child[node] !== NO_NODE)
		return c.child[node];
	while (node !== NO_NODE && c.next[node] === NO_NODE)
		node = c.parent[node];
	return node === NO_NODE ? NO_NODE : c.next[node];
}

/** A tree of a record. Weights are at [node * width + column]: `self` without and `total` with the paths below. */
export function openTree(t) {
	const { of, functions } = functionsOf(t.frames), width = t.columns.length, n = t.nodes.length;
	const c = { name: t.name, title: t.title, columns: t.columns, functions, width, n,
		parent: new Int32Array(n), fn: new Int32Array(n), line: new Int32Array(n), self: new Float64Array(n * width) };

	t.nodes.forEach((row, i) => {
		c.parent[i] = row[0];
		c.fn[i] = of[row[1]];
		c.line[i] = t.frames[row[1]].line || 0;
		for (let k = 0; k < width; k++)
			c.self[i * width + k] = Number(row[2 + k]);
	});
	return link(c);
}

/** The frames of Python's import system: five or six of them for each module that imports another. */
export const isImport = f => /^<frozen importlib\._bootstrap(_external)?>$/.test(f.file || "");

/** The tree with paths merged that differ in lines only, and consecutive frames of Python's import system merged. */
export function byFunctions(c) {
	const known = new Map(), to = new Int32Array(c.n), parent = [], fn = [], self = [], imports = c.functions.map(isImport);

	for (let i = 0; i < c.n; i++) {
		const p = c.parent[i] < 0 ? NO_NODE : to[c.parent[i]];
		if (imports[c.fn[i]] && p !== NO_NODE && imports[fn[p]]) {
			to[i] = p;
			for (let k = 0; k < c.width; k++)
				self[p * c.width + k] += c.self[i * c.width + k];
			continue;
		}
		const key = (p + 1) * c.functions.length + c.fn[i];
		if (!known.has(key)) {
			known.set(key, parent.length);
			parent.push(p);
			fn.push(c.fn[i]);
			for (let k = 0; k < c.width; k++)
				self.push(0);
		}
		to[i] = known.get(key);
		for (let k = 0; k < c.width; k++)
			self[to[i] * c.width + k] += c.self[i * c.width + k];
	}
	return link({ ...c, functions: c.functions.map(f => ({ ...f, paths: 0 })), n: parent.length, parent: Int32Array.from(parent), fn: Int32Array.from(fn),
		line: new Int32Array(parent.length), self: Float64Array.from(self) });
}

export const totalOf = (c, node, k) => (node === NO_NODE ? c.sums[k] : c.total[node * c.width + k]);
export const selfOf = (c, node, k) => (node === NO_NODE ? 0 : c.self[node * c.width + k]);
export const functionOf = (c, node) => c.functions[c.fn[node]];

/** "train.c:41" for a function, or its file or module, or "". */
export function placeOf(f, line = f.start_line || f.line) {
	return f.file && line ? `${f.file}:${line}` : f.file || f.module || "";
}

/** The path from the outermost node to this one. */
export function pathTo(c, node) {
	const path = [];

	for (; node !== NO_NODE; node = c.parent[node])
		path.unshift(node);
	return path;
}

// --- functions

const emptySums = (c, n) => ({ self: new Float64Array(n * c.width), total: new Float64Array(n * c.width),
	outer: new Float64Array(n * c.width), paths: new Int32Array(n) });

function addNode(s, c, to, node) {
	s.paths[to]++;
	for (let k = 0; k < c.width; k++) {
		s.self[to * c.width + k] += c.self[node * c.width + k];
		if (c.again[node])
			continue;
		s.total[to * c.width + k] += c.total[node * c.width + k];
		s.outer[to * c.width + k] += c.self[node * c.width + k];
	}
}

/** Rows {fn: a function, self, total, outer (without recursive paths)}, each with a weight for every column. */
function rowsOf(c, s, last) {
	const at = (list, i) => Array.from(list.subarray(i * c.width, (i + 1) * c.width));
	const out = [];

	for (let i = 0; i < s.paths.length; i++)
		if (s.paths[i] > 0)
			out.push({ fn: c.functions[i] || { name: last }, self: at(s.self, i), total: at(s.total, i), outer: at(s.outer, i) });
	return out;
}

export function functionRows(c) {
	const s = emptySums(c, c.functions.length);

	for (let i = 0; i < c.n; i++)
		addNode(s, c, c.fn[i], i);
	return rowsOf(c, s);
}

/** The same, with the numbers of the record's table "functions" if a note marks the paths as estimated. */
export function exactRows(list, c, r) {
	const functions = table(r, "functions"), key = parts => JSON.stringify(parts.map(v => v || null));
	const time = c.columns.findIndex(column => column.key === "self"), calls = c.columns.findIndex(column => column.key === "calls");

	if (!functions || time < 0 || calls < 0 || !(r.notes || []).some(n => n.code === "profile-paths"))
		return list;
	const exact = new Map(rows(functions).map(row => [key([row.name.value, row.file.value, row.line.value]), row]));

	for (const one of list) {
		const own = exact.get(key([one.fn.name, one.fn.file, one.fn.start_line]));

		if (!own)
			continue;
		one.self[time] = number(own.self);
		one.total[time] = number(own.total);
		one.self[calls] = number(own.calls);
		one.outer[calls] = number(own.primitive);
	}
	return list;
}

/** The callers of a function, with their shares. */
export function callerRows(c, f) {
	const s = emptySums(c, c.functions.length + 1);

	for (let i = 0; i < c.n; i++)
		if (c.fn[i] === f)
			addNode(s, c, c.parent[i] < 0 ? c.functions.length : c.fn[c.parent[i]], i);
	return rowsOf(c, s, "(none: outermost)");
}

/** The callees of a function; the last row is its self weight. */
export function calleeRows(c, f) {
	const own = c.functions.length, s = emptySums(c, own + 1);

	for (let i = 0; i < c.n; i++) {
		if (c.parent[i] >= 0 && c.fn[c.parent[i]] === f)
			addNode(s, c, c.fn[i], i);
		if (c.fn[i] !== f)
			continue;
		s.paths[own]++;
		for (let k = 0; k < c.width; k++) {
			s.self[own * c.width + k] += c.self[i * c.width + k];
			s.total[own * c.width + k] += c.self[i * c.width + k];
		}
	}
	return rowsOf(c, s, "(itself)");
}

/** Sums by source line: {file, line, self, total, fn}. A line that occurs twice on a path counts once in total. */
export function lineRows(c) {
	const lines = new Map(), open = new Map();
	let last = NO_NODE;
	const key = i => c.fn[i] * 1e7 + c.line[i]; /* a function is in one file */

	for (let i = c.first; i !== NO_NODE; i = nodeAfter(c, i)) {
		for (; last !== c.parent[i]; last = c.parent[last])
			open.set(key(last), open.get(key(last)) - 1);
		last = i;
		const f = functionOf(c, i), inside = open.get(key(i)) || 0;
		open.set(key(i), inside + 1);
		if (!f.file || !c.line[i])
			continue;
		const row = lines.get(key(i)) || { file: f.file, line: c.line[i], fn: f, self: new Array(c.width).fill(0), total: new Array(c.width).fill(0) };
		lines.set(key(i), row);
		for (let k = 0; k < c.width; k++) {
			row.self[k] += c.self[i * c.width + k];
			if (!inside)
				row.total[k] += c.total[i * c.width + k];
		}
	}
	return [...lines.values()];
}

// --- callers first

/** The inverted tree: below each function (or, with `lines`, each of its lines) its callers, and at each node the self
 * weight of the function when called by this path. Paths of less than `least` in column k
 * are not followed further. */
export function inverted(c, k, least, lines) {
	const parent = [], fn = [], total = [], line = [], ends = [];
	let level = [], next = [], cut = 0;
	const add = (from, entries) => {
		const groups = new Map();

		for (const e of entries) {
			const key = c.fn[e[0]] * 1e7 + (lines ? c.line[e[0]] : 0);
			if (!groups.has(key))
				groups.set(key, []);
			groups.get(key).push(e);
		}
		for (const list of groups.values()) {
			const at = parent.length * c.width, sums = new Array(c.width).fill(0);
			for (const e of list)
				for (let j = 0; j < c.width; j++)
					sums[j] += c.self[e[1] * c.width + j];
			for (let j = 0; j < c.width; j++)
				total[at + j] = sums[j];
			parent.push(from);
			fn.push(c.fn[list[0][0]]);
			line.push(lines ? c.line[list[0][0]] : 0);
			next.push([parent.length - 1, list, Math.abs(sums[k])]);
		}
	};

	for (let i = 0; i < c.n; i++)
		if (c.self.subarray(i * c.width, (i + 1) * c.width).some(v => v !== 0))
			ends.push([i, i]);
	add(NO_NODE, ends);
	while (next.length > 0) {
		level = next;
		next = [];
		for (const [node, list, weight] of level) {
			const outer = list.filter(e => c.parent[e[0]] >= 0).map(e => [c.parent[e[0]], e[1]]);
			if (outer.length === 0)
				continue;
			if (weight < least || parent.length > INVERTED_MAX)
				cut++;
			else
				add(node, outer);
		}
	}
	const width = c.width, self = Float64Array.from(total);
	for (let i = parent.length - 1; i >= 0; i--)
		if (parent[i] >= 0)
			for (let j = 0; j < width; j++)
				self[parent[i] * width + j] -= total[i * width + j];
	const r = link({ name: c.name, title: c.title, columns: c.columns, functions: c.functions.map(f => ({ ...f, paths: 0 })), width, n: parent.length,
		parent: Int32Array.from(parent), fn: Int32Array.from(fn), line: Int32Array.from(line), self });
	r.total = Float64Array.from(total); /* the original sum, without the rounding of parts */
	r.sums = c.sums;
	r.cut = cut;
	return r;
}

// --- nodes of a chart

/** Returns the nodes to draw below `root` (NO_NODE: all), each {node, level, from, to} on a scale
 * from 0 to 1, the heaviest first; and the omitted ones: {paths, weight} that are thinner than
 * `least`, or deeper than `levels`. */
export function layout(c, k, root, { least = 0, levels = Infinity, most = Infinity } = {}) {
	const weight = i => Math.max(0, totalOf(c, i, k)), whole = weight(root);
	const marks = [{ node: root, level: 0, from: 0, to: 1 }];
	const thin = { paths: 0, weight: 0 }, deep = { paths: 0, weight: 0 };
	const leave = (where, i) => {
		where.paths += c.size[i];
		where.weight += weight(i);
	};

	for (let m = 0; m < marks.length; m++) {
		const { node, level, from, to } = marks[m], children = [];
		for (let i = node === NO_NODE ? c.first : c.child[node]; i !== NO_NODE; i = c.next[i])
			children.push(i);
		if (level >= levels) {
			for (const i of children)
				leave(deep, i);
			continue;
		}
		children.sort((a, b) => weight(b) - weight(a) || a - b);
		/* After a subtraction children may weigh more than their parent. */
		const sum = children.reduce((s, i) => s + weight(i), 0), scale = whole > 0 ? Math.min(1 / whole, sum > 0 ? (to - from) / sum : 1 / whole) : 0;
		let at = from;
		for (const i of children) {
			const wide = weight(i) * scale;
			if (wide < least || wide === 0) {
				leave(thin, i);
				continue;
			}
			marks.push({ node: i, level: level + 1, from: at, to: Math.min(to, at + wide) });
			at += wide;
		}
	}
	if (marks.length > most) {
		const limit = marks.map(m => m.to - m.from).sort((a, b) => b - a)[most];
		return layout(c, k, root, { least: limit * (1 + 1e-9) + 1e-12, levels });
	}
	return { marks, thin, deep, least };
}

/** Searches a word in the functions' names, files and modules: {of: by node, functions, paths,
 * weight: of these paths below `root`, each counted once}. */
export function search(c, word, k, root) {
	const wanted = word.toLowerCase();
	const has = c.functions.map(f => [f.name, f.file, f.module].some(t => t && t.toLowerCase().includes(wanted)));
	const of = new Uint8Array(c.n), below = new Uint8Array(c.n), inside = new Uint8Array(c.n), found = new Set();
	let paths = 0, weight = 0;

	for (let i = 0; i < c.n; i++) {
		const p = c.parent[i];
		below[i] = i === root || (p < 0 ? root === NO_NODE : below[p]) ? 1 : 0;
		inside[i] = p >= 0 && inside[p] ? 1 : 0;
		if (!has[c.fn[i]] || !below[i])
			continue;
		of[i] = 1;
		paths++;
		found.add(c.fn[i]);
		if (!inside[i])
			weight += totalOf(c, i, k);
		inside[i] = 1;
	}
	return { of, functions: found.size, paths, weight };
}

// --- colours

/** The library of a function: its module, or the package or file of its source. */
export function groupOf(f) {
	if (f.module)
		return f.module;
	if (!f.file)
		return /^(built-in )?method /.test(f.name) ? "functions in C" : f.name;
	const library = /\/(?:site-packages|dist-packages|python3[.\d]*)\/([^/]+)/.exec(f.file);
	return (library ? library[1] : f.file.split("/").pop()).replace(/\.py$/, "");
}

/** One of the colours 1 to 7 for each of the heaviest groups, if possible the same in every record, and 8 for the rest: {of: by function, legend: [[colour, group]]}. */
export function coloursOf(c, k) {
	const weights = new Map(), taken = new Map(), groups = c.functions.map(groupOf), own = new Float64Array(groups.length);

	for (let i = 0; i < c.n; i++)
		own[c.fn[i]] += c.self[i * c.width + k];
	groups.forEach((g, f) => weights.set(g, (weights.get(g) || 0) + own[f]));
	const heaviest = [...weights].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 7).map(p => p[0]);
	for (const g of heaviest) {
		let at = [...g].reduce((h, ch) => (h * 31 + ch.codePointAt(0)) % 1000003, 7) % 7;
		while ([...taken.values()].includes(at + 1))
			at = (at + 1) % 7;
		taken.set(g, at + 1);
	}
	const legend = [...taken].map(([g, at]) => [`c${at}`, g]);
	if (weights.size > legend.length)
		legend.push(["c8", "others"]);
	return { of: groups.map(g => taken.get(g) || 8), legend };
}
