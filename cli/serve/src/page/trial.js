/**
 * Shows what a command would do, before it is sent (VW-47): by what the viewer knows, and without rolls.
 *
 * @import {LiveMatch} from "./match.js"
 * @import {Legal} from "./choice.js"
 */
import { html, inNames, shown } from "./viewer.js";

/** The storage key of whether this browser shows what a command would do. */
const KEPT = "turnfold-preview";

/** The least width of a hex or square that is hit with certainty, in pixels. */
const EASY = 24;

const coarse = matchMedia("(pointer: coarse)");

/** Whether to preview a command: as chosen, else if fingers or small places may miss. */
export function isTried() {
	const kept = localStorage.getItem(KEPT);
	if (kept) return kept === "on";
	const place = document.querySelector(".field [data-at] > path");
	const size = place ? place.getBoundingClientRect().width : EASY;
	return coarse.matches || (size > 0 && size < EASY);
}

/** Returns the choice whether to preview commands. */
export function trialChoice() {
	const box = html("input", { type: "checkbox", id: "preview" });
	box.addEventListener("change", () => localStorage.setItem(KEPT, box.checked ? "on" : "off"));
	const choice = html("span", { class: "pair" }, box, html("label", { for: box.id }, "Show what a command does before it is sent"));
	// The device and the board decide until the player chooses, and they may change.
	setTimeout(() => choice.closest("details")?.addEventListener("toggle", () => (box.checked = isTried())));
	return choice;
}

/** Previews a command on the board, and returns what it would do, in words. @param {LiveMatch} live @param {Legal} legal
 * @param {() => boolean} isWanted whether the preview is still wanted */
export async function tryOut(live, { seat, command }, isWanted) {
	try {
		const shownThen = await live.api.post(live.path("trial"), { commands: [`${seat}: ${command}`], roll: false });
		if (!isWanted()) return "";
		live.viewer.preview(shownThen);
		/** @type {import("./frames.d.ts").Frame[]} */ const frames = shownThen.frames;
		const happened = frames.map(({ text, sentence }) => (sentence ? inNames(sentence) : `${shown(text)}.`)).join(" ");
		return `As far as you know: ${happened || "nothing that you can see."}${shownThen.due_roll ? " Then a roll." : ""}`;
	} catch (error) {
		// The outcome may depend on what is concealed. The command can be sent all the same.
		return `The result cannot be shown: ${error instanceof Error ? error.message : error}`;
	}
}
