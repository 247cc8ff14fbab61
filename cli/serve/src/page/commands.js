/**
 * Playing (VW-18, VW-43): legal commands, chosen part by part, a field for any command, and the outcome of the last one.
 *
 * @import {LiveMatch} from "./match.js"
 * @import {Legal} from "./choice.js"
 */
import { html, shown } from "./viewer.js";
import { NoAnswer, pause, sleep } from "./api.js";
import { partOf, wordButton } from "./buttons.js";
import { Choice, isWord, wordsOf } from "./choice.js";
import { askLegal, askMeanings } from "./legal.js";
import { openMenu } from "./menu.js";
import { Sender } from "./sender.js";
import { isTried, tryOut } from "./trial.js";
import { waiting } from "./turn.js";

/** The part of the page in which commands are given. */
export class CommandPanel {
	due = false;
	/** The commands that may be given from here. @type {Legal[]} */ legal = [];
	/** The seats that others have or are invited to. @type {Set<string>} */ taken = new Set();
	#choice = new Choice([], new Set());
	/** The command whose preview is shown before it is sent. @type {Legal | null} */ #tried = null;
	/** The first word button that is shown. */ #first = 0;
	/** What the commands mean, by their first words. @type {Map<string, string> | undefined} */ #meanings;
	/** How many entries there were when a command was refused. Later entries make that report obsolete. */
	#refusedAt = Infinity;
	#asked = 0;
	field = html("input", { id: "command", autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
	send = html("button", { class: "primary" }, "Send");
	roll = html("button", { type: "button", hidden: "" }, "Roll");
	list = html("div", { class: "legal", role: "group", "aria-label": "Legal commands" });
	hint = html("p", { class: "hint", role: "status" });
	note = html("p", { class: "answer", role: "status", "aria-live": "polite" });

	/** @param {LiveMatch} live */
	constructor(live) {
		this.live = live;
		this.sender = new Sender(live, (text, reason) => this.#report(text, reason));
		const form = html("form", { class: "giving" }, html("label", { for: "command" }, "Command"), this.field, this.send, this.roll);
		this.element = html("section", { class: "commands", "aria-label": "Commands" }, this.hint, this.list, this.note, form);
		this.element.hidden = !live.plays;
		form.addEventListener("submit", (event) => (event.preventDefault(), this.#typed(this.field.value.trim())));
		this.roll.addEventListener("click", () => this.give(""));
	}

	/** Whether a roll is due that the service makes when anyone asks for it. */
	get isDueByService() {
		return this.due && this.live.info?.dice === "seeded";
	}

	/** Asks which commands are legal now. */
	async refresh() {
		const { live } = this;
		this.element.hidden = !live.plays;
		if (!live.plays) return;
		const asked = ++this.#asked;
		if (live.viewer.length > this.#refusedAt) this.#report("");
		this.list.setAttribute("aria-busy", "true");
		for (let tries = 1; asked === this.#asked; tries++) {
			try {
				this.#meanings ??= await askMeanings(live);
				const { legal, taken } = await askLegal(live);
				if (asked !== this.#asked) return;
				this.taken = taken;
				return this.#offer(legal);
			} catch (error) {
				if (!(error instanceof NoAnswer)) {
					this.#offer([]);
					return this.#report(`The legal commands cannot be shown: ${error instanceof Error ? error.message : error}`);
				}
				await sleep(pause(tries));
			}
		}
	}

	/** Offers nothing until the next refresh. */
	clear() {
		this.#asked++;
		this.legal = [];
		this.#choice = new Choice([], new Set());
		this.#tried = null;
		this.#marked = "";
		this.list.replaceChildren();
		this.hint.textContent = "";
	}

	/** @param {Legal[]} legal */
	#offer(legal) {
		this.legal = this.isDueByService ? [] : legal;
		this.#choice = new Choice(this.legal, this.live.viewer.names());
		this.#tried = null;
		this.roll.hidden = !this.due;
		// Only one button stands out: the roll if it is due, else *Send*.
		this.roll.classList.toggle("primary", this.due);
		this.send.classList.toggle("primary", !this.due);
		this.list.removeAttribute("aria-busy");
		this.#draw();
		this.live.turn.draw();
		// The list takes room from the log.
		this.live.viewer.log.show(this.live.viewer.position);
	}

	/** Shows what may be chosen now, on the board and as buttons. */
	#draw() {
		const hadFocus = this.list.contains(document.activeElement);
		this.list.replaceChildren(...this.#buttons());
		this.element.classList.toggle("needed", this.#needsButtons);
		this.#mark();
		this.#drawHint();
		if (hadFocus) this.list.querySelector("button")?.focus({ preventScroll: true });
	}

	/** Whether the board alone is not enough to choose a command (VW-61). */
	get #needsButtons() {
		const choice = this.#choice;
		const { info, sees, hosts } = this.live;
		const isElse = choice.isEmpty && !hosts && !this.live.trying.isOn && info?.now?.turn && !info.now.turn.includes(sees);
		if (isElse) return false;
		const isOnBoard = [...choice.next()].some((part) => !isWord(part));
		return this.#tried !== null || (choice.isEmpty ? !isOnBoard : choice.whole().length > 0 || [...choice.next()].some(isWord) || !isOnBoard);
	}

	#buttons() {
		const choice = this.#choice;
		const back = this.#button("Undo a word", "", () => this.#undo());
		back.classList.add("back");
		if (this.#tried) {
			const tried = this.#tried;
			const send = this.#button(`Do it: ${this.#text(tried)}`, "", () => this.#send(tried));
			send.classList.add("primary");
			return [send, back];
		}
		const words = [...choice.next()].filter(isWord);
		const first = choice.isEmpty
			? [...choice.verbs()].map(([verb, legal]) => this.#verbButton(verb, legal))
			: choice.whole().map((one) => this.#button(this.#text(one), "", (near) => this.#choose(one, near)));
		const all = [...first, ...words.map((part) => this.#wordButton(part))];
		const offered = partOf(all, this.#first, (first) => ((this.#first = first), this.#draw()));
		return choice.isEmpty ? offered : [...offered, back];
	}

	/** @param {string} text @param {string} meaning @param {(near: HTMLElement) => void} act */
	#button(text, meaning, act) {
		return wordButton(text, meaning, (button, isByKey) => {
			act(button);
			// At the keyboard, the focus moves on to the next part.
			const next = this.list.querySelector("button:not(.back)") ? null : this.live.root.querySelector(".picture .reach");
			if (isByKey && (next instanceof HTMLElement || next instanceof SVGElement)) next.focus();
		});
	}

	/** @param {string} verb @param {Legal[]} legal */
	#verbButton(verb, legal) {
		const [first, ...others] = legal;
		const isWhole = others.length === 0 && !first.targets?.some((target) => typeof target !== "string");
		return this.#button(isWhole ? this.#text(first) : verb, this.#meaning(verb), (near) => {
			this.#choice.verb = verb;
			while (isWhole && this.#choice.goesOn) this.#choice.pick([...this.#choice.next()]);
			this.#went(near);
		});
	}

	/** @param {string} part */
	#wordButton(part) {
		return this.#button(wordsOf(part), "", (near) => (this.#choice.pick([part]), this.#went(near)));
	}

	/** Returns what a command means. @param {string} verb */
	#meaning(verb) {
		return this.#meanings?.get(verb.split(" ").at(-1) ?? "") ?? "";
	}

	/** Shows what there is to do, if no button shows it. */
	#drawHint() {
		this.hint.textContent = this.#hint();
	}

	#hint() {
		const { viewer, info, hosts, sees } = this.live;
		const choice = this.#choice;
		if (viewer.position !== viewer.length) return "This is an earlier entry. Commands are given at the last one.";
		if (this.due) return "A roll is due.";
		if (!choice.isEmpty) {
			const isMarked = [...choice.next()].some((part) => !isWord(part));
			const what = this.#tried ? "" : isMarked ? " Choose what is marked." : " Choose the next step.";
			return [`${shown(choice.words)} …`, this.#tried ? "" : this.#meaning(choice.only)].filter(Boolean).join(" – ") + what;
		}
		if (this.legal.length > 0) return choice.verbs().size === 0 ? "Choose a marked place." : "";
		// A referee need not list them.
		const isTurn = info?.now?.turn?.some((seat) => hosts || seat === sees) && !info.over && !this.isDueByService;
		return isTurn ? "These rules list no commands: type one." : "";
	}

	/** Returns the text to send for a command; a player's own command needs no seat. @param {Legal} legal */
	#text({ seat, command }) {
		return this.live.hosts || this.live.trying.isOfAll ? `${seat}: ${command}` : command;
	}

	#mark() {
		const { viewer } = this.live;
		/** @type {Map<string, string>} */ const marks = new Map();
		if (viewer.position === viewer.length) {
			if (!this.#tried) for (const part of this.#choice.next()) if (!isWord(part)) marks.set(part, " reach");
			for (const part of this.#choice.parts) marks.set(part, " chosen");
		}
		const now = JSON.stringify([...marks]);
		if (now === this.#marked) return;
		this.#marked = now;
		viewer.mark(marks);
	}

	#marked = "";

	/** Updates the panel after another entry is shown. @param {boolean} isAtHead */
	moved(isAtHead) {
		this.list.hidden = !isAtHead;
		if (!isAtHead) this.#tried = null;
		if (!isAtHead || this.legal.length > 0) this.#mark();
		if (!isAtHead || !this.list.hasAttribute("aria-busy")) this.#drawHint();
	}

	/** Handles a click on parts of commands; one of them is meant. @param {string[]} parts */
	picked(parts) {
		const { viewer, plays } = this.live;
		if (!plays) return;
		this.live.rulebook.began();
		if (viewer.position !== viewer.length) return this.#report("Go to the last entry to play.");
		const choice = this.#choice;
		if (this.#tried) {
			// VW-47: a second click on the same part sends the command.
			if (parts.includes(choice.parts.at(-1) ?? "")) return this.#send(this.#tried);
			this.#forget();
			choice.undo();
		}
		this.#report(choice.pick(parts) ? "" : "Nothing to do here.");
		// A hex with a name of its own is found where it was clicked.
		this.#went(this.#shownAt(choice.parts.at(-1)) ?? this.#shownAt(parts[0]));
	}

	/** Continues after a choice: with the next part, with a menu of choices, or with the whole command. @param {HTMLElement | null} near */
	#went(near) {
		const choice = this.#choice;
		this.#first = 0;
		const [whole, next, { verb, parts }] = [choice.whole(), [...choice.next()], choice];
		if (whole.length === 1 && !choice.goesOn) return this.#choose(whole[0], near);
		const name = `Commands at ${near?.dataset.at ?? wordsOf(parts.at(-1) ?? "")}`;
		if (whole.length > 1 && !choice.goesOn) {
			choice.clear();
			openMenu(this.element, name, near?.getBoundingClientRect(), whole.map((one) => [this.#text(one), () => (Object.assign(choice, { verb, parts }), this.#choose(one, near))]));
		} else if (next.length > 0 && whole.length === 0 && next.every(isWord) && near?.closest(".picture")) {
			openMenu(this.element, name, near?.getBoundingClientRect(), next.map((part) => [wordsOf(part), () => (choice.pick([part]), this.#went(near))]));
		}
		this.#draw();
	}

	#undo() {
		this.#forget();
		this.#choice.undo();
		this.#report("");
		this.#draw();
	}

	/** Ends the preview and shows the position again. */
	#forget() {
		if (!this.#tried) return;
		this.#tried = null;
		const { viewer } = this.live;
		viewer.show(viewer.position);
	}

	/** Returns the element of a part on the page. @param {string | undefined} part @returns {HTMLElement | null} */
	#shownAt(part = "") {
		const [, board, name] = /^(@|\d+ )(.*)$/.exec(part) ?? [];
		if (!board) return null;
		return this.live.root.querySelector(`.picture [${board === "@" ? "data-target" : "data-at"}="${CSS.escape(name)}"]`);
	}

	/** @param {string} text */
	#typed(text) {
		const known = this.legal.find((one) => this.#text(one) === text);
		if (known?.irreversible) this.#choose(known, this.field);
		else this.give(text);
	}

	/** Gives a command. One that cannot be undone is confirmed first; if previews are wanted, the command is previewed first.
	 * @param {Legal} one @param {HTMLElement | null} near */
	#choose(one, near) {
		const text = this.#text(one);
		if (one.irreversible) {
			// Drawing may replace the button, so take its place first.
			const place = near?.getBoundingClientRect();
			this.#choice.clear();
			this.#draw();
			openMenu(this.element, `Really ${text}?`, place, [["No", () => {}], [`Yes, ${text}`, () => this.give(text)]]);
		} else if (isTried() && !this.live.trying.isOn) this.#try(one);
		else this.#send(one);
	}

	/** Shows what a command would do (VW-47). @param {Legal} one */
	async #try(one) {
		this.#tried = one;
		this.#draw();
		const preview = await tryOut(this.live, one, () => this.#tried === one);
		if (this.#tried === one) this.#report(preview);
	}

	/** @param {Legal} one */
	#send(one) {
		this.#forget();
		this.#choice.clear();
		this.#draw();
		this.give(this.#text(one));
	}

	/** Gives a command; an empty text rolls what is due. @param {string} text */
	async give(text) {
		const { viewer } = this.live;
		if (viewer.position !== viewer.length) return this.#report("Go to the last entry to play.");
		const command = text.trim();
		this.send.disabled = true;
		const became = await this.sender.give(command);
		if (became === "waiting") return;
		this.send.disabled = false;
		if (became === "given") return void (this.field.value.trim() === command && (this.field.value = ""));
		if (command) this.field.value = command;
		if (became === "refused") this.#refusedAt = this.live.viewer.length;
		this.field.focus();
	}

	/** Shows a text, and the rules behind a reason (VW-62). @param {string} text @param {string} [reason] */
	async #report(text, reason) {
		this.#refusedAt = Infinity;
		this.note.textContent = text;
		if (!reason) return;
		const { text: why, buttons } = await this.live.rulebook.explain(reason);
		// Something else may have been reported in the meantime.
		if (this.note.textContent !== text) return;
		// Reasons of ignored commands have only the rulebook's words.
		if (text.endsWith(":")) this.note.append(` ${shown(why || reason)}`);
		this.note.append(...buttons.flatMap((button) => [" ", button]));
	}

	/** Brings into sight what can be done. */
	show() {
		const [first] = this.list.querySelectorAll("button");
		if (this.legal.length === 0) return void this.#report(`${waiting(this.live.info?.now?.turn)}. On your turn, what you can do is shown here.`);
		const marked = this.live.root.querySelector(".picture .reach");
		marked?.scrollIntoView({ block: "nearest" });
		const near = marked instanceof SVGElement || marked instanceof HTMLElement ? marked : first;
		near?.focus({ preventScroll: true });
	}

	/** Ends: no more commands can be given. */
	end() {
		this.send.disabled = this.roll.disabled = true;
		this.#asked++;
		this.#offer([]);
		this.hint.textContent = "";
	}
}
