/**
 * The blocks of a picture.
 *
 * @import {Layout, Shape} from "./frames.d.ts"
 * @import {Timeline} from "./timeline.js"
 */
import { BoardView } from "./board.js";
import { button, filled, html } from "./elements.js";
import { hexes, squares } from "./layout.js";
import { ListView } from "./lists.js";
import { meaningsOf } from "./words.js";

/** The blocks of a picture; boards can be enlarged and panned. */
export class PictureView {
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
		const lines = shapes.flatMap((shape, block) => (shape === "lines" ? [...(timeline.blocks[block]?.values() ?? [])] : []));
		const meanings = meaningsOf(lines.map((track) => track.at(position) ?? []));
		for (const view of this.views) view.meanings = meanings;
		const changes = this.views.flatMap((view, block) => view.draw(timeline.blocks[block] ?? new Map(), position));
		const more = changes.length > 20 ? ` and ${changes.length - 20} more` : "";
		this.changes.textContent = `Arrow keys go from ${this.boards[0]?.layout.kind} to the next, ] and [ to the next and the previous that is marked. Changed: ${changes.slice(0, 20).join("; ") || "none"}${more}.`;
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
