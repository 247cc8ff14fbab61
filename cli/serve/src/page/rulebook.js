/**
 * How to play (VW-62): the game's rulebook next to the board, an offer for newcomers, and why a command was refused.
 *
 * @import {LiveMatch} from "./match.js"
 */
import { html, shown } from "./viewer.js";
import { action, fold } from "./buttons.js";

/** A game's rulebook as Markdown, and the rules behind its reasons. @typedef {{text: string, reasons: Record<string, {text: string, rules: string[]}>}} Book */

/** The storage key of the games that this browser knows. */
const TAUGHT = "turnfold-taught";

/** How many sentences about the game a newcomer is shown. */
const SENTENCES = 2;

/** Returns a text with code and strong words; of a link, only its words. @param {string} text */
export function inline(text) {
	return [...text.matchAll(/`([^`]+)`|\*\*(.+?)\*\*|\[([^\]]+)\]\([^)]*\)|[^`*[]+|./gs)].map(([all, code, strong, link]) => (code ? html("code", {}, shown(code)) : strong ? html("strong", {}, shown(strong)) : shown(link ?? all)));
}

/** Draws the Markdown of rulebooks: headings, paragraphs, lists, tables and code. @param {string} text */
export function drawn(text) {
	/** @type {HTMLElement[]} */ const made = [];
	/** @type {string[]} */ let open = [];
	// The lines of a paragraph or an item become one text; lines of code and tables stay.
	const close = () => {
		if (open.length === 0) return;
		const whole = open.join(" ").trim();
		const [, sign, item] = /^(-|\d+\.) (.*)$/.exec(whole) ?? [];
		if (/^(```|\|)/.test(open[0])) made.push(html("pre", { tabindex: 0 }, open.filter((line) => !line.startsWith("```")).map(shown).join("\n")));
		else if (item === undefined) made.push(html("p", {}, ...inline(whole)));
		else {
			const list = sign === "-" ? "ul" : "ol";
			if (made.at(-1)?.tagName !== list.toUpperCase()) made.push(html(list, {}));
			made.at(-1)?.append(html("li", {}, ...inline(item)));
		}
		open = [];
	};
	let isCode = false;
	for (const line of text.split("\n")) {
		const heading = isCode ? null : /^(#+) (.*)$/.exec(line);
		const isFence = line.startsWith("```");
		const isPart = isCode || (line.startsWith("|") && open[0]?.startsWith("|")) || (/\S/.test(line) && !/^(-|\d+\.) |^```/.test(line) && !heading);
		if (!isPart) close();
		if (heading) made.push(headingOf(heading[1].length, heading[2]));
		else if (/\S/.test(line) || isCode) open.push(isCode ? line : line.trim());
		if (isFence) isCode = !isCode;
		if (isFence && !isCode) close();
	}
	close();
	return made;
}

/** Returns a heading. A heading that begins with a rule's id can be found by it. @param {number} level @param {string} title */
function headingOf(level, title) {
	const [, id = ""] = /^([A-Z]+-\d+[a-z]?)\b/.exec(title) ?? [];
	// The page and the fold around the book have titles already, so the book begins with a smaller one.
	return html(level < 3 ? "h2" : "h3", id ? { "data-rule": id, tabindex: -1 } : {}, ...inline(title));
}

/** Returns the first sentences of a rulebook, after its title. @param {string} text */
export function opening(text) {
	const paragraph = text.replace(/^# .*\n/, "").trim().split("\n\n")[0].replace(/\s+/g, " ").replace(/- \*\*[A-Z]+-\d+\*\* /g, "");
	return paragraph.split(/(?<=[.!?]) (?=[A-Z`])/).slice(0, SENTENCES).join(" ");
}

/** The rulebook of a match's game. */
export class Rulebook {
	/** @type {Promise<Book | null> | null} */ #reading = null;
	page = html("div", { class: "rulebook" }, html("p", {}, "Loading…"));
	element = fold("How to play", this.page);
	offer = html("section", { class: "newcomer", "aria-label": "New to this game?", hidden: "" });

	/** @param {LiveMatch} live */
	constructor(live) {
		this.live = live;
		this.element.addEventListener("toggle", () => this.element.open && this.#show());
	}

	/** Reads the book once; null if it cannot be read. @returns {Promise<Book | null>} */
	read() {
		const { api, info } = this.live;
		if (!info) return Promise.resolve(null);
		return (this.#reading ??= api.get(`/v1/rulesets/${info.ruleset}/rulebook`).catch(() => (this.#reading = null)));
	}

	async #show() {
		const book = await this.read();
		if (!book) return this.page.replaceChildren("The rules of this game cannot be read.");
		if (!this.page.querySelector("h2")) this.page.replaceChildren(...drawn(book.text));
	}

	/** Opens the book at a rule. @param {string} id */
	async open(id) {
		this.element.open = true;
		await this.#show();
		const rule = this.page.querySelector(`[data-rule="${CSS.escape(id)}"]`);
		rule?.scrollIntoView();
		if (rule instanceof HTMLElement) rule.focus({ preventScroll: true });
	}

	/** Returns a reason in the words of the game, and buttons for the rules behind it. @param {string} reason */
	async explain(reason) {
		const { text = "", rules = [] } = (await this.read())?.reasons[reason] ?? {};
		const buttons = rules.map((id) => {
			const button = action(`Rule ${id}`, () => this.open(id));
			button.classList.add("rule");
			return button;
		});
		return { text, buttons };
	}

	/** Ends the offer after the player has begun to play. */
	began() {
		const { info } = this.live;
		if (!info || this.offer.hidden) return;
		this.offer.hidden = true;
		localStorage.setItem(TAUGHT, JSON.stringify([...taught(), info.ruleset]));
	}

	/** Offers a player who is new to the game a few sentences about it, and what can be done. */
	async welcome() {
		const { info, kind } = this.live;
		if (!info || kind !== "s" || taught().includes(info.ruleset)) return;
		const book = await this.read();
		if (!book || this.offer.firstChild) return;
		const show = action("Show me what I can do", () => (this.began(), this.live.showWhatCanBeDone()));
		const text = html("p", {}, ...inline(opening(book.text)), " What you can do is marked or a button, and a refused command costs nothing.");
		show.classList.add("primary");
		this.offer.replaceChildren(text, html("div", { class: "files" }, show, action("Rules", () => (this.began(), (this.element.open = true))), action("I know it", () => this.began())));
		// On a phone the offer is above the board, because in the dock it would cover the board.
		const phone = matchMedia("(max-width: 36rem)");
		const place = () => (phone.matches ? this.live.root : this.live.root.querySelector(".dock"))?.prepend(this.offer);
		phone.addEventListener("change", place);
		place();
		this.offer.hidden = false;
	}
}

/** Returns the games that this browser knows. @returns {string[]} */
function taught() {
	try {
		const known = JSON.parse(localStorage.getItem(TAUGHT) ?? "[]");
		return Array.isArray(known) ? known : [];
	} catch {
		return [];
	}
}
