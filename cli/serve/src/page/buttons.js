/** Buttons, and the parts of a page that contain them. */
import { html, shown } from "./viewer.js";

/** Returns a button that calls `act`. @param {string} name @param {() => void} act */
export function action(name, act) {
	const button = html("button", { type: "button" }, name);
	button.addEventListener("click", act);
	return button;
}

/** Returns a fold. Only one fold is open at a time, because all open at the same place. @param {string} title @param {(Node | string)[]} children */
export const fold = (title, ...children) => html("details", { class: "fold", name: "tools" }, html("summary", {}, title), html("div", { class: "panel" }, ...children));

/** @param {string} name @param {HTMLElement} field */
export const pair = (name, field) => html("span", { class: "pair" }, html("label", { for: field.id }, name), field);

/** The most word buttons to show at a time. */
const WORDS_MAX = 11;

/** Returns a button for one or more words, with their meaning. @param {string} text @param {string} meaning
 * @param {(button: HTMLElement, isByKey: boolean) => void} act */
export function wordButton(text, meaning, act) {
	const button = html("button", { type: "button" }, html("bdi", {}, shown(text)), ...(meaning ? [html("small", { title: meaning }, meaning)] : []));
	button.addEventListener("click", ({ detail }) => act(button, detail === 0));
	return button;
}

/** Returns a part of many buttons, with a button that leads to the next part. @param {HTMLElement[]} buttons @param {number} first
 * @param {(first: number) => void} turn */
export function partOf(buttons, first, turn) {
	if (buttons.length <= WORDS_MAX + 1) return buttons;
	const rest = buttons.length - first - WORDS_MAX;
	const more = wordButton(rest > 0 ? `${rest} more` : "First ones", "", () => turn(rest > 0 ? first + WORDS_MAX : 0));
	return [...buttons.slice(first, first + WORDS_MAX), more];
}
