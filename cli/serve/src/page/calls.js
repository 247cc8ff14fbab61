/** Calls a player who looks elsewhere (VW-40), for the page of a match and the home page. */
import { html } from "./viewer.js";

/** The storage key of how this browser calls. */
const CALLS = "turnfold-calls";

/** The storage key of the last turn that this browser called for, so that only one of several tabs calls. */
const CALLED = "turnfold-called";

/** Calls in the ways that were chosen in this browser. */
export class Calls {
	/** @type {AudioContext | null} */ #audio = null;
	#calls = readCalls();

	/** Calls for a turn, unless another tab did. @param {string} match @param {string} title @param {number} head */
	call(match, title, head) {
		const turn = `${match} ${head}`;
		if (localStorage.getItem(CALLED) === turn) return;
		localStorage.setItem(CALLED, turn);
		if (this.#calls.sound) this.#ring();
		if (!this.#calls.notification || !("Notification" in window) || Notification.permission !== "granted") return;
		try {
			const note = new Notification("Your turn", { body: title, icon: "/assets/icon-turn.svg", tag: `turnfold:${match}` });
			note.onclick = () => (focus(), note.close());
		} catch {
			// Some browsers on phones allow notifications only from service workers.
		}
	}

	/** Plays two notes, if the browser allows sound. */
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

	/** Whether any way of calling is chosen. */
	get isWanted() {
		return this.#calls.sound || this.#calls.notification;
	}

	/** Returns the choices of how to be called. By default nothing calls. */
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

/** Marks this tab if it is the viewer's turn. @param {boolean} isMine */
export const markTab = (isMine) => document.querySelector("link[rel=icon]")?.setAttribute("href", isMine ? "/assets/icon-turn.svg" : "/assets/icon.svg");

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
