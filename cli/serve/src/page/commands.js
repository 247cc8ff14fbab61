/**
 * Playing (VW-18): the commands that are legal, a field for any other, and what became of the last one.
 *
 * @import {LiveMatch} from "./match.js"
 */
import { html, shown } from "./viewer.js";
import { NoAnswer, Problem, pause, readJson, sleep } from "./api.js";

/** The most legal commands that get a button; any can be typed. */
const BUTTONS_MAX = 60;

/**
 * A command, and what of it is clicked: places as `[board, place]`, or words to choose, in the order of clicks.
 *
 * @typedef {{seat: string, command: string, targets?: (string | [board: number, place: string | [number, number]])[], irreversible?: boolean}} Legal
 */

/** Returns the places that a command takes, in order, each `BOARD PLACE`. @param {Legal} legal */
const placesOf = ({ targets = [] }) => targets.flatMap((target) => (typeof target === "string" ? [] : [`${target[0]} ${target[1]}`]));

/** The part of the page in which commands are given. */
export class CommandPanel {
	due = false;
	/** The commands that may be given from here. @type {Legal[]} */ legal = [];
	/** The seats that others have or are invited to. @type {Set<string>} */ taken = new Set();
	/** The places chosen of a command that takes more. @type {string[]} */ #chosen = [];
	#isSending = false;
	/** How many entries were there when a command was refused: what comes later makes that old. */
	#refusedAt = Infinity;
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
		form.addEventListener("submit", (event) => (event.preventDefault(), this.#typed(this.field.value.trim())));
		this.roll.addEventListener("click", () => this.give(""));
	}

	/** Whether a roll is due that the service makes when anyone asks for it. */
	get isDueByService() {
		return this.due && this.live.info?.dice === "seeded";
	}

	/** Asks which commands are legal now. */
	async refresh() {
		const { live } = this;
		this.element.hidden = !live.plays;
		if (!live.plays) return;
		const asked = ++this.#asked;
		if (live.viewer.length > this.#refusedAt) this.#say("");
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
			this.taken = live.hosts ? await this.#taken() : new Set();
			return items.filter((/** @type {Legal} */ { seat }) => !this.taken.has(seat));
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
		this.legal = [];
		this.#chosen = [];
		this.#marked = "";
		this.list.replaceChildren();
		this.hint.textContent = "";
	}

	/** @param {Legal[]} legal */
	#offer(legal) {
		this.legal = this.isDueByService ? [] : legal;
		this.#chosen = [];
		this.roll.hidden = !this.due;
		const plain = this.legal.filter((one) => placesOf(one).length === 0);
		const buttons = plain.slice(0, BUTTONS_MAX).map((one) => {
			const button = html("button", { type: "button" }, html("bdi", {}, shown(this.#text(one))));
			button.addEventListener("click", () => this.#choose(one, button));
			return button;
		});
		const more = plain.length - buttons.length;
		this.list.replaceChildren(...buttons, ...(more > 0 ? [html("span", {}, `and ${more} more`)] : []));
		this.list.removeAttribute("aria-busy");
		this.#mark();
		this.#drawHint();
		this.live.turn.draw();
		// The list takes room from the log.
		this.live.viewer.log.show(this.live.viewer.position);
	}

	/** Says what there is to do, where no button says it. */
	#drawHint() {
		const { viewer } = this.live;
		const [isAtHead, hasButtons] = [viewer.position === viewer.length, this.list.children.length > 0];
		const atHead = this.due ? "A roll is due." : this.legal.length === 0 ? "" : this.#chosen.length > 0 ? "Choose where to." : hasButtons ? "" : "Choose a marked place.";
		this.hint.textContent = isAtHead ? atHead : "This is an earlier entry. Commands are given at the last one.";
	}

	/** Returns a command as it is sent; a player's own needs no seat. @param {Legal} legal */
	#text({ seat, command }) {
		return this.live.hosts ? `${seat}: ${command}` : command;
	}

	/** Returns the commands that go on from the places chosen, and those in addition. @param {string[]} more */
	#from(...more) {
		const places = [...this.#chosen, ...more];
		return this.legal.filter((one) => places.every((place, index) => placesOf(one)[index] === place));
	}

	#mark() {
		const { viewer } = this.live;
		/** @type {Map<string, string>[]} */ const marks = [];
		/** @param {string} place @param {string} mark */
		const mark = (place, mark) => {
			const [board, at] = place.split(" ");
			(marks[Number(board)] ??= new Map()).set(at, mark);
		};
		if (viewer.position === viewer.length) {
			const next = this.#from().flatMap((one) => placesOf(one).slice(this.#chosen.length, this.#chosen.length + 1));
			for (const place of next) mark(place, " reach");
			for (const place of this.#chosen) mark(place, " chosen");
		}
		const now = JSON.stringify(marks.map((places) => [...places].sort()));
		if (now === this.#marked) return;
		this.#marked = now;
		viewer.mark(marks);
	}

	#marked = "";

	/** Another entry is shown. @param {boolean} isAtHead */
	moved(isAtHead) {
		this.list.hidden = !isAtHead;
		if (!isAtHead || this.legal.length > 0) this.#mark();
		if (!isAtHead || !this.list.hasAttribute("aria-busy")) this.#drawHint();
	}

	/** A place was chosen: what can be done there is done, or chosen from; a command of several places goes on.
	 * @param {number} board @param {string} at */
	picked(board, at) {
		const { viewer, plays } = this.live;
		if (!plays) return;
		if (viewer.position !== viewer.length) return this.#say("Go to the last entry to play.");
		const place = `${board} ${at}`;
		// Where nothing goes on, another command may begin.
		if (this.#from(place).length === 0 && this.#chosen.length > 0) {
			const isSame = this.#chosen.includes(place);
			this.#chosen = [];
			if (isSame) return this.#pickedSo([]);
		}
		const here = this.#from(place);
		if (here.length === 0) this.#say("Nothing to do here.");
		this.#pickedSo(here.length > 0 ? [...this.#chosen, place] : []);
	}

	/** Takes places as chosen, and gives the command or offers the commands for which they are all.
	 * @param {string[]} places */
	#pickedSo(places) {
		this.#chosen = places;
		const here = places.length > 0 ? this.#from() : [];
		const isWhole = here.some((one) => placesOf(one).length === places.length);
		if (isWhole) this.#chosen = [];
		this.#mark();
		this.#drawHint();
		if (here.length > 0) this.#say("");
		const at = places.at(-1)?.split(" ")[1] ?? "";
		if (isWhole && here.length > 1) this.#menu(here, at);
		else if (isWhole) this.#choose(here[0], this.#at(at));
	}

	/** @param {string} text */
	#typed(text) {
		const known = this.legal.find((one) => this.#text(one) === text);
		if (known) this.#choose(known, this.field);
		else this.give(text);
	}

	/** Gives a command, once it is confirmed where it cannot be undone. @param {Legal} one @param {Element | null} near */
	#choose(one, near) {
		if (!one.irreversible) return void this.give(this.#text(one));
		const text = this.#text(one);
		this.#open(`Really ${text}?`, near, [["No", () => {}], [`Yes, ${text}`, () => this.give(text)]]);
	}

	/** @param {string} at */
	#at(at) {
		return this.live.root.querySelector(`.picture [data-at="${at}"]`);
	}

	/** Offers what can be done at a place, next to it: by the words that differ where there are any.
	 * @param {Legal[]} here @param {string} at */
	#menu(here, at) {
		const near = this.#at(at);
		this.#open(`Commands at ${at}`, near, here.map((one) => {
			const words = (one.targets ?? []).filter((target) => typeof target === "string");
			return [words.join(" ") || this.#text(one), () => this.#choose(one, near)];
		}));
	}

	/** Opens a menu next to something. @param {string} name @param {Element | null} near
	 * @param {[text: string, chosen: () => void][]} choices */
	#open(name, near, choices) {
		const items = choices.map(([text, chosen]) => {
			const item = html("button", { type: "button", role: "menuitem", tabindex: -1 }, html("bdi", {}, shown(text)));
			item.addEventListener("click", () => (menu.hidePopover(), chosen()));
			return item;
		});
		// A popover is above everything; Escape and a click elsewhere close it, and the focus goes back to the board.
		const menu = html("div", { role: "menu", class: "menu", popover: "", "aria-label": name }, ...items);
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
		const place = near?.getBoundingClientRect();
		const { width, height } = menu.getBoundingClientRect();
		if (place) {
			const below = place.bottom + height <= innerHeight ? place.bottom : place.top - height;
			menu.style.top = `${Math.max(0, below)}px`;
			menu.style.left = `${Math.max(0, Math.min(place.left, innerWidth - width))}px`;
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
		if (!isMoved) this.#refusedAt = this.live.viewer.length;
		this.field.focus();
	}

	/** @param {string} text */
	#say(text) {
		this.#refusedAt = Infinity;
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
