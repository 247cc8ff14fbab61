/**
 * Shows a game entry by entry from frames: what changed in one viewer's picture, and never a rule of a game.
 * Text from frames reaches the page as text nodes and harmless attributes, never as markup.
 *
 * @import {Arrow, At, Attributes, Bar, Block, Cell, Content, Frame, Frames, Layout, Line, Row, Shape} from "./frames.d.ts"
 */

/** Finds the last value up to a limit in a rising sequence. @param {number} length
 * @param {(index: number) => number} value @param {number} limit */
function lastUpTo(length, value, limit) {
	let [low, high] = [-1, length - 1];
	while (low < high) {
		const middle = (low + high + 1) >> 1;
		if (value(middle) <= limit) low = middle;
		else high = middle - 1;
	}
	return low;
}

/** What a place of a picture holds from which position on. @template T */
class Track {
	/** @type {number[]} */ from = [];
	/** @type {T[]} */ values = [];

	/** @param {number} position @param {T} value */
	put(position, value) {
		this.from.push(position);
		this.values.push(value);
	}

	/** @param {number} position */
	index(position) {
		return lastUpTo(this.from.length, (index) => this.from[index], position);
	}

	/** @param {number} position */
	at(position) {
		return this.values[this.index(position)];
	}

	/** @param {number} position */
	isNew(position) {
		return position > 0 && this.from[this.index(position)] === position;
	}
}

/** The places of a block: `q,r` or `e4` and `arrows` of a board, else the index. @typedef {Map<string, Track<Content>>} Places */

/** Every position of a log: 0 is the picture before the first frame, n the one after frame n. */
export class Timeline {
	/** @type {Frame[]} */ frames = [];
	/** @type {Places[]} */ blocks = [];
	/** @type {Track<Shape[]>} */ shapes = new Track();

	/** @param {Frames} frames */
	constructor(frames) {
		this.after = frames.after;
		this.standing = frames.standing;
		this.#whole(0, frames.picture);
		this.append(frames.frames);
	}

	/** Adds frames at the end. @param {Frame[]} frames */
	append(frames) {
		for (const frame of frames) {
			const position = this.frames.push(frame);
			if (frame.picture) this.#whole(position, frame.picture);
			for (const [block, place, content] of frame.changes ?? []) this.#track(block, String(place)).put(position, content);
		}
	}

	/** Returns the entry's number. @param {number} position */
	number(position) {
		return this.frames[position - 1]?.record.seq ?? this.after;
	}

	/** Returns the last position up to a number. @param {number} number */
	position(number) {
		return Math.max(0, lastUpTo(this.frames.length + 1, (position) => this.number(position), number));
	}

	/** @param {number} block @param {string} place */
	#track(block, place) {
		const places = (this.blocks[block] ??= new Map());
		const track = places.get(place) ?? new Track();
		places.set(place, track);
		return track;
	}

	/** Takes a picture as a change of every place that differs. @param {number} position @param {Block[]} picture */
	#whole(position, picture) {
		const shapes = picture.map(shapeOf);
		if (!same(shapes, this.shapes.values.at(-1))) this.shapes.put(position, shapes);
		for (let block = 0; block < Math.max(picture.length, this.blocks.length); block++) {
			const contents = contentsOf(picture[block] ?? {});
			for (const place of this.blocks[block]?.keys() ?? []) if (!contents.has(place)) contents.set(place, null);
			for (const [place, content] of contents) {
				const track = this.#track(block, place);
				if (!same(content, track.values.at(-1) ?? null)) track.put(position, content);
			}
		}
	}
}

/** @param {Block} block @returns {Shape} */
const shapeOf = ({ board, grid, flipped, lines, rows }) => board ?? (grid ? [...grid, flipped ? -1 : 1] : lines ? "lines" : rows ? "rows" : "bars");

/** @param {Block} block */
function contentsOf({ grid, cells, arrows, lines, rows, bars }) {
	/** @type {Map<string, Content>} */ const contents = new Map();
	const size = grid ? 1 : 2;
	for (const cell of cells ?? []) contents.set(`${cell.slice(0, size)}`, /** @type {Cell} */ (cell.slice(size)));
	if (cells) contents.set("arrows", arrows ?? []);
	(lines ?? rows ?? bars ?? []).forEach((item, index) => contents.set(`${index}`, item));
	return contents;
}

/** @param {unknown} one @param {unknown} other */
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** Makes controls and marks of direction visible. @param {string} text */
export function shown(text) {
	const unprintable = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufdd0-\ufdef]/g;
	return text.replace(unprintable, (character) => `\\u{${character.charCodeAt(0).toString(16)}}`);
}

/** @template {keyof HTMLElementTagNameMap} K @param {K} tag
 * @param {Attributes} [attributes] @param {(Node | string)[]} children */
export function html(tag, attributes = {}, ...children) {
	return filled(document.createElement(tag), attributes, children);
}

/** @template {keyof SVGElementTagNameMap} K @param {K} tag
 * @param {Attributes} [attributes] @param {(Node | string)[]} children */
export function svg(tag, attributes = {}, ...children) {
	return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/** @param {string} name @param {string} text */
const bdi = (name, text) => html("bdi", { class: name }, shown(text));

/** @param {string} name @param {(Node | string)[]} children */
const span = (name, ...children) => html("span", { class: name }, ...children);

/** @template {Element} E @param {E} element @param {Attributes} attributes @param {(Node | string)[]} [children] */
function filled(element, attributes, children = []) {
	for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, `${value}`);
	element.append(...children);
	return element;
}

/** @param {string} tint */
const tintClass = (tint) => (tint.startsWith("#") ? "rgb" : tint);

/** @param {string} tint @returns {Attributes} */
const fillOf = (tint) => (/^#[0-9a-f]{6}$/i.test(tint) ? { fill: tint } : {});

/** @param {Attributes} area @returns {Attributes} */
const strokeOf = ({ fill }) => (fill ? { stroke: fill } : {});

/** Chooses black or white for text on a game's own color. @param {string} tint @returns {Attributes} */
function inkOn(tint) {
	if (!fillOf(tint).fill) return {};
	const parts = [0.2126, 0.7152, 0.0722].map((weight, index) => {
		const part = parseInt(tint.slice(1 + 2 * index, 3 + 2 * index), 16) / 255;
		return weight * (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
	});
	return { fill: parts.reduce((sum, part) => sum + part) > 0.179 ? "#000000" : "#ffffff" };
}

/** Returns text within a width: smaller where it is long, then squeezed. @param {string} name @param {string} text
 * @param {At} point @param {[width: number, size: number, least: number]} room @param {Attributes} [ink] */
function fitted(name, text, [x, y], [width, size, least], ink = {}) {
	const content = shown(text);
	const count = [...content].length;
	const fit = Math.max(least, Math.min(size, Math.floor((width * 5) / (count * 3))));
	/** @type {Attributes} */ const squeezed = count * fit * 0.6 > width ? { textLength: width, lengthAdjust: "spacingAndGlyphs" } : {};
	return svg("text", { class: name, x, y, "font-size": fit, ...squeezed, ...ink }, content);
}

/** @param {At} from @param {At} to @param {number} distance @returns {At} */
function toward([x, y], [toX, toY], distance) {
	const share = distance / (Math.hypot(toX - x, toY - y) || 1);
	return [Math.round(x + (toX - x) * share), Math.round(y + (toY - y) * share)];
}

/** @param {At[]} points */
function arrowLine(points) {
	const [last, before] = [points[points.length - 1], points[points.length - 2]];
	const tip = toward(last, before, 9);
	const [x, y] = toward(tip, before, 7);
	const [asideX, asideY] = toward([0, 0], [last[1] - before[1], before[0] - last[0]], 5);
	const head = `M${x + asideX},${y + asideY}L${tip}M${x - asideX},${y - asideY}L${tip}`;
	return `M${[toward(points[0], points[1], 12), ...points.slice(1, -1), tip].join("L")}${head}`;
}

/** @param {number} radius @returns {Layout} */
function hexes(radius) {
	const places = [];
	for (let q = -radius; q <= radius; q++) {
		for (let r = Math.max(-radius, -q - radius); r <= Math.min(radius, radius - q); r++) places.push(`${q},${r}`);
	}
	return {
		kind: "hex",
		places,
		isLarge: radius > 12,
		size: [60 * radius + 46, 68 * radius + 40],
		step: [30, 34],
		paths: { edge: [-20, 0, "l10,-17h20l10,17l-10,17h-20z"], inner: [-17, 0, "l9,-15h16l9,15l-9,15h-16z"], corner: [3, -17, "h7l4,7z"] },
		mark: [0, 6, 26],
		names: [],
		middle(place) {
			const [q, r] = place.split(",").map(Number);
			return [30 * q, 17 * (2 * r + q)];
		},
		shade: () => "",
		texts: ([x, y], place, label, ink) => [
			fitted("at", place, [x, y + 12], [22, place.length > 7 ? 4 : 7, 4], ink),
			fitted("label", label, [x, y - 2], [26, 12, 5], ink),
		],
	};
}

/** @param {number[]} shape how many files and ranks, and -1 as seen from the far side @returns {Layout} */
function squares([files, ranks, way]) {
	/** @param {string} place */
	const parse = (place) => [place.charCodeAt(0) - 97, parseInt(place.slice(1)) - 1];
	/** @type {Layout["middle"]} */
	const middle = (place) => {
		const [file, rank] = parse(place);
		return [way * (40 * file - 20 * (files - 1)), way * (20 * (ranks - 1) - 40 * rank)];
	};
	const places = Array.from({ length: files * ranks }, (_, index) => `${String.fromCharCode(97 + (index % files))}${Math.floor(index / files) + 1}`);
	const names = places.flatMap((place) => {
		const [[file, rank], [x, y]] = [parse(place), middle(place)];
		const below = rank ? [] : [fitted("at", place[0], [x, 20 * ranks + 13], [18, 11, 5])];
		return file ? below : [...below, fitted("at", place.slice(1), [-20 * files - 9, y + 4], [18, 11, 5])];
	});
	return {
		kind: "square",
		places,
		size: [40 * files + 36, 40 * ranks + 36],
		step: [40, 40],
		paths: { edge: [-20, -20, "h40v40h-40z"], inner: [-16, -16, "h32v32h-32z"], corner: [11, -20, "h9v9z"] },
		mark: [14, 17, 10],
		names,
		middle,
		shade: (place) => ((parse(place)[0] + parse(place)[1]) % 2 ? " light" : " dark"),
		texts: ([x, y], _place, glyph, _ink, tint) => [
			svg("g", { class: `figure ${tintClass(tint)}`, ...strokeOf(inkOn(tint)) }, fitted("glyph", glyph, [x, y + 11], [36, 32, 5], fillOf(tint))),
		],
	};
}

/** A board as SVG; only what changes is drawn again. */
class BoardView {
	/** @type {Map<string, {cell: Content | undefined, marks: string, group: SVGGElement}>} */ #cells = new Map();
	/** What places are marked with, such as ` reach`. @type {Map<string, string>} */ marks = new Map();
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
			"aria-describedby": "board-changes",
		}, svg("g", { class: `board ${kind}s` }, ground, ...names, this.#layer, this.#above));
		if (!isLarge) for (const place of places) this.#cell(place);
		filled(this.#cell(this.cursor).group, { tabindex: 0 });
		this.element.addEventListener("click", (event) => this.#clicked(event));
		this.element.addEventListener("keydown", (event) => this.#pressed(event));
	}

	/** Returns the places that changed. @param {Places} places @param {number} position */
	draw(places, position) {
		/** @type {string[]} */ const changes = [];
		for (const place of this.layout.places) {
			const track = places.get(place);
			const isNew = track?.isNew(position) ?? false;
			const [content, marks] = [track?.at(position) ?? null, `${isNew ? " changed" : ""}${this.marks.get(place) ?? ""}`];
			if (content || marks || this.#cells.has(place)) this.#drawCell(place, content, marks);
			if (isNew) changes.push(place);
		}
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
		const [label, given, tint, of = tint, name = label] = /** @type {Cell} */ (content ?? ["", "", "plain"]);
		const [ink, shade, mark] = [inkOn(tint), layout.shade(place), given === label ? "" : given];
		const says = [name || "empty", tint === "plain" ? "" : tint, mark, ...marks.split(" ")];
		filled(group, {
			class: content || marks || shade ? `cell ${tintClass(tint)}${shade}${marks}` : "hole",
			"aria-label": `${place}: ${says.filter(Boolean).map(shown).join(", ")}`,
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
		filled(this.#cell(this.cursor).group, { tabindex: -1 });
		this.cursor = place;
		filled(this.#cell(place).group, { tabindex: 0 }).focus();
	}

	/** @param {MouseEvent} event */
	#clicked(event) {
		const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.element.getScreenCTM()?.inverse());
		const at = this.#near([x, y]);
		if (!at) return;
		this.#settle(at);
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
		/** @type {Record<string, At>} */ const ways = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
		if (!ways[event.key] || isChord(event)) return;
		event.preventDefault();
		const [[right, down], [width, height], [x, y]] = [ways[event.key], this.layout.step, this.layout.middle(this.cursor)];
		// A row of hexes goes up and down.
		const tilt = right && ((x / width) & 1 ? -1 : 1);
		const to = this.#near([x + right * width, y + down * height + tilt]);
		if (to) this.#settle(to);
	}
}

/** @param {KeyboardEvent | MouseEvent} event */
const isChord = (event) => event.ctrlKey || event.altKey || event.metaKey || event.shiftKey;

/** Lines, rows or bars, as they change. */
class ListView {
	/** @type {Content[]} */ #drawn = [];

	/** @param {"lines" | "rows" | "bars"} kind */
	constructor(kind) {
		this.element = html("div", { class: kind });
		this.make = /** @type {(content: Content) => HTMLElement} */ ({ lines: drawLine, rows: drawRow, bars: drawBar }[kind]);
	}

	/** @param {Places} places @param {number} position @returns {string[]} */
	draw(places, position) {
		const items = this.element.children;
		let index = 0;
		for (let track; (track = places.get(`${index}`)) && track.at(position); index++) {
			const content = track.at(position);
			if (!items[index]) this.element.append(this.make(content));
			else if (this.#drawn[index] !== content) items[index].replaceWith(this.make(content));
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

/** @param {Row} row */
function drawRow([label, pieces]) {
	const longest = Math.max(...pieces.map(([text]) => [...text].length));
	const room = Math.max(15, Math.min(26, 3 * longest + 2));
	const drawn = pieces.map(([text, tint, mark]) => {
		const box = { viewBox: `${-room - 1} ${-room - 1} ${2 * room + 2} ${2 * room + 2}`, width: 2 * room + 2 };
		const disc = svg("circle", { class: "disc", r: text ? room : room / 2, ...fillOf(tint) });
		const name = text ? [fitted("label", text, [0, 4], [(room * 9) / 5, 12, 5], inkOn(tint))] : [];
		const drawing = svg("svg", { ...box, role: "img", "aria-label": shown(text) || "empty" }, disc, ...name);
		return span(`piece ${tintClass(tint)}`, drawing, ...(mark ? [bdi("mark", mark)] : []));
	});
	const heading = span("rowlabel", ...spans(label));
	return html("div", { class: "row" }, heading, ...(drawn.length > 0 ? [span("pieces", ...drawn)] : []));
}

/** @param {Bar} bar */
function drawBar([label, value, of, tint, chips]) {
	const share = of > 0 ? Math.min(100, (100 * value) / of) : 0;
	const track = svg("rect", { class: "track", width: 100, height: 10 });
	const full = svg("rect", { class: "full", width: share.toFixed(1), height: 10, ...fillOf(tint) });
	const meter = svg("svg", { class: "meter", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" }, track, full);
	const notes = chips.map(([text, tint]) => bdi(`chip ${tintClass(tint)}`, text));
	const parts = [span("barlabel", ...spans(label)), meter, span("value", `${value}/${of}`), span("chips", ...notes)];
	return html("div", { class: `bar ${tintClass(tint)}` }, ...parts);
}

/** The blocks of a picture; boards can be enlarged and panned. */
class PictureView {
	/** @type {(BoardView | ListView)[]} */ views = [];
	/** @type {BoardView[]} */ boards = [];
	/** @type {Shape[]} */ #shapes = [];

	/** @param {(board: number, place: string) => void} pick */
	constructor(pick) {
		this.pick = pick;
		this.element = html("div", { class: "picture" });
		this.changes = html("p", { class: "unseen", id: "board-changes" });
	}

	/** @param {Timeline} timeline @param {number} position */
	draw(timeline, position) {
		const shapes = timeline.shapes.at(position) ?? [];
		if (shapes !== this.#shapes) this.#make(shapes);
		this.#shapes = shapes;
		const changes = this.views.flatMap((view, block) => view.draw(timeline.blocks[block] ?? new Map(), position));
		const more = changes.length > 20 ? ` and ${changes.length - 20} more` : "";
		this.changes.textContent = `Arrow keys go from ${this.boards[0]?.layout.kind} to the next. Changed: ${changes.slice(0, 20).join("; ") || "none"}${more}.`;
	}

	/** @param {Shape[]} shapes */
	#make(shapes) {
		/** @param {Layout} layout */
		const board = (layout) => new BoardView(layout, (board, place) => this.pick(this.boards.indexOf(board), place));
		this.views = shapes.map((shape) => (typeof shape === "string" ? new ListView(shape) : board(typeof shape === "number" ? hexes(shape) : squares(shape))));
		this.boards = this.views.filter((view) => view instanceof BoardView);
		const elements = this.views.map((view) => (view instanceof BoardView ? zoomable(view.element) : view.element));
		this.element.classList.toggle("boarded", elements.some((element) => element.matches(".boardbox")));
		this.element.replaceChildren(...elements, this.changes);
	}
}

/** Returns a frame in which buttons enlarge a drawing. @param {SVGSVGElement} drawing */
function zoomable(drawing) {
	const pan = html("div", { class: "pan" }, drawing);
	let steps = 0;
	/** @param {1 | -1} by */
	const zoom = (by) => {
		const factor = 1.5 ** by;
		const { width } = drawing.getBoundingClientRect();
		const [x, y] = [pan.scrollLeft + pan.clientWidth / 2, pan.scrollTop + pan.clientHeight / 2];
		steps += by;
		filled(drawing, { width: width * factor });
		pan.classList.toggle("zoomed", steps > 0);
		pan.scrollTo(x * factor - pan.clientWidth / 2, y * factor - pan.clientHeight / 2);
		[smaller.disabled, larger.disabled] = [steps === 0, steps === 5];
	};
	const [smaller, larger] = [button("Zoom out", () => zoom(-1)), button("Zoom in", () => zoom(1))];
	smaller.disabled = true;
	return html("div", { class: "boardbox" }, pan, html("div", { class: "zoom" }, smaller, larger));
}

/** What is drawn on buttons, in a box of 24. */
const SIGNS = {
	First: "M6 5v14M19 5l-9 7 9 7z",
	Previous: "M17 5l-10 7 10 7z",
	Play: "M8 4l12 8-12 8z",
	Pause: "M8 5v14M16 5v14",
	Next: "M7 5l10 7-10 7z",
	Last: "M18 5v14M5 5l9 7-9 7z",
	"Zoom out": "M5 12h14",
	"Zoom in": "M5 12h14M12 5v14",
	"Previous match": "M5 15l7-7 7 7",
	"Next match": "M5 9l7 7 7-7",
};

/** Which keys do the same as buttons. @type {Record<string, string>} */
const HINTS = { First: " (Home)", Previous: " (←)", Next: " (→)", Last: " (End)" };

/** @param {keyof typeof SIGNS} name @param {() => void} click */
function button(name, click) {
	const icon = svg("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" }, svg("path", { d: SIGNS[name] }));
	const made = html("button", { type: "button", "aria-label": name, title: name + (HINTS[name] ?? "") }, icon);
	made.addEventListener("click", click);
	return made;
}

/** Before anything is loaded. */
const NOTHING = new Timeline({ after: 0, picture: [], frames: [] });

/** How many entries are made together. */
const CHUNK = 10;

/** The entries, each a link. Rows have one height; only those near are made. */
class LogView {
	#timeline = NOTHING;
	#position = 0;
	element = html("div", { class: "entries", role: "list" });
	#template = html("div", { role: "listitem" }, html("a", { tabindex: -1 }, span("number"), span("seat"), bdi("command", ""), bdi("outcome", "")));

	constructor() {
		this.element.addEventListener("scroll", () => this.#fill(), { passive: true });
		addEventListener("resize", () => this.#fill());
		addEventListener("beforeprint", () => this.#fill(true));
		addEventListener("afterprint", () => this.#fill());
	}

	/** Makes the list as long as a timeline. @param {Timeline} timeline */
	update(timeline) {
		this.#timeline = timeline;
		const count = Math.floor(timeline.frames.length / CHUNK) + 1;
		const chunks = [...this.element.children].slice(0, count);
		for (const chunk of chunks) chunk.replaceChildren();
		while (chunks.length < count) chunks.push(html("div", { class: "chunk" }));
		this.element.replaceChildren(...chunks);
		this.#fill();
	}

	/** Marks the current entry and brings it into sight. @param {number} position */
	show(position) {
		const hadFocus = this.element.contains(document.activeElement);
		let { scrollTop, clientHeight } = this.element;
		const [top, height] = [position * rowHeight(), rowHeight()];
		if (top < scrollTop || top + height > scrollTop + clientHeight) {
			scrollTop = this.element.scrollTop = Math.max(0, top - (clientHeight - height) / 2);
		}
		this.#link(this.#position)?.removeAttribute("aria-current");
		this.#link(this.#position)?.setAttribute("tabindex", "-1");
		this.#position = position;
		this.#fill(false, scrollTop, clientHeight);
		const link = filled(this.#link(position), { "aria-current": "step", tabindex: 0 });
		if (hadFocus) link.focus({ preventScroll: true });
	}

	/** Makes the rows that are near, and the last ones. */
	#fill(all = false, scrollTop = this.element.scrollTop, clientHeight = this.element.clientHeight) {
		const { children } = this.element;
		const height = CHUNK * rowHeight();
		[...children].forEach((chunk, index) => {
			const isNear = (index + 1.5) * height > scrollTop && (index - 0.5) * height < scrollTop + clientHeight;
			const isKept = all || isNear || index === Math.floor(this.#position / CHUNK) || index === children.length - 1;
			const end = isKept ? Math.min((index + 1) * CHUNK, this.#timeline.frames.length + 1) : 0;
			for (let at = index * CHUNK + chunk.children.length; at < end; at++) chunk.append(this.#row(at));
			if (!isKept && chunk.firstChild) chunk.replaceChildren();
		});
	}

	/** @param {number} position */
	#link(position) {
		const row = this.element.children[Math.floor(position / CHUNK)]?.children[position % CHUNK];
		return /** @type {HTMLAnchorElement} */ (row?.firstElementChild);
	}

	/** @param {number} position */
	#row(position) {
		const row = /** @type {HTMLElement} */ (this.#template.cloneNode(true));
		const { record, text } = this.#timeline.frames[position - 1] ?? { record: { seat: "", command: "setup", outcome: "applied" }, text: "before the first entry" };
		const number = `${this.#timeline.number(position)}`;
		const [link] = row.children;
		[number, record.seat, shown(record.command), shown(text)].forEach((text, index) => (link.children[index].textContent = text));
		filled(row, { "aria-posinset": position + 1, "aria-setsize": this.#timeline.frames.length + 1 });
		filled(link, { href: `#${number}`, class: record.outcome === "applied" ? "" : "failed" });
		link.children[1].className = seatClass(record.seat);
		return row;
	}
}

/** The height of a row, as in viewer.css. */
const rowHeight = () => 3.125 * parseFloat(getComputedStyle(document.documentElement).fontSize);

/** @param {string} seat */
const seatClass = (seat) => `seat ${{ p1: "first", p2: "second", p3: "third", p4: "fourth" }[seat] ?? "plain"}`;

/** How many changed fields are listed at most. */
const FIELDS_MAX = 500;

/** @param {Frame | undefined} frame */
function drawChanges(frame) {
	if (!frame) return [html("p", {}, "Nothing has happened yet.")];
	const items = frame.fields.slice(0, FIELDS_MAX).map((field) => {
		const arrow = html("span", { role: "img", "aria-label": "became" }, " → ");
		return html("li", {}, bdi("path", field.path || "/"), span("values", value("del", field.old), arrow, value("ins", field.new)));
	});
	const more = frame.fields.length - items.length;
	const list = items.length > 0 ? html("ul", { role: "list" }, ...items) : html("p", {}, "No field changed.");
	return [html("p", {}, bdi("outcome", frame.text)), list, ...(more ? [html("p", {}, `and ${more} more`)] : [])];
}

/** @param {"del" | "ins"} tag @param {unknown} json */
const value = (tag, json) => (json === undefined ? html("i", {}, "(none)") : html(tag, {}, bdi("", JSON.stringify(json))));

/** @param {string} name @param {string} title @param {Node[]} children */
const section = (name, title, ...children) => html("section", { class: name, "aria-label": title }, html("h2", {}, title), ...children);

/** The keys of the page and how far they go. @type {Record<string, number>} */
const KEYS = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity };

/**
 * The page of one match: status, board, slider, buttons, log and changed fields, in this order.
 *
 * It tells of `position` (another one is shown) and `pick` (`detail`: a board's number, and the place chosen there).
 */
export class Viewer extends EventTarget {
	timeline = NOTHING;
	position = 0;
	#playing = 0;
	#writing = 0;
	#addressed = "";
	/** @type {string[]} */ #lines = [];
	picture = new PictureView((...detail) => this.dispatchEvent(new CustomEvent("pick", { detail })));
	log = new LogView();
	status = html("p", { class: "status", role: "status", "aria-live": "polite" });
	slider = html("input", { type: "range", min: 0, value: 0, "aria-label": "Entry" });
	changes = html("div", { class: "changes", tabindex: 0, role: "group", "aria-label": "Entry" });
	note = html("p", { class: "note", role: "status" });
	backs = [button("First", () => this.#user(-Infinity)), button("Previous", () => this.#user(-1))];
	ons = [button("Next", () => this.#user(1)), button("Last", () => this.#user(Infinity))];
	player = button("Play", () => (this.#playing ? this.pause() : this.play()));
	speed = html("select", { "aria-label": "Speed" }, ...[1, 2, 4, 8, 16].map((speed) => html("option", { value: speed }, `${speed}/s`)));

	/** @param {HTMLElement} root what the page is made in */
	constructor(root) {
		super();
		document.body.classList.add("app");
		this.player.classList.add("play");
		this.speed.value = "2";
		const buttons = html("div", { class: "buttons" }, ...this.backs, this.player, ...this.ons, this.speed);
		root.replaceChildren(
			this.status,
			html("section", { class: "stage", tabindex: 0, "aria-label": "Picture" }, this.picture.element),
			html("div", { class: "controls", role: "group", "aria-label": "Steps" }, this.slider, buttons),
			section("log", "Log", this.#tools(), this.log.element),
			section("fields", "What changed", this.changes),
		);
		this.#listen();
	}

	/** How many entries there are. */
	get length() {
		return this.timeline.frames.length;
	}

	/** Shows a document, at the entry that the address names or at its end. @param {Frames} frames */
	load(frames) {
		this.timeline = new Timeline(frames);
		this.grown(0);
		if (!this.#follow()) this.show(this.length);
	}

	/** Shows a position: 0 is the setup, `length` the last entry. @param {number} position */
	go(position) {
		this.show(Math.max(0, Math.min(this.length, position)));
		this.#address();
	}

	/** Plays from here, from the setup when at the end, as fast as chosen. */
	play() {
		if (this.position === this.length) this.go(0);
		this.status.setAttribute("aria-live", "off");
		this.#wait();
		this.#drawPlayer("Pause");
	}

	/** Stops playing. */
	pause() {
		if (!this.#playing) return;
		clearTimeout(this.#playing);
		this.#playing = 0;
		this.status.setAttribute("aria-live", "polite");
		this.#drawPlayer("Play");
		this.#address();
	}

	/** Goes to the entry with a number and says if there is none. @param {string} text */
	goTo(text) {
		const number = Number(text.replace("#", "").trim() || NaN);
		if (!Number.isInteger(number)) return this.say("Type the number of an entry.");
		this.go(this.timeline.position(number));
		const found = this.timeline.number(this.position);
		this.say(found === number ? "" : `There is no entry ${number}; this is ${found}.`);
	}

	/** Goes to the next or previous entry that holds a text, around the ends too. @param {string} text @param {1 | -1} way */
	find(text, way) {
		if (!text) return this.say("Type what to look for.");
		for (const { record, text } of this.timeline.frames.slice(this.#lines.length)) {
			this.#lines.push(`${record.seat} ${record.command} => ${text}`.toLowerCase());
		}
		const wanted = text.toLowerCase();
		const found = this.#lines.flatMap((line, index) => (line.includes(wanted) ? [index + 1] : []));
		const next = way > 0 ? found.find((at) => at > this.position) : found.findLast((at) => at < this.position);
		const to = next ?? found.at(way > 0 ? 0 : -1);
		if (to === undefined) return this.say("Nothing found.");
		this.go(to);
		const wrapped = next !== undefined ? "" : way > 0 ? ", on from the start" : ", back from the end";
		this.say(`Match ${found.indexOf(to) + 1} of ${found.length}${wrapped}.`);
	}

	/** Copies the address of the entry, or shows it. */
	async copyLink() {
		const address = new URL(this.#hash(), location.href).href;
		try {
			await navigator.clipboard.writeText(address);
			this.say("Link copied.");
		} catch {
			const field = html("input", { value: address, readonly: "", "aria-label": "Link to this entry" });
			this.note.replaceChildren("Copy it from here: ", field);
			field.select();
		}
	}

	/** Says something beside the search field. @param {string} text */
	say(text) {
		this.note.textContent = text;
	}

	#tools() {
		const number = html("input", { inputmode: "numeric", autocomplete: "off", size: 5, id: "go-to" });
		const text = html("input", { type: "search", autocomplete: "off", id: "search" });
		const copy = html("button", { type: "button", class: "copy" }, "Copy link");
		copy.addEventListener("click", () => this.copyLink());
		/** @param {1 | -1} way */
		const find = (way) => (this.pause(), this.find(text.value, way));
		const ways = [button("Previous match", () => find(-1)), button("Next match", () => {})];
		ways[1].type = "submit";
		const search = html("form", { class: "search", role: "search" }, html("label", { for: "search" }, "Search"), text, ...ways);
		const goTo = html("form", { class: "go-to" }, html("label", { for: "go-to" }, "Go to"), number, html("button", {}, "Go"));
		search.addEventListener("submit", (event) => (event.preventDefault(), find(1)));
		goTo.addEventListener("submit", (event) => (event.preventDefault(), this.pause(), this.goTo(number.value)));
		return html("div", { class: "tools" }, search, goTo, copy, this.note);
	}

	#listen() {
		this.slider.addEventListener("input", () => this.#user(Number(this.slider.value) - this.position));
		this.log.element.addEventListener("click", (event) => {
			const link = event.target instanceof Element ? event.target.closest("a") : null;
			if (!link || isChord(event)) return;
			event.preventDefault();
			link.focus({ preventScroll: true });
			this.pause();
			this.goTo(link.hash);
		});
		this.speed.addEventListener("change", () => this.#playing && (this.pause(), this.play()));
		document.addEventListener("keydown", (event) => this.#pressed(event));
		addEventListener("hashchange", () => this.#follow());
		this.#swiped(this.picture.element);
	}

	/** @param {KeyboardEvent} event */
	#pressed(event) {
		const target = event.target instanceof Element ? event.target : document.body;
		if (event.defaultPrevented || isChord(event) || target.closest("input, select, textarea, [role=menu]")) return;
		if (event.key.startsWith("Arrow") && target.closest("[role=application]")) return;
		const inLog = this.log.element.contains(target);
		const by = inLog && event.key === "ArrowUp" ? -1 : inLog && event.key === "ArrowDown" ? 1 : KEYS[event.key];
		if (by === undefined) return;
		event.preventDefault();
		this.#user(by);
	}

	/** Steps by a stroke of a finger across a picture that is not panned. @param {HTMLElement} element */
	#swiped(element) {
		let [x, y] = [NaN, NaN];
		element.addEventListener("touchstart", ({ touches }) => {
			const isStroke = touches.length === 1 && !element.querySelector(".zoomed");
			[x, y] = isStroke ? [touches[0].clientX, touches[0].clientY] : [NaN, NaN];
		}, { passive: true });
		element.addEventListener("touchend", ({ changedTouches: [finger] }) => {
			const [dx, dy] = [finger.clientX - x, finger.clientY - y];
			if (Math.abs(dx) > Math.max(40, 2 * Math.abs(dy))) this.#user(dx < 0 ? 1 : -1);
		});
	}

	/** Steps as a person asked for, which ends playing. @param {number} by */
	#user(by) {
		this.pause();
		this.say("");
		this.go(this.position + by);
	}

	#wait() {
		this.#playing = window.setTimeout(() => {
			this.show(Math.min(this.length, this.position + 1));
			if (this.position < this.length) this.#wait();
			else this.pause();
		}, 1000 / Number(this.speed.value));
	}

	/** Notices frames. @param {number} from */
	grown(from) {
		this.#lines.length = Math.min(this.#lines.length, Math.max(0, from - 1));
		this.log.update(this.timeline);
		this.slider.max = `${this.length}`;
		this.slider.disabled = this.length === 0;
	}

	/** Shows a position and leaves the address. @param {number} position */
	show(position) {
		this.position = position;
		this.log.show(position);
		const frame = this.timeline.frames[position - 1];
		this.picture.draw(this.timeline, position);
		this.#drawStatus(frame);
		for (const button of this.backs) button.disabled = position === 0;
		for (const button of this.ons) button.disabled = position === this.length;
		this.changes.replaceChildren(...drawChanges(frame));
		this.dispatchEvent(new Event("position"));
	}

	/** @param {Frame | undefined} frame */
	#drawStatus(frame) {
		const [number, last] = [this.position, this.length].map((position) => this.timeline.number(position));
		const said = frame
			? [span(seatClass(frame.record.seat), frame.record.seat), " ", bdi("command", cut(frame.record.command)), " ", bdi("outcome", cut(frame.text))]
			: [span("command", "setup")];
		const { standing } = frame ?? this.timeline;
		const stands = standing ? [bdi("command", cut(standing)), " "] : [];
		this.status.replaceChildren(span("unseen", "Entry "), html("strong", {}, `${number}`), span("of", ` of ${last} `), ...stands, ...said);
		this.slider.value = `${this.position}`;
		this.slider.setAttribute("aria-valuetext", `${number} of ${last}`);
	}

	/** @param {"Play" | "Pause"} name */
	#drawPlayer(name) {
		filled(this.player, { "aria-label": name, title: name });
		this.player.querySelector("path")?.setAttribute("d", SIGNS[name]);
	}

	/** Shows the entry that the address names, if it does. */
	#follow() {
		const number = /^#(\d+)$/.exec(location.hash)?.[1];
		if (!number) return false;
		this.pause();
		this.show(this.timeline.position(Number(number)));
		return true;
	}

	#hash() {
		return `#${this.timeline.number(this.position)}`;
	}

	/** Writes the address later: browsers refuse what comes too often. */
	#address() {
		this.#addressed = location.search;
		this.#writing ||= window.setTimeout(() => this.write(), 200);
	}

	/** Writes the address now. */
	write() {
		const isDue = this.#writing && !this.#playing && this.#addressed === location.search;
		clearTimeout(this.#writing);
		this.#writing = 0;
		if (isDue) history.replaceState(history.state, "", this.#hash());
	}
}

/** Returns the beginning of a text. @param {string} text */
const cut = (text) => (text.length > 300 ? `${text.slice(0, 300)}…` : text);

/** Shows the document that is in the page itself. */
function boot() {
	const [block, root] = ["turnfold", "viewer"].map((id) => document.getElementById(id));
	if (!block || !root) return;
	try {
		new Viewer(root).load(JSON.parse(block.textContent ?? "").frames);
	} catch (error) {
		root.replaceChildren(html("p", { role: "alert" }, `This file is damaged and cannot be shown: ${error}`));
		throw error;
	}
}

boot();
