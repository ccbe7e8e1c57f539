// units.js - formatted numbers: the same units and digits as in the text report.
//
// SPDX-License-Identifier: Apache-2.0

const TIMES = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
const BYTES = [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]];
const DECIMAL = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];
const SI = ["FLOP", "FLOP/s", "B/s", "W", "J", "Hz"];

/** Formats with this number of significant digits; thousands in groups, an exponent only for very
 * large or small numbers. */
export function digits(v, n = 4) {
	const size = Math.abs(v);

	if (!Number.isFinite(v))
		return "?";
	if (v === 0)
		return "0";
	if (size >= 1e15 || size < 1e-4)
		return v.toExponential(n - 1);
	if (Number(size.toPrecision(n)) >= 10 ** (n - 1) || (Number.isInteger(v) && size >= 1000))
		return Math.round(v).toLocaleString("en-US");
	if (Number.isInteger(v))
		return String(v);
	const whole = Math.floor(Math.log10(Number(size.toPrecision(n)))); /* 0.99996 has one digit before the point */
	return v.toFixed(Math.max(0, n - 1 - whole));
}

/** The divisor and name of a unit: [1e6, "ms"]. */
export function scaleOf(v, unit) {
	const size = Math.abs(v);
	const fit = list => list.find(([factor]) => size >= factor * 0.99995) || list[list.length - 1];

	if (unit === "ns")
		return fit(TIMES);
	if (unit === "B")
		return fit(BYTES);
	if (SI.includes(unit)) {
		const [factor, prefix] = fit(DECIMAL);
		return [factor, prefix + unit];
	}
	return [1, unit === "1" || !unit ? "" : unit];
}

/** The divisor of all numbers of one column, and the unit for its title: the unit of the middle number, or a smaller
 * one in which the least needs no exponent. */
export function columnScale(values, unit) {
	const sizes = values.map(Math.abs).filter(v => v > 0 && Number.isFinite(v));
	const least = sizes.reduce((a, b) => Math.min(a, b), Infinity), most = sizes.reduce((a, b) => Math.max(a, b), 0);

	return most > 0 ? scaleOf(Math.min(Math.sqrt(least) * Math.sqrt(most), 1000 * least), unit) : [1, ""];
}

/** Integer arithmetic is not FLOPs: "2.1 TOP/s" for the tag peak/int8/all. */
export const wholeText = (tag, text) => (tag.startsWith("peak/int") ? text.replace("FLOP/s", "OP/s") : text);

/** "17.84 ms", "4.230 MiB", "1,000", "56.74 items/s". */
export function format(v, unit) {
	if (typeof v === "boolean")
		return v ? "yes" : "no";
	if (typeof v !== "number")
		return String(v);
	const [factor, name] = scaleOf(v, unit);
	const text = digits(v / factor);
	return name ? `${text} ${name}` : text;
}

/** Title and number format of a table column with these numbers: in the unit of its title; counts as by `plain`. */
export function unitColumn(title, values, unit, plain = v => format(v, unit)) {
	const [factor, name] = unit === "1" || unit === "FLOP" ? [1, ""] : columnScale(values, unit);

	return name ? { title: `${title} [${name}]`, text: v => digits(v / factor) } : { title, text: plain };
}

/** A round number: "5 µs", not "5.000 µs". */
export const roundText = (v, unit) => format(Number(v.toPrecision(3)), unit).replace(/\.0+(?= |$)/, "");

/** MACs, parameters and other counts without a unit: "1.814 G". */
export function formatCount(v) {
	const [factor, prefix] = DECIMAL.find(([f]) => Math.abs(v) >= f * 0.99995) || [1, ""];

	return Math.abs(v) < 1e4 ? digits(v) : `${digits(v / factor)} ${prefix}`;
}

export function percent(ratio, n = 3) {
	if (ratio > 0 && ratio < 1e-5)
		return "< 0.001 %";
	return Number.isFinite(ratio) ? `${digits(100 * ratio, n)} %` : "?";
}

/** A level of confidence, which is below 100 %, as it is written. */
export function levelText(level) {
	const n = [3, 4, 5, 6, 7, 8, 9].find(k => Number(digits(100 * level, k)) < 100);

	return `${digits(100 * level, n)} %`;
}

/** "[17.55, 17.71] ms 95 %" */
export function formatInterval(lo, hi, level, unit) {
	const [factor, name] = scaleOf(Math.max(Math.abs(lo), Math.abs(hi)), unit);

	return `[${digits(lo / factor)}, ${digits(hi / factor)}]${name ? " " + name : ""} ${levelText(level)}`;
}
