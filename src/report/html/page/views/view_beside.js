// view_beside.js - several records side by side, and a comparison: its ratios round by round.
//
// SPDX-License-Identifier: Apache-2.0
/* global d3 */

import { el } from "../dom.js";
import { axisX, axisY, figure } from "../figure.js";
import { fitText } from "../marks.js";
import { measuredOf, runsOf } from "../phases.js";
import { ecdfLines, plotViolins } from "../plot_spread.js";
import { colorOf, plotAgainst, plotRows } from "../plot_rows.js";
import { ROOM, spaced } from "../points.js";
import { factValue, metric, number, recordName, rows, series, table } from "../record.js";
import { atMost, fence, sorted } from "../spread.js";
import { digits, format, formatInterval, percent } from "../units.js";

const numbered = (r, i) => `${i + 1}. ${recordName(r, i)}`;

/** The records that have a median: one row each. */
export const medians = records => records.map((r, i) => ({ r, i, m: metric(r, "latency/median") })).filter(p => p.m && Number.isFinite(number(p.m)))
	.map(({ r, i, m }) => ({ r, name: numbered(r, i), class: colorOf(i), value: number(m), lo: m.lo, hi: m.hi, level: m.level, unit: m.unit }));

/** The items per second of records that differ in the items of a run: [{x: items, y, lo, hi, level, name}], the fewest items first;
 * [] if they do not differ. */
export function itemsOf(records) {
	const list = records.map((r, i) => ({ r, i, items: Number(factValue(r, "subject", "items_per_run")), m: metric(r, "throughput/items") }))
		.filter(p => p.items > 0 && p.m && Number.isFinite(number(p.m)))
		.map(({ r, i, items, m }) => ({ x: items, y: number(m), lo: m.lo, hi: m.hi, level: m.level, name: numbered(r, i) })).sort((a, b) => a.x - b.x);

	return new Set(list.map(p => p.x)).size > 1 ? list : [];
}

function drawItems(box, records) {
	const points = itemsOf(records), alike = new Set(records.map(r => factValue(r, "subject", "name"))).size === 1;

	if (points.length > 0)
		plotAgainst(box, {
			name: "throughput-by-batch", title: "Items per second by the items of a run",
			says: points.map(p => `${p.name}: ${format(p.y, "items/s")}`).join(", "),
			lists: [{ class: "c1", points }], joined: alike && new Set(points.map(p => p.x)).size === points.length,
			told: [["name", p => p.name]], x: { title: "items of a run (batch)", unit: "1", log: 2, format: v => (Number.isInteger(v) ? digits(v) : "") }, y: { title: "throughput", unit: "items/s", zero: true },
			lines: p => [p.name, ["items", digits(p.x)], ["throughput", format(p.y, "items/s")], ...(p.level > 0 ? [["interval", formatInterval(p.lo, p.hi, p.level, "items/s")]] : [])],
		});
}

function plotOverlay(box, list) {
	const all = list.map(row => ({ ...row, sorted: sorted(runsOf(row.r).flatMap(measuredOf)) })).filter(row => row.sorted.length > 1);

	if (all.length < 2)
		return;
	const ends = all.map(row => fence(row.sorted)), from = d3.min(ends, e => e[0]), to = d3.max(ends, e => e[1]);
	figure(box, {
		name: "ecdfs",
		data: () => ({ columns: ["name", ["time of a run", all[0].unit], "share of the runs up to it"],
			rows: all.flatMap(row => Array.from(row.sorted, (v, i) => [row.name, v, (i + 1) / row.sorted.length])) }),
		title: "Share of the runs up to a time",
		says: all.map(row => `${row.name}: ${percent(atMost(row.sorted, row.value) / row.sorted.length)} up to ${format(row.value, row.unit)}`).join("; "),
		height: 300,
		draw(svg, width, height) {
			const right = Math.min(190, width * 0.3);
			const x = (to > 8 * from && from > 0 ? d3.scaleLog : d3.scaleLinear)([from, to], [ROOM.left, width - right]), y = d3.scaleLinear([0, 1], [height - ROOM.bottom, ROOM.top]);
			/* Labels are at the middle of their line, where lines are far apart. */
			const wanted = all.map(row => y(atMost(row.sorted, to) / row.sorted.length)), places = spaced(wanted, 15, ROOM.top, height - ROOM.bottom);

			axisY(svg, y, { x: ROOM.left, width: width - ROOM.left - right, count: 4, format: v => `${Math.round(100 * v)} %` });
			ecdfLines(svg, all, x, y, from, to);
			axisX(svg, x, { y: height - ROOM.bottom, unit: all[0].unit, title: "time of a run", count: Math.max(2, width / 110) });
			const g = svg.selectAll(null).data(all).join("g").attr("class", row => row.class);
			g.append("line").attr("class", "stroke").attr("x1", width - right + 4).attr("x2", width - right + 18).attr("y1", (row, i) => places[i]).attr("y2", (row, i) => places[i]);
			g.append("text").attr("class", "strong").attr("dy", "0.35em").attr("x", width - right + 24).attr("y", (row, i) => places[i]).text(row => fitText(row.name, right - 26));
		},
	});
}

export const viewBeside = {
	id: "beside",
	title: "Side by side",
	many: true,
	match: records => medians(records).length > 1,
	draw(box, records) {
		const list = medians(records);

		plotRows(box, {
			name: "medians",
			title: "Medians with their intervals",
			note: "Measured one after the other: what changed in between is in the differences. deepclock compare A B shows how far they can be trusted.",
			says: list.map(row => `${row.name}: ${format(row.value, row.unit)}`).join(", "),
			rows: list, unit: list[0].unit, axis: "median of the runs", bars: true, text: row => format(row.value, row.unit),
		});
		drawItems(box, records);
		plotOverlay(box, list);
	},
};

const BASE = "compare/rounds/";
const ratioText = v => digits(v, 4);

/** A comparison's alternatives with their ratios, and the ratios of the rounds to the first. */
export function ratiosOf(r) {
	const t = table(r, "compare/alternatives"), list = t ? rows(t) : [];
	const base = list.length > 0 ? series(r, BASE + list[0].subject.value) : undefined;

	return list.slice(1).map((row, i) => {
		const own = series(r, BASE + row.subject.value);
		return {
			name: String(row.subject.value), class: colorOf(i), value: number(row.ratio), lo: row.ratio.lo, hi: row.ratio.hi, level: row.ratio.level,
			verdict: String(row.verdict.value), absent: row.ratio.absent,
			rounds: base && own ? own.values.map((v, k) => ({ x: k + 1, y: v / base.values[k] })).filter(p => Number.isFinite(p.y)) : [],
		};
	});
}

/** The time of each subject in every round: [{name, class, values}]; [] if the record has none. */
export function roundsOf(r) {
	return (r.series || []).filter(s => s.tag.startsWith(BASE)).map((s, i) => ({ name: s.tag.slice(BASE.length), class: colorOf(i), values: s.values.filter(Number.isFinite) }))
		.filter(l => l.values.length > 1);
}

/** The unit of the rounds' times: an item if the runs differ in items. */
const timedOf = r => factValue(r, "compare", "metric") === "throughput/items" ? "an item" : "a run";

function drawRounds(box, r) {
	const list = roundsOf(r), trials = factValue(r, "method", "trials_per_round");

	if (list.length > 1)
		plotViolins(box, {
			name: "spread", title: "Times of the rounds",
			note: `Each dot is the ${factValue(r, "method", "statistic") || "time"} of one round${trials > 1 ? ` of ${digits(trials)} trials` : ""}; the shape is their density (a kernel estimate), the line their median.`,
			list, unit: "ns", axis: `time of ${timedOf(r)}`, what: "rounds",
		});
}

/** A ranking: {name, class, time, ratio, verdict} of each subject, the fastest first; [] for other records. */
export function rankOf(r) {
	const t = table(r, "bench/ranking"), rounds = roundsOf(r);

	return t ? rows(t).map((row, i) => ({
		name: String(row.subject.value), rank: row.rank ? row.rank.value : undefined, class: (rounds.find(l => l.name === String(row.subject.value)) || { class: colorOf(i) }).class,
		time: row.time, ratio: row.ratio, verdict: row.verdict && !("absent" in row.verdict) ? String(row.verdict.value) : "",
	})) : [];
}

/** A cell with its interval, as for plotRows(). */
const rowOf = (s, c, text) => ({ name: s.rank === undefined ? s.name : `${s.rank}. ${s.name}`, class: s.class, value: number(c), lo: c.lo, hi: c.hi, level: c.level, text });

export const viewRank = {
	id: "ranking",
	title: "Ranking",
	match: ([r]) => rankOf(r).filter(s => Number.isFinite(number(s.time))).length > 1,
	draw(box, [r]) {
		const list = rankOf(r).filter(s => Number.isFinite(number(s.time))), ratios = list.filter(s => Number.isFinite(number(s.ratio)) && s.ratio.level > 0);

		plotRows(box, {
			name: "ranking", title: "Times with their intervals", says: list.map(s => `${s.name}: ${format(number(s.time), "ns")}`).join(", "),
			rows: list.map(s => rowOf(s, s.time, format(number(s.time), "ns"))), unit: "ns", axis: `time of ${timedOf(r)}`, text: row => row.text,
		});
		if (ratios.length > 0)
			plotRows(box, {
				name: "to-the-fastest", title: `Times over those of ${list[0].name}`, note: "Ratios of the same rounds decide the ranks: what disturbs a round disturbs all subjects in it.",
				says: ratios.map(s => `${s.name}: ${ratioText(number(s.ratio))}, ${s.verdict}`).join("; "),
				rows: ratios.map(s => rowOf(s, s.ratio, `${s.verdict} ${ratioText(number(s.ratio))} [${ratioText(s.ratio.lo)}, ${ratioText(s.ratio.hi)}]`.trim())), unit: "1", axis: "ratio", at: 1, text: row => row.text,
			});
		drawRounds(box, r);
	},
};

export const viewRatios = {
	id: "ratios",
	title: "Ratios",
	match: ([r]) => ratiosOf(r).some(a => Number.isFinite(a.value)),
	draw(box, [r]) {
		const list = ratiosOf(r), margin = factValue(r, "compare", "margin"), first = rows(table(r, "compare/alternatives"))[0];
		const base = String(first.subject.value), timed = first.time !== undefined;
		const startup = table(r, "compare/startup");

		plotRows(box, {
			name: "ratios",
			title: timed ? `Times over those of ${base}` : `Ratios to ${base}`,
			note: [timed ? `More than 1 is slower than ${base}.` : `More than 1 is worse than ${base}.`, margin > 0 ? `The shaded range is the margin of ${percent(margin)}, within which they count as the same.` : ""].join(" "),
			says: list.map(a => `${a.name}: ${ratioText(a.value)}, ${a.verdict}`).join("; "),
			rows: list, unit: "1", axis: "ratio", at: 1, zone: margin > 0 ? [1 / (1 + margin), 1 + margin] : undefined,
			text: a => `${a.verdict} ${Number.isFinite(a.value) ? ratioText(a.value) : "–"}${a.level > 0 ? ` [${ratioText(a.lo)}, ${ratioText(a.hi)}]` : ""}`,
		});
		drawRounds(box, r);
		for (const a of list.filter(one => one.rounds.length > 1))
			plotAgainst(box, {
				name: "rounds",
				title: `${a.name}, round by round`,
				says: `Ratios of ${a.rounds.length} rounds, median ${ratioText(a.value)}`,
				lists: [{ class: a.class, points: a.rounds }],
				rules: [{ y: 1, text: `1: ${base}` }, ...(Math.abs(a.value - 1) > 1e-9 ? [{ y: a.value, text: `median ${ratioText(a.value)}` }] : [])],
				x: { title: "round", unit: "1", format: v => (Number.isInteger(v) ? digits(v) : "") }, y: { title: "ratio", unit: "1", log: d3.max(a.rounds, p => p.y) > 8 * d3.min(a.rounds, p => p.y) },
				lines: p => [`round ${p.x}`, ["ratio", ratioText(p.y)]], joined: false, height: 220,
			});
		if (startup) {
			const list2 = rows(startup).map((row, i) => ({ name: String(row.subject.value), class: colorOf(i), value: number(row.session) + number(row.first_run), session: number(row.session) }));
			if (list2.every(row => Number.isFinite(row.value)))
				plotRows(box, {
					name: "startup",
					title: "Until the first result", note: "Opening the session and the first run; the table below has both, and after how many runs it pays.",
					says: list2.map(row => `${row.name}: ${format(row.value, "ns")}`).join(", "),
					rows: list2, unit: "ns", axis: "session and first run", at: 0, text: row => format(row.value, "ns"),
				});
		}
	},
};

/** A comparison over sizes: {key, settings: [{name, class, times, ratios: [{x, y, lo, hi, level,
 * verdict}], cross}]}, the baseline first; null: none, or its sizes are not numbers. */
export function overOf(r) {
	const t = table(r, "compare/over"), list = t ? rows(t).map(row => ({ ...row, x: Number(row.value.value) })) : [];
	const names = [...new Set(list.map(row => String(row.subject.value)))], end = `, ${names.join(", ")}`, all = String(factValue(r, "compare", "subjects") || "");

	if (new Set(list.map(row => row.x)).size < 2 || list.some(row => !(row.x > 0 && row.x < Infinity)))
		return null;
	const times = (of, key) => of.map(row => ({ x: row.x, y: number(row[key]) })), first = list.filter(row => row.subject.value === names[0]);
	const base = { name: all.endsWith(end) ? all.slice(0, -end.length) : "the first", class: colorOf(0), times: times(first, "base_time"), ratios: [] };
	return { key: t.columns[0].title, settings: [base, ...names.map((name, i) => {
		const own = list.filter(row => row.subject.value === name), cross = metric(r, names.length > 1 ? `compare/crossover/${name}` : "compare/crossover");

		return { name, class: colorOf(i + 1), times: times(own, "time"), cross: cross && Number.isFinite(number(cross)) ? cross : null,
			ratios: own.map(row => ({ x: row.x, y: number(row.ratio), lo: row.ratio.lo, hi: row.ratio.hi, level: row.ratio.level, verdict: String(row.verdict.value) })) };
	})] };
}

export const viewOver = {
	id: "over",
	title: "Over sizes",
	match: ([r]) => overOf(r) !== null,
	draw(box, [r]) {
		const { key, settings } = overOf(r), [base, ...others] = settings, crossed = others.filter(s => s.cross);
		const x = { title: key, unit: "1", log: 2, format: v => (Number.isInteger(v) ? digits(v) : "") };
		const rules = crossed.map(s => ({ x: number(s.cross), text: `${others.length > 1 ? `${s.name}: ` : ""}crossover at ${digits(number(s.cross), 3)} [${digits(s.cross.lo)}, ${digits(s.cross.hi)}]` }));
		const pair = box.appendChild(el("div", { class: "pair" })), place = () => pair.appendChild(el("div"));

		/* On two logarithmic axes lines cross where the crossover is computed. */
		plotAgainst(place(), { name: "over-times", title: `Time by ${key}`, says: crossed.map(s => `${s.name} and ${base.name} are equal at ${key} ${digits(number(s.cross), 3)}`).join("; ") || `Time by ${key}; no crossover is shown`,
			lists: settings.map(s => ({ name: s.name, class: s.class, points: s.times.map(p => ({ ...p, setting: s.name })) })), rules, x, y: { title: "time", unit: "ns", log: true, format: v => format(Number(v.toPrecision(3)), "ns").replace(/\.0+ /, " ") },
			lines: p => [p.setting, [key, digits(p.x)], ["time", format(p.y, "ns")]] });
		plotAgainst(place(), { told: [["verdict", p => p.verdict]], name: "over-ratios", title: `Times over those of ${base.name}`, says: others.flatMap(s => s.ratios.map(p => `${s.name} at ${key} ${digits(p.x)}: ${ratioText(p.y)}, ${p.verdict}`)).join("; "), note: `More than 1 is slower than ${base.name}.`,
			lists: others.map(s => ({ name: others.length > 1 ? s.name : "", class: s.class, points: s.ratios.map(p => ({ ...p, setting: s.name })) })), rules: [...rules, { y: 1, text: `1: ${base.name}` }], x, y: { title: "ratio", unit: "1", log: true },
			lines: p => [p.setting, [key, digits(p.x)], ["ratio", ratioText(p.y)], ...(p.level > 0 ? [["interval", `[${ratioText(p.lo)}, ${ratioText(p.hi)}]`]] : []), ["verdict", p.verdict]] });
	},
};
