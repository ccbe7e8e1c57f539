// ops.js - the operators of a record (docs/reference/record.md): their numbers, their sums in groups, and their limits
// by the roofline. Unknown values are omitted from sums and counted; they are never 0.
//
// SPDX-License-Identifier: Apache-2.0

import { cell, fact, number } from "./record.js";
import { digits, format, formatCount } from "./units.js";

const DEEPEST = 50; /* nesting depth of modules */
const NOT_TOLD = { absent: "the record does not contain it" };

/** "1 x 64 x 56 x 56", for every output. */
export function shapeText(outputs) {
	return (outputs || []).map(o => (Array.isArray(o.shape) ? (o.shape.length ? o.shape.join("×") : "scalar") : "?")).join(", ");
}

const lastPart = (text, mark) => text.slice(text.lastIndexOf(mark) + 1);

function plus(a, b) {
	return "absent" in a ? a : "absent" in b ? b : { value: number(a) + number(b) };
}

function timeOf(op) {
	const c = op.time === undefined ? NOT_TOLD : cell(op.time);

	return "absent" in c || op.time_level === undefined ? c : { ...c, lo: op.time_lo, hi: op.time_hi, level: op.time_level };
}

/** All operators: their texts, and their numbers as cells. */
export function operators(r) {
	const names = (r.ops || []).map(op => compactName(op.name || "")), times = new Map();

	names.forEach(name => times.set(name, (times.get(name) || 0) + 1));
	return (r.ops || []).map((op, i) => {
		const of = key => (op[key] === undefined ? NOT_TOLD : cell(op[key]));
		const flops = of("flops"), bytes = plus(of("read_bytes"), of("write_bytes")), rate = of("rate"), roof = of("roof");
		const intensity = "absent" in flops ? flops : "absent" in bytes ? bytes
			: number(bytes) > 0 ? { value: number(flops) / number(bytes) } : { absent: "it moves nothing" };
		const shared = "absent" in rate ? rate : "absent" in roof ? roof : { value: number(rate) / number(roof) };

		return { i, name: op.name || "(no name)", compact: names[i] && times.get(names[i]) === 1 ? names[i] : op.name || "(no name)", type: op.type || "", scope: op.scope || "", className: op.class || "", line: op.line || "",
			code: op.code || "", shape: shapeText(op.outputs), origins: op.origins || [], bound: op.bound || "",
			macs: of("macs"), flops, params: of("params"), weights: of("weight_bytes"), bytes, intensity,
			time: timeOf(op), rate, roof, share: shared, memory: of("memory"), peer: of("peer") };
	});
}

/** Whether an operator has a value of that number. */
export const has = (ops, key) => ops.some(o => !("absent" in o[key]));
/** Whether operators have that number, as a value or absent. */
export const tells = (ops, key) => ops.some(o => o[key].absent !== NOT_TOLD.absent);

/** {sum, known, unknown} of one number over operators. */
export function sumOf(ops, key) {
	const s = { sum: 0, known: 0, unknown: 0 };

	for (const o of ops) {
		const v = number(o[key]);
		if (Number.isNaN(v)) {
			s.unknown++;
		} else {
			s.sum += v;
			s.known++;
		}
	}
	return s;
}

export const countText = (v, unit) => (unit === "1" || unit === "FLOP" ? formatCount(v).trim() : format(v, unit));

/** "1.814 G", "≥ 1.814 G" if some are unknown, "–" if all are. */
export function sumText(s, unit, text = v => countText(v, unit)) {
	return s.known === 0 || (s.unknown > 0 && s.sum === 0) ? "–" : (s.unknown > 0 ? "≥ " : "") + text(s.sum);
}

/** A share of a whole: "98.8 %", "<0.1 %". */
export function partText(ratio) {
	return ratio > 0 && ratio < 0.001 ? "<0.1 %" : ratio > 0.999 && ratio < 1 ? ">99.9 %" : ratio === 0 || ratio === 1 ? `${100 * ratio} %` : `${(100 * ratio).toFixed(1)} %`;
}

/** Weights of bars and areas. */
export const WEIGHTS = [
	{ key: "time", name: "time", unit: "ns" },
	{ key: "macs", name: "MACs", unit: "1" },
	{ key: "flops", name: "FLOPs", unit: "FLOP" },
	{ key: "bytes", name: "bytes moved", unit: "B" },
	{ key: "params", name: "parameters", unit: "1" },
];

/** The weights that are useful for these operators: most have a value, and not all are 0. */
export const weightsOf = ops => WEIGHTS.filter(w => {
	const s = sumOf(ops, w.key);
	return s.sum > 0 && s.known > s.unknown;
});

/** Outer module of "layer1.0.conv1" and "encoder/layer/0": names are separated by '/' and '.'; only the outermost, with
 * a number after it if the modules are a list. */
export const outerModule = scope => (/^[^/.]+(?:[/.]\d+(?=[/.]|$))?/.exec(scope) || [""])[0];

/** Groupings of operators: displayed name and key. */
export const GROUPS = [
	{ key: "type", name: "type", many: "types", of: o => o.type, none: "(no type)", label: k => k },
	{ key: "module", name: "module", many: "modules", of: o => outerModule(o.scope), none: "(no module)", label: k => k },
	{ key: "class", name: "class", many: "classes", of: o => o.className, none: "(no class)", label: k => lastPart(k, ".") },
	{ key: "line", name: "line of code", many: "lines", of: o => o.line, none: "(no line)",
		label: (k, ops) => (ops[0].code ? `${lastPart(k, "/")}  ${ops[0].code}` : lastPart(k, "/")) },
];

/** The groupings for which an operator has a key. */
export const groupsOf = ops => GROUPS.filter(g => ops.some(o => g.of(o) !== ""));

/** [{key, name, ops, sum, known, unknown}], the heaviest first. */
export function grouped(ops, group, weight) {
	const map = new Map();

	for (const o of ops) {
		const key = group.of(o);
		if (!map.has(key))
			map.set(key, []);
		map.get(key).push(o);
	}
	return [...map].map(([key, list]) => ({ key, name: key === "" ? group.none : group.label(key, list), ops: list, ...sumOf(list, weight) }))
		.sort((a, b) => b.sum - a.sum || a.ops[0].i - b.ops[0].i);
}

/** Why numbers are absent: [{reason, n}], the most frequent first. */
export function reasons(ops, keys) {
	const n = new Map();

	for (const o of ops)
		for (const reason of new Set(keys.filter(k => "absent" in o[k]).map(k => o[k].absent)))
			n.set(reason, (n.get(reason) || 0) + 1);
	return [...n].map(([reason, count]) => ({ reason, n: count })).sort((a, b) => b.n - a.n);
}

/** "'a' (3 operators); 'b' (1 operator)" */
export const reasonsText = list => list.map(x => `${x.reason} (${digits(x.n)} operator${x.n === 1 ? "" : "s"})`).join("; ");

const MEMORIES = [["l1", "L1"], ["l2", "L2"], ["l3", "L3"], ["dram", "memory"]];
const PEAKS = [["fp64", "FP64"], ["fp32", "FP32"], ["fp16", "FP16"], ["bf16", "BF16"], ["int8", "INT8"]];

/** The machine's limits, from the facts "roofs" of a profile: {peaks: [{key, name, value}], levels:
 * [{key, name, value, capacity}]}; null: not in the record. */
export function roofsOf(r) {
	const of = key => number(fact(r, "roofs", key));
	const known = list => list.filter(x => x.value > 0);
	const peaks = known(PEAKS.map(([key, name]) => ({ key, name, value: of(`peak_${key}`) })));
	const levels = known(MEMORIES.map(([key, name]) => ({ key, name, value: of(`bandwidth_${key}`),
		capacity: key === "dram" ? Infinity : of(`capacity_${key}`) })));

	return peaks.length > 0 && levels.length > 0 ? { peaks, levels } : null;
}

/** Returns the smallest memory level with at least this capacity. */
const levelFor = (roofs, bytes) => roofs.levels.find(l => bytes <= l.capacity);

/** The least time of an operator in ns: FLOPs at its roof, or, without FLOPs, its bytes at the bandwidth of the
 * smallest memory level with that capacity. NaN: unknown. */
export function leastTime(o, roofs) {
	const flops = number(o.flops), bytes = number(o.bytes), roof = number(o.roof);

	if (roof > 0)
		return 1e9 * flops / roof;
	if (flops !== 0 || Number.isNaN(bytes) || !roofs)
		return NaN;
	if (bytes === 0)
		return 0;
	const level = levelFor(roofs, bytes);
	return level ? 1e9 * bytes / level.value : NaN;
}

/** Operators by their possible gain at their roofs: [{op, time, least, gain}]; gain is not below
 * 0. */
export function gains(ops, roofs) {
	return ops.map(op => ({ op, time: number(op.time), least: leastTime(op, roofs) }))
		.filter(g => g.time > 0 && !Number.isNaN(g.least))
		.map(g => ({ ...g, gain: Math.max(0, g.time - g.least) }))
		.sort((a, b) => b.gain - a.gain);
}

/** Operators with a position in the roofline chart: [{op, x: FLOP/B, y: FLOP/s, time}]; the rest with a reason. */
export function placed(ops) {
	const dots = [], rest = [];

	for (const op of ops) {
		const x = number(op.intensity), y = number(op.rate);
		if (x > 0 && y > 0)
			dots.push({ op, x, y, time: number(op.time) });
		else
			rest.push(op);
	}
	return { dots, rest };
}

/** "layer1.0/conv1/Conv" of "/layer1/layer1.0/conv1/Conv": exporters repeat a module's name in the names of its parts. */
export const compactName = name => name.split("/").filter((part, i, all) => part && !(i + 1 < all.length && all[i + 1].startsWith(`${part}.`))).join("/");

/** "conv1/Conv" of "/layer1/layer1.0/conv1/Conv", for display next to the module. */
export const shortName = op => op.name.split("/").slice(-2).join("/");

/** Nested modules: {name, path, className, children}; the innermost entries are
 * operators, {name, op}. A module with a single child module is merged with it. */
export function moduleTree(ops) {
	const root = { name: "model", path: "", className: "", children: [], inner: new Map() };

	for (const op of ops) {
		let at = root, path = "";
		for (const part of (op.scope || "(no module)").split(op.scope ? /[/.]/ : "\n").filter(Boolean).slice(0, DEEPEST)) {
			path = path ? `${path}.${part}` : part;
			if (!at.inner.has(part)) {
				const made = { name: /^\d+$/.test(part) && at !== root ? `${at.name}.${part}` : part, path, className: "", children: [], inner: new Map() };
				at.inner.set(part, made);
				at.children.push(made);
			}
			at = at.inner.get(part);
		}
		at.className = at.className || lastPart(op.className, ".");
		at.children.push({ name: shortName(op), op });
	}
	const joined = node => {
		while (!node.op && node !== root && node.children.length === 1 && !node.children[0].op)
			node = { ...node.children[0], name: node.children[0].name.startsWith(`${node.name}.`) ? node.children[0].name : `${node.name}.${node.children[0].name}` };
		return node.op ? node : { ...node, children: node.children.map(joined) };
	};
	return joined(root);
}

/** The operators in a module. */
export const operatorsIn = node => (node.op ? [node.op] : node.children.flatMap(operatorsIn));
