/**
 * A match by mail in a browser (PM-70, PM-71): the link in a letter opens it, and orders are chosen on the board.
 *
 * @import {Access} from "./access.js"
 * @import {SeatDesk} from "./draft.js"
 */
import { html, shown } from "./viewer.js";
import { Api, NoAnswer, Problem, makeToken } from "./api.js";
import { addToken, chosenOf, keep, kept, showNoAccess, untilAnswered } from "./access.js";
import { fold } from "./buttons.js";
import { Draft, inWords } from "./draft.js";
import { LiveMatch, showMatch } from "./match.js";

/** How often the desk is asked while the page is visible, in milliseconds. */
const DESK_EVERY = 5_000;

/** Takes the code of a letter out of the address. */
function takeCode() {
	const [, code = ""] = /^#m=(.*)$/.exec(location.hash) ?? [];
	if (code) history.replaceState(history.state, "", location.pathname + location.search);
	return code;
}

/** Exchanges the code of a letter for a token, which this browser keeps like other tokens (VW-38).
 * @param {string} match @param {string} code @param {HTMLElement} note */
async function openPage(match, code, note) {
	const known = kept(match).tokens.filter(({ mail }) => mail).at(-1)?.token;
	for (const token of [...(known ? [known] : []), makeToken("s")]) {
		try {
			const { seat } = await untilAnswered(note, () => new Api("").post(`/v1/matches/${match}/desk/access`, { code, token }));
			addToken(match, token, seat);
			const what = kept(match);
			return keep(match, { ...what, tokens: what.tokens.map((one) => (one.token === token ? { ...one, mail: true } : one)) });
		} catch (error) {
			// The token may be revoked, or belong to another seat. Then a new one is needed.
			if (token !== known || !(error instanceof Problem)) throw error;
		}
	}
}

/** Shows a match: by mail if a letter led here, else live. @param {string} match @param {HTMLElement} root */
export async function showMail(match, root) {
	const code = takeCode();
	const note = html("p", { role: "status", class: "note" });
	addEventListener("hashchange", () => {
		const pasted = takeCode();
		if (pasted) openPage(match, pasted, note).then(() => location.reload(), (error) => alert(error.message));
	});
	if (code) {
		root.replaceChildren(note);
		/** @type {unknown} */ const failed = await openPage(match, code, note).catch((error) => error);
		// The link of an older letter gives no access, but earlier access stays.
		if (failed && !chosenOf(match)) return showNoAccess(match, root, [failed instanceof Error ? failed.message : `${failed}`]);
		note.remove();
	}
	const access = chosenOf(match);
	if (!access?.mail || kept(match).invitation || /^#[it]=/.test(location.hash)) return showMatch(match, root);
	await new MailMatch(match, access, root).begin();
}

/** A match by mail that is followed as it is played. */
export class MailMatch extends LiveMatch {
	/** @type {SeatDesk | null} */ #desk = null;
	/** The turn that was read last. */ #read = "";
	#isLoading = false;
	/** The last read of the desk; the next one waits for it. */ #last = Promise.resolve();
	#asks = 0;
	players = html("ul", { role: "list" });
	terms = html("ul", {});
	deadline = html("p", {});

	/** @param {string} match @param {Access} access @param {HTMLElement} root */
	constructor(match, access, root) {
		super(match, access, root);
		this.draft = new Draft(this);
		this.trying.element.remove();
		this.turn.element.parentElement?.after(this.draft.element);
		this.trying = this.draft;
		this.commands.send.textContent = "Add";
		document.body.classList.add("by-mail");
		this.tools.element.append(fold("Terms", this.deadline, this.players, this.terms, html("p", {}, "What this browser signed last:"), this.draft.signed));
		const ask = () => document.visibilityState === "visible" && this.ask();
		setInterval(ask, DESK_EVERY);
		document.addEventListener("visibilitychange", ask);
	}

	/** The branch that the address names, or the game's current one. */
	get branch() {
		return new URLSearchParams(location.search).get("branch") ?? this.#line;
	}

	get #line() {
		return this.#desk?.desk.stand?.line ?? "main";
	}

	get plays() {
		return this.draft ? this.draft.isAsked && this.branch === this.#line : super.plays;
	}

	/** Reads the present desk. @returns {Promise<SeatDesk>} */
	readDesk() {
		return this.api.get(`/v1/matches/${this.match}/desk`);
	}

	/** Calls `act` once all earlier calls are done. @param {() => Promise<void>} act */
	#queue(act) {
		const done = this.#last.then(act);
		this.#last = done.catch(() => {});
		return done;
	}

	load() {
		return this.#queue(() => this.#load());
	}

	async #load() {
		this.#isLoading = true;
		try {
			this.#desk = await this.readDesk();
			this.#read = this.#turn;
			await super.load();
			await this.#take(true);
		} catch (error) {
			// Read everything again the next time.
			this.#read = "";
			throw error;
		} finally {
			this.#isLoading = false;
		}
	}

	async readInfo() {
		await super.readInfo();
		// Something was played, so the desk may be at another turn.
		if (!this.#isLoading) setTimeout(() => this.ask());
	}

	/** Reads the desk, and the whole match if the turn is another one. */
	async ask() {
		if (this.#asks > 1 || !this.sees) return;
		this.#asks++;
		try {
			await this.#queue(async () => {
				this.#desk = await this.readDesk();
				if (this.#turn !== this.#read) await this.#load();
				else await this.#take(false);
			});
		} catch (error) {
			if (!(error instanceof NoAnswer)) this.fail(error);
		} finally {
			this.#asks--;
		}
	}

	/** Identifies the turn that an order is for. */
	get #turn() {
		const { desk } = /** @type {SeatDesk} */ (this.#desk);
		const isOpen = desk.phase === "open" || desk.phase === "joining";
		return `${desk.turn} ${desk.stand?.link} ${isOpen} ${desk.result}`;
	}

	/** @param {boolean} isLoaded */
	async #take(isLoaded) {
		const seatDesk = /** @type {SeatDesk} */ (this.#desk);
		const { desk, terms } = seatDesk;
		this.deadline.textContent = desk.deadline ? `Turn ${desk.turn}, until ${inWords(desk.deadline)}` : "The match has not begun.";
		this.players.replaceChildren(...desk.seats.map(({ seat, name, status, gone }) => html("li", {}, `${seat}: `, html("bdi", {}, shown(name ?? "free")), gone ? ", has left" : status ? `, ${status === "none" ? "asked" : status}` : "")));
		this.terms.replaceChildren(...terms.map((term) => html("li", {}, term)));
		await this.draft.take(seatDesk, isLoaded);
	}
}
