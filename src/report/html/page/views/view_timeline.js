// view_timeline.js - a trace as a timeline: tracks, zoom, selection, sums by name, search.
//
// SPDX-License-Identifier: Apache-2.0

import { el, tipHide, tipShow } from "../dom.js";
import { figure } from "../figure.js";
import { saveButtons } from "../pictures.js";
import { listing } from "../listing.js";
import { fitText } from "../marks.js";
import { digits, format } from "../units.js";
import { timelineLevel, rangeAt, readTimeline, inSight } from "../timeline_data.js";
import { drawnRows, searchTimeline, sumsWithin } from "../timeline_sums.js";
import { TRACK_ROW, layoutTracks, lapBorders, busyText, thinnedText, tickText, timeTicks, trackTree } from "../timeline_layout.js";
import { useText } from "../timeline_uses.js";
import { counterAt, counterRange, paintCounter, paintRow, paletteOf, spreadLine } from "../timeline_paint.js";

const TIME_AXIS = 22, TIME_MAP = 44, TIME_HIGH = 560, TIME_FILE_HIGH = 1200, TIME_LABELS = 170, TIME_LABELS_NARROW = 112, TIME_TEXTS = 1200, TIME_CLOSEST = 20;
const TIMELINE_HELP = "Drag: select a time. Shift and drag, A and D or the arrows: move. Ctrl and the wheel, W and S, + and −: zoom. " +
	"Enter: the next range. 0: all. Escape: nothing selected. Double click: zoom to a range.";
const factText = (r, section, key) => {
	const f = (r.facts || []).find(fact => fact.section === section && fact.key === key);

	return f ? f.value : null;
};
const within = (v, low, high) => Math.max(low, Math.min(v, high));

/** The state of view and selection; `draw` is called for the next frame. */
class TimelineView {
	constructor(box, t, record) {
		this.t = t;
		this.record = record;
		this.from = 0;
		this.to = t.ended;
		this.folded = new Set();
		this.roots = trackTree(t);
		this.borders = lapBorders(t);
		this.found = null;
		this.place = -1;
		this.chosen = null; /* {row, range | block} */
		this.selected = null; /* [from, to] */
		this.frames = 0;
		this.most = TIME_HIGH;
		this.build(box);
		this.foldMany();
		this.layout();
		this.theme();
		new ResizeObserver(() => this.resize()).observe(this.scroller);
		addEventListener("themechange", () => this.theme());
		addEventListener("beforeprint", () => this.draw());
		this.resize();
	}

	/* With many tracks the resource use of threads is folded. */
	foldMany() {
		const visit = n => {
			if (n.inside.length && n.inside.every(i => i.track.kind === "counter") && n.track.kind === "thread" && this.t.tracks.length > 24)
				this.folded.add(n);
			n.inside.forEach(visit);
		};

		this.roots.forEach(visit);
	}

	build(box) {
		const button = (text, label, click) => el("button", { type: "button", "aria-label": label, title: label, click }, text);

		this.word = el("input", { type: "search", placeholder: "search names", "aria-label": "Search for ranges by name", input: () => this.search(),
			keydown: e => {
				if (e.key === "Enter")
					this.go(e.shiftKey ? -1 : 1);
			} });
		this.count = el("span", { class: "dim", role: "status" });
		this.said = el("p", { class: "small", role: "status", "aria-live": "polite" });
		this.map = el("canvas", { class: "timeline-map", "aria-hidden": "true" });
		this.canvas = el("canvas", { class: "timeline-canvas" });
		this.labels = el("div", { class: "timeline-labels" });
		this.inner = el("div", { class: "timeline-inner" }, this.canvas, this.labels);
		this.scroller = el("div", { class: "timeline-scroller", tabindex: "0", role: "application", "aria-label": "Timeline of the trace", "aria-description": TIMELINE_HELP }, this.inner);
		this.detail = el("div", { class: "timeline-detail" });
		this.sums = el("div", { class: "timeline-sums" });
		box.append(
			el("div", { class: "controls" }, this.word, button("‹", "Previous match", () => this.go(-1)), button("›", "Next match", () => this.go(1)), this.count,
				el("span", { class: "timeline-space" }), button("+", "Zoom in", () => this.zoom(0.5)), button("−", "Zoom out", () => this.zoom(2)),
				button("all", "The whole timeline", () => this.show(0, this.t.ended))),
			this.holder = el("div", { class: "figure timeline" }, this.map, this.scroller,
				saveButtons({ name: () => "timeline", title: "the timeline", data: () => this.data(), drawn: take => this.onPaper(take) })),
			el("p", { class: "small dim timeline-help" }, TIMELINE_HELP),
			el("div", { class: "small dim" }, thinnedText(this.t.about, factText(this.record, "trace", "file")).map(s => el("p", {}, s))),
			this.said, this.detail, this.sums);
		this.listen();
	}

	listen() {
		const s = this.scroller;

		s.addEventListener("scroll", () => this.draw());
		s.addEventListener("wheel", e => this.wheel(e), { passive: false });
		s.addEventListener("keydown", e => this.key(e));
		this.canvas.addEventListener("pointerdown", e => this.press(e));
		this.canvas.addEventListener("pointermove", e => this.hover(e));
		this.canvas.addEventListener("pointerleave", () => tipHide());
		this.canvas.addEventListener("dblclick", e => this.into(this.hit(e)));
		this.map.addEventListener("pointerdown", e => this.mapPress(e));
	}

	/* --- layout and hit testing */

	layout() {
		const { lines, high } = layoutTracks(this.roots, this.folded);

		this.lines = lines;
		this.total = high + TIME_AXIS;
		this.high = Math.min(this.most, this.total);
		this.scroller.style.height = `${this.high}px`;
		this.inner.style.height = `${this.total}px`;
		this.labels.replaceChildren(...lines.map(line => {
			const { node } = line, folds = node.inside.length > 0 || (node.track.rows || []).length > 1, shut = this.folded.has(node);
			const b = el("button", { type: "button", class: `timeline-label depth${Math.min(3, line.depth)}`, title: node.title, disabled: !folds,
				"aria-expanded": folds ? String(!shut) : null, click: () => this.fold(node) }, folds ? `${shut ? "▸" : "▾"} ${node.title}` : node.title);
			b.style.top = `${line.y + TIME_AXIS}px`;
			return b;
		}));
	}

	fold(node) {
		const at = this.lines.findIndex(l => l.node === node);

		if (this.folded.has(node))
			this.folded.delete(node);
		else
			this.folded.add(node);
		this.layout();
		this.resize();
		this.labels.children[at].focus({ preventScroll: true });
	}

	resize() {
		const wide = this.scroller.clientWidth, ratio = devicePixelRatio || 1;

		if (!wide)
			return;
		this.ratio = ratio;
		this.left = wide < 600 ? TIME_LABELS_NARROW : TIME_LABELS;
		this.wide = wide;
		this.labels.style.width = `${this.left - 6}px`;
		for (const [canvas, high] of [[this.canvas, this.high], [this.map, TIME_MAP]]) {
			canvas.width = Math.round(wide * ratio);
			canvas.height = Math.round(high * ratio);
			canvas.style.width = `${wide}px`;
			canvas.style.height = `${high}px`;
		}
		this.ctx = this.canvas.getContext("2d", { alpha: false, willReadFrequently: true });
		this.image = this.ctx.createImageData(this.canvas.width, this.canvas.height);
		this.pixels = new Uint32Array(this.image.data.buffer);
		this.mapPicture = null;
		this.draw();
	}

	theme() {
		this.palette = paletteOf(this.t, getComputedStyle(document.documentElement));
		this.mapPicture = null;
		this.draw();
	}

	get nsOfPixel() { /* of CSS */
		return (this.to - this.from) / (this.wide - this.left);
	}

	timeAt(clientX, canvas = this.canvas) {
		return this.from + (clientX - canvas.getBoundingClientRect().left - this.left) * this.nsOfPixel;
	}

	show(from, to) {
		const span = within(to - from, Math.min(TIME_CLOSEST, this.t.ended), this.t.ended), begin = within(from, 0, this.t.ended - span);

		this.from = begin;
		this.to = begin + span;
		this.draw();
	}

	zoom(factor, at = (this.from + this.to) / 2) {
		this.show(at - (at - this.from) * factor, at + (this.to - at) * factor);
	}

	move(share) {
		const by = (this.to - this.from) * share;

		this.show(this.from + by, this.to + by);
	}

	/* --- mouse and keyboard */

	wheel(e) {
		const ns = e.deltaMode ? 30 : 1;

		if (e.ctrlKey || e.metaKey)
			this.zoom(Math.exp(within(e.deltaY * ns, -300, 300) * 0.003), within(this.timeAt(e.clientX), this.from, this.to));
		else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY))
			this.move(ns * (e.shiftKey ? e.deltaY + e.deltaX : e.deltaX) / (this.wide - this.left));
		else
			return;
		e.preventDefault();
	}

	key(e) {
		const done = {
			w: () => this.zoom(0.7), s: () => this.zoom(1 / 0.7), a: () => this.move(-0.15), d: () => this.move(0.15),
			ArrowLeft: () => this.move(-0.15), ArrowRight: () => this.move(0.15), "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2),
			ArrowUp: () => this.scroller.scrollBy(0, -3 * TRACK_ROW), ArrowDown: () => this.scroller.scrollBy(0, 3 * TRACK_ROW),
			0: () => this.show(0, this.t.ended), Enter: () => this.step(e.shiftKey ? -1 : 1), "/": () => this.word.focus(),
			f: () => this.into(this.chosen), Escape: () => this.clear(),
		}[e.key.length === 1 ? e.key.toLowerCase() : e.key];

		if (!done || e.ctrlKey || e.metaKey || e.altKey || e.target !== this.scroller)
			return;
		e.preventDefault();
		done();
	}

	/** Tracks the pointer until the button is released. */
	follow(target, e, moved, done) {
		const move = next => moved(next), up = last => {
			target.removeEventListener("pointermove", move);
			target.removeEventListener("pointerup", up);
			target.removeEventListener("pointercancel", up);
			done(last);
		};

		target.setPointerCapture(e.pointerId);
		target.addEventListener("pointermove", move);
		target.addEventListener("pointerup", up);
		target.addEventListener("pointercancel", up);
	}

	press(e) {
		const from = this.from, to = this.to, nsOfPixel = this.nsOfPixel, began = this.timeAt(e.clientX);
		let far = false;

		if (e.button > 1)
			return;
		this.scroller.focus({ preventScroll: true });
		this.follow(this.canvas, e, next => {
			far = far || Math.abs(next.clientX - e.clientX) > 3;
			if (!far)
				return;
			if (e.shiftKey || e.button === 1)
				this.show(from - (next.clientX - e.clientX) * nsOfPixel, to - (next.clientX - e.clientX) * nsOfPixel);
			else
				this.select(began, this.timeAt(next.clientX), false);
		}, () => {
			if (!far)
				this.choose(this.hit(e));
			else if (this.selected && !e.shiftKey && e.button === 0)
				this.select(...this.selected, true);
		});
	}

	mapPress(e) {
		const at = event => (event.clientX - this.map.getBoundingClientRect().left - this.left) / (this.wide - this.left) * this.t.ended;
		const go = event => {
			const half = (this.to - this.from) / 2;
			this.show(at(event) - half, at(event) + half);
		};

		go(e);
		this.follow(this.map, e, go, () => {});
	}

	/** The item below the pointer: {line, part, row, range | block, ns}; null: the labels or
	 * the axis. */
	hit(e) {
		const rect = this.canvas.getBoundingClientRect(), x = e.clientX - rect.left, y = e.clientY - rect.top - TIME_AXIS + this.scroller.scrollTop;

		if (x < this.left || e.clientY - rect.top < TIME_AXIS)
			return null;
		const ns = this.timeAt(e.clientX), line = this.lines.find(l => y >= l.y && y < l.y + l.high);
		const part = line && line.parts.find(p => y >= p.y && y < p.y + p.high);
		return part ? { line, part, ns, ...(part.row === undefined ? {} : this.inRow(part.row, ns, part.kind === "marks" ? 3 : 1)) } : null;
	}

	inRow(row, ns, near) {
		const level = timelineLevel(this.t, this.nsOfPixel / this.ratio), l = this.t.levels[level], v = inSight(this.t, level, row, ns - near * this.nsOfPixel, ns + near * this.nsOfPixel);
		let best = null, far = Infinity;

		for (let i = v.firstRange; i < v.endRange; i++) {
			const at = rangeAt(l, i), off = Math.max(this.t.begin[at] - ns, ns - this.t.begin[at] - this.t.took[at], 0);
			if (off < far) {
				far = off;
				best = { row, range: at };
			}
		}
		for (let i = v.firstBlock; i < v.endBlock; i++)
			if (l.bin[i] * l.step <= ns && ns < (l.bin[i] + 1) * l.step && far > 0)
				best = { row, block: i, level };
		return best;
	}

	/* --- tooltips of a range, a block, a counter */

	about(hit) {
		const { t } = this, key = hit.range !== undefined ? t.key[hit.range] : null;

		if (hit.range !== undefined) {
			const name = t.names[t.keyName[key]], took = t.took[hit.range];
			return [name.name, ...(hit.line ? [["track", hit.line.node.title]] : []), ["begins at", format(t.begin[hit.range], "ns")], ["took", format(took, "ns")],
				...(t.inside[hit.range] ? [["of its own", format(took - t.inside[hit.range], "ns")]] : []),
				...(name.category ? [["category", name.category]] : []), ...(name.file ? [["source", `${name.file}:${name.line}`]] : [])];
		}
		if (hit.block !== undefined) {
			const l = t.levels[hit.level], i = hit.block;
			return [`${digits(l.ranges[i])} ranges, shorter than ${format(l.step, "ns")}, in ${format(l.step, "ns")}`,
				["took together", format(l.took[i], "ns")], ["busy", busyText(Math.min(1, l.took[i] / l.step))], ["most of it", t.names[t.keyName[l.key[i]]].name]];
		}
		if (hit.part && hit.part.kind === "counter") {
			const { track } = hit.line.node, v = counterAt(track.counter, hit.ns);
			return [hit.line.node.title, ["at", format(hit.ns, "ns")], ["value", v === null ? "not told yet" : useText(v, track.unit)]];
		}
		return null;
	}

	hover(e) {
		const hit = e.buttons ? null : this.hit(e), lines = hit && this.about(hit);

		if (lines)
			tipShow(e, lines);
		else
			tipHide();
	}

	choose(hit) {
		const lines = hit && (hit.range !== undefined || hit.block !== undefined) ? this.about(hit) : null;

		this.chosen = lines ? hit : null;
		this.detail.replaceChildren();
		if (lines) {
			const [title, ...rest] = lines;
			this.detail.append(el("h3", {}, title), el("table", {}, rest.map(([k, v]) => el("tr", {}, el("th", { scope: "row" }, k), el("td", { class: "text" }, v)))));
			this.said.textContent = `${title}, ${rest.map(([k, v]) => `${k} ${v}`).join(", ")}`;
		}
		this.draw();
	}

	spanOf(hit) {
		const l = hit.block !== undefined ? this.t.levels[hit.level || 0] : null;

		return l ? [l.bin[hit.block] * l.step, l.step] : [this.t.begin[hit.range], this.t.took[hit.range]];
	}

	/** Scrolls to a range or block. */
	into(hit, roomy = 1.2) {
		if (!hit || (hit.range === undefined && hit.block === undefined))
			return;
		const [begin, took] = this.spanOf(hit), span = Math.max(took * roomy, TIME_CLOSEST);
		this.show(begin + took / 2 - span / 2, begin + took / 2 + span / 2);
	}

	/** The next range in the row of the selected one, or the first visible one. */
	step(by) {
		const { t, chosen } = this, row = chosen ? chosen.row : drawnRows(t)[0];
		let i = chosen && chosen.range !== undefined ? chosen.range + by : t.starts[row];

		i = within(i, t.starts[row], t.starts[row + 1] - 1);
		if (i < t.starts[row])
			return;
		const line = this.lines.find(l => l.parts.some(p => p.row === row));
		this.choose({ row, range: i, line });
		this.reveal({ row, range: i });
	}

	reveal(hit) {
		const [begin, took] = this.spanOf(hit), line = this.lines.find(l => l.parts.some(p => p.row === hit.row));

		if (begin < this.from || begin + took > this.to || took < 6 * this.nsOfPixel)
			this.into(hit, 30);
		if (line) {
			const part = line.parts.find(p => p.row === hit.row), top = this.scroller.scrollTop;
			if (part.y < top || part.y + part.high + TIME_AXIS > top + this.high)
				this.scroller.scrollTop = part.y - this.high / 3;
		}
	}

	clear() {
		this.selected = null;
		this.sums.replaceChildren();
		this.choose(null);
		this.said.textContent = "";
	}

	/* --- selection and its sums */

	select(a, b, done) {
		const from = within(Math.min(a, b), 0, this.t.ended), to = within(Math.max(a, b), 0, this.t.ended);

		this.selected = [from, to];
		this.draw();
		if (done)
			this.addUp(from, to);
	}

	addUp(from, to) {
		const rows = sumsWithin(this.t, from, to), span = to - from, about = (r, text) => (r.rough ? `≈ ${text}` : text);
		const time = (key, title, of) => ({ key, title, number: true, text: r => (of(r) === null ? "–" : about(r, format(of(r), "ns"))), value: r => (of(r) === null ? NaN : of(r)),
			more: r => (of(r) === null ? "a range that any thread may end: its children are unknown" : "") });

		this.sumsNow = rows;
		this.sums.replaceChildren(el("h3", {}, `${format(span, "ns")} selected, from ${format(from, "ns")} to ${format(to, "ns")}`));
		if (rows.some(r => r.rough))
			this.sums.append(el("p", { class: "small dim" }, `≈: of short ranges that were put together, in steps of ${format(this.t.sums.step, "ns")}; of a step that is only partly selected, that part is taken.`));
		listing(this.sums, { sort: "total", rows, columns: [
			{ key: "name", title: "name", text: r => r.name, value: r => r.name },
			{ key: "calls", title: "calls", number: true, text: r => about(r, digits(r.calls)), value: r => r.calls },
			time("total", "total", r => r.total), time("self", "own time", r => r.self),
			{ key: "share", title: "of the selection", number: true, text: r => about(r, busyText(r.total / span)), value: r => r.total / span },
			time("mean", "mean", r => (r.calls ? r.total / r.calls : null)),
		] });
		this.said.textContent = `${format(span, "ns")} selected, ${rows.length} names`;
	}

	/* --- search */

	search() {
		this.found = searchTimeline(this.t, this.word.value);
		this.place = -1;
		this.count.textContent = this.found ? this.foundText() : "";
		this.draw();
	}

	foundText() {
		const { found } = this;

		if (!found.places.length && !found.calls)
			return "nothing found";
		return `${this.place >= 0 ? `${this.place + 1} of ` : ""}${digits(found.places.length)} places, ${digits(found.calls)} calls of ${found.names} names, ${format(found.total, "ns")}`;
	}

	go(by) {
		const n = this.found ? this.found.places.length : 0;

		if (!n)
			return;
		this.place = this.place < 0 ? (by > 0 ? 0 : n - 1) : (this.place + by + n) % n;
		const at = this.found.places[this.place], hit = { ...at, level: 0 };
		this.count.textContent = this.foundText();
		this.unfold(at.row);
		this.reveal(hit);
		this.choose({ ...hit, line: this.lines.find(l => l.parts.some(p => p.row === at.row)) });
	}

	unfold(row) {
		const open = n => {
			const own = (n.track.rows || []).includes(row) || n.track.marks === row, inside = n.inside.some(open);
			if (inside || (own && (n.track.rows || []).indexOf(row) > 0))
				this.folded.delete(n);
			return own || inside;
		};

		if (this.lines.some(l => l.parts.some(p => p.row === row)))
			return;
		this.roots.forEach(open);
		this.layout();
		this.resize();
	}

	/* --- drawing */

	draw() {
		/* The first time is drawn at once: a headless browser with virtual time delivers no animation frame. */
		if (!this.frames && this.ctx && this.palette && this.lines) {
			this.drawNow();
			return;
		}
		if (this.asked)
			return;
		this.asked = true;
		requestAnimationFrame(() => {
			this.asked = false;
			if (this.ctx && this.palette)
				this.drawNow();
		});
	}

	drawNow() {
		const { t, canvas, palette, pixels, ratio } = this, width = canvas.width, high = canvas.height, left = Math.round(this.left * ratio);
		const nsOfPixel = (this.to - this.from) / (width - left), level = timelineLevel(t, nsOfPixel), wanted = this.found ? this.found.keys : null;
		const top = this.scroller.scrollTop, y = v => Math.round((v - top + TIME_AXIS) * ratio), line = new Uint32Array(width - left), texts = [], counters = [];
		const { step, ticks } = timeTicks(this.from, this.to, (this.wide - this.left) / 90);
		let painted = 0;

		pixels.fill(palette.paper);
		const blank = line.slice().fill(palette.paper);
		for (const tick of ticks)
			blank[Math.round((tick - this.from) / nsOfPixel)] = palette.grid;
		spreadLine(pixels, width, high, blank, left, 0, high);
		for (const l of this.lines) {
			if (l.y + l.high < top || l.y > top + this.high)
				continue;
			for (const p of l.parts) {
				const y0 = y(p.y), y1 = y(p.y + p.high);
				if (p.kind === "counter") {
					const { counter } = l.node.track;
					counter.range = counter.range || counterRange(counter);
					paintCounter(counter, counter.range, this.from, nsOfPixel, pixels, width, high, left, y0 + 2, y1, palette);
					counters.push({ text: `most ${useText(counter.range.most, l.node.track.unit)}`, y: y0 + 10 * ratio });
					continue;
				}
				const own = [];
				line.set(blank);
				painted += paintRow(t, level, p.row, this.from, nsOfPixel, line, palette, wanted, own);
				spreadLine(pixels, width, high, line, left, y0, y1 - Math.round(2 * ratio));
				if (p.kind === "rows" && y0 > -TRACK_ROW * ratio)
					own.forEach(text => texts.push({ ...text, y: (y0 + y1) / 2 - ratio }));
			}
		}
		this.ctx.putImageData(this.image, 0, 0);
		this.drawTexts(texts, left);
		this.drawCounts(counters, left);
		this.drawOver(ticks, step, left, y);
		this.drawMap();
		this.frames++;
		this.drawnAt = this.drawnAt || performance.now();
		this.painted = { level, painted, texts: texts.length };
	}

	drawTexts(texts, left) {
		const { ctx, t, ratio } = this, wanted = this.found ? this.found.keys : null;

		ctx.font = `${12 * ratio}px system-ui, sans-serif`;
		ctx.textBaseline = "middle";
		ctx.textAlign = "left";
		this.letter = this.letterOf === ctx.font ? this.letter : ctx.measureText("abcdefghij_.:0123").width / 17;
		this.letterOf = ctx.font;
		for (const text of texts.slice(0, TIME_TEXTS)) {
			const name = t.names[t.keyName[text.key]].name, room = Math.floor((text.wide - 8 * ratio) / this.letter);
			const said = text.many ? `${digits(text.many)} × ${name} …` : name;
			if (room < 3)
				continue;
			ctx.fillStyle = this.palette.textOn(text.key, wanted);
			ctx.fillText(said.length > room ? `${said.slice(0, room - 1)}…` : said, left + text.x + 4 * ratio, text.y, text.wide - 6 * ratio);
		}
	}

	/** The maximum of a counter, at its left end, on an opaque background. */
	drawCounts(counts, left) {
		const { ctx, ratio, palette } = this, paper = getComputedStyle(document.documentElement).getPropertyValue("--paper");

		ctx.font = `${11 * ratio}px system-ui, sans-serif`;
		for (const c of counts) {
			ctx.globalAlpha = 0.75;
			ctx.fillStyle = paper;
			ctx.fillRect(left + 2 * ratio, c.y - 7 * ratio, ctx.measureText(c.text).width + 6 * ratio, 14 * ratio);
			ctx.globalAlpha = 1;
			ctx.fillStyle = palette.dim;
			ctx.fillText(c.text, left + 5 * ratio, c.y);
		}
	}

	drawOver(ticks, step, left, y) {
		const { ctx, ratio, palette, canvas } = this, x = ns => left + (ns - this.from) / (this.to - this.from) * (canvas.width - left);

		ctx.fillStyle = palette.ink;
		ctx.globalAlpha = 0.45;
		for (const at of this.borders)
			if (x(at) >= left && x(at) <= canvas.width)
				ctx.fillRect(Math.min(canvas.width - 1, Math.round(x(at))), 0, Math.max(1, Math.round(ratio)), canvas.height);
		ctx.globalAlpha = 1;
		if (this.selected) {
			const a = Math.max(left, x(this.selected[0])), b = Math.min(canvas.width, x(this.selected[1]));
			ctx.globalAlpha = 0.18;
			ctx.fillStyle = palette.accent;
			ctx.fillRect(a, 0, Math.max(0, b - a), canvas.height);
			ctx.globalAlpha = 1;
			ctx.fillRect(a, 0, ratio, canvas.height);
			ctx.fillRect(b, 0, ratio, canvas.height);
		}
		const part = this.chosen && this.lines.flatMap(l => l.parts).find(p => p.row === this.chosen.row);
		if (part) {
			const [begin, took] = this.spanOf(this.chosen), a = Math.max(left, x(begin)), b = Math.max(a + 2 * ratio, Math.min(canvas.width, x(begin + took)));
			ctx.strokeStyle = palette.ink;
			ctx.lineWidth = 2 * ratio;
			if (b > left)
				ctx.strokeRect(a, y(part.y), b - a, (part.high - 2) * ratio);
		}
		const style = getComputedStyle(document.documentElement);
		ctx.fillStyle = style.getPropertyValue("--paper");
		ctx.fillRect(0, 0, canvas.width, TIME_AXIS * ratio);
		ctx.fillStyle = palette.dim;
		ctx.font = `${12 * ratio}px system-ui, sans-serif`;
		ctx.textBaseline = "middle";
		ctx.textAlign = "center";
		for (const tick of ticks)
			if (x(tick) > left + 26 * ratio && x(tick) < canvas.width - 26 * ratio)
				ctx.fillText(tickText(tick, step), x(tick), TIME_AXIS * ratio / 2);
		ctx.fillStyle = style.getPropertyValue("--line");
		ctx.fillRect(0, TIME_AXIS * ratio - 1, canvas.width, 1);
		ctx.fillRect(left - 1, 0, 1, canvas.height);
	}

	/** All ranges and blocks of the visible part. */
	data() {
		const { t, from, to } = this, rows = [], level = t.levels[0];
		const put = (node, row) => {
			const v = inSight(t, 0, row, from, to);

			for (let i = v.firstRange; i < v.endRange; i++)
				rows.push([node.title, t.names[t.keyName[t.key[i]]].name, 1, t.begin[i], t.took[i], t.took[i] - t.inside[i]]);
			for (let i = v.firstBlock; i < v.endBlock; i++)
				rows.push([node.title, t.names[t.keyName[level.key[i]]].name, level.ranges[i], level.bin[i] * level.step, level.took[i], null]);
		};
		const visit = node => {
			(node.track.rows || []).forEach(row => put(node, row));
			node.inside.forEach(visit);
		};

		this.roots.forEach(visit);
		return { columns: ["track", "name", "ranges", ["begin", "ns"], ["took", "ns"], ["of its own", "ns"]], rows };
	}

	/** Draws the part that fits on a page, in the light theme, as a chart, and returns the result of take(). The old theme is restored. */
	onPaper(take) {
		const place = this.holder.parentElement.appendChild(el("div")), top = this.scroller.scrollTop, shape = most => {
			this.most = most;
			this.layout();
			this.resize();
			this.theme();
		};

		try {
			shape(TIME_FILE_HIGH);
			this.scroller.scrollTop = 0;
			return take(this.figure(place).box);
		} finally {
			place.remove();
			Promise.resolve().then(() => {
				shape(TIME_HIGH);
				this.scroller.scrollTop = top;
			});
		}
	}

	/** The timeline as a chart for saving. */
	figure(box) {
		this.drawNow();
		const left = this.left - 12, inside = this.lines.filter(l => l.y + TIME_AXIS + TRACK_ROW <= this.high), more = this.lines.length - inside.length;

		return figure(box, {
			alone: "Timeline", height: this.high, says: `${digits(this.lines.length)} tracks over ${format(this.t.ended, "ns")}`,
			note: [more > 0 ? `${digits(more)} more tracks are not shown.` : "", ...thinnedText(this.t.about, factText(this.record, "trace", "file"))].join(" "),
			draw: svg => {
				svg.append("image").attr("width", this.wide).attr("height", this.high).attr("href", this.canvas.toDataURL("image/png"));
				svg.selectAll(null).data(inside).join("text").attr("class", "track").attr("x", l => 8 * Math.min(3, l.depth)).attr("y", l => l.y + TIME_AXIS + 14)
					.text(l => fitText(l.node.title, left - 8 * Math.min(3, l.depth)));
			},
		});
	}

	/** The outermost ranges of all threads, and the position of the visible part. */
	drawMap() {
		const { t, map, palette, ratio } = this, ctx = map.getContext("2d", { alpha: false }), width = map.width, high = map.height, left = Math.round(this.left * ratio);

		if (!this.mapPicture) {
			const image = ctx.createImageData(width, high), pixels = new Uint32Array(image.data.buffer), nsOfPixel = t.ended / (width - left);
			const rows = t.tracks.filter(track => (track.rows || []).length).slice(0, 24).map(track => track.rows[Math.min(1, track.rows.length - 1)]);
			pixels.fill(palette.paper);
			rows.forEach((row, i) => {
				const line = new Uint32Array(width - left).fill(palette.raised), each = high / rows.length;
				paintRow(t, timelineLevel(t, nsOfPixel), row, 0, nsOfPixel, line, palette, null, null);
				spreadLine(pixels, width, high, line, left, Math.round(i * each), Math.max(Math.round(i * each) + 1, Math.round((i + 1) * each) - 1));
			});
			this.mapPicture = image;
		}
		ctx.putImageData(this.mapPicture, 0, 0);
		const a = left + this.from / t.ended * (width - left), b = left + this.to / t.ended * (width - left);
		ctx.globalAlpha = 0.55;
		ctx.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--paper");
		ctx.fillRect(left, 0, a - left, high);
		ctx.fillRect(b, 0, width - b, high);
		ctx.globalAlpha = 1;
		ctx.strokeStyle = palette.accent;
		ctx.lineWidth = 2 * ratio;
		ctx.strokeRect(a + ratio, ratio, Math.max(2 * ratio, b - a - 2 * ratio), high - 2 * ratio);
	}
}

export const viewTimeline = {
	id: "timeline",
	title: "Timeline",
	match: ([r], page) => page.records.length === 1 && factText(r, "trace", "file") !== null && document.getElementById("deepclock-timeline") !== null,
	async draw(box, [r], page) {
		const wait = el("p", { class: "dim" }, "The timeline is being unpacked …");

		box.append(wait);
		try {
			const about = await page.block("deepclock-timeline"), bytes = await page.block("deepclock-timeline-columns");
			wait.remove();
			box.timeline = new TimelineView(box, readTimeline(about, bytes), r); /* for tests */
		} catch (error) {
			wait.textContent = `The timeline could not be drawn: ${error.message}`;
			console.error(error);
		}
	},
};
