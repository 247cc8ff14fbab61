/**
 * Elements made of text that is never markup, and the colors and signs on them.
 *
 * @import {At, Attributes} from "./frames.d.ts"
 */

/** Makes controls and marks of direction visible. @param {string} text */
export function shown(text) {
	const unprintable = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufdd0-\ufdef]/g;
	return text.replace(unprintable, (character) => `\\u{${character.charCodeAt(0).toString(16)}}`);
}

/** @template {keyof HTMLElementTagNameMap} K @param {K} tag
 * @param {Attributes} [attributes] @param {(Node | string)[]} children */
export function html(tag, attributes = {}, ...children) {
	return filled(document.createElement(tag), attributes, children);
}

/** @template {keyof SVGElementTagNameMap} K @param {K} tag
 * @param {Attributes} [attributes] @param {(Node | string)[]} children */
export function svg(tag, attributes = {}, ...children) {
	return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/** @param {string} name @param {string} text */
export const bdi = (name, text) => html("bdi", { class: name }, shown(text));

/** @param {string} name @param {(Node | string)[]} children */
export const span = (name, ...children) => html("span", { class: name }, ...children);

/** @template {Element} E @param {E} element @param {Attributes} attributes @param {(Node | string)[]} [children] */
export function filled(element, attributes, children = []) {
	for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, `${value}`);
	element.append(...children);
	return element;
}

/** @param {string} tint */
export const tintClass = (tint) => (tint.startsWith("#") ? "rgb" : tint);

/** @param {string} tint @returns {Attributes} */
export const fillOf = (tint) => (/^#[0-9a-f]{6}$/i.test(tint) ? { fill: tint } : {});

/** @param {Attributes} area @returns {Attributes} */
export const strokeOf = ({ fill }) => (fill ? { stroke: fill } : {});

/** Chooses black or white for text on a game's own color. @param {string} tint @returns {Attributes} */
export function inkOn(tint) {
	if (!fillOf(tint).fill) return {};
	const parts = [0.2126, 0.7152, 0.0722].map((weight, index) => {
		const part = parseInt(tint.slice(1 + 2 * index, 3 + 2 * index), 16) / 255;
		return weight * (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
	});
	return { fill: parts.reduce((sum, part) => sum + part) > 0.179 ? "#000000" : "#ffffff" };
}

/** Returns text within a width: smaller where it is long, then squeezed. @param {string} name @param {string} text
 * @param {At} point @param {[width: number, size: number, least: number]} room @param {Attributes} [ink] */
export function fitted(name, text, [x, y], [width, size, least], ink = {}) {
	const content = shown(text);
	const count = [...content].length;
	const fit = Math.max(least, Math.min(size, Math.floor((width * 5) / (count * 3))));
	/** @type {Attributes} */ const squeezed = count * fit * 0.6 > width ? { textLength: width, lengthAdjust: "spacingAndGlyphs" } : {};
	return svg("text", { class: name, x, y, "font-size": fit, ...squeezed, ...ink }, content);
}

/** What is drawn on buttons, in a box of 24. */
export const SIGNS = {
	First: "M6 5v14M19 5l-9 7 9 7z",
	Previous: "M17 5l-10 7 10 7z",
	Play: "M8 4l12 8-12 8z",
	Pause: "M8 5v14M16 5v14",
	Next: "M7 5l10 7-10 7z",
	Last: "M18 5v14M5 5l9 7-9 7z",
	"Zoom out": "M5 12h14",
	"Zoom in": "M5 12h14M12 5v14",
	"Previous match": "M5 15l7-7 7 7",
	"Next match": "M5 9l7 7 7-7",
};

/** Which keys do the same as buttons. @type {Record<string, string>} */
const HINTS = { First: " (Home)", Previous: " (←)", Next: " (→)", Last: " (End)" };

/** @param {keyof typeof SIGNS} name @param {() => void} click */
export function button(name, click) {
	const icon = svg("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" }, svg("path", { d: SIGNS[name] }));
	const made = html("button", { type: "button", "aria-label": name, title: name + (HINTS[name] ?? "") }, icon);
	made.addEventListener("click", click);
	return made;
}

/** What players are called, by their seats, where they have names. @type {Map<string, string>} */
export const NAMES = new Map();

/** Returns what the player of a seat is called, else the seat. @param {string} seat */
export const playerOf = (seat) => shown(NAMES.get(seat) ?? seat);

/** Returns a sentence in which players have their names (VW-80). @param {string} sentence @returns {(Node | string)[]} */
export function worded(sentence) {
	return sentence.split(/\b(p\d{1,2})\b/).map((part, index) => (index % 2 && NAMES.has(part) ? bdi("", NAMES.get(part) ?? "") : shown(part)));
}

/** The same as text. @param {string} sentence */
export const inNames = (sentence) => worded(sentence).map((part) => (typeof part === "string" ? part : part.textContent)).join("");

/** Where it is kept whether raw lines are shown. */
const RAW = "turnfold-raw";

/** Shows raw lines and fields, which are folded away for players. @param {boolean} isRaw */
export function showRaw(isRaw) {
	document.body.classList.toggle("raw", isRaw);
	try {
		if (isRaw) localStorage.setItem(RAW, "1");
		else localStorage.removeItem(RAW);
	} catch {
		// A browser may keep nothing for a file.
	}
}

/** Whether raw lines were shown in this browser. */
export function wasRaw() {
	try {
		return localStorage.getItem(RAW) !== null;
	} catch {
		return false;
	}
}

/** @param {string} seat */
export const seatClass = (seat) => `seat ${{ p1: "first", p2: "second", p3: "third", p4: "fourth" }[seat] ?? "plain"}`;

/** @param {KeyboardEvent | MouseEvent} event */
export const isChord = (event) => event.ctrlKey || event.altKey || event.metaKey || event.shiftKey;
