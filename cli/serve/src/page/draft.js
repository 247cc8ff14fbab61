/**
 * The order of a match by mail (PM-71). Its commands are tried on what the seat knows, kept in this browser, and sent as one
 * paper.
 *
 * @import {MailMatch} from "./mail.js"
 * @import {Answer} from "./trying.js"
 */
import { html, shown } from "./viewer.js";
import { NoAnswer, Problem } from "./api.js";
import { ORDER, untilAnswered } from "./access.js";
import { action } from "./buttons.js";
import { makeKey, paperOf, readKey, requireSameHistory, sign } from "./signing.js";
import { Trying } from "./trying.js";
import { waiting } from "./turn.js";

/** A seat at the desk. @typedef {{seat: string, name: string | null, status: string | null, gone: boolean}} Player */

/** The desk as all see it (PM-24).
 * @typedef {{phase: string, turn: number, deadline: string | null, stand: {line: string, link: string} | null, seats: Player[], result: string | null}} Desk */

/** The desk as the seat may know it, and what the seat's next paper has to name.
 * @typedef {{seat: string, desk: Desk, terms: string[], default: string[], order: {number: number, plays: string[]} | null, key: string | null, plain: boolean, playable: boolean, match_id: string, number: number, seen: string}} SeatDesk */

/** The outcome of a paper. @typedef {{kind: string, number: number, outcome: string, reason: string | null, seq: number | null}} Receipt */

/** Why a paper does not count, in words. @type {Record<string, string>} */
const REASONS = {
	late: "the turn was over",
	not_due: "the seat is not asked in this turn",
	outdated: "a newer one counted before",
	stale_link: "the game is at another position",
	gone: "the seat has left the match",
	key_in_use: "another seat has this name: choose another one",
	too_many: "too many orders were sent in this turn",
	not_yet: "the match waits for something else first",
};

/** Returns a time in the browser's format, with its zone. @param {string | number} time */
export const inWords = (time) => new Intl.DateTimeFormat([], { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", timeZoneName: "short" }).format(new Date(time));

/** The order that is being chosen. It replaces trials (VW-56). */
export class Draft extends Trying {
	/** Its commands. @type {string[]} */ plays = [];
	/** @type {SeatDesk | null} */ #desk = null;
	/** The number of frames before the order. */ #base = 0;
	#turns = 0;
	/** The turn of the last report. */ #reported = 0;
	/** What other seats are assumed to do first. @type {string[]} */ #before = [];
	/** The other seat whose commands the game takes first. @type {string | undefined} */ #first;
	/** Whether commands can be added that cannot be tried. */ #isBlind = false;
	list = html("ol", { role: "list", class: "tree", "aria-label": "Your order" });
	sent = html("p", { class: "note" });
	send = action("Send order", () => this.#send());
	back = action("Take back", () => this.#change(this.plays.slice(0, -1)));
	name = html("input", { id: "player-name", maxlength: 64, required: "", autocomplete: "nickname", size: 16 });
	join = html("form", { class: "giving" }, html("label", { for: "player-name" }, "Your name"), this.name, html("button", { class: "primary" }, "Join"));
	/** The last paper that was signed. */ signed = html("pre", { class: "json", tabindex: 0, role: "group", "aria-label": "What was signed" });

	/** @param {MailMatch} mail */
	constructor(mail) {
		super(mail);
		this.mail = mail;
		this.isOn = true;
		this.send.classList.add("primary");
		this.title.textContent = "Your order";
		this.files = html("div", { class: "files" }, this.send, this.back);
		this.element = html("section", { class: "order", "aria-label": "Order" }, this.list, this.sent, this.files, this.join, this.note);
		this.join.addEventListener("submit", (event) => (event.preventDefault(), this.#join()));
	}

	get isOfAll() {
		return false;
	}

	/** Whether the desk waits for the seat's order, or still takes a new one. */
	get isAsked() {
		return this.#desk?.desk.phase === "open" && ["none", "ordered"].includes(this.#own?.status ?? "") && this.#desk.playable;
	}

	get #own() {
		return this.#desk?.desk.seats.find(({ seat }) => seat === this.#desk?.seat);
	}

	/** Refuses: this page has no trials. */
	async begin() {
		throw new Error("On this page you choose an order instead.");
	}

	end() {}

	/** Shows the present desk. @param {SeatDesk} desk @param {boolean} isLoaded whether the match was read again, too */
	async take(desk, isLoaded) {
		this.#desk = desk;
		if (isLoaded) {
			// Reports about an earlier turn are out of date.
			if (desk.desk.turn > this.#reported + Math.sign(this.#reported)) this.note.textContent = "";
			this.#base = this.mail.viewer.length;
			this.legal = [];
			this.plays = [];
			if (this.isAsked) await this.#begin();
		}
		this.#draw();
	}

	/** Tries the commands that were chosen before the page was loaded, and drops them if they are no valid order any more. */
	async #begin() {
		const { turn, plays } = this.#read();
		await this.#assume();
		this.#isBlind ||= this.legal.length === 0;
		if (turn === this.#desk?.desk.turn) await this.#try(plays).catch((error) => error instanceof NoAnswer && Promise.reject(error));
	}

	/** If the game takes another seat's commands first, assumes the terms' default commands for that seat. */
	async #assume() {
		this.#isBlind = false;
		this.#before = [];
		await this.#try([]);
		for (const play of Array(8).fill(this.#desk?.default).flat()) {
			if (this.legal.length > 0 || !this.#first) return;
			const before = this.#before;
			this.#before = [...before, `${this.#first}: ${play}`];
			await this.#try([]).catch((error) => (error instanceof Problem ? (this.#before = before) : Promise.reject(error)));
		}
		if (this.legal.length > 0 || this.#before.length === 0) return;
		this.#before = [];
		await this.#try([]);
	}

	/** Adds a command. @param {string} command @param {(text: string) => void} report @returns {Promise<"given" | "refused">} */
	async give(command, report) {
		const [, seat, play = command] = /^(p\d+|host): *(.*)$/.exec(command) ?? [];
		try {
			if (!this.isAsked || (seat && seat !== this.#desk?.seat)) throw new Error("the match is not waiting for such a command from you");
			await this.#try([...this.plays, play]);
			report("");
			this.note.textContent = "";
			this.#draw();
			return "given";
		} catch (error) {
			report(`Not part of the order: ${error instanceof Error ? error.message : error}`);
			return "refused";
		}
	}

	/** Drops the order after it was sent. If it completed the turn, nothing can be tried at that position any more. */
	async #clear() {
		this.plays = [];
		this.#write();
		await this.#try([]).catch(() => {});
		this.#draw();
	}

	/** @param {string[]} plays */
	async #change(plays) {
		await this.#try(plays).catch((error) => (this.note.textContent = error.message));
		this.#draw();
	}

	/** Replaces the order by these commands, and shows what they do. @param {string[]} plays */
	async #try(plays) {
		const { mail } = this;
		const turn = ++this.#turns;
		/** @type {(Answer & {due_roll: object | null}) | null} */ let answer = null;
		try {
			answer = await mail.api.post(mail.path("trial"), { commands: [...this.#before, ...plays.map((play) => `${this.#desk?.seat}: ${play}`)], roll: false });
		} catch (error) {
			if (!(error instanceof Problem) || !this.#isBlind) throw error;
		}
		if (turn !== this.#turns) return;
		this.plays = answer ? answer.commands.slice(this.#before.length).map((command) => command.replace(/^p\d+: /, "")) : plays;
		this.#write();
		if (!answer) return;
		this.#isBlind = Boolean(answer.due_roll);
		this.legal = answer.legal.filter(({ seat }) => seat === this.#desk?.seat);
		this.#first = answer.legal.find(({ seat }) => seat !== this.#desk?.seat && seat !== "host")?.seat;
		const { viewer, commands } = mail;
		viewer.isAddressed = this.plays.length === 0;
		viewer.append(answer.frames, this.#base);
		viewer.show(viewer.length);
		commands.due = false;
		await commands.refresh();
	}

	#draw() {
		const { isAsked, plays } = this;
		const { seat, order, playable, desk } = /** @type {SeatDesk} */ (this.#desk);
		const own = this.#own;
		const mayJoin = desk.phase === "joining" && !own?.name && playable;
		this.list.replaceChildren(...plays.map((play) => html("li", {}, html("bdi", {}, shown(play)))));
		this.list.hidden = plays.length === 0 || !isAsked;
		this.files.hidden = !isAsked || plays.length === 0;
		this.join.hidden = !mayJoin;
		this.sent.textContent = this.#inForce(order);
		if (!playable) this.sent.textContent = "Orders of this match need turnfold and a key: see the letter.";
		this.isMine = mayJoin || (isAsked && own?.status === "none");
		this.line = this.#line(desk, seat, mayJoin);
		this.mail.turn.draw();
		this.mail.commands.element.hidden = !isAsked;
	}

	/** @param {SeatDesk["order"]} order */
	#inForce(order) {
		const sent = order ? `Sent: ${order.plays.map(shown).join(", ")}. ` : "";
		if (!this.isAsked) return sent;
		const isTyped = this.#isBlind && this.legal.length === 0;
		const next = isTyped ? "Type the commands of your order, one after the other." : order ? "" : "Choose commands, then send them as one order.";
		return `${sent}${this.plays.length > 0 ? "" : next}${this.#before.length > 0 ? ` The board is shown as after ${this.#before.map(shown).join(", ")}, which may turn out differently.` : ""}`.trim();
	}

	/** @param {Desk} desk @param {string} seat @param {boolean} mayJoin */
	#line({ phase, turn, deadline, seats, result }, seat, mayJoin) {
		const until = deadline ? `, until ${inWords(deadline)}` : "";
		const missing = seats.filter(({ status }) => status === "none").map((one) => one.seat);
		const { viewer } = this.mail;
		if (result) return `Over: ${result === "played" ? shown((viewer.timeline.frames.at(-1) ?? viewer.timeline).standing ?? result) : shown(result)}`;
		if (mayJoin) return `Join to play as ${seat}`;
		if (phase === "joining") return waiting(seats.filter(({ name }) => !name).map((one) => one.seat));
		if (phase === "ready") return "All orders are in: the host plays the turn";
		if (this.isMine) return `Turn ${turn}: your order${until}`;
		return `Turn ${turn}: ${this.isAsked ? "your order is in. " : ""}${waiting(missing)}${until}`;
	}

	/** Joins with a key of this browser, or without a key if the terms allow that. */
	async #join() {
		await this.#sending(async (desk) => {
			const { mail } = this;
			const name = this.name.value.trim();
			const key = (await readKey(mail.match, desk.seat)) ?? (await makeKey(mail.match, desk.seat, name));
			if (key) return this.#post(paperOf(desk, "join", [`name: ${key.name}`, `key: ${key.papers}`]), key, desk);
			if (desk.plain) return this.#postLines(desk, [`join ${name}`]);
			throw new Error("this browser cannot make a key (Ed25519 over HTTPS), and the seat needs one. A newer browser can");
		});
	}

	async #send() {
		await this.#sending(async (desk) => {
			if (desk.desk.turn !== this.#desk?.desk.turn) throw new Error("the turn is over");
			if (!desk.key) return this.#postLines(desk, this.plays);
			const key = await readKey(this.mail.match, desk.seat);
			if (key?.papers !== desk.key) throw new Error(`${desk.seat} signs with another key than this browser has. Send the order from where that key is`);
			return this.#post(paperOf(desk, "order", this.plays.map((play) => `play: ${play}`)), key, desk);
		});
	}

	/** Reads the desk, sends something that depends on it, and reports the outcome. @param {(desk: SeatDesk) => Promise<Receipt>} send */
	async #sending(send) {
		const buttons = this.element.querySelectorAll("button");
		for (const button of buttons) button.disabled = true;
		try {
			const desk = await untilAnswered(this.note, () => this.mail.readDesk());
			const receipt = await send(desk);
			this.note.textContent = receiptOf(receipt, desk.desk.turn);
			this.#reported = desk.desk.turn;
			if (receipt.kind === "order" && receipt.outcome === "applied") await this.#clear();
		} catch (error) {
			this.note.textContent = `Not sent: ${error instanceof Error ? error.message : error}.`.replace(/\.\.$/, ".");
		} finally {
			for (const button of buttons) button.disabled = false;
		}
		await this.mail.ask();
	}

	/** Signs a paper and sends it until there is an answer. @param {string} text @param {import("./signing.js").SeatKey} key @param {SeatDesk} desk @returns {Promise<Receipt>} */
	async #post(text, key, desk) {
		const { mail, note } = this;
		requireSameHistory(mail.match, desk);
		const body = await sign(text, key);
		this.signed.textContent = body;
		const options = { method: "POST", body, headers: { "content-type": "text/plain", accept: "application/json" } };
		return untilAnswered(note, async () => (await mail.api.fetch(`/v1/matches/${mail.match}/papers`, options)).json());
	}

	/** Sends lines without a signature until there is an answer (PM-73). @param {SeatDesk} desk @param {string[]} lines @returns {Promise<Receipt>} */
	async #postLines({ desk }, lines) {
		const { mail, note } = this;
		const body = { id: crypto.getRandomValues(new Uint32Array(4)).join("-"), turn: desk.turn, lines };
		const { papers, faults } = await untilAnswered(note, () => mail.api.post(`/v1/matches/${mail.match}/desk/lines`, body));
		if (faults.length > 0) throw new Error(faults.join(" "));
		return papers.at(-1);
	}

	/** @returns {{turn: number, plays: string[]}} */
	#read() {
		try {
			return { turn: 0, plays: [], ...JSON.parse(localStorage.getItem(this.#key) ?? "{}") };
		} catch {
			return { turn: 0, plays: [] };
		}
	}

	#write() {
		localStorage.setItem(this.#key, JSON.stringify({ turn: this.#desk?.desk.turn, plays: this.plays }));
	}

	get #key() {
		return ORDER + this.mail.match;
	}
}

/** Returns a report of the outcome of a paper. @param {Receipt} receipt @param {number} turn */
function receiptOf({ kind, number, outcome, reason, seq }, turn) {
	if (outcome !== "applied") return `The host did not take it: ${REASONS[reason ?? outcome] ?? reason ?? outcome}.`;
	if (kind !== "order") return `You have joined: record ${seq} of the desk.`;
	return `Turn ${turn}: the host has your order: paper ${number}, record ${seq} of the desk. You can send another until the turn is played.`;
}
