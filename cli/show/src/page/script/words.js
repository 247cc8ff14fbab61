/**
 * What a picture shows, in words for those who do not see it (VW-52): `p2's b1, selected, can be chosen`.
 *
 * @import {Cell, Content, Line} from "./frames.d.ts"
 */
import { shown } from "./elements.js";

/** Whose something in a color is. @type {Record<string, string>} */
const OWNERS = { first: "p1's ", second: "p2's ", third: "p3's ", fourth: "p4's " };

/** What the page itself marks. @type {Record<string, string>} */
const MARKED = { reach: "can be chosen", chosen: "chosen", changed: "changed" };

/** What signs and the game's own colors mean; a 1 in a sign stands for any number. @typedef {Map<string, string>} Meanings */

/** Reads the legends among lines: faint ones such as `^ cursor  <> selected`, and `R red` in that color.
 * @param {Content[]} lines @returns {Meanings} */
export function meaningsOf(lines) {
	return new Map(/** @type {Line[]} */ (lines).flat().flatMap(([text, tint]) => {
		const color = /^#/.test(tint) ? /^\S+ ([a-z][a-z ]*)$/.exec(text) : null;
		if (color) return [[tint, `${color[1]} `]];
		return tint !== "faint" ? [] : text.split(/ {2,}/).flatMap((legend) => {
			const [, sign, meaning] = /^(\[ \]|\S+) ([^;]+)/.exec(legend) ?? [];
			return sign ? [/** @type {[string, string]} */ ([sign, meaning])] : [];
		});
	}));
}

/** Explains what a mark means, or each of several that stand one after another. @param {string} mark @param {Meanings} meanings */
function meaningOf(mark, meanings) {
	const known = meanings.get(mark.replace(/\d+/, "1"));
	if (known) return [known, ...(/\d+/.exec(mark) ?? [])].join(" ");
	return [...mark].some((sign) => meanings.has(sign)) ? [...mark].map((sign) => meanings.get(sign) ?? sign).join(", ") : mark;
}

/** Explains what stands in a cell or is a piece, and how the page marks it. @param {Cell} cell @param {Meanings} meanings
 * @param {string} [marks] such as ` reach changed` */
export function inWords([label, mark, tint, of = tint, name = label.trim()], meanings, marks = "") {
	const framed = meanings.has("[ ]") ? /^\[(.+)\]$/.exec(name) : null;
	const bare = framed ? framed[1] : name;
	const what = meanings.get(name) ?? (bare ? `${OWNERS[of] ?? meanings.get(of) ?? ""}${bare}` : "empty");
	const meaning = mark && mark !== label ? meaningOf(mark, meanings) : "";
	const isOpen = tint !== "blocked" || meanings.has(name);
	const parts = [what, isOpen ? "" : "blocked", framed ? meanings.get("[ ]") ?? "" : "", meaning, ...marks.split(" ").map((one) => MARKED[one] ?? one)];
	return parts.filter(Boolean).map(shown).join(", ");
}
