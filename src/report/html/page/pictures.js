// pictures.js - saves the charts of a page as files, by the buttons of a chart: as standalone SVG, as PNG, and its
// numbers as CSV.
//
// SPDX-License-Identifier: Apache-2.0

import { csvText } from "./csv.js";
import { el } from "./dom.js";
import { fitText, textWidth } from "./marks.js";

const SVG = "http://www.w3.org/2000/svg", EDGE = 16, TITLE = 16, LINE = 17, PNG_SCALE = 2;
const PNG_MOST = 32767; /* px of a side: a larger canvas is empty */
/* CSS properties that are copied to a mark; inherited ones are written once. */
const INHERITED = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "paint-order", "shape-rendering",
	"font-family", "font-size", "font-weight", "text-anchor"];
const KEPT = ["x", "y", "x1", "x2", "y1", "y2", "dx", "dy", "cx", "cy", "r", "d", "width", "height", "transform", "href", "class", "points"];
const PAINTED = ["rect", "circle", "path", "line"];

function made(tag, attributes, text) {
	const e = document.createElementNS(SVG, tag);

	for (const [key, value] of Object.entries(attributes))
		e.setAttribute(key, value);
	if (text !== undefined)
		e.textContent = text;
	return e;
}

/** Copies a mark and its children with their computed style; null: invisible. above: the inherited style. */
function copied(node, above) {
	const style = getComputedStyle(node), tag = node.tagName, colour = key => !["none", "rgba(0, 0, 0, 0)"].includes(style[key]);

	if (style.display === "none" || (PAINTED.includes(tag) && !colour("fill") && !colour("stroke")))
		return null;
	const e = made(tag, {});
	for (const key of KEPT)
		if (node.hasAttribute(key))
			e.setAttribute(key, node.getAttribute(key));
	for (const key of INHERITED)
		if (!above || style.getPropertyValue(key) !== above.getPropertyValue(key))
			e.setAttribute(key, style.getPropertyValue(key));
	if (style.opacity !== "1")
		e.setAttribute("opacity", style.opacity);
	if (above && node.hasAttribute("aria-label"))
		e.append(made("title", {}, node.getAttribute("aria-label")));
	if (tag === "text")
		e.append(node.textContent);
	else
		e.append(...[...node.children].map(inside => copied(inside, style)).filter(Boolean));
	return e;
}

/** Breaks words into lines of a maximum width. */
function folded(text, width) {
	const lines = [""];

	for (const word of text.split(/\s+/)) {
		const longer = `${lines[lines.length - 1]} ${word}`.trim();
		if (textWidth(longer) <= width)
			lines[lines.length - 1] = longer;
		else
			lines.push(fitText(word, width));
	}
	return lines.filter(Boolean);
}

/** The chart in a holder of figure(), with its title, description and legend above it. */
function pictureOf(holder) {
	const chart = holder.querySelector("svg"), width = chart.width.baseVal.value, high = chart.height.baseVal.value;
	const all = width + 2 * EDGE, root = made("svg", { xmlns: SVG, width: all, "font-family": getComputedStyle(document.body).fontFamily, "font-size": 12, fill: "#5b636e" });
	const { title, note } = holder.dataset, found = [holder.querySelector(".legend"), holder.parentElement.nextElementSibling].find(e => e && e.matches(".legend")), legend = found ? [...found.children] : [];
	const head = [], inner = copied(chart, null);
	let y = EDGE, x = EDGE;

	if (title)
		head.push(made("text", { x, y: y += TITLE, "font-size": TITLE, "font-weight": "bold", fill: "#16191d" }, fitText(title, width, TITLE)));
	for (const line of note ? folded(note, width) : [])
		head.push(made("text", { x, y: y += LINE }, line));
	if (legend.length)
		y += LINE + 3;
	for (const entry of legend) {
		const text = fitText(entry.textContent, width - 30), wide = textWidth(text) + 36, style = getComputedStyle(entry.querySelector("i"));
		if (x + wide > all && x > EDGE) {
			x = EDGE;
			y += LINE;
		}
		head.push(made("rect", { x, y: y - 10, width: 10, height: 10, rx: 2, fill: style.backgroundColor, opacity: style.opacity }), made("text", { x: x + 16, y }, text));
		x += wide;
	}
	y += EDGE / 2;
	/* As on the page, where axes may overflow. */
	inner.setAttribute("overflow", "visible");
	inner.setAttribute("x", EDGE);
	inner.setAttribute("y", y);
	root.setAttribute("height", y + high + EDGE);
	root.setAttribute("viewBox", `0 0 ${all} ${y + high + EDGE}`);
	root.append(made("title", {}, title || holder.dataset.name), made("desc", {}, chart.getAttribute("aria-label") || ""),
		made("rect", { width: "100%", height: "100%", fill: "#fff" }), ...head, inner);
	/* XML allows no control characters, which a name may have. */
	return { width: all, height: y + high + EDGE, text: new XMLSerializer().serializeToString(root).replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, " ") };
}

function base64(text) {
	const bytes = new TextEncoder().encode(text), parts = [];

	for (let i = 0; i < bytes.length; i += 8192)
		parts.push(String.fromCharCode(...bytes.subarray(i, i + 8192)));
	return btoa(parts.join(""));
}

const asPng = picture => new Promise((done, failed) => {
	const image = new Image(), canvas = document.createElement("canvas"), scale = Math.min(PNG_SCALE, PNG_MOST / Math.max(picture.width, picture.height));

	canvas.width = Math.floor(scale * picture.width);
	canvas.height = Math.floor(scale * picture.height);
	image.onload = () => {
		canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
		done(canvas.toDataURL("image/png").split(",")[1]);
	};
	image.onerror = () => failed(new Error("the browser cannot read its own image"));
	image.src = `data:image/svg+xml;base64,${base64(picture.text)}`;
});

/** Calls f with the page in the light theme, because files are printed. */
function onPaper(f) {
	const { dataset } = document.documentElement, { theme } = dataset;

	dataset.theme = "light";
	try {
		return f();
	} finally {
		if (theme)
			dataset.theme = theme;
		else
			delete dataset.theme;
	}
}

function save(name, type, content) {
	const link = document.createElement("a");

	link.download = name;
	link.href = `data:${type};base64,${content}`;
	link.click();
}

/** Buttons that save a chart as NAME.svg, NAME.png and NAME.csv, by a download of the browser. name(): of the files;
 * title: of the chart; data: as for figure(); drawn(take): draws it in the light theme and returns the result of
 * take(holder). */
export function saveButtons({ name, title, data, drawn }) {
	const picture = () => onPaper(() => drawn(pictureOf));
	const forms = {
		svg: () => save(`${name()}.svg`, "image/svg+xml", base64(picture().text)),
		png: async () => save(`${name()}.png`, "image/png", await asPng(picture())),
		csv: () => save(`${name()}.csv`, "text/csv", base64(csvText(data()))),
	};

	return el("div", { class: "save" }, Object.entries(forms).map(([form, click]) => el("button", {
		type: "button", "aria-label": `save ${title} as ${form.toUpperCase()}`, click }, form.toUpperCase())));
}
