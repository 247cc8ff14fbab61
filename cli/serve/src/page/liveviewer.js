/**
 * The viewer of a live match. It adds new frames, marks what may be chosen, and shows previews.
 *
 * @import {Frame, Frames} from "./frames.d.ts"
 */
import { Timeline, Viewer } from "./viewer.js";

/** How many entries around a requested one are read at once. */
const WINDOW = 500;

/** The longest step that is counted in entries even over gaps. */
const STEP_MAX = 10;

/** Returns a frame that stands for entries that were not read. @param {number} gap the entry before them @param {number} seq the last one
 * @param {Pick<Frame, "picture" | "standing">} shown what is shown after the last one @returns {Frame} */
function gapOf(gap, seq, { picture, standing }) {
	const record = { seq, seat: "", command: `${gap + 1} to ${seq}`, outcome: "applied" };
	return { record, text: "not read yet", picture, standing, fields: [], gap };
}

/** The viewer of a live match. */
export class LiveViewer extends Viewer {
	/** The marks of parts of commands, such as ` reach`. @type {Map<string, string>} */ #marks = new Map();

	/** @param {HTMLElement} root @param {(parts: string[]) => void} pick called when parts of commands are clicked */
	constructor(root, pick) {
		super(root);
		addEventListener("hashchange", () => this.isAddressed && !location.hash && this.go(this.length));
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

	/** Reads the frames after an entry up to another, at least up to `least`; null if that failed.
	 * @type {(after: number, at: number, least: number) => Promise<Frames | null>} */
	read = async () => null;

	/** Whether the address names the entry that is shown. Then new entries do not change the position (VW-14). */
	isPinned = false;

	/** Whether new entries are shown as they come. */
	get isFollowing() {
		return !this.isPinned && this.position === this.length;
	}

	/** Returns the address, which names no entry while the end is followed. */
	address() {
		return this.isFollowing ? location.pathname + location.search : super.address();
	}

	get isFirst() {
		return super.isFirst && this.timeline.after === 0;
	}

	/** The entry after which all entries were read. */
	get tail() {
		return this.timeline.frames.findLast(({ gap }) => gap !== undefined)?.record.seq ?? this.timeline.after;
	}

	/** @param {number} number */
	reach(number) {
		this.isPinned = true;
		if (this.#unread(number)) this.#reading(number, () => this.reach(number));
		else super.reach(number);
	}

	/** Goes some entries forward or back, even over entries that were not read. @param {number} by */
	step(by) {
		const { timeline, position } = this;
		const to = position + by;
		const passed = timeline.frames.slice(Math.max(0, Math.min(position, to)), Math.max(position, to));
		const isOver = passed.some(({ gap }) => gap !== undefined) || (to <= 0 && timeline.after > 0);
		if (!isOver || Math.abs(by) > STEP_MAX) return super.step(by);
		this.pause();
		this.goTo(`${Math.max(0, timeline.number(position) + by)}`);
	}

	/** @param {number} position */
	go(position) {
		this.isPinned = false;
		const number = position > 0 ? this.timeline.number(position) : 0;
		if (position < this.length && this.#unread(number)) this.#reading(number, () => this.goTo(`${number}`));
		else super.go(position);
	}

	play() {
		if (this.position < this.length || !this.#unread(0)) return super.play();
		this.#reading(0, () => super.play());
	}

	/** @param {string} text @param {boolean} [isPinned] @returns {Promise<void>} */
	async goTo(text, isPinned = false) {
		const number = Number(text.replace("#", "").trim() || NaN);
		if (this.#unread(number)) return this.#reading(number, () => this.goTo(text, isPinned));
		super.goTo(text);
		this.isPinned = isPinned;
	}

	/** @param {string} text @param {1 | -1} way */
	find(text, way) {
		if (!text) return super.find(text, way);
		this.#readAll(() => super.find(text, way));
	}

	/** @param {string} path @param {1 | -1} way */
	goToChange(path, way) {
		const isThere = way > 0 && this.timeline.number(this.position) >= this.tail;
		if (isThere) super.goToChange(path, way);
		else this.#readAll(() => super.goToChange(path, way));
	}

	/** Returns the gap that contains an entry: the entries after the first number, up to the second.
	 * @param {number} number @returns {[after: number, to: number] | undefined} */
	#unread(number) {
		const { timeline } = this;
		const position = timeline.position(number);
		for (const { gap, record } of timeline.frames.slice(Math.max(0, position - 1), position + 1)) {
			if (gap !== undefined && number > gap && number <= record.seq) return [gap, record.seq];
		}
		if (timeline.after > 0 && number <= timeline.after) return [0, timeline.after];
	}

	/** What to do once an entry was read; only the last request counts. @type {{number: number, then: () => void} | null} */
	#wanted = null;
	/** The reading that runs; it ends when no entry is wanted. @type {Promise<void> | null} */ #reader = null;

	/** Reads the entries around one, then calls `then`. @param {number} number @param {() => void} then */
	#reading(number, then) {
		this.#wanted = { number, then };
		this.report("Reading entries…");
		this.#reader ??= this.#readWanted();
		return this.#reader;
	}

	async #readWanted() {
		await null; // so that `#reader` is set before this ends
		while (this.#wanted) {
			const wanted = /** @type {{number: number, then: () => void}} */ (this.#wanted);
			const [after, to] = this.#unread(wanted.number) ?? [0, 0];
			const isThere = to === 0 || (await this.#readPart(after, to, wanted.number));
			if (this.#wanted !== wanted) continue;
			this.#wanted = null;
			this.report("");
			if (isThere) wanted.then();
		}
		this.#reader = null;
	}

	/** Reads the part of a gap around an entry. @param {number} after @param {number} to @param {number} number */
	async #readPart(after, to, number) {
		const [from, at] = [Math.max(after, number - WINDOW / 2), Math.min(to, Math.max(0, number - WINDOW / 2) + WINDOW)];
		const part = await this.read(from, at, number);
		if (!part || `${this.#unread(number)}` !== `${[after, to]}`) return false;
		this.#insert(part, after, to);
		return true;
	}

	/** Reads all gaps, then calls `then`. @param {() => void} then */
	async #readAll(then) {
		for (let isThere = true; isThere && !this.#reader; ) {
			const to = this.tail;
			if (to === 0) return then();
			const [after] = this.#unread(to) ?? [0];
			this.report("Reading entries…");
			const part = await this.read(after, to, to);
			isThere = part !== null && `${this.#unread(to)}` === `${[after, to]}`;
			if (part && isThere) this.#insert(part, after, to);
		}
	}

	/** What the document shows before its first frame. @type {Frames} */ #start = { after: 0, picture: [], frames: [] };

	/** @param {Frames} frames */
	take(frames) {
		this.#start = { ...frames, frames: [] };
		super.take(frames);
	}

	/** Fills a gap, or a part of it, with frames. The same entry stays in sight. @param {Frames} part
	 * @param {number} after @param {number} to */
	#insert(part, after, to) {
		const { timeline } = this;
		const number = timeline.number(this.position);
		const end = part.frames.at(-1)?.record.seq ?? part.after;
		const index = timeline.frames.findIndex(({ gap, record }) => gap === after && record.seq === to);
		// What is shown before the first frame belongs to the end of the gap.
		const { picture, standing } = index < 0 ? this.#start : timeline.frames[index];
		const before = index < 0 || part.after === after ? [] : [gapOf(after, part.after, part)];
		const behind = end < to ? [gapOf(end, to, { picture, standing })] : [];
		const frames = [...timeline.frames.slice(0, Math.max(0, index)), ...before, ...part.frames, ...behind, ...timeline.frames.slice(index + 1)];
		this.take({ ...(index < 0 ? part : this.#start), frames });
		super.show(this.timeline.position(number));
	}

	/** Replaces the frames after `position`. @param {Frame[]} frames @param {number} [position] */
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
		const { timeline } = this;
		if (timeline.frames[position - 1]?.gap !== undefined) {
			// Playing has reached a gap.
			const number = timeline.number(this.position) + 1;
			return void this.#reading(number, () => this.show(this.timeline.position(number)));
		}
		super.show(position);
		this.#markNamed();
	}

	/** Marks parts of commands, such as with ` reach`. @param {Map<string, string>} marks */
	mark(marks) {
		this.#marks = marks;
		this.#markBoards();
		// Draw the position again instead of going there, because that could read a gap.
		super.show(this.position);
		this.#markNamed();
	}

	/** Shows the last of some frames until another position is shown. @param {Frames} frames */
	preview(frames) {
		const timeline = new Timeline(frames);
		this.picture.draw(timeline, timeline.frames.length);
		this.#markNamed();
	}

	/** Returns the hexes of a board that stand for parts of commands, with the parts' names. @param {number} board @returns {[at: [number, number], name: string][]} */
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

	/** Makes the pieces, rows, bars and chips that may be chosen into buttons. Tab goes to the first one with each name. */
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

	/** Returns the names of parts of commands in the last picture. */
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
