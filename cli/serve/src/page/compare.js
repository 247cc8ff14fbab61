/**
 * Shows two branches of a match next to each other, and steps through both together (VW-57).
 *
 * @import {Frames} from "./frames.d.ts"
 * @import {Api} from "./api.js"
 */
import { LogView, PictureView, Timeline, bdi, button, html, isChord, seatClass, shown, span, worded } from "./viewer.js";

/** How many entries each key goes. @type {Record<string, number>} */
const KEYS = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity };

/** Returns the address of a comparison. @param {string} match @param {string} branch @param {string} other @param {string} as */
export function comparisonOf(match, branch, other, as) {
	return `/m/${match}?${new URLSearchParams({ branch, compare: other, ...(as ? { as } : {}) })}`;
}

/** Shows the comparison that the address names. @param {Api} api @param {string} match @param {HTMLElement} root */
export async function showComparison(api, match, root) {
	const asked = new URLSearchParams(location.search);
	const branches = [asked.get("branch") ?? "main", asked.get("compare") ?? "main"];
	root.replaceChildren(html("p", { role: "status" }, "Loading…"));
	/** @type {import("./match.js").MatchInfo} */ const info = await api.get(`/v1/matches/${match}`);
	const title = info.title || match;
	document.title = `${branches.join(" and ")} – ${title}`;
	document.querySelector("h1")?.replaceChildren(html("bdi", {}, shown(title)));
	const frames = await Promise.all(branches.map((branch) => readAll(api, match, branch, asked.get("as") ?? "")));
	new Comparison(match, branches, frames, root);
}

/** Reads a branch from the setup to its head. @param {Api} api @param {string} match @param {string} branch @param {string} as @returns {Promise<Frames>} */
async function readAll(api, match, branch, as) {
	const path = `/v1/matches/${match}/branches/${encodeURIComponent(branch)}/frames`;
	/** @param {number} after @param {number} [at] */
	const read = (after, at) => api.get(`${path}?${new URLSearchParams({ after: `${after}`, ...(at === undefined ? {} : { at: `${at}` }), ...(as ? { as } : {}) })}`);
	const frames = await read(0);
	for (let { next } = frames; next !== null; ) {
		const more = await read(next, frames.head);
		frames.frames.push(...more.frames);
		next = more.next;
	}
	return frames;
}

/** One of the two branches. */
class Side {
	log = new LogView();
	current = html("p", { class: "current" });

	/** @param {string} match @param {string} branch @param {Frames} frames @param {number} parting @param {number} number */
	constructor(match, branch, frames, parting, number) {
		this.timeline = new Timeline(frames);
		this.picture = new PictureView(() => {}, `board-changes-${number}`);
		this.log.parting = parting;
		this.log.update(this.timeline);
		const link = html("a", { href: `/m/${match}?branch=${encodeURIComponent(branch)}` }, html("bdi", {}, shown(branch)));
		const stage = html("div", { class: "stage", tabindex: 0, role: "group", "aria-label": `Picture of ${shown(branch)}` }, this.picture.element);
		this.element = html("section", { class: "side", "aria-label": `Branch ${shown(branch)}` }, html("h2", {}, link), this.current, stage, this.log.element);
		this.log.element.setAttribute("aria-label", `Log of ${shown(branch)}`);
	}

	get length() {
		return this.timeline.frames.length;
	}

	/** @param {number} wanted */
	show(wanted) {
		const position = Math.min(wanted, this.length);
		const frame = this.timeline.frames[position - 1];
		this.picture.draw(this.timeline, position);
		this.log.show(position);
		const parts = frame ? [span(seatClass(frame.record.seat), frame.record.seat), " ", bdi("command", frame.record.command), " ", bdi("outcome", frame.text), html("bdi", { class: "sentence" }, ...worded(frame.sentence ?? ""))] : ["setup"];
		this.current.classList.toggle("worded", Boolean(frame?.sentence));
		this.current.replaceChildren(html("strong", {}, `${this.timeline.number(position)}`), ` of ${this.timeline.number(this.length)} `, ...parts);
	}
}

/** Both branches, and the buttons for steps. */
class Comparison {
	position = 0;
	#writing = 0;
	status = html("p", { class: "compared", role: "status" });
	slider = html("input", { type: "range", min: 0, value: 0, "aria-label": "Entry" });

	/** @param {string} match @param {string[]} branches @param {Frames[]} frames @param {HTMLElement} root */
	constructor(match, branches, frames, root) {
		this.parting = partingOf(frames);
		this.sides = branches.map((branch, index) => new Side(match, branch, frames[index], this.parting, index + 1));
		this.length = Math.max(...this.sides.map(({ length }) => length));
		this.slider.max = `${this.length}`;
		this.slider.addEventListener("input", () => this.show(Number(this.slider.value)));
		this.back = html("a", {}, "Back to the match");
		this.address = `/m/${match}?branch=${encodeURIComponent(branches[0])}`;
		/** @param {number} by */
		const step = (by) => () => this.show(this.position + by);
		const steps = [button("First", step(-Infinity)), button("Previous", step(-1)), button("Next", step(1)), button("Last", step(Infinity))];
		const part = html("button", { type: "button" }, "First difference");
		part.addEventListener("click", () => this.show(this.parting));
		part.hidden = this.parting === 0;
		const dock = html("div", { class: "controls", role: "group", "aria-label": "Steps" }, this.slider, html("div", { class: "buttons" }, ...steps), part, this.back);
		document.body.classList.add("comparing");
		root.replaceChildren(this.status, html("div", { class: "sides" }, ...this.sides.map(({ element }) => element)), dock);
		this.status.textContent = this.parting ? `The branches first differ at entry ${this.#number(this.parting)}.` : "The branches are the same.";
		root.addEventListener("click", (event) => {
			const link = event.target instanceof Element && !isChord(event) ? event.target.closest("a") : null;
			if (!link?.closest(".entries")) return;
			event.preventDefault();
			this.#follow(link.hash);
		});
		document.addEventListener("keydown", (event) => this.#pressed(event));
		addEventListener("hashchange", () => this.#follow(location.hash));
		if (!this.#follow(location.hash)) this.show(this.parting || this.length);
	}

	/** Shows a position of both branches; a shorter branch stays at its end. @param {number} position */
	show(position) {
		this.position = Math.max(0, Math.min(this.length, position));
		for (const side of this.sides) side.show(this.position);
		const number = this.#number(this.position);
		this.slider.value = `${this.position}`;
		this.slider.setAttribute("aria-valuetext", `${number}`);
		this.back.href = `${this.address}#${number}`;
		// Browsers refuse addresses that change too often.
		this.#writing ||= window.setTimeout(() => {
			this.#writing = 0;
			history.replaceState(history.state, "", `#${this.#number(this.position)}`);
		}, 200);
	}

	/** Returns the number of the entry at a position, in the longer branch. @param {number} position */
	#number(position) {
		return Math.max(...this.sides.map(({ timeline }) => timeline.number(Math.min(position, timeline.frames.length))));
	}

	/** @param {string} hash */
	#follow(hash) {
		const number = /^#(\d+)$/.exec(hash)?.[1];
		if (!number) return false;
		this.show(Math.max(...this.sides.map(({ timeline }) => timeline.position(Number(number)))));
		return true;
	}

	/** @param {KeyboardEvent} event */
	#pressed(event) {
		const target = event.target instanceof Element ? event.target : document.body;
		const by = KEYS[event.key];
		if (by === undefined || event.defaultPrevented || isChord(event) || target.closest("input, [role=application]")) return;
		event.preventDefault();
		this.show(this.position + by);
	}
}

/** Returns the position of the first entry that differs, or 0 if none does. @param {Frames[]} frames */
function partingOf([one, other]) {
	const [length, most] = [one, other].map(({ frames }) => frames.length).sort((one, other) => one - other);
	/** @param {Frames} frames @param {number} index */
	const entry = ({ frames }, index) => JSON.stringify([frames[index].record.seat, frames[index].record.command, frames[index].text]);
	let same = 0;
	while (same < length && entry(one, same) === entry(other, same)) same++;
	return same === most ? 0 : same + 1;
}
