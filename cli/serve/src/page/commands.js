/**
 * Playing (VW-18): the commands that are legal, a field for any other, and what became of the last one.
 *
 * @import {LiveMatch} from "./match.js"
 */
import { html, shown } from "./viewer.js";
import { NoAnswer, Problem, pause, readJson, sleep } from "./api.js";

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
	hint = html("p", { class: "hint" });
	note = html("p", { class: "answer", role: "status", "aria-live": "polite" });

	/** @param {LiveMatch} live */
	constructor(live) {
		this.live = live;
		const form = html("form", { class: "giving" }, html("label", { for: "command" }, "Command"), this.field, this.send, this.roll);
		this.element = html("section", { class: "commands", "aria-label": "Commands" }, this.hint, this.list, this.note, form);
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
		this.list.setAttribute("aria-busy", "true");
		for (let tries = 1; asked === this.#asked; tries++) {
			try {
				const legal = await this.#ask();
				return void (asked === this.#asked && this.#offer(legal));
			} catch (error) {
				if (!(error instanceof NoAnswer)) throw error;
				await sleep(pause(tries));
			}
		}
	}

	/** Returns the legal commands that are this token's to give; none where there are too many to list. @returns {Promise<Legal[]>} */
	async #ask() {
		const { live } = this;
		try {
			const { items } = await live.api.get(live.path("legal"));
			const taken = live.hosts ? await this.#taken() : new Set();
			return items.filter((/** @type {Legal} */ { seat }) => !taken.has(seat));
		} catch (error) {
			if (error instanceof Problem && error.status === 413) return [];
			throw error;
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
		this.hint.textContent = "";
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
		this.list.removeAttribute("aria-busy");
		this.#mark();
		this.#drawHint();
		// The list takes room from the log.
		this.live.viewer.log.show(this.live.viewer.position);
	}

	/** Says what there is to do, where no button says it. */
	#drawHint() {
		const { viewer } = this.live;
		const [isAtHead, hasButtons] = [viewer.position === viewer.length, this.list.children.length > 0];
		const atHead = this.due ? "A roll is due." : this.#legal.length === 0 ? "Nothing for you to do now." : hasButtons ? "" : "Choose a marked hex.";
		this.hint.textContent = isAtHead ? atHead : "This is an earlier entry. Commands are given at the last one.";
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
		if (!isAtHead || !this.list.hasAttribute("aria-busy")) this.#drawHint();
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

	/** Offers what can be done at a hex, beside it. @param {Legal[]} here @param {string} at */
	#menu(here, at) {
		const items = here.map((one) => {
			const item = html("button", { type: "button", role: "menuitem", tabindex: -1 }, html("bdi", {}, shown(this.#text(one))));
			item.addEventListener("click", () => (menu.hidePopover(), this.give(this.#text(one))));
			return item;
		});
		// A popover is above everything; Escape and a click elsewhere close it, and the focus goes back to the board.
		const menu = html("div", { role: "menu", class: "menu", popover: "", "aria-label": `Commands at ${at}` }, ...items);
		menu.addEventListener("keydown", (event) => {
			const index = items.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
			if (event.key === "Tab") menu.hidePopover();
			else if (event.key === "ArrowDown") items[(index + 1) % items.length].focus();
			else if (event.key === "ArrowUp") items[(index + items.length - 1) % items.length].focus();
			else return;
			event.preventDefault();
		});
		menu.addEventListener("toggle", (event) => /** @type {ToggleEvent} */ (event).newState === "closed" && menu.remove());
		this.element.append(menu);
		menu.showPopover();
		const hex = this.live.root.querySelector(`.picture [data-at="${at}"]`)?.getBoundingClientRect();
		const { width, height } = menu.getBoundingClientRect();
		if (hex) {
			const below = hex.bottom + height <= innerHeight ? hex.bottom : hex.top - height;
			menu.style.top = `${Math.max(0, below)}px`;
			menu.style.left = `${Math.max(0, Math.min(hex.left, innerWidth - width))}px`;
		}
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
			const count = await this.#sent(body, headers, command || "the roll");
			this.#say(count > 0 ? "" : "The host rolls the dice of this match.");
			if (this.field.value.trim() === command) this.field.value = "";
		} catch (error) {
			this.#refused(error, command);
		}
		this.#isSending = false;
		this.send.disabled = false;
	}

	/** Returns how many entries were recorded. @param {object} body @param {Record<string, string>} headers @param {string} what */
	async #sent(body, headers, what) {
		for (let wait = 1; ; wait = Math.min(30, 2 * wait)) {
			try {
				this.#say(`Sending ${shown(what)} …`);
				const response = await this.live.api.send(this.live.path("entries"), body, headers);
				const { entries } = await readJson(response);
				// What was seen before still held, so with the own command it is what is seen now.
				this.live.tag = response.headers.get("etag") ?? "";
				this.live.given++;
				return entries.length;
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
		this.#asked++;
		this.#offer([]);
		this.hint.textContent = "";
	}
}
