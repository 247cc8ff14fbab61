/**
 * A frame in which a board is enlarged: to where its pieces are, where all of it would be too small to read or to touch
 * (VW-51), and by buttons.
 *
 * @import {BoardView} from "./board.js"
 * @import {At} from "./frames.d.ts"
 */
import { button, filled, html } from "./elements.js";

/** How many pixels a unit of a board takes (a hex is 40 wide): where all of a board is shown, the least and the most
 * of a part, and the least at which coordinates can be read. */
const [EASY, PART_MIN, PART_MAX, READABLE] = [0.9, 0.6, 1.2, 0.86];

/** The step of the buttons, and how far they enlarge. */
const [STEP, LARGEST] = [1.5, 1.5 ** 5];

/** @param {number} least @param {number} value @param {number} most */
const between = (least, value, most) => Math.min(Math.max(value, least), most);

/** A board with buttons to enlarge it. */
export class ZoomFrame {
	#scale = 0;
	#whole = 0;
	/** The size of the frame. */ #room = [0, 0];
	/** Whether the buttons have set how large the board is. */
	#isChosen = false;
	#pan = html("div", { class: "pan" });
	#smaller = button("Zoom out", () => this.#zoom(1 / STEP));
	#larger = button("Zoom in", () => this.#zoom(STEP));

	/** @param {BoardView} board */
	constructor(board) {
		this.board = board;
		this.#pan.append(board.element);
		this.#pan.style.aspectRatio = board.layout.size.join(" / ");
		this.element = html("div", { class: "boardbox" }, this.#pan, html("div", { class: "zoom" }, this.#smaller, this.#larger));
		new ResizeObserver(([{ contentRect: { width, height } }]) => ((this.#room = [width, height]), this.fit())).observe(this.#pan);
	}

	/** Shows what stands on the board and can be chosen, as large as it fits; what is in sight stays where it is. */
	fit() {
		const [[width, height], { size }] = [this.#room, this.board.layout];
		const whole = Math.min(width / size[0], height / size[1]);
		const isResized = whole !== this.#whole;
		if (whole === 0 || (this.#isChosen && !isResized)) return;
		if (this.#isChosen) return this.#show(Math.max(whole, (this.#scale * whole) / this.#whole), whole);
		const part = whole < EASY ? this.board.part() : null;
		if (!part) return void ((isResized || this.#scale !== whole) && this.#show(whole, whole));
		const [left, top, right, bottom] = part;
		const wanted = Math.max(whole, PART_MIN, Math.min(PART_MAX, width / (right - left), height / (bottom - top)));
		const isSteady = !isResized && this.#scale <= wanted && this.#scale > wanted * 0.8;
		const scale = isSteady ? this.#scale : wanted;
		const [now, cursor] = [this.#middle(), this.board.layout.middle(this.board.cursor)];
		/** @param {0 | 1} axis @param {number} from @param {number} to */
		const settled = (axis, from, to) => {
			const [half, at] = [this.#room[axis] / scale / 2, cursor[axis]];
			if (to - from <= 2 * half) return isSteady ? between(to - half, now[axis], from + half) : (from + to) / 2;
			// What does not fit is shown around the last change.
			return between(from + half, between(at - half + 50, isSteady ? now[axis] : at, at + half - 50), to - half);
		};
		const middle = /** @type {At} */ ([settled(0, left, right), settled(1, top, bottom)]);
		if (!isSteady || middle.some((at, axis) => Math.abs(at - now[axis]) > 1)) this.#show(scale, whole, middle);
	}

	/** Shows the board at a scale, around a point of it. @param {number} scale @param {number} whole the scale of all of it
	 * @param {At} [middle] */
	#show(scale, whole, middle = this.#middle()) {
		const [width, height] = this.board.layout.size;
		const isLarger = scale > whole * 1.01;
		[this.#scale, this.#whole] = [scale, whole];
		const drawn = isLarger ? { width: Math.round(width * scale), height: Math.round(height * scale) } : { width: "100%", height: "100%" };
		filled(this.board.element, drawn).classList.toggle("unread", scale < READABLE);
		this.#pan.classList.toggle("zoomed", isLarger && (this.#isChosen || scale === PART_MIN));
		this.#pan.scrollTo((middle[0] + width / 2) * scale - this.#room[0] / 2, (middle[1] + height / 2) * scale - this.#room[1] / 2);
		[this.#smaller.disabled, this.#larger.disabled] = [!isLarger, scale >= whole * LARGEST * 0.99];
	}

	/** Returns the point of the board in the middle of the frame. @returns {At} */
	#middle() {
		if (!this.#scale) return [0, 0];
		const [[width, height], { size }, { scrollLeft, scrollTop }] = [this.#room, this.board.layout, this.#pan];
		return [(scrollLeft + width / 2) / this.#scale - size[0] / 2, (scrollTop + height / 2) / this.#scale - size[1] / 2];
	}

	/** @param {number} by */
	#zoom(by) {
		this.#isChosen = true;
		const scale = Math.min(this.#whole * LARGEST, Math.max(this.#whole, this.#scale * by));
		this.#show(scale < this.#whole * 1.2 ? this.#whole : scale, this.#whole);
	}
}
