// timeline_paint.js - paints rows of a timeline into the pixels of a canvas. A row is painted once as a
// line of pixels, which is copied once per pixel of height: so the time to draw does not depend on the content.
//
// SPDX-License-Identifier: Apache-2.0

import { firstAfter, rangeAt, inSight } from "./timeline_data.js";

const rgbOf = text => {
	const hex = text.trim().replace("#", ""), full = hex.length === 3 ? [...hex].map(c => c + c).join("") : hex;

	return [0, 2, 4].map(i => parseInt(full.slice(i, i + 2), 16) || 0);
};
const mix = (a, b, share) => a.map((v, i) => Math.round(v + (b[i] - v) * share));
const pixelOf = ([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0;
const isLight = ([r, g, b]) => 0.299 * r + 0.587 * g + 0.114 * b > 140;

/** A hash of a name, which selects its colour. */
export function nameHash(text) {
	let h = 2166136261;

	for (let i = 0; i < text.length; i++)
		h = Math.imul(h ^ text.charCodeAt(i), 16777619);
	return h >>> 0;
}

const TIME_SHADES = 8, TIME_HUES = 7;

/** The colours of names in this theme, by shade: how much of a block is busy. */
export function paletteOf(t, style) {
	const of = name => rgbOf(style.getPropertyValue(name)), paper = of("--paper"), ink = of("--ink");
	const shades = new Map(), hues = [];

	for (let i = 1; i <= TIME_HUES; i++)
		for (const share of [0, 0.22, 0.42])
			hues.push(mix(of(`--c${i}`), paper, share));
	const wait = mix(of("--c8"), paper, 0.55);
	const made = (colour, dim) => {
		const id = `${colour}${dim}`;
		if (!shades.has(id)) {
			const to = dim ? mix(colour, paper, 0.8) : colour;
			shades.set(id, Uint32Array.from({ length: TIME_SHADES }, (v, i) => pixelOf(mix(paper, to, 0.25 + 0.75 * (i + 1) / TIME_SHADES))));
		}
		return shades.get(id);
	};
	const colours = t.names.map(n => (n.category === "wait" || n.name.startsWith("wait: ") ? wait : hues[nameHash(n.name) % hues.length]));
	const bright = colours.map(c => made(c, false)), dimmed = colours.map(c => made(c, true));

	return {
		paper: pixelOf(paper), raised: pixelOf(of("--raised")), grid: pixelOf(of("--grid")), line: pixelOf(of("--line")),
		ink: style.getPropertyValue("--ink"), dim: style.getPropertyValue("--dim"), accent: style.getPropertyValue("--c1"), mark: pixelOf(ink),
		counter: pixelOf(mix(of("--c1"), paper, 0.55)), counterEdge: pixelOf(of("--c1")),
		of: (key, wanted) => (wanted && !wanted[key] ? dimmed : bright)[t.keyName[key]],
		textOn: (key, wanted) => (wanted && !wanted[key] ? style.getPropertyValue("--dim") : isLight(colours[t.keyName[key]]) ? "#111" : "#fff"),
	};
}

/** One row of [from, from + ns of all pixels) into `line`, a Uint32Array; returns the painted
 * amount. texts, if given, gets {key, x, wide} of ranges that are wide enough for a name. */
export function paintRow(t, level, row, from, nsOfPixel, line, palette, wanted, texts) {
	const l = t.levels[level], width = line.length, v = inSight(t, level, row, from, from + nsOfPixel * width);
	let painted = 0;

	for (let i = v.firstBlock; i < v.endBlock; i++) {
		const begin = l.bin[i] * l.step, x0 = Math.max(0, Math.floor((begin - from) / nsOfPixel));
		const x1 = Math.min(width, Math.max(x0 + 1, Math.ceil((begin + l.step - from) / nsOfPixel)));
		const shade = Math.min(TIME_SHADES - 1, Math.floor(TIME_SHADES * l.took[i] / l.step));
		const colour = palette.of(l.key[i], wanted)[shade];
		if (x1 - x0 === 1)
			line[x0] = colour;
		else
			line.fill(colour, x0, x1);
		painted++;
		if (texts && x1 - x0 > 90)
			texts.push({ key: l.key[i], many: l.ranges[i], x: x0, wide: x1 - x0 });
	}
	for (let i = v.firstRange, next = -1; i < v.endRange; i++) {
		const at = rangeAt(l, i), begin = t.begin[at];
		const x0 = Math.max(0, Math.floor((begin - from) / nsOfPixel));
		const x1 = Math.min(width, Math.max(x0 + 1, Math.round((begin + t.took[at] - from) / nsOfPixel)));
		if (x1 <= next || x0 >= width)
			continue; /* fully painted */
		const wide = x1 - x0, colour = palette.of(t.key[at], wanted)[TIME_SHADES - 1];
		next = x1;
		painted++;
		if (wide < 4) {
			for (let x = x0; x < x1; x++)
				line[x] = colour;
			continue;
		}
		line.fill(colour, x0, x1);
		if (x1 < width)
			line[x1 - 1] = palette.paper; /* a gap before the next range */
		if (texts && wide > 28)
			texts.push({ key: t.key[at], x: x0, wide });
	}
	return painted;
}

/** Copies a painted line into rows [y0, y1) of the image. */
export function spreadLine(pixels, width, high, line, x, y0, y1) {
	for (let y = Math.max(0, y0); y < Math.min(high, y1); y++)
		pixels.set(line, y * width + x);
}

/** The value of a counter at a time; null: before its first value. */
export function counterAt(counter, ns) {
	const i = firstAfter(0, counter.ns.length, k => counter.ns[k] > ns);

	return i ? counter.last[i - 1] : null;
}

/** The least and the greatest value in each pixel of [from, ...), as {low, high}; NaN: before its first value. */
export function counterColumns(counter, from, nsOfPixel, width) {
	const low = new Float64Array(width), high = new Float64Array(width);
	let i = firstAfter(0, counter.ns.length, k => counter.ns[k] > from), value = i ? counter.last[i - 1] : NaN;

	for (let x = 0; x < width; x++) {
		const end = from + (x + 1) * nsOfPixel;
		low[x] = high[x] = value;
		for (; i < counter.ns.length && counter.ns[i] < end; i++) {
			low[x] = low[x] <= counter.least[i] ? low[x] : counter.least[i];
			high[x] = high[x] >= counter.most[i] ? high[x] : counter.most[i];
			value = counter.last[i];
		}
	}
	return { low, high };
}

/** Paints a counter as an area into the image, between the pixels y0 and y1. */
export function paintCounter(counter, range, from, nsOfPixel, pixels, width, high, x0, y0, y1, palette) {
	const wide = width - x0, c = counterColumns(counter, from, nsOfPixel, wide), tall = y1 - y0 - 1;
	const at = v => y1 - 1 - Math.round(tall * (range.most > range.least ? (v - range.least) / (range.most - range.least) : 0.5));

	for (let x = 0; x < wide; x++) {
		if (!(c.high[x] === c.high[x])) /* NaN: before its first value */
			continue;
		const top = at(c.high[x]), low = at(c.low[x]);
		for (let y = Math.max(0, top); y < Math.min(high, y1); y++)
			pixels[y * width + x0 + x] = y <= low ? palette.counterEdge : palette.counter;
	}
}

/** The range of a counter's axis: includes 0 if the values are near it. */
export function counterRange(counter) {
	let least = Infinity, most = -Infinity;

	for (let i = 0; i < counter.ns.length; i++) {
		least = Math.min(least, counter.least[i]);
		most = Math.max(most, counter.most[i]);
	}
	return { least: least > 0 && least < most / 1.25 ? 0 : Math.min(least, most), most };
}
