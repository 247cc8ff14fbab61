/**
 * Playing: the commands that are legal, a field for any other, and what became of the last one.
 *
 * @import {LiveMatch} from "./match.js"
 */
import { html, shown } from "./viewer.js";
import { NoAnswer, Problem, sleep } from "./api.js";

/** The most legal commands that get a button; any can be typed. */
const BUTTONS_MAX = 60;

/** Whether a word of a command is a hex. @param {string} word */
const isHex = (word) => /^-?\d+,-?\d+$/.test(word);

/** @typedef {{seat: string, command: string}} Legal */

/** The part of the page in which commands are given. */
export class CommandPanel {
	due = false;
	/** @type {Legal[]} */ #legal = [];
	#isSending = false;
	#asked = 0;
	field = html("input", { id: "command", autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
	send = html("button", { class: "primary" }, "Send");
	roll = html("button", { type: "button", hidden: "" }, "Roll");
	list = html("div", { class: "legal", role: "group", "aria-label": "Legal commands" });
	note = html("p", { class: "answer", role: "status", "aria-live": "polite" });

	/** @param {LiveMatch} live */
	constructor(live) {
		this.live = live;
		const form = html("form", { class: "giving" }, html("label", { for: "command" }, "Command"), this.field, this.send, this.roll);
		this.element = html("section", { class: "commands", "aria-label": "Commands" }, form, this.note, this.list);
		this.element.hidden = !live.plays;
		form.addEventListener("submit", (event) => (event.preventDefault(), this.give(this.field.value)));
		this.roll.addEventListener("click", () => this.give(""));
	}

	/** Asks which commands are legal now. */
	async refresh() {
		const { live } = this;
		this.element.hidden = !live.plays;
		if (!live.plays) return;
		const asked = ++this.#asked;
		try {
			const { items } = await live.api.get(live.path("legal"));
			const taken = live.hosts ? await this.#taken() : new Set();
			if (asked === this.#asked) this.#offer(items.filter((/** @type {Legal} */ { seat }) => !taken.has(seat)));
		} catch (error) {
			if (error instanceof Problem && error.status !== 413) throw error;
			if (asked === this.#asked) this.#offer([]);
		}
	}

	/** Returns the seats that somebody has or is invited to, whose commands a host does not give. */
	async #taken() {
		const { items } = await this.live.api.get(`/v1/matches/${this.live.match}/grants`);
		return new Set(items.flatMap((/** @type {{live: boolean, seat: string | null}} */ one) => (one.live && one.seat ? [one.seat] : [])));
	}

	/** Offers nothing until it is asked anew. */
	clear() {
		this.#asked++;
		this.#legal = [];
		this.#marked = "";
		this.list.replaceChildren();
	}

	/** @param {Legal[]} legal */
	#offer(legal) {
		this.#legal = legal;
		this.roll.hidden = !this.due;
		const plain = legal.filter(({ command }) => !command.split(" ").some(isHex));
		const buttons = plain.slice(0, BUTTONS_MAX).map((one) => {
			const button = html("button", { type: "button" }, html("bdi", {}, shown(this.#text(one))));
			button.addEventListener("click", () => this.give(this.#text(one)));
			return button;
		});
		const more = plain.length - buttons.length;
		this.list.replaceChildren(...buttons, ...(more > 0 ? [html("span", {}, `and ${more} more`)] : []));
		this.#mark();
		// The list takes room from the log.
		this.live.viewer.log.show(this.live.viewer.position);
	}

	/** Returns a command as it is sent; a player's own needs no seat. @param {Legal} legal */
	#text({ seat, command }) {
		return this.live.hosts ? `${seat}: ${command}` : command;
	}

	#mark() {
		const { viewer } = this.live;
		const isAtHead = viewer.position === viewer.length;
		const hexes = isAtHead ? this.#legal.flatMap(({ command }) => command.split(" ").filter(isHex)) : [];
		const now = [...new Set(hexes)].sort().join(" ");
		if (now === this.#marked) return;
		this.#marked = now;
		viewer.reach(hexes);
	}

	#marked = "";

	/** Another entry is shown. @param {boolean} isAtHead */
	moved(isAtHead) {
		this.list.hidden = !isAtHead;
		if (!isAtHead || this.#legal.length > 0) this.#mark();
	}

	/** A hex was chosen: what can be done there is done, or chosen from. @param {[q: number, r: number]} at */
	picked(at) {
		const { viewer, plays } = this.live;
		if (!plays) return;
		if (viewer.position !== viewer.length) return this.#say("Go to the last entry to play.");
		const here = this.#legal.filter(({ command }) => command.split(" ").includes(`${at}`));
		if (here.length === 0) return this.#say("Nothing to do here.");
		if (here.length === 1) return void this.give(this.#text(here[0]));
		this.#menu(here, `${at}`);
	}

	/** @param {Legal[]} here @param {string} at */
	#menu(here, at) {
		const back = document.activeElement;
		const items = here.map((one) => {
			const item = html("button", { type: "button", role: "menuitem", tabindex: -1 }, html("bdi", {}, shown(this.#text(one))));
			item.addEventListener("click", () => (close(), this.give(this.#text(one))));
			return item;
		});
		const menu = html("div", { role: "menu", class: "menu", "aria-label": `Commands at ${at}` }, ...items);
		const close = () => {
			menu.remove();
			if (back instanceof HTMLElement || back instanceof SVGElement) back.focus();
		};
		menu.addEventListener("keydown", (event) => {
			const index = items.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
			if (event.key === "Escape" || event.key === "Tab") close();
			else if (event.key === "ArrowDown") items[(index + 1) % items.length].focus();
			else if (event.key === "ArrowUp") items[(index + items.length - 1) % items.length].focus();
			else if (event.key !== "Enter" && event.key !== " ") return;
			else return event.stopPropagation();
			event.preventDefault();
			event.stopPropagation();
		});
		menu.addEventListener("focusout", (event) => {
			if (!(event.relatedTarget instanceof Node && menu.contains(event.relatedTarget))) menu.remove();
		});
		this.element.prepend(menu);
		items[0].focus();
	}

	/** Gives a command, or has what is due rolled; sends it again, with the same key, until an answer comes. @param {string} text */
	async give(text) {
		if (this.#isSending) return this.#say("The last command is still on its way.");
		const { live } = this;
		const command = text.trim();
		this.#isSending = true;
		this.send.disabled = true;
		const headers = { "idempotency-key": crypto.randomUUID(), ...(live.tag ? { "if-match": live.tag } : {}) };
		try {
			const body = { commands: command ? [command] : [] };
			await this.#sent(body, headers, command || "the roll");
			this.#say("");
			if (this.field.value.trim() === command) this.field.value = "";
		} catch (error) {
			this.#refused(error, command);
		}
		this.#isSending = false;
		this.send.disabled = false;
	}

	/** @param {object} body @param {Record<string, string>} headers @param {string} what */
	async #sent(body, headers, what) {
		for (let wait = 1; ; wait = Math.min(30, 2 * wait)) {
			try {
				this.#say(`Sending ${shown(what)} …`);
				const response = await this.live.api.send(this.live.path("entries"), body, headers);
				// What was seen before still held, so with the own command it is what is seen now.
				this.live.tag = response.headers.get("etag") ?? "";
				this.live.given++;
				return;
			} catch (error) {
				if (!(error instanceof NoAnswer)) throw error;
				for (let left = wait; left > 0; left--) {
					this.#say(`No answer yet to ${shown(what)}. Sending it again in ${left} s.`);
					await sleep(1000);
				}
			}
		}
	}

	/** @param {unknown} error @param {string} command */
	#refused(error, command) {
		if (command) this.field.value = command;
		const isMoved = error instanceof Problem && error.status === 412;
		this.#say(isMoved ? "The game has moved on. Look at it, then send again." : `Not done: ${error instanceof Error ? error.message : error}`);
		this.field.focus();
	}

	/** @param {string} text */
	#say(text) {
		this.note.textContent = text;
	}

	/** Nothing more can be given. */
	end() {
		this.send.disabled = this.roll.disabled = true;
		this.#offer([]);
	}
}
