/**
 * *My seat*: the link that brings the seat back, and who else plays (VW-59, VW-60).
 *
 * @import {LiveMatch} from "./match.js"
 */
import { html, shown } from "./viewer.js";
import { keep, kept, linkOf, nameOf } from "./access.js";
import { action } from "./buttons.js";
import { calendarPart, showInCalendar } from "./calendar.js";
import { inWords } from "./draft.js";
import { qrCode } from "./qr.js";

/** Returns a seat with the name of its player. @param {string} seat @param {Record<string, string>} [names] */
export const called = (seat, names = {}) => (names[seat] ? `${shown(names[seat])} (${seat})` : seat);

/** Returns the terms by which the service hosts a match, in sentences. @param {import("./turn.js").Hosting["terms"]} terms */
function termsInSentences({ hours, missed, default: commands, between, patience }) {
	const listed = (/** @type {string[]} */ list) => list.map((command) => `“${shown(command)}”`).join(", ");
	const parts = ["The service hosts this match."];
	if (between.length > 0) parts.push(`When no player is to move, it plays ${listed(between)}.`);
	if (hours === 0) parts.push("Turns have no deadline.");
	else parts.push(`A turn lasts ${hours % 24 === 0 && hours > 24 ? `${hours / 24} days` : hours === 1 ? "1 hour" : `${hours} hours`}.`);
	if (hours > 0 && missed !== "wait" && commands.length > 0) parts.push(`At ${missed === "second" ? "the second deadline missed in a row" : "a missed deadline"} it plays ${listed(commands)} for the seat.`);
	if (hours > 0 && patience > 0 && commands.length > 0) parts.push(`After ${patience} in a row it waits no longer.`);
	return parts.join(" ");
}

/** The part of the page about the viewer. */
export class MySeat {
	note = html("p", { role: "status", class: "note" });
	code = html("div", {});
	players = html("ul", { role: "list", class: "players" });
	/** The address at which the service calls the player while no page is open, if it calls players (VW-65). */ calls = html("form", { class: "calls", hidden: "" });
	/** The terms by which the service hosts the match; `away` is for the player's absence (VW-67). */ hosting = html("p", { class: "note" });
	away = html("form", { class: "absence", hidden: "" });
	/** The deadlines for calendar programs (VW-68). */ calendar = html("div", {});
	/** Stays in sight until the link is also kept outside of this browser. */ reminder = action("Save your link", () => this.#open());

	/** @param {LiveMatch} live */
	constructor(live) {
		this.live = live;
		this.reminder.classList.add("primary", "reminder");
		this.reminder.hidden = !this.#access?.unsaved;
		const { match, access } = live;
		const copy = action("Copy link", () => this.#copy());
		const mail = html("a", { class: "mailto", href: `mailto:?subject=${encodeURIComponent(`turnfold: ${match}, ${nameOf(access)}`)}&body=${encodeURIComponent(linkOf(match, access.token))}` }, "Mail it to myself");
		mail.addEventListener("click", () => this.#saved());
		const code = action("QR code", () => this.#draw());
		const what = access.token[3] === "s" ? "your seat" : "your access";
		// A match by mail has its own links in its letters.
		const own = access.mail ? [] : [html("p", {}, `This link is ${what}: it brings you back if this browser forgets, and opens the match on another device. Whoever has it is you, so show it to no one.`), html("div", { class: "files save" }, copy, mail, code), this.code, this.note];
		this.element = html("section", { class: "myseat" }, html("h2", {}, "My seat"), ...own, this.players, this.hosting, this.away, this.calendar, this.calls);
	}

	get #access() {
		const { match, access } = this.live;
		return kept(match).tokens.find(({ token }) => token === access.token);
	}

	/** Asks whether the service calls players, and where it calls this one. */
	async askCalls() {
		const { live } = this;
		if (live.kind !== "s" || live.access.mail || this.calls.firstChild) return;
		const path = `/v1/matches/${live.match}/call`;
		/** @type {{to: string | null} | null} */ const known = await live.api.get(path).catch(() => null);
		if (!known || this.calls.firstChild) return;
		const to = html("input", { id: "call-to", maxlength: 200, autocomplete: "email", value: known.to ?? "" });
		const note = html("p", { role: "status", class: "note" });
		this.calls.append(html("label", { for: "call-to" }, "When no page is open, call me at"), to, html("button", {}, "Save"), note);
		this.calls.addEventListener("submit", async (event) => {
			event.preventDefault();
			const where = to.value.trim();
			try {
				if (where) await live.api.post(path, { to: where });
				else await live.api.fetch(path, { method: "DELETE" });
				note.textContent = where ? "You are called there on your turns." : "You are not called.";
			} catch (error) {
				note.textContent = error instanceof Error ? error.message : `${error}`;
			}
		});
		this.calls.hidden = false;
	}

	/** Shows the terms, and lets a player announce an absence. */
	#describeHosting() {
		const { live, away } = this;
		const { hosting } = live.info ?? {};
		this.hosting.textContent = hosting ? termsInSentences(hosting.terms) : "";
		const own = hosting?.absent[live.sees];
		const isPlayer = live.kind === "s" && !live.access.mail;
		if (isPlayer && hosting && hosting.terms.hours > 0 && !this.calendar.firstChild) {
			this.calendar.append(calendarPart(live.match));
			// An existing calendar shows this match from its first visit on. A failure is tried again on the next visit.
			showInCalendar(live.match).catch(() => {});
		}
		away.hidden = !hosting || !isPlayer || hosting.terms.hours === 0 || hosting.terms.absences === 0;
		if (away.hidden || away.firstChild) return;
		const day = html("input", { id: "away", type: "date", required: "" });
		const note = html("p", { role: "status", class: "note" }, own ? `You are away until ${inWords(own)}.` : "");
		away.append(html("label", { for: "away" }, "I am away until the end of"), day, html("button", {}, "Save"), note);
		away.addEventListener("submit", async (event) => {
			event.preventDefault();
			try {
				const end = new Date(`${day.value}T23:59:59`).toISOString().replace(/\.\d+Z$/, "Z");
				const { absent } = await live.api.post(`/v1/matches/${live.match}/absence`, { until: end });
				note.textContent = `Deadlines wait for you until ${inWords(absent[live.sees])}.`;
				await live.readInfo();
				live.turn.draw();
			} catch (error) {
				note.textContent = error instanceof Error ? error.message : `${error}`;
			}
		});
	}

	#open() {
		const fold = this.element.closest("details");
		if (fold) fold.open = true;
		this.element.querySelector("button")?.focus();
	}

	/** Notes that the link is kept elsewhere, too. */
	#saved() {
		const { match, access } = this.live;
		const what = kept(match);
		keep(match, { ...what, tokens: what.tokens.map((one) => (one.token === access.token ? { ...one, unsaved: undefined } : one)) });
		this.reminder.hidden = true;
	}

	async #copy() {
		const link = linkOf(this.live.match, this.live.access.token);
		try {
			await navigator.clipboard.writeText(link);
			this.note.textContent = "Copied. Keep it where you find it again.";
		} catch {
			const field = html("input", { value: link, readonly: "", "aria-label": "Your link", class: "link" });
			this.note.replaceChildren("Copy it from here: ", field);
			field.select();
		}
		this.#saved();
	}

	#draw() {
		if (this.code.firstChild) return this.code.replaceChildren();
		const code = qrCode(linkOf(this.live.match, this.live.access.token));
		this.code.append(code ?? "The link is too long for a QR code.");
		if (code) this.#saved();
	}

	/** Shows the players. */
	describe() {
		const { info, sees, hosts } = this.live;
		const { players = [], names = {} } = info ?? {};
		this.players.replaceChildren(...players.map((seat) => {
			const own = !hosts && seat === sees ? ", you" : this.live.presence.seats.includes(seat) ? ", here now" : "";
			return html("li", {}, `${seat}: `, names[seat] ? html("bdi", {}, shown(names[seat])) : html("i", {}, "no name"), own);
		}));
		this.#describeHosting();
	}
}
