/**
 * The blocks of a picture.
 *
 * @import {Layout, Shape} from "./frames.d.ts"
 * @import {Timeline} from "./timeline.js"
 */
import { BoardView } from "./board.js";
import { filled, html } from "./elements.js";
import { hexes, squares } from "./layout.js";
import { ListView } from "./lists.js";
import { meaningsOf } from "./words.js";
import { ZoomFrame } from "./zoom.js";

/** Where windows are low, what stands besides the board is folded (VW-51). */
const isLow = matchMedia("(max-height: 30rem)");

/** The blocks of a picture; boards can be enlarged and panned. */
export class PictureView {
	/** @type {(BoardView | ListView)[]} */ views = [];
	/** @type {BoardView[]} */ boards = [];
	/** @type {ZoomFrame[]} */ #frames = [];
	/** @type {Shape[]} */ #shapes = [];

	/** @param {(board: number, place: string) => void} pick @param {string} [id] of the words that describe the boards */
	constructor(pick, id = "board-changes") {
		this.pick = pick;
		this.element = html("div", { class: "picture" });
		this.changes = html("p", { class: "unseen", id });
		this.roster = html("details", { class: "roster" });
		const fold = () => (this.roster.open = !isLow.matches);
		isLow.addEventListener("change", fold);
		fold();
	}

	/** @param {Timeline} timeline @param {number} position */
	draw(timeline, position) {
		const shapes = timeline.shapes.at(position) ?? [];
		if (JSON.stringify(shapes) !== JSON.stringify(this.#shapes)) this.#make(shapes);
		this.#shapes = shapes;
		const lines = shapes.flatMap((shape, block) => (shape === "lines" ? [...(timeline.blocks[block]?.values() ?? [])] : []));
		const meanings = meaningsOf(lines.map((track) => track.at(position) ?? []));
		for (const view of this.views) view.meanings = meanings;
		const changes = this.views.flatMap((view, block) => view.draw(timeline.blocks[block] ?? new Map(), position));
		for (const frame of this.#frames) frame.fit();
		const more = changes.length > 20 ? ` and ${changes.length - 20} more` : "";
		const keys = this.boards.length > 0 ? `Arrow keys go from ${this.boards[0].layout.kind} to the next, ] and [ to the next and the previous that is marked. ` : "";
		this.changes.textContent = `${keys}Changed: ${changes.slice(0, 20).join("; ") || "none"}${more}.`;
	}

	/** @param {Shape[]} shapes */
	#make(shapes) {
		/** @param {Layout} layout */
		const board = (layout) => new BoardView(layout, (board, place) => this.pick(this.boards.indexOf(board), place));
		this.views = shapes.map((shape) => (typeof shape === "string" ? new ListView(shape) : board(typeof shape === "number" ? hexes(shape) : squares(shape))));
		this.boards = this.views.filter((view) => view instanceof BoardView);
		for (const { element } of this.boards) filled(element, { "aria-describedby": this.changes.id });
		this.#frames = this.boards.map((board) => new ZoomFrame(board));
		const elements = this.views.map((view) => (view instanceof BoardView ? this.#frames[this.boards.indexOf(view)].element : view.element));
		this.element.classList.toggle("boarded", this.boards.length > 0);
		const first = elements.findIndex((element) => element.matches(".boardbox"));
		const rest = elements.filter((element, index) => first >= 0 && index > first && !element.matches(".boardbox"));
		this.roster.replaceChildren(html("summary", {}, "Details"), ...rest);
		this.element.replaceChildren(...elements.filter((element) => !rest.includes(element)), ...(rest.length > 0 ? [this.roster] : []), this.changes);
	}
}
