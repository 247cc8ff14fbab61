/** Buttons, and what holds them. */
import { html, shown } from "./viewer.js";

/** Returns a button that does something. @param {string} name @param {() => void} act */
export function action(name, act) {
	const button = html("button", { type: "button" }, name);
	button.addEventListener("click", act);
	return button;
}

/** Only one fold is open at a time: all open at the same place. @param {string} title @param {(Node | string)[]} children */
export const fold = (title, ...children) => html("details", { class: "fold", name: "tools" }, html("summary", {}, title), html("div", { class: "panel" }, ...children));

/** @param {string} name @param {HTMLElement} field */
export const pair = (name, field) => html("span", { class: "pair" }, html("label", { for: field.id }, name), field);

/** The most words that are offered at a time. */
const WORDS_MAX = 11;

/** Returns a button for a word or more, with what it means. @param {string} text @param {string} meaning
 * @param {(button: HTMLElement, isByKey: boolean) => void} act */
export function wordButton(text, meaning, act) {
	const button = html("button", { type: "button" }, html("bdi", {}, shown(text)), ...(meaning ? [html("small", { title: meaning }, meaning)] : []));
	button.addEventListener("click", ({ detail }) => act(button, detail === 0));
	return button;
}

/** Returns a part of many buttons, with one that leads to the next. @param {HTMLElement[]} buttons @param {number} first
 * @param {(first: number) => void} turn */
export function partOf(buttons, first, turn) {
	if (buttons.length <= WORDS_MAX + 1) return buttons;
	const rest = buttons.length - first - WORDS_MAX;
	const more = wordButton(rest > 0 ? `${rest} more` : "First ones", "", () => turn(rest > 0 ? first + WORDS_MAX : 0));
	return [...buttons.slice(first, first + WORDS_MAX), more];
}
