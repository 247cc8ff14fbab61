/**
 * The viewer of a match that goes on: it takes new frames, marks what may be chosen, and shows what would be.
 *
 * @import {Frame, Frames} from "./frames.d.ts"
 */
import { Timeline, Viewer } from "./viewer.js";

/** A viewer of a match that goes on. */
export class LiveViewer extends Viewer {
	/** What is marked of what commands are made of, such as with ` reach`. @type {Map<string, string>} */ #marks = new Map();

	/** @param {HTMLElement} root @param {(parts: string[]) => void} pick what is done when parts of commands are clicked */
	constructor(root, pick) {
		super(root);
		this.addEventListener("pick", (event) => {
			const [board, place] = /** @type {CustomEvent} */ (event).detail;
			pick([`${board} ${place}`, ...this.#named(board).flatMap(([at, name]) => (`${at}` === place ? [`@${name}`] : []))]);
		});
		const { element } = this.picture;
		/** @param {Event} event */
		const target = ({ target }) => {
			const row = target instanceof Element ? target.closest("[data-target][role=button], .row, .bar") : null;
			const named = row?.matches(".row, .bar") ? row.querySelector(":scope > [role=button]") : row;
			if (named) pick([`@${named.getAttribute("data-target")}`]);
			return named;
		};
		element.addEventListener("click", target);
		element.addEventListener("keydown", (event) => {
			const isOn = event.target instanceof Element && event.target.matches("[data-target]");
			if (isOn && (event.key === "Enter" || event.key === " ") && target(event)) event.preventDefault();
		});
	}

	/** Reads the entries before the first one shown, down to a number. @type {(number: number) => Promise<void>} */
	readBack = async () => {};

	get isFirst() {
		return super.isFirst && this.timeline.after === 0;
	}

	/** @param {number} number */
	reach(number) {
		if (this.#isThere(number)) return super.reach(number);
		this.#reading(number, () => super.reach(number));
	}

	/** @param {number} position */
	go(position) {
		const { after } = this.timeline;
		if (position > 0 || after === 0) return super.go(position);
		const number = Math.max(0, after + position);
		this.#reading(number, () => super.go(this.timeline.position(number)));
	}

	play() {
		if (this.position < this.length || this.timeline.after === 0) return super.play();
		this.#reading(0, () => super.play());
	}

	/** @param {string} text */
	goTo(text) {
		const number = Number(text.replace("#", "").trim() || NaN);
		if (this.#isThere(number)) return super.goTo(text);
		this.#reading(number, () => super.goTo(text));
	}

	/** @param {string} text @param {1 | -1} way */
	find(text, way) {
		if (this.timeline.after === 0 || !text) return super.find(text, way);
		this.#reading(0, () => super.find(text, way));
	}

	/** Puts frames before those that are there, and goes on showing the same entry. @param {Frames} earlier */
	prepend(earlier) {
		const { frames } = this.timeline;
		const number = this.timeline.number(this.position);
		this.take({ ...earlier, frames: [...earlier.frames, ...frames] });
		this.show(this.timeline.position(number));
	}

	/** @param {number} number */
	#isThere(number) {
		const { after } = this.timeline;
		return after === 0 || number > after || !Number.isInteger(number);
	}

	/** Reads back to an entry before it does something. @param {number} number @param {() => void} then */
	async #reading(number, then) {
		this.report("Reading earlier entries…");
		await this.readBack(number);
		this.report("");
		then();
	}

	/** Adds frames in place of those after `position`. @param {Frame[]} frames @param {number} [position] */
	append(frames, position = this.length) {
		const { timeline } = this;
		timeline.frames.length = Math.min(timeline.frames.length, position);
		for (const track of [timeline.shapes, ...timeline.blocks.flatMap((places) => [...places.values()])]) {
			track.from.length = track.values.length = track.index(position) + 1;
		}
		timeline.append(frames);
		this.grown(position + 1);
		this.show(Math.min(this.position, this.length));
	}

	/** @param {number} position */
	show(position) {
		super.show(position);
		this.#markNamed();
	}

	/** Marks what commands are made of, such as with ` reach`. @param {Map<string, string>} marks */
	mark(marks) {
		this.#marks = marks;
		this.#markBoards();
		this.show(this.position);
	}

	/** Shows what would be, until another position is shown. @param {Frames} frames */
	preview(frames) {
		const timeline = new Timeline(frames);
		this.picture.draw(timeline, timeline.frames.length);
		this.#markNamed();
	}

	/** Returns the hexes of a board that stand for parts of commands. @param {number} board @returns {[at: [number, number], name: string][]} */
	#named(board) {
		const block = this.picture.views.indexOf(this.picture.boards[board]);
		return /** @type {any} */ (this.timeline.blocks[block]?.get("targets")?.at(this.position) ?? []);
	}

	#markBoards() {
		this.picture.boards.forEach((view, board) => {
			view.marks = new Map([...this.#marks].flatMap(([part, mark]) => (part.startsWith(`${board} `) ? [[part.slice(`${board} `.length), mark]] : [])));
			for (const [at, name] of this.#named(board)) {
				const mark = this.#marks.get(`@${name}`);
				if (mark) view.marks.set(`${at}`, mark);
			}
		});
	}

	/** Makes buttons of the pieces, rows, bars and chips that may be chosen. Of those with one name, Tab goes to the first. */
	#markNamed() {
		const names = new Set();
		for (const element of this.picture.element.querySelectorAll("[data-target]")) {
			const target = element.getAttribute("data-target");
			const mark = this.#marks.get(`@${target}`) ?? "";
			element.classList.toggle("reach", mark === " reach");
			element.classList.toggle("chosen", mark === " chosen");
			const tabindex = names.has(target) ? "-1" : "0";
			if (mark) names.add(target);
			for (const [name, value] of Object.entries({ role: "button", tabindex })) {
				if (mark) element.setAttribute(name, value);
				else element.removeAttribute(name);
			}
			if (mark === " chosen") element.setAttribute("aria-pressed", "true");
			else element.removeAttribute("aria-pressed");
		}
	}

	/** Returns what the last picture names. */
	names() {
		const { timeline, length } = this;
		const shapes = timeline.shapes.at(length) ?? [];
		const names = timeline.blocks.flatMap((places, block) => [...places].flatMap(([place, track]) => {
			const content = /** @type {any} */ (track.at(length));
			if (!content) return [];
			if (place === "targets") return content.map((/** @type {[unknown, string]} */ [, name]) => name);
			if (shapes[block] === "bars") return [content[5], ...content[4].map((/** @type {string[]} */ chip) => chip[2])];
			return shapes[block] === "rows" ? [content[2], ...content[1].map((/** @type {string[]} */ piece) => piece[3])] : [];
		}));
		return new Set(names.filter(Boolean));
	}

	/** Goes to another address of this page; "back" returns to this entry. @param {string} address */
	leave(address) {
		this.write();
		history.pushState(null, "", address);
	}
}
