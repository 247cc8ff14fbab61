/**
 * Trials from an entry (VW-56): commands on what the viewer knows there. They are kept in this browser and never recorded.
 *
 * @import {LiveMatch} from "./match.js"
 * @import {Legal} from "./choice.js"
 * @import {Now} from "./turn.js"
 * @import {Frames} from "./frames.d.ts"
 */
import { html, shown } from "./viewer.js";
import { TRIED } from "./access.js";
import { action } from "./buttons.js";
import { seatsOf } from "./turn.js";

/** A command with the rolls that followed it, and what was tried after it. @typedef {{commands: string[], next: Tried[]}} Tried */

/** @typedef {Frames & {commands: string[], legal: Legal[], now: Now}} Answer */

/** The tree of trials from an entry of a match. One path of it is shown. */
export class Trying {
	isOn = false;
	/** The commands that may be tried next. @type {Legal[]} */ legal = [];
	/** The turn in the trial, as one line of text. */ line = "";
	/** Whether the line calls for the viewer. */ isMine = false;
	#after = 0;
	#asked = 0;
	/** The address of the match before the trial. */ #address = "";
	/** The path from the root to the trial that is shown. @type {Tried[]} */ #path = [];
	title = html("h2", { tabindex: -1 });
	note = html("p", { role: "status", class: "note" });
	tree = html("ul", { role: "list", class: "tree", tabindex: 0, "aria-label": "What was tried" });
	undo = action("Undo", () => this.#go(this.#path.slice(0, -1)));

	/** @param {LiveMatch} live */
	constructor(live) {
		this.live = live;
		const forget = action("Forget it", () => this.#forget());
		const leave = action("Leave", () => this.#leave());
		leave.classList.add("primary");
		this.element = html("section", { class: "trying", "aria-label": "Trial", hidden: "" }, this.title, this.tree, html("div", { class: "files" }, leave, this.undo, forget), this.note);
	}

	/** Whether commands of all seats can be tried. */
	get isOfAll() {
		return this.isOn;
	}

	/** Begins a trial after the entry that is shown. */
	async begin() {
		const { live } = this;
		const { viewer } = live;
		viewer.pause();
		this.#after = viewer.timeline.number(viewer.position);
		const root = this.#read();
		const answer = await this.#ask(root.commands);
		root.commands = answer.commands;
		this.#address = viewer.address();
		live.suspend("Trial");
		this.isOn = true;
		this.#mark();
		this.title.textContent = `Trial from entry ${this.#after}: nothing is recorded`;
		this.#show([root], answer);
		this.title.focus();
	}

	/** Ends the trial. The caller shows the match again. */
	end() {
		this.#asked++;
		this.isOn = false;
		this.#mark();
	}

	/** Tries a command. @param {string} command @param {(text: string) => void} report @returns {Promise<"given" | "refused">} */
	async give(command, report) {
		const before = this.#path.flatMap(({ commands }) => commands);
		const parent = this.#path.at(-1);
		try {
			const answer = await this.#ask([...before, command]);
			const commands = answer.commands.slice(before.length);
			const same = parent?.next.find((one) => `${one.commands}` === `${commands}`);
			const tried = same ?? { commands, next: [] };
			if (!same) parent?.next.push(tried);
			report("");
			this.#show([...this.#path, tried], answer);
			return "given";
		} catch (error) {
			report(`Not done: ${error instanceof Error ? error.message : error}`);
			return "refused";
		}
	}

	/** @param {string[]} commands @returns {Promise<Answer>} */
	#ask(commands) {
		return this.live.api.post(this.live.path("trial"), { after: this.#after, commands });
	}

	/** Shows what was tried before. @param {Tried[]} path */
	async #go(path) {
		const asked = ++this.#asked;
		try {
			const answer = await this.#ask(path.flatMap(({ commands }) => commands));
			if (asked === this.#asked) this.#show(path, answer);
		} catch (error) {
			// The host may have changed the branch, so the trial may not be possible any more.
			this.note.textContent = `${error instanceof Error ? error.message : error}`;
		}
	}

	/** @param {Tried[]} path @param {Answer} answer */
	#show(path, answer) {
		const { viewer, commands, turn } = this.live;
		if (!this.isOn) return;
		this.#asked++;
		this.#path = path;
		this.legal = answer.legal;
		this.line = `Trial${lineOf(answer.now)}`;
		this.note.textContent = "";
		this.#write();
		this.#draw();
		viewer.take(answer);
		viewer.show(viewer.length);
		commands.due = false;
		commands.refresh();
		turn.draw();
	}

	#draw() {
		const [root] = this.#path;
		this.undo.disabled = this.#path.length < 2;
		this.tree.replaceChildren(...this.#items([root]));
		this.tree.hidden = root.next.length === 0;
		this.tree.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
	}

	/** Returns what was tried after the end of a path, as one list until the tree branches. @param {Tried[]} path @returns {HTMLElement[]} */
	#items(path) {
		const next = path.at(-1)?.next ?? [];
		const lines = next.map((tried) => [this.#item([...path, tried], tried), ...this.#items([...path, tried])]);
		return lines.length === 1 ? lines[0] : lines.map((line) => html("li", {}, html("ul", { role: "list" }, ...line)));
	}

	/** @param {Tried[]} path @param {Tried} tried */
	#item(path, tried) {
		const button = action(shown(tried.commands.join(", ")), () => this.#go(path));
		if (tried === this.#path.at(-1)) button.setAttribute("aria-current", "step");
		button.classList.toggle("on", this.#path.includes(tried));
		return html("li", {}, button);
	}

	#forget() {
		const [{ commands }] = this.#path;
		this.#go([{ commands, next: [] }]);
	}

	/** Goes back to the entry where the trial began. */
	#leave() {
		history.replaceState(history.state, "", this.#address);
		this.live.load().catch((error) => this.live.fail(error));
	}

	/** Marks the page as a trial, or as the match again. */
	#mark() {
		const { live, isOn } = this;
		this.element.hidden = !isOn;
		live.tools.element.hidden = isOn;
		live.viewer.isAddressed = !isOn;
		document.body.classList.toggle("on-trial", isOn);
	}

	/** The storage key of the entry, in the viewer's numbering. */
	get #key() {
		const { live } = this;
		return `${live.sees} ${live.branch}:${this.#after}`;
	}

	/** @returns {Tried} */
	#read() {
		const root = readTried(this.live.match)[this.#key];
		return Array.isArray(root?.next) && Array.isArray(root.commands) ? root : { commands: [], next: [] };
	}

	#write() {
		const [root] = this.#path;
		const { [this.#key]: _, ...others } = readTried(this.live.match);
		try {
			localStorage.setItem(TRIED + this.live.match, JSON.stringify(root.next.length > 0 ? { ...others, [this.#key]: root } : others));
		} catch {
			this.note.textContent = "This browser has no room to keep it.";
		}
	}
}

/** Returns whose turn it is, as the end of a line; in a trial no one waits for others. @param {Now} now */
function lineOf({ over, turn }) {
	if (over) return ": over";
	if (!turn) return "";
	return turn.length > 0 ? `: ${seatsOf(turn)} to play` : ": no one has anything to do";
}

/** @param {string} match @returns {Record<string, Tried>} */
function readTried(match) {
	try {
		return JSON.parse(localStorage.getItem(TRIED + match) ?? "{}") ?? {};
	} catch {
		return {};
	}
}
