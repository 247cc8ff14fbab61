/**
 * Notes to the entry that is shown and to the match, for all or for oneself (VW-82).
 *
 * @import {LiveMatch} from "./match.js"
 */
import { html, playerOf, seatClass, shown } from "./viewer.js";
import { action } from "./buttons.js";
import { atTime } from "./tools.js";

/** @typedef {{id: string, entry: number | null, seat: string | null, name: string | null, private: boolean, own: boolean, text: string, written_at_ms: number}} Note */

/** The notes of a match. */
export class Notes {
	/** @type {Note[]} */ #notes = [];
	#drawn = "";
	/** What was chosen to write about. */ #about = "entry";
	list = html("ul", { role: "list" });
	answer = html("p", { role: "status", class: "note" });
	text = html("textarea", { id: "note-text", rows: 2, maxlength: 500, required: "" });
	about = html("select", { id: "note-about" }, html("option", { value: "entry" }, "this entry"), html("option", { value: "match" }, "the match"));
	readers = html("select", { id: "note-readers" }, html("option", { value: "all" }, "for all"), html("option", { value: "me" }, "for me alone"));

	/** @param {LiveMatch} live */
	constructor(live) {
		this.live = live;
		const fields = [html("label", { for: "note-text" }, "Note"), this.text, html("span", { class: "pair" }, html("label", { for: "note-about" }, "on"), this.about), html("span", { class: "pair" }, html("label", { for: "note-readers", class: "unseen" }, "Readers"), this.readers)];
		const form = html("form", {}, ...fields, html("button", { class: "primary" }, "Save"));
		this.about.addEventListener("change", () => (this.#about = this.about.value));
		form.addEventListener("submit", (event) => (event.preventDefault(), this.#write()));
		if (live.kind === "v") [this.readers.value, this.readers.disabled] = ["me", true];
		this.element = html("section", { class: "notes", "aria-label": "Notes" }, this.list, html("details", { class: "newnote" }, html("summary", {}, "Write a note"), form, this.answer));
	}

	/** Asks which notes there are. */
	async ask() {
		const { live } = this;
		if (!live.sees) return;
		const path = live.path("notes");
		const found = await live.api.get(path).catch(() => null);
		// Another branch is shown by now.
		if (!found || path !== live.path("notes")) return;
		this.#notes = found.items;
		this.draw();
	}

	/** Shows the notes to the entry that is shown, then those to the match. */
	draw() {
		const { viewer } = this.live;
		const number = viewer.timeline.number(viewer.position);
		this.about.options[0].disabled = number === 0;
		this.about.value = number === 0 ? "match" : this.#about;
		const own = [...this.#notes.filter(({ entry }) => entry === number), ...this.#notes.filter(({ entry }) => entry === null)];
		const drawn = JSON.stringify([number, this.#notes, own.map(({ seat }) => playerOf(seat ?? ""))]);
		if (drawn === this.#drawn) return;
		this.#drawn = drawn;
		this.list.replaceChildren(...own.map((note) => this.#item(note)));
		const noted = new Map();
		for (const { entry } of this.#notes) if (entry !== null) noted.set(entry, (noted.get(entry) ?? 0) + 1);
		viewer.log.mark(noted);
	}

	/** @param {Note} note */
	#item({ id, entry, seat, name, private: isPrivate, own, text, written_at_ms }) {
		const author = html("bdi", { class: seatClass(seat ?? "") }, seat === "host" ? "host" : name ? shown(name) : own && !seat ? "you" : playerOf(seat ?? ""));
		const lines = text.split("\n").map(shown).join("\n");
		const about = [entry === null ? "on the match" : "", isPrivate ? "for you alone" : "", atTime(written_at_ms)].filter(Boolean).join(", ");
		const remove = action("Remove", () => this.#remove(id));
		remove.setAttribute("aria-label", `Remove the note of ${atTime(written_at_ms)}`);
		return html("li", {}, author, " ", html("bdi", { class: "notetext" }, lines), " ", html("small", {}, about), ...(own || this.live.hosts ? [" ", remove] : []));
	}

	async #write() {
		const { live } = this;
		const { timeline, position } = live.viewer;
		const isOfEntry = this.about.value === "entry";
		const path = live.path("notes", isOfEntry ? { entry: timeline.number(position) } : {});
		try {
			await live.api.post(path, { text: this.text.value.replaceAll("\r", ""), private: this.readers.value === "me" });
			this.text.value = "";
			this.answer.textContent = "";
			await this.ask();
		} catch (error) {
			this.answer.textContent = error instanceof Error ? error.message : `${error}`;
		}
	}

	/** @param {string} id */
	async #remove(id) {
		const { live } = this;
		if (!confirm("Remove this note for good?")) return;
		try {
			await live.api.fetch(`/v1/matches/${live.match}/notes/${id}`, { method: "DELETE" });
			this.answer.textContent = "";
		} catch (error) {
			this.answer.textContent = error instanceof Error ? error.message : `${error}`;
		}
		await this.ask();
	}
}
