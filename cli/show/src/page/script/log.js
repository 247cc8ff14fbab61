/**
 * The log and what an entry changed (VW-15).
 *
 * @import {Frame} from "./frames.d.ts"
 * @import {Timeline} from "./timeline.js"
 */
import { bdi, filled, html, playerOf, seatClass, showRaw, shown, span, worded } from "./elements.js";
import { NOTHING } from "./timeline.js";

/** How many entries are made together. */
const CHUNK = 10;

/** The entries, each a link. Rows have one height; only those near are made. */
export class LogView {
	#timeline = NOTHING;
	#position = 0;
	/** The position of the entry at which this log parts from another (VW-57), 0 where none does. */
	parting = 0;
	element = html("div", { class: "entries", role: "list" });
	#template = html("div", { role: "listitem" }, html("a", { tabindex: -1 }, span("number"), bdi("seat", ""), bdi("command", ""), bdi("outcome", ""), bdi("sentence", "")));

	constructor() {
		this.element.addEventListener("scroll", () => this.#fill(), { passive: true });
		addEventListener("resize", () => this.element.hasChildNodes() && this.show(this.#position));
		addEventListener("beforeprint", () => this.#fill(true));
		addEventListener("afterprint", () => this.#fill());
	}

	/** Makes the list as long as a timeline. @param {Timeline} timeline */
	update(timeline) {
		this.#timeline = timeline;
		const count = Math.floor(timeline.frames.length / CHUNK) + 1;
		const chunks = [...this.element.children].slice(0, count);
		for (const chunk of chunks) chunk.replaceChildren();
		while (chunks.length < count) chunks.push(html("div", { class: "chunk" }));
		this.element.replaceChildren(...chunks);
		this.#fill();
	}

	/** How many notes entries have, by their numbers. @type {Map<number, number>} */ #noted = new Map();

	/** Marks the entries that have notes. @param {Map<number, number>} noted */
	mark(noted) {
		this.#noted = noted;
		for (const row of this.element.querySelectorAll("[role=listitem]")) this.#drawNoted(row.children[0]);
	}

	/** @param {Element} link */
	#drawNoted(link) {
		const count = this.#noted.get(Number(link.children[0].textContent)) ?? 0;
		link.querySelector(".noted")?.remove();
		if (count > 0) link.append(filled(span("noted", `✎${count > 1 ? ` ${count}` : ""}`), { role: "img", "aria-label": count > 1 ? `${count} notes` : "a note" }));
	}

	/** Marks the current entry and brings it into sight. @param {number} position */
	show(position) {
		const hadFocus = this.element.contains(document.activeElement);
		let { scrollTop, clientHeight } = this.element;
		const [top, height] = [position * rowHeight(), rowHeight()];
		if (top < scrollTop || top + height > scrollTop + clientHeight) {
			scrollTop = this.element.scrollTop = Math.max(0, top - (clientHeight - height) / 2);
		}
		this.#link(this.#position)?.removeAttribute("aria-current");
		this.#link(this.#position)?.setAttribute("tabindex", "-1");
		this.#position = position;
		this.#fill(false, scrollTop, clientHeight);
		const link = filled(this.#link(position), { "aria-current": "step", tabindex: 0 });
		if (hadFocus) link.focus({ preventScroll: true });
	}

	/** Makes the rows that are near, and the last ones. */
	#fill(all = false, scrollTop = this.element.scrollTop, clientHeight = this.element.clientHeight) {
		const { children } = this.element;
		const height = CHUNK * rowHeight();
		[...children].forEach((chunk, index) => {
			const isNear = (index + 1.5) * height > scrollTop && (index - 0.5) * height < scrollTop + clientHeight;
			const isKept = all || isNear || index === Math.floor(this.#position / CHUNK) || index === children.length - 1;
			const end = isKept ? Math.min((index + 1) * CHUNK, this.#timeline.frames.length + 1) : 0;
			for (let at = index * CHUNK + chunk.children.length; at < end; at++) chunk.append(this.#row(at));
			if (!isKept && chunk.firstChild) chunk.replaceChildren();
		});
	}

	/** @param {number} position */
	#link(position) {
		const row = this.element.children[Math.floor(position / CHUNK)]?.children[position % CHUNK];
		return /** @type {HTMLAnchorElement} */ (row?.firstElementChild);
	}

	/** @param {number} position */
	#row(position) {
		const row = /** @type {HTMLElement} */ (this.#template.cloneNode(true));
		const { record, text, sentence = "" } = this.#timeline.frames[position - 1] ?? { record: { seat: "", command: this.#timeline.after ? "earlier entries" : "setup", outcome: "applied" }, text: `before entry ${this.#timeline.after + 1}` };
		const number = `${this.#timeline.number(position)}`;
		const [link] = row.children;
		[number, playerOf(record.seat), shown(record.command), shown(text)].forEach((text, index) => (link.children[index].textContent = text));
		filled(row, { "aria-posinset": position + 1, "aria-setsize": this.#timeline.frames.length + 1 });
		filled(link, { href: `#${number}`, class: `${record.outcome === "applied" ? "" : "failed"}${sentence ? " worded" : ""}`.trim() });
		link.children[1].className = seatClass(record.seat);
		link.children[4].append(...worded(sentence));
		this.#drawNoted(link);
		if (position > 0 && position === this.parting) {
			row.classList.add("parting");
			link.children[2].before(span("parts", "parts "));
		}
		return row;
	}
}

/** The height of a row, as in viewer.css. */
const rowHeight = () => 3.125 * parseFloat(getComputedStyle(document.documentElement).fontSize);

/** How many changed fields are listed at most. */
const FIELDS_MAX = 500;

/** @param {Frame | undefined} frame */
export function drawChanges(frame) {
	if (!frame) return [html("p", {}, "Nothing has happened yet.")];
	const items = frame.fields.slice(0, FIELDS_MAX).map((field) => {
		const arrow = html("span", { role: "img", "aria-label": "became" }, " → ");
		// VW-58: where it changed before, and where it changes next.
		const steps = [["‹", "Previous"], ["›", "Next"]].map(([sign, name]) => html("button", { type: "button", value: field.path, "aria-label": `${name} change of ${shown(field.path || "/")}` }, sign));
		return html("li", {}, span("steps", ...steps), bdi("path", field.path || "/"), span("values", value("del", field.old), arrow, value("ins", field.new)));
	});
	const more = frame.fields.length - items.length;
	const list = items.length > 0 ? html("ul", { role: "list" }, ...items) : html("p", {}, "No field changed.");
	// What developers read is folded away for players.
	const isRaw = document.body.classList.contains("raw");
	const line = html("p", {}, bdi("command", frame.record.command), " ", bdi("outcome", frame.text));
	const raw = html("details", { class: "rawline", ...(isRaw ? { open: "" } : {}) }, html("summary", {}, "Raw line and fields"), line, list, ...(more ? [html("p", {}, `and ${more} more`)] : []));
	raw.addEventListener("toggle", () => raw.isConnected && showRaw(raw.open));
	const happened = frame.sentence ? html("bdi", { class: "sentence" }, ...worded(frame.sentence)) : bdi("outcome", frame.text);
	return [html("p", { class: "happened" }, happened), raw];
}

/** @param {"del" | "ins"} tag @param {unknown} json */
export const value = (tag, json) => (json === undefined ? html("i", {}, "(none)") : html(tag, {}, bdi("", JSON.stringify(json))));
