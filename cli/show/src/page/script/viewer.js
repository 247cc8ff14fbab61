/**
 * Shows a game entry by entry from frames: what changed in one viewer's picture, and never a rule of a game.
 * Text from frames reaches the page as text nodes and harmless attributes, never as markup.
 *
 * @import {Frame, Frames} from "./frames.d.ts"
 */
import { SIGNS, bdi, button, filled, html, inNames, isChord, playerOf, seatClass, showRaw, shown, span, wasRaw, worded } from "./elements.js";
import { LogView, drawChanges } from "./log.js";
import { PictureView } from "./picture.js";
import { NOTHING, Timeline } from "./timeline.js";
export { NAMES, bdi, button, html, inNames, isChord, playerOf, seatClass, shown, span, svg, worded } from "./elements.js";
export { LogView } from "./log.js";
export { PictureView } from "./picture.js";
export { Timeline } from "./timeline.js";

/** @param {string} name @param {string} title @param {Node[]} children */
const section = (name, title, ...children) => html("section", { class: name, "aria-label": title }, html("h2", {}, title), ...children);

/** The keys of the page and how far they go. @type {Record<string, number>} */
const KEYS = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity };

/**
 * The page of one match: status, board, slider, buttons, log and changed fields, in this order.
 *
 * It dispatches `position` (another one is shown) and `pick` (`detail`: a board's number, and the place chosen there).
 */
export class Viewer extends EventTarget {
	timeline = NOTHING;
	position = 0;
	/** Whether the address names the entry. */
	isAddressed = true;
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
	backs = [button("First", () => this.step(-Infinity)), button("Previous", () => this.step(-1))];
	ons = [button("Next", () => this.step(1)), button("Last", () => this.step(Infinity))];
	player = button("Play", () => (this.#playing ? this.pause() : this.play()));
	speed = html("select", { "aria-label": "Speed" }, ...[1, 2, 4, 8, 16].map((speed) => html("option", { value: speed }, `${speed}/s`)));

	/** @param {HTMLElement} root what the page is made in */
	constructor(root) {
		super();
		document.body.classList.add("app");
		showRaw(wasRaw());
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
		this.take(frames);
		if (!this.#follow()) this.show(this.length);
	}

	/** Has a document in place of the one that was there. @param {Frames} frames */
	take(frames) {
		this.timeline = new Timeline(frames);
		this.grown(0);
	}

	/** Whether nothing comes before what is shown. */
	get isFirst() {
		return this.position === 0;
	}

	/** Shows the last position up to an entry's number. @param {number} number */
	reach(number) {
		this.show(this.timeline.position(number));
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

	/** Goes to the entry with a number, or reports that there is none. @param {string} text */
	goTo(text) {
		const number = Number(text.replace("#", "").trim() || NaN);
		if (!Number.isInteger(number)) return this.report("Type the number of an entry.");
		this.go(this.timeline.position(number));
		const found = this.timeline.number(this.position);
		this.report(found === number ? "" : `There is no entry ${number}; this is ${found}.`);
	}

	/** Goes to the next or previous entry that holds a text, around the ends too. @param {string} text @param {1 | -1} way */
	find(text, way) {
		if (!text) return this.report("Type what to look for.");
		for (const { record, text, sentence = "" } of this.timeline.frames.slice(this.#lines.length)) {
			this.#lines.push(`${record.seat} ${record.command} => ${text}\n${inNames(sentence)}`.toLowerCase());
		}
		const wanted = text.toLowerCase();
		const found = this.#lines.flatMap((line, index) => (line.includes(wanted) ? [index + 1] : []));
		const next = way > 0 ? found.find((at) => at > this.position) : found.findLast((at) => at < this.position);
		const to = next ?? found.at(way > 0 ? 0 : -1);
		if (to === undefined) return this.report("Nothing found.");
		this.go(to);
		const wrapped = next !== undefined ? "" : way > 0 ? ", on from the start" : ", back from the end";
		this.report(`Match ${found.indexOf(to) + 1} of ${found.length}${wrapped}.`);
	}

	/** Goes to the next or previous entry that changed a field. @param {string} path @param {1 | -1} way */
	goToChange(path, way) {
		const { frames } = this.timeline;
		/** @param {import("./frames.d.ts").Frame} frame */
		const changes = ({ fields }) => fields.some((field) => isWithin(field.path, path) || isWithin(path, field.path));
		const next = frames.findIndex((frame, index) => index >= this.position && changes(frame));
		const to = way > 0 ? next : frames.findLastIndex((frame, index) => index < this.position - 1 && changes(frame));
		if (to < 0) return this.report(`${path || "/"} has no ${way > 0 ? "later" : "earlier"} change.`);
		this.report("");
		this.go(to + 1);
	}

	/** Copies the address of the entry, or shows it. */
	async copyLink() {
		const address = new URL(Viewer.prototype.address.call(this), location.href).href;
		try {
			await navigator.clipboard.writeText(address);
			this.report("Link copied.");
		} catch {
			const field = html("input", { value: address, readonly: "", "aria-label": "Link to this entry" });
			this.note.replaceChildren("Copy it from here: ", field);
			field.select();
		}
	}

	/** Shows a text next to the search field. @param {string} text */
	report(text) {
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
		this.slider.addEventListener("input", () => this.step(Number(this.slider.value) - this.position));
		this.log.element.addEventListener("click", (event) => {
			const link = event.target instanceof Element ? event.target.closest("a") : null;
			if (!link || isChord(event)) return;
			event.preventDefault();
			link.focus({ preventScroll: true });
			this.pause();
			this.goTo(link.hash);
		});
		this.changes.addEventListener("click", ({ target }) => {
			const step = target instanceof HTMLElement ? target.closest("button") : null;
			if (!step) return;
			const [path, way] = [step.value, step.matches(":first-of-type") ? -1 : 1];
			this.pause();
			this.goToChange(path, /** @type {1 | -1} */ (way));
			this.#focusChange(path, way);
		});
		this.speed.addEventListener("change", () => this.#playing && (this.pause(), this.play()));
		document.addEventListener("keydown", (event) => this.#pressed(event));
		addEventListener("hashchange", () => this.#follow());
		this.#swiped(this.picture.element);
	}

	/** Keeps the focus on a field while its changes are gone through. @param {string} path @param {number} way */
	#focusChange(path, way) {
		const buttons = [...this.changes.querySelectorAll("button")].filter(({ value }) => value === path);
		(buttons[way > 0 ? 1 : 0] ?? this.changes).focus();
	}

	/** @param {KeyboardEvent} event */
	#pressed(event) {
		const target = event.target instanceof Element ? event.target : document.body;
		if (event.defaultPrevented || isChord(event) || target.closest("input, select, textarea, [role=menu]")) return;
		if (!event.key.startsWith("Page") && target.closest("[role=application]")) return;
		const inLog = this.log.element.contains(target);
		const by = inLog && event.key === "ArrowUp" ? -1 : inLog && event.key === "ArrowDown" ? 1 : KEYS[event.key];
		if (by === undefined) return;
		event.preventDefault();
		this.step(by);
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
			if (Math.abs(dx) > Math.max(40, 2 * Math.abs(dy))) this.step(dx < 0 ? 1 : -1);
		});
	}

	/** Steps as a person asked for, which ends playing. @param {number} by */
	step(by) {
		this.pause();
		this.report("");
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
		for (const button of this.backs) button.disabled = this.isFirst;
		for (const button of this.ons) button.disabled = position === this.length;
		this.changes.replaceChildren(...drawChanges(frame));
		this.dispatchEvent(new Event("position"));
	}

	/** @param {Frame | undefined} frame */
	#drawStatus(frame) {
		const [number, last] = [this.position, this.length].map((position) => this.timeline.number(position));
		const entry = frame
			? [bdi(seatClass(frame.record.seat), playerOf(frame.record.seat)), " ", bdi("command", cut(frame.record.command)), " ", bdi("outcome", cut(frame.text)), html("bdi", { class: "sentence" }, ...worded(cut(frame.sentence ?? "")))]
			: [span("command", "setup")];
		this.status.classList.toggle("worded", Boolean(frame?.sentence));
		const { standing } = frame ?? this.timeline;
		const stands = standing ? [bdi("standing", cut(standing)), " "] : [];
		this.status.replaceChildren(span("unseen", "Entry "), html("strong", {}, `${number}`), span("of", ` of ${last} `), ...stands, ...entry);
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
		this.reach(Number(number));
		return true;
	}

	/** Returns the address of the entry that is shown. */
	address() {
		return `#${this.timeline.number(this.position)}`;
	}

	/** Writes the address later: browsers refuse what comes too often. Another address that is opened in the meantime stays. */
	#address() {
		this.#addressed = location.href;
		this.#writing ||= window.setTimeout(() => this.write(), 200);
	}

	/** Writes the address now. */
	write() {
		const isDue = this.#writing && !this.#playing && this.#addressed === location.href;
		clearTimeout(this.#writing);
		this.#writing = 0;
		if (isDue && this.isAddressed) history.replaceState(history.state, "", this.address());
	}
}

/** Whether a field is another, or in it. @param {string} path @param {string} other */
const isWithin = (path, other) => path === other || path.startsWith(`${other}/`);

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
