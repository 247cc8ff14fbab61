/**
 * A board as SVG (VW-16).
 *
 * @import {Arrow, At, Cell, Content, Layout} from "./frames.d.ts"
 * @import {Places, Track} from "./timeline.js"
 */
import { fillOf, filled, fitted, inkOn, isChord, strokeOf, svg, tintClass } from "./elements.js";
import { arrowLine } from "./layout.js";
import { inWords } from "./words.js";

/** Tab goes from marked place to marked place where they are no more; with more, it would keep the focus for long. */
const TABS_MAX = 20;

/** A board as SVG; only what changes is drawn again. */
export class BoardView {
	/** @type {Map<string, {cell: Content | undefined, marks: string, group: SVGGElement}>} */ #cells = new Map();
	/** What places are marked with, such as ` reach`. @type {Map<string, string>} */ marks = new Map();
	/** What marks of the picture mean. @type {import("./words.js").Meanings} */ meanings = new Map();
	/** @type {Content | undefined} */ #arrows;
	#layer = svg("g");
	#above = svg("g", { class: "arrows" });

	/** @param {Layout} layout @param {(board: BoardView, place: string) => void} pick */
	constructor(layout, pick) {
		this.layout = layout;
		this.pick = pick;
		this.cursor = this.#near([0, 0]);
		const { kind, places, isLarge, size: [width, height], names } = layout;
		const ground = svg("path", { class: "ground", d: places.map((place) => this.#path("edge", place)).join("") });
		this.element = svg("svg", {
			class: isLarge ? "field large" : "field",
			viewBox: `${-width / 2} ${-height / 2} ${width} ${height}`,
			width,
			role: "application",
			"aria-label": "Board",
		}, svg("g", { class: `board ${kind}s` }, ground, ...names, this.#layer, this.#above));
		if (!isLarge) for (const place of places) this.#cell(place);
		filled(this.#cell(this.cursor).group, { tabindex: 0 });
		this.element.addEventListener("click", (event) => this.#clicked(event));
		this.element.addEventListener("keydown", (event) => this.#pressed(event));
	}

	/** Returns the places that changed. @param {Places} places @param {number} position */
	draw(places, position) {
		/** @type {string[]} */ const changes = [];
		let [last, since] = [this.cursor, 0];
		for (const place of this.layout.places) {
			const track = places.get(place);
			const isNew = track?.isNew(position) ?? false;
			const [content, marks] = [track?.at(position) ?? null, `${this.marks.get(place) ?? ""}${isNew ? " changed" : ""}`];
			if (content || marks || this.#cells.has(place)) this.#drawCell(place, content, marks);
			if (isNew) changes.push(place);
			// Where something came to stand counts more than where it left.
			const own = (track?.since(position) ?? 0) + (content ? 0.5 : 0);
			if (own >= 1 && own > since) [last, since] = [place, own];
		}
		// The focus begins at the last change (VW-52).
		if (!this.element.contains(document.activeElement)) this.#settle(last);
		this.#drawArrows(places.get("arrows"), position);
		return changes;
	}

	/** @param {string} place */
	#cell(place) {
		const old = this.#cells.get(place);
		if (old) return old;
		const edge = svg("path", { class: this.layout.kind, d: this.#path("edge", place) });
		const group = svg("g", { "data-at": place, role: "img", tabindex: -1 }, edge);
		const cell = { cell: undefined, marks: "", group: this.#layer.appendChild(group) };
		this.#cells.set(place, cell);
		this.#drawCell(place, null, "");
		return cell;
	}

	/** @param {keyof Layout["paths"]} name @param {string} place */
	#path(name, place) {
		const [[x, y], [left, top, path]] = [this.layout.middle(place), this.layout.paths[name]];
		return `M${x + left},${y + top}${path}`;
	}

	/** @param {string} place @param {Content} content @param {string} marks */
	#drawCell(place, content, marks) {
		const { layout } = this;
		const cell = this.#cell(place);
		if (content === cell.cell && marks === cell.marks) return;
		Object.assign(cell, { cell: content, marks });
		const { group } = cell;
		const [x, y] = layout.middle(place);
		const shows = /** @type {Cell} */ (content ?? ["", "", "plain"]);
		const [label, given, tint, of = tint] = shows;
		const [ink, shade, mark] = [inkOn(tint), layout.shade(place), given === label ? "" : given];
		filled(group, {
			class: content || marks || shade ? `cell ${tintClass(tint)}${shade}${marks}` : "hole",
			"aria-label": `${inWords(shows, this.meanings, marks)}, at ${place}`,
		});
		const outside = /** @type {Element} */ (group.firstElementChild);
		outside.removeAttribute("fill");
		filled(outside, fillOf(tint));
		group.replaceChildren(outside);
		if (marks && group !== document.activeElement) this.#layer.append(group);
		if (/reach|chosen/.test(marks)) group.append(svg("path", { class: "inner", d: this.#path("inner", place), ...strokeOf(ink) }));
		if (marks.includes("changed")) group.append(svg("path", { class: "corner", d: this.#path("corner", place), ...ink }));
		group.append(...layout.texts([x, y], place, label, ink, of).filter((part) => part.textContent));
		if (mark) group.append(fitted("mark", mark, [x + layout.mark[0], y + layout.mark[1]], [layout.mark[2], 9, 5], ink));
	}

	/** Returns the part where something stands or is marked, with room around it: left, top, right and bottom. */
	part() {
		const used = [...this.#cells].filter(([, { cell, marks }]) => marks || (cell && /** @type {Cell} */ (cell)[2] !== "blocked"));
		if (used.length === 0) return null;
		const [middles, [width, height]] = [used.map(([place]) => this.layout.middle(place)), this.layout.step];
		const [all, down] = [middles.map(([x]) => x), middles.map(([, y]) => y)];
		const [left, top, right, bottom] = [Math.min(...all), Math.min(...down), Math.max(...all), Math.max(...down)];
		return [left - 1.5 * width, top - 1.5 * height, right + 1.5 * width, bottom + 1.5 * height];
	}

	/** @param {Track<Content> | undefined} track @param {number} position */
	#drawArrows(track, position) {
		const content = track?.at(position);
		this.#above.classList.toggle("changed", track?.isNew(position));
		if (content === this.#arrows) return;
		this.#arrows = content;
		const arrows = /** @type {Arrow[]} */ (content ?? []);
		const lines = arrows.map(([tint, ...path]) => {
			const d = arrowLine(path.map((at) => this.layout.middle(`${at}`)));
			return svg("path", { class: `arrow ${tintClass(tint)}`, d, ...strokeOf(fillOf(tint)) });
		});
		this.#above.replaceChildren(...lines);
	}

	/** Makes a place the tab stop. @param {string} place */
	#settle(place) {
		if (place !== this.cursor) this.#cells.get(this.cursor)?.group.setAttribute("tabindex", "-1");
		this.cursor = place;
		return filled(this.#cell(place).group, { tabindex: 0 });
	}

	/** Returns the marked places, row by row. */
	#marked() {
		const marked = [...this.#cells].flatMap(([place, { marks }]) => (marks ? [place] : []));
		return marked.sort((one, other) => this.#order(one, other));
	}

	/** Returns whether a place comes after another, row by row. @param {string} one @param {string} other */
	#order(one, other) {
		const [[x, y], [otherX, otherY]] = [this.layout.middle(one), this.layout.middle(other)];
		return y - otherY || x - otherX;
	}

	/** Returns where a key leads: to another marked place, and by Tab past the last one out of the board, so that the
	 * focus is never caught there (WCAG 2.1.2). @param {KeyboardEvent} event */
	#keyed({ key, shiftKey, ctrlKey, altKey, metaKey }) {
		const isTab = key === "Tab" && !ctrlKey && !altKey && !metaKey;
		const way = key === "]" || (isTab && !shiftKey) ? 1 : key === "[" || isTab ? -1 : 0;
		if (!way && key !== "Home" && key !== "End") return "";
		const marked = this.#marked();
		if (key === "Home" || key === "End") return marked.at(key === "Home" ? 0 : -1) ?? this.cursor;
		const isOn = (/** @type {string} */ place) => this.#order(place, this.cursor) * way > 0;
		const to = way > 0 ? marked.find(isOn) : marked.findLast(isOn);
		if (isTab) return marked.length > TABS_MAX ? "" : to;
		return to ?? marked.at(way > 0 ? 0 : -1);
	}

	/** @param {MouseEvent} event */
	#clicked(event) {
		const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.element.getScreenCTM()?.inverse());
		const at = this.#near([x, y]);
		if (!at) return;
		this.#settle(at).focus();
		this.pick(this, at);
	}

	/** Returns the place at a point, or next to it. @param {At} point */
	#near([x, y]) {
		const { middle, places, step } = this.layout;
		const [far, at] = places.map((place) => {
			const [ownX, ownY] = middle(place);
			return /** @type {const} */ ([Math.hypot(ownX - x, ownY - y), place]);
		}).reduce((best, one) => (one[0] < best[0] ? one : best));
		return far < step[0] - 10 ? at : "";
	}

	/** @param {KeyboardEvent} event */
	#pressed(event) {
		if (event.key === "Enter") this.pick(this, this.cursor);
		const marked = this.#keyed(event);
		if (marked) return event.preventDefault(), this.#settle(marked).focus();
		/** @type {Record<string, At>} */ const ways = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
		if (!ways[event.key] || isChord(event)) return;
		event.preventDefault();
		const [[right, down], [width, height], [x, y]] = [ways[event.key], this.layout.step, this.layout.middle(this.cursor)];
		// A row of hexes goes up and down.
		const tilt = right && ((x / width) & 1 ? -1 : 1);
		const to = this.#near([x + right * width, y + down * height + tilt]);
		if (to) this.#settle(to).focus();
	}
}
