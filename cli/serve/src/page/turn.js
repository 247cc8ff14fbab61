/**
 * Shows whose turn it is, in one line (VW-39), and calls a player who looks elsewhere (VW-40).
 *
 * @import {LiveMatch} from "./match.js"
 */
import { html, playerOf, shown } from "./viewer.js";
import { Calls, markTab } from "./calls.js";
import { inWords } from "./draft.js";

/** Whose turn it is, as the service reports it; null if the viewer may not know.
 * @typedef {{over: boolean | null, turn: string[] | null, result?: object}} Now */

/** How the service hosts a match: the terms, and the ends of turns and absences by seats (VW-66).
 * @typedef {{terms: {hours: number, missed: string, default: string[], between: string[], patience: number, absences: number}, deadlines: Record<string, number>, absent: Record<string, number>}} Hosting */

/** The most verbs of commands to list. */
const VERBS_MAX = 4;

/** Returns a count in words, such as `1 entry`. @param {number} count */
export const countOfEntries = (count) => `${count} ${count === 1 ? "entry" : "entries"}`;

/** Joins words as in a sentence. @param {string[]} words @param {string} last */
export const joined = (words, last) => (words.length > 1 ? `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}` : words.join(""));

/** Returns a sentence with the seats that a match waits for. @param {string[] | null | undefined} seats @param {Record<string, string>} [names] */
export function waiting(seats, names) {
	if (!seats) return "Waiting for the others";
	if (seats.length === 0) return "No one has anything to do";
	return `Waiting for ${seatsOf(seats, names)}`;
}

/** Returns the names of seats. `names` are those of a match that is not the page's. @param {string[]} seats @param {Record<string, string>} [names] */
export const seatsOf = (seats, names = {}) => joined(seats.map((seat) => (seat === "host" ? "the host" : names[seat] ? shown(names[seat]) : playerOf(seat))), "and");

/** Returns when the first turn of the seats ends, as the end of a sentence; empty without a deadline. @param {Hosting | undefined} hosting @param {string[] | null | undefined} seats */
export function until(hosting, seats) {
	const times = (seats ?? []).flatMap((seat) => hosting?.deadlines[seat] ?? []);
	return times.length > 0 ? `, until ${inWords(Math.min(...times))}` : "";
}

/** The line that shows whose turn it is. */
export class TurnLine {
	element = html("p", { class: "turn", role: "status" }, "Loading…");
	/** Whether it is the viewer's turn, once that is known. @type {boolean | null} */ #isMine = null;
	calls = new Calls();

	/** @param {LiveMatch} live */
	constructor(live) {
		this.live = live;
	}

	/** Shows that the match is being read. */
	load() {
		this.#isMine = null;
		this.#report("Loading…");
	}

	/** Shows nothing more. */
	end() {
		this.#isMine = null;
		this.#report("");
		this.#mark(false);
	}

	/** Shows whose turn it is now. */
	draw() {
		const { info, commands, viewer } = this.live;
		if (!info) return;
		if (this.live.trying.isOn) return this.#report(this.live.trying.line), this.#turned(this.live.trying.isMine);
		const now = info.now ?? { over: info.over, turn: null };
		const standing = (viewer.timeline.frames.at(-1) ?? viewer.timeline).standing;
		const mine = now.over ? [] : this.#mine(now);
		if (now.over) this.#report(now.result && standing ? `Over: ${shown(standing)}` : "Over");
		else if (mine.length > 0) this.#report(`Your turn: ${this.#doing(mine)}${until(info.hosting, mine)}`);
		else this.#report(commands.isDueByService ? "Waiting for a roll" : `${waiting(now.turn)}${until(info.hosting, now.turn)}`);
		this.#turned(mine.length > 0);
	}

	/** Returns the seats that have something to do and are played from this page. @param {Now} now */
	#mine({ turn }) {
		const { plays, hosts, sees, commands } = this.live;
		if (!plays) return [];
		// If the service rolls the dice, anyone may request the roll.
		if (commands.isDueByService) return [sees];
		const seats = turn ?? commands.legal.map(({ seat }) => seat);
		return seats.filter((seat) => (hosts ? !commands.taken.has(seat) : seat === sees));
	}

	/** Returns what there is to do, by the first words of the commands. @param {string[]} mine */
	#doing(mine) {
		const { commands, hosts, sees } = this.live;
		if (commands.due) return "roll the dice";
		const own = commands.legal.filter(({ seat }) => mine.includes(seat));
		// A command that is one word of places, such as `e2e4`, is a move on the board.
		const verbs = [...new Set(own.map(({ command, targets = [] }) => (targets.length > 0 && !command.includes(" ") ? "a move on the board" : command.split(" ")[0])))];
		const listed = verbs.length > VERBS_MAX ? [...verbs.slice(0, VERBS_MAX), "…"] : verbs;
		const what = verbs.length > 0 ? joined(listed.map(shown), "or") : "give a command";
		const others = mine.filter((seat) => seat !== sees);
		return hosts && others.length > 0 ? `${what} (for ${joined(others, "and")})` : what;
	}

	/** @param {string} text */
	#report(text) {
		if (this.element.textContent !== text) this.element.textContent = text;
	}

	/** @param {boolean} isMine */
	#turned(isMine) {
		const isNew = this.#isMine === false && isMine;
		this.#isMine = isMine;
		this.element.classList.toggle("mine", isMine);
		this.#mark(isMine);
		const { match, info, viewer } = this.live;
		if (isNew && document.visibilityState === "hidden") this.calls.call(match, info?.title || match, viewer.timeline.number(viewer.length));
	}

	/** Marks the tab. @param {boolean} isMine */
	#mark(isMine) {
		const { info, match } = this.live;
		document.title = `${isMine ? "● Your turn – " : ""}${info?.title || match}`;
		markTab(isMine);
	}
}
