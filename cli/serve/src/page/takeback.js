/**
 * Taking back together: what a player asks, what the others answer, and where the match continues (VW-84, VW-85).
 *
 * @import {LiveMatch} from "./match.js"
 */
import { html, shown } from "./viewer.js";
import { action } from "./buttons.js";
import { untilAnswered } from "./access.js";
import { joined, seatsOf } from "./turn.js";

/** @typedef {{number: number, seat: string, after: number, agreed: string[], awaited: string[]}} Asked */

/** Shows what is asked, and offers to ask. */
export class Takeback {
	/** What is asked of me, or what I asked. */
	element = html("div", { class: "takeback", role: "status", hidden: "" });
	note = html("span", { class: "note", role: "status" });
	ask = action("", () => this.#ask());
	offer = html("p", { class: "offer", hidden: "" }, this.ask, this.note);
	/** The entry after which the match continues, if it was taken back while this page was open. */ movedTo = -1;
	#drawn = "";

	/** @param {LiveMatch} live */
	constructor(live) {
		this.live = live;
	}

	/** The seat that this page plays. */
	get #own() {
		return this.live.kind === "s" ? this.live.sees : "";
	}

	/** Shows what is asked now, and what can be asked of the entry that is shown. */
	draw() {
		const { live } = this;
		const { info, viewer } = live;
		const isElsewhere = Boolean(info) && !live.access.mail && live.branch !== info?.current;
		const asked = live.trying.isOn ? null : (info?.takeback ?? null);
		const isAtHead = viewer.position === viewer.length;
		this.offer.hidden = !info || isElsewhere || Boolean(asked) || viewer.length === 0 || !(live.kind === "h" || (live.kind === "s" && info.takebacks)) || Boolean(live.as) || live.trying.isOn || Boolean(live.access.mail);
		const number = viewer.timeline.number(viewer.position);
		const whole = live.kind === "h" ? "Take back the last entry" : "Ask to take back my last move";
		const part = number === 0 ? "the start" : `entry ${number}`;
		const text = isAtHead ? whole : live.kind === "h" ? `Go back to ${part}` : `Ask to go back to ${part}`;
		if (this.ask.textContent !== text) this.ask.textContent = text;
		const hasMoved = !isElsewhere && !asked && viewer.timeline.number(viewer.length) === this.movedTo;
		const drawn = JSON.stringify([asked, isElsewhere, hasMoved, info?.current, info?.names]);
		if (drawn === this.#drawn) return;
		this.#drawn = drawn;
		this.element.hidden = !isElsewhere && !asked && !hasMoved;
		const moved = hasMoved ? [html("span", {}, `Taken back: the match continues after entry ${this.movedTo}.`)] : [];
		this.element.replaceChildren(...(isElsewhere ? this.#elsewhere(`${info?.current}`) : asked ? this.#asked(asked) : moved));
	}

	/** @param {string} current */
	#elsewhere(current) {
		const go = action("Go there", () => this.live.goOn());
		return [html("span", {}, `This is branch ${shown(this.live.branch)}. The match continues on ${shown(current)}.`), go];
	}

	/** @param {Asked} asked */
	#asked({ number, seat, after, agreed, awaited }) {
		const own = this.#own;
		const what = after === 0 ? "go back to the start" : `go back to entry ${after}`;
		const waits = `Waiting for ${joined(awaited.map((one) => seatsOf([one])), "and")}.`;
		const look = action("Look", () => this.live.viewer.goTo(`${after}`));
		look.setAttribute("aria-label", `Look at entry ${after}`);
		if (seat === own) return [html("span", {}, `You asked to ${what}. ${waits}`), action("Withdraw", () => this.#answer(number, false))];
		const words = `${seatsOf([seat])} asks to ${what}.`;
		if (!awaited.includes(own)) return [html("span", {}, `${words} ${agreed.includes(own) ? "You agreed. " : ""}${waits}`), look];
		const agree = action("Agree", () => this.#answer(number, true));
		agree.classList.add("primary");
		return [html("span", {}, words), agree, action("Decline", () => this.#answer(number, false)), look];
	}

	/** Asks the others, or takes back as the host. */
	async #ask() {
		const { live } = this;
		const { viewer } = live;
		const isAtHead = viewer.position === viewer.length;
		const hosts = live.kind === "h";
		if (hosts && !confirm("Do all players agree? Everyone goes on from there, on a branch of its own. What is recorded stays.")) return;
		// A host names the entry in any case: the request may be repeated, and must not take back more then.
		const after = viewer.timeline.number(isAtHead ? viewer.length - 1 : viewer.position);
		await this.#send(`/v1/matches/${live.match}/takeback${isAtHead && !hosts ? "" : `?after=${after}`}`);
	}

	/** @param {number} number @param {boolean} agree */
	#answer(number, agree) {
		return this.#send(`/v1/matches/${this.live.match}/takeback/${number}`, { agree });
	}

	/** @param {string} path @param {object} [body] */
	async #send(path, body) {
		try {
			const { api } = this.live;
			await untilAnswered(this.note, () => (body ? api.post(path, body) : api.fetch(path, { method: "POST" })));
			this.note.textContent = "";
		} catch (error) {
			this.note.textContent = error instanceof Error ? error.message : `${error}`;
			this.offer.hidden = false;
		}
		await this.live.readInfo().catch((error) => this.live.fail(error));
	}
}
