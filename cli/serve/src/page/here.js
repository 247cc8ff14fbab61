/**
 * Who has a page of the match open (VW-81), and the rematch (VW-83).
 *
 * @import {LiveMatch} from "./match.js"
 */
import { html } from "./viewer.js";
import { makeToken } from "./api.js";
import { addToken, untilAnswered } from "./access.js";
import { action } from "./buttons.js";
import { joined, seatsOf } from "./turn.js";

/** How often it is asked while the page is visible, in milliseconds. */
const HERE_EVERY = 10_000;

/** Shows who else is here, and where the players play again. */
export class Presence {
	element = html("p", { class: "here" });
	/** The seats with a page open. @type {string[]} */ seats = [];
	button = action("Rematch", () => this.#playAgain());
	note = html("span", { class: "note" });
	again = html("p", { class: "again", role: "status", hidden: "" }, this.button, this.note);
	/** Where the players play again. @type {string | null} */ #rematch = null;
	/** The access to it that was asked for. */ #token = "";
	#isEnded = false;

	/** @param {LiveMatch} live */
	constructor(live) {
		this.live = live;
		this.button.classList.add("primary");
		setInterval(() => this.ask(), HERE_EVERY);
		document.addEventListener("visibilitychange", () => this.ask());
	}

	/** Asks who is here, and for what others wrote. */
	async ask() {
		const { live } = this;
		if (this.#isEnded || !live.sees || document.visibilityState === "hidden") return;
		live.notes.ask();
		/** @type {{seats: string[], spectators: number, rematch: string | null} | null} */
		const here = await live.api.get(`/v1/matches/${live.match}/here`).catch(() => null);
		if (!here || this.#isEnded) return;
		// Who comes may have joined just now, under a name.
		if (`${here.seats}` !== `${this.seats}`) await live.readInfo().catch(() => {});
		const own = live.kind === "h" ? "host" : live.sees;
		const others = here.seats.filter((seat) => seat !== own);
		const spectators = here.spectators - (live.kind === "v" ? 1 : 0);
		const watching = spectators > 0 ? [`${spectators} ${spectators === 1 ? "spectator" : "spectators"}`] : [];
		const who = [...others.map((seat) => seatsOf([seat])), ...watching];
		const text = who.length > 0 ? `Also here: ${joined(who, "and")}` : "";
		if (this.element.textContent !== text) this.element.textContent = text;
		this.seats = here.seats;
		live.tools.mine.describe();
		this.#rematch = here.rematch;
		this.draw();
	}

	/** Offers a rematch once the match is over. */
	draw() {
		const { live } = this;
		const isOver = live.info?.now?.over ?? live.over;
		this.again.hidden = !isOver || !"hs".includes(live.kind) || Boolean(live.access.mail) || live.trying.isOn;
		const text = this.#rematch ? "Open the rematch" : "Rematch";
		if (this.button.textContent !== text) this.button.textContent = text;
	}

	/** Goes to the rematch, which is made if it is not there. */
	async #playAgain() {
		const { live } = this;
		this.#token ||= makeToken(live.kind === "h" ? "h" : "s");
		const query = `?branch=${encodeURIComponent(live.branch)}`;
		try {
			/** @type {{match: string, seat: string | null}} */
			const { match, seat } = await untilAnswered(this.note, () => live.api.post(`/v1/matches/${live.match}/rematch${query}`, { token: this.#token }));
			addToken(match, this.#token, seat ?? "host", true);
			location.assign(`/m/${match}`);
		} catch (error) {
			this.note.textContent = error instanceof Error ? error.message : `${error}`;
		}
	}

	/** Asks no more. */
	end() {
		this.#isEnded = true;
		this.element.textContent = "";
	}
}
