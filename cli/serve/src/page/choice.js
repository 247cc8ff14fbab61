/**
 * Chooses a command part by part (VW-43), in a trie of the legal commands' parts. Parts that the picture names are clicked there,
 * and all other parts are buttons. One algorithm serves all games.
 *
 * A part is written `0 e4` for a place on a board, `@unit ogre` for a name in the picture, and `=venom` for a word.
 */

/**
 * A command, and the parts of it that are clicked, in the order of clicks.
 *
 * @typedef {{seat: string, command: string, targets?: Target[], irreversible?: boolean}} Legal
 * @typedef {string | {piece: string} | [board: number, place: string | [number, number]]} Target
 */

/** The way to choose a command. A command with targets is open: it may begin without its first word. @typedef {{legal: Legal, verb: string, parts: string[], isOpen: boolean}} Path */

/** Whether a part is a button. @param {string} part */
export const isWord = (part) => part.startsWith("=");

/** Returns a part in words. @param {string} part */
export const wordsOf = (part) => part.replace(/^(=|@(p\d+ )?|\d+ )/, "");

/** The chosen parts of a command, and the parts that may follow. */
export class Choice {
	/** The chosen first word, after the seat if several seats have commands. */
	verb = "";
	/** @type {string[]} */ parts = [];
	/** @type {Path[]} */ #paths;

	/** @param {Legal[]} legal @param {Set<string>} names what the picture names */
	constructor(legal, names) {
		const hasSeats = new Set(legal.map(({ seat }) => seat)).size > 1;
		/** @param {string} seat @param {Target} target */
		const partOf = (seat, target) => {
			if (typeof target === "string") return `=${target}`;
			if (Array.isArray(target)) return `${target[0]} ${target[1]}`;
			const named = [`${seat} ${target.piece}`, target.piece].find((name) => names.has(name));
			return named ? `@${named}` : `=${target.piece}`;
		};
		this.#paths = legal.map((one) => {
			const { seat, command, targets = [] } = one;
			const [first, ...words] = command.split(" ");
			const isOpen = targets.length > 0;
			const verb = isOpen && words.length === 0 ? "" : hasSeats ? `${seat}: ${first}` : first;
			return { legal: one, verb, isOpen, parts: isOpen ? targets.map((target) => partOf(seat, target)) : words.map((word) => `=${word}`) };
		});
	}

	get isEmpty() {
		return !this.verb && this.parts.length === 0;
	}

	/** Returns the commands that continue the chosen parts, followed by `more`. @param {string[]} more */
	#from(...more) {
		const parts = [...this.parts, ...more];
		return this.#paths.filter((path) => (this.verb ? path.verb === this.verb : path.isOpen) && parts.every((part, index) => path.parts[index] === part));
	}

	/** Returns the first words to choose from, with the commands that each begins. */
	verbs() {
		/** @type {Map<string, Legal[]>} */ const verbs = new Map();
		for (const { verb, legal } of this.#paths) if (verb) verbs.set(verb, [...(verbs.get(verb) ?? []), legal]);
		return verbs;
	}

	/** Returns the parts that may follow. The first word of a command comes before its other words. */
	next() {
		const { length } = this.parts;
		const paths = this.#from().filter(({ verb, parts }) => !(this.isEmpty && verb && isWord(parts[0])));
		return new Set(paths.flatMap(({ parts }) => parts.slice(length, length + 1)));
	}

	/** Returns the commands that are chosen completely. */
	whole() {
		return this.isEmpty ? [] : this.#from().filter(({ parts }) => parts.length === this.parts.length).map(({ legal }) => legal);
	}

	/** Whether longer commands go on from here. */
	get goesOn() {
		return this.#from().some(({ parts }) => parts.length > this.parts.length);
	}

	/** Returns the first word of the commands that go on from here, if all have the same. */
	get only() {
		const verbs = new Set(this.#from().map(({ verb }) => verb));
		return this.isEmpty || verbs.size !== 1 ? "" : [...verbs][0];
	}

	/** Adds the first of these parts that continues a command. If none does, another command may begin. @param {string[]} parts
	 * @returns {boolean} whether one does */
	pick(parts) {
		const isSame = parts.some((part) => this.parts.includes(part));
		for (const [verb, before] of [[this.verb, this.parts], [this.verb, []], ["", []]]) {
			Object.assign(this, { verb, parts: before });
			const part = parts.find((one) => this.#from(one).length > 0);
			// A part that was chosen before is taken back.
			if (part && !(isSame && before.length === 0)) return (this.parts = [...this.parts, part]), true;
		}
		return isSame;
	}

	/** Takes back the last part, or the first word. */
	undo() {
		if (this.parts.length > 0) this.parts = this.parts.slice(0, -1);
		else this.verb = "";
	}

	/** Takes back everything. */
	clear() {
		this.verb = "";
		this.parts = [];
	}

	/** The chosen words. */
	get words() {
		return [this.verb, ...this.parts.map(wordsOf)].filter(Boolean).join(" ");
	}
}
