/**
 * Whose turn it is, in one line (VW-39), and what calls a player who looks elsewhere (VW-40).
 *
 * @import {LiveMatch} from "./match.js"
 */
import { html, playerOf, shown } from "./viewer.js";

/** Whose turn it is, as the service reports it; null where the viewer may not know.
 * @typedef {{over: boolean | null, turn: string[] | null, result?: object}} Now */

/** Where it is kept how this browser calls. */
const CALLS = "turnfold-calls";

/** The most verbs of commands that are listed. */
const VERBS_MAX = 4;

/** Joins words as a sentence does. @param {string[]} words @param {string} last */
const joined = (words, last) => (words.length > 1 ? `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}` : words.join(""));

/** Shows for whom a match waits. @param {string[] | null | undefined} seats @param {Record<string, string>} [names] */
export function waiting(seats, names) {
	if (!seats) return "Waiting for the others";
	if (seats.length === 0) return "No one has anything to do";
	return `Waiting for ${seatsOf(seats, names)}`;
}

/** Names seats, by the names of a match where they are not the page's. @param {string[]} seats @param {Record<string, string>} [names] */
export const seatsOf = (seats, names = {}) => joined(seats.map((seat) => (seat === "host" ? "the host" : names[seat] ? shown(names[seat]) : playerOf(seat))), "and");

/** The line that shows whose turn it is. */
export class TurnLine {
	element = html("p", { class: "turn", role: "status" }, "Loading…");
	/** Whether it is the turn of who looks, once that is known. @type {boolean | null} */ #isMine = null;
	/** @type {AudioContext | null} */ #audio = null;
	#calls = readCalls();

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
		else if (mine.length > 0) this.#report(`Your turn: ${this.#doing(mine)}`);
		else this.#report(commands.isDueByService ? "Waiting for a roll" : waiting(now.turn));
		this.#turned(mine.length > 0);
	}

	/** Returns the seats that have something to do and are played from this page. @param {Now} now */
	#mine({ turn }) {
		const { plays, hosts, sees, commands } = this.live;
		if (!plays) return [];
		// Dice that the service rolls wait for anyone to have them rolled.
		if (commands.isDueByService) return [sees];
		const seats = turn ?? commands.legal.map(({ seat }) => seat);
		return seats.filter((seat) => (hosts ? !commands.taken.has(seat) : seat === sees));
	}

	/** Shows what there is to do, by the first words of the commands. @param {string[]} mine */
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
		if (isNew && document.visibilityState === "hidden") this.#call();
	}

	/** Marks the tab. @param {boolean} isMine */
	#mark(isMine) {
		const { info, match } = this.live;
		document.title = `${isMine ? "● Your turn – " : ""}${info?.title || match}`;
		document.querySelector("link[rel=icon]")?.setAttribute("href", isMine ? "/assets/icon-turn.svg" : "/assets/icon.svg");
	}

	#call() {
		if (this.#calls.sound) this.#ring();
		if (!this.#calls.notification || !("Notification" in window) || Notification.permission !== "granted") return;
		const { info, match } = this.live;
		try {
			const note = new Notification("Your turn", { body: info?.title || match, icon: "/assets/icon-turn.svg", tag: `turnfold:${match}` });
			note.onclick = () => (focus(), note.close());
		} catch {
			// Some browsers of phones have notifications for service workers only.
		}
	}

	/** Plays two notes, where the browser lets a page be heard. */
	#ring() {
		const audio = (this.#audio ??= new AudioContext());
		audio.resume().then(() => [660, 880].forEach((pitch, index) => {
			const [tone, volume, start] = [audio.createOscillator(), audio.createGain(), audio.currentTime + index / 5];
			tone.frequency.value = pitch;
			volume.gain.setValueAtTime(0.2, start);
			volume.gain.exponentialRampToValueAtTime(0.001, start + 0.4);
			tone.connect(volume).connect(audio.destination);
			tone.start(start);
			tone.stop(start + 0.4);
		}), () => {});
	}

	/** Returns the choices of how to be called: none unless asked for. */
	choices() {
		const note = html("p", { role: "status", class: "note" });
		/** @param {"sound" | "notification"} way */
		const choice = (way) => {
			const box = html("input", { type: "checkbox", id: `call-${way}` });
			box.checked = this.#calls[way];
			box.addEventListener("change", async () => {
				const isRefused = box.checked && way === "notification" && !(await mayNotify());
				if (isRefused) box.checked = false;
				note.textContent = isRefused ? "The browser does not allow notifications of this page." : "";
				this.#calls[way] = box.checked;
				localStorage.setItem(CALLS, JSON.stringify(this.#calls));
				if (box.checked && way === "sound") this.#ring();
			});
			return html("span", { class: "pair" }, box, html("label", { for: box.id }, way));
		};
		return html("div", { role: "group", "aria-label": "On my turn, while I look elsewhere" }, html("p", {}, "On my turn, while I look elsewhere:"), choice("sound"), " ", choice("notification"), note);
	}
}

async function mayNotify() {
	return "Notification" in window && (await Notification.requestPermission()) === "granted";
}

/** @returns {{sound: boolean, notification: boolean}} */
function readCalls() {
	try {
		return { sound: false, notification: false, ...JSON.parse(localStorage.getItem(CALLS) ?? "{}") };
	} catch {
		return { sound: false, notification: false };
	}
}
