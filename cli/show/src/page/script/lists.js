/**
 * Lines, rows of pieces and bars (VW-34).
 *
 * @import {Bar, Content, Line, Row} from "./frames.d.ts"
 * @import {Places} from "./timeline.js"
 */
import { bdi, fillOf, filled, fitted, html, inkOn, span, svg, tintClass } from "./elements.js";
import { inWords } from "./words.js";

/** Lines, rows or bars, as they change. */
export class ListView {
	/** @type {Content[]} */ #drawn = [];
	/** What marks of the picture mean. @type {import("./words.js").Meanings} */ meanings = new Map();

	/** @param {"lines" | "rows" | "bars"} kind */
	constructor(kind) {
		this.element = html("div", { class: kind });
		this.make = /** @type {(content: Content, meanings: import("./words.js").Meanings) => HTMLElement} */ ({ lines: drawLine, rows: drawRow, bars: drawBar }[kind]);
	}

	/** @param {Places} places @param {number} position @returns {string[]} */
	draw(places, position) {
		const items = this.element.children;
		let index = 0;
		for (let track; (track = places.get(`${index}`)) && track.at(position); index++) {
			const content = track.at(position);
			if (!items[index]) this.element.append(this.make(content, this.meanings));
			else if (this.#drawn[index] !== content) items[index].replaceWith(this.make(content, this.meanings));
			this.#drawn[index] = content;
			items[index].classList.toggle("changed", track.isNew(position));
		}
		while (items.length > index) items[index].remove();
		return [];
	}
}

/** Returns the parts of a line; a game's own color is a swatch. @param {Line} line */
function spans(line) {
	return line.map(([text, tint]) => {
		const part = bdi(`span ${tintClass(tint)}`, text);
		const square = svg("rect", { width: 10, height: 10, ...fillOf(tint) });
		if (tintClass(tint) === "rgb") part.prepend(svg("svg", { class: "swatch", viewBox: "0 0 10 10", "aria-hidden": "true" }, square));
		return part;
	});
}

/** @param {Line} line */
const drawLine = (line) => html("p", { class: "line" }, ...spans(line));

/** Names an element as a part of commands (VW-43). @template {Element} E @param {E} element @param {string} [target] */
const named = (element, target) => (target ? filled(element, { "data-target": target }) : element);

/** @param {Row} row @param {import("./words.js").Meanings} meanings */
function drawRow([label, pieces, target], meanings) {
	const longest = Math.max(...pieces.map(([text]) => [...text].length));
	const room = Math.max(15, Math.min(26, 3 * longest + 2));
	const drawn = pieces.map(([text, tint, mark, target]) => {
		const box = { viewBox: `${-room - 1} ${-room - 1} ${2 * room + 2} ${2 * room + 2}`, width: 2 * room + 2 };
		const disc = svg("circle", { class: "disc", r: text ? room : room / 2, ...fillOf(tint) });
		const name = text ? [fitted("label", text, [0, 4], [(room * 9) / 5, 12, 5], inkOn(tint))] : [];
		const drawing = svg("svg", { ...box, role: "img", "aria-label": inWords([text, mark, tint], meanings) }, disc, ...name);
		return named(span(`piece ${tintClass(tint)}`, drawing, ...(mark ? [filled(bdi("mark", mark), { "aria-hidden": "true" })] : [])), target);
	});
	const heading = named(span("rowlabel", ...spans(label)), target);
	return html("div", { class: "row" }, heading, ...(drawn.length > 0 ? [span("pieces", ...drawn)] : []));
}

/** @param {Bar} bar */
function drawBar([label, value, of, tint, chips, target]) {
	const share = of > 0 ? Math.min(100, (100 * value) / of) : 0;
	const track = svg("rect", { class: "track", width: 100, height: 10 });
	const full = svg("rect", { class: "full", width: share.toFixed(1), height: 10, ...fillOf(tint) });
	const meter = svg("svg", { class: "meter", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" }, track, full);
	const notes = chips.map(([text, tint, target]) => named(bdi(`chip ${tintClass(tint)}`, text), target));
	const parts = [named(span("barlabel", ...spans(label)), target), meter, span("value", `${value}/${of}`), span("chips", ...notes)];
	return html("div", { class: `bar ${tintClass(tint)}` }, ...parts);
}
