/**
 * Every position of a log, made of frames (VW-12).
 *
 * @import {Block, Cell, Content, Frame, Frames, Shape} from "./frames.d.ts"
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
export class Track {
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

	/** Returns since when a place holds what it holds at a position. @param {number} position */
	since(position) {
		return this.from[this.index(position)] ?? 0;
	}

	/** @param {number} position */
	isNew(position) {
		return position > 0 && this.since(position) === position;
	}
}

/** The places of a block: `q,r` or `e4`, `arrows` and `targets` of a board, else the index. @typedef {Map<string, Track<Content>>} Places */

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
function contentsOf({ grid, cells, arrows, targets, lines, rows, bars }) {
	/** @type {Map<string, Content>} */ const contents = new Map();
	const size = grid ? 1 : 2;
	for (const cell of cells ?? []) contents.set(`${cell.slice(0, size)}`, /** @type {Cell} */ (cell.slice(size)));
	if (cells) contents.set("arrows", arrows ?? []);
	if (targets) contents.set("targets", targets);
	(lines ?? rows ?? bars ?? []).forEach((item, index) => contents.set(`${index}`, item));
	return contents;
}

/** @param {unknown} one @param {unknown} other */
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** Before anything is loaded. */
export const NOTHING = new Timeline({ after: 0, picture: [], frames: [] });
