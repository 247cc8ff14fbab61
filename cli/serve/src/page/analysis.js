/**
 * Tools to analyze a match (VW-56 to VW-58): trials, comparisons, a search by condition, the view as JSON, the revision.
 *
 * @import {LiveMatch} from "./match.js"
 */
import { html } from "./viewer.js";
import { action, fold } from "./buttons.js";
import { comparisonOf } from "./compare.js";

/** The part of the page with tools to analyze a match. */
export class Analysis {
	other = html("select", { id: "other-branch" });
	condition = html("input", { id: "condition", autocomplete: "off", autocapitalize: "off", spellcheck: "false", size: 18, placeholder: "/turn == 3", required: "" });
	view = html("pre", { class: "json", tabindex: 0, hidden: "", role: "group", "aria-label": "View as JSON" });

	/** @param {LiveMatch} live @param {(text: unknown) => void} report */
	constructor(live, report) {
		this.live = live;
		/** @param {() => Promise<unknown> | void} act */
		const reporting = (act) => async () => {
			report("");
			try {
				await act();
			} catch (error) {
				report(error);
			}
		};
		/** @param {HTMLFormElement} form @param {() => Promise<unknown> | void} act */
		const submits = (form, act) => {
			const acting = reporting(act);
			form.addEventListener("submit", (event) => (event.preventDefault(), acting()));
			return form;
		};
		const find = html("form", {}, html("label", { for: "condition" }, "Next entry with"), this.condition, html("button", {}, "Find"));
		this.compare = html("form", {}, html("label", { for: "other-branch" }, "Compare with"), this.other, html("button", {}, "Compare"));
		this.compare.hidden = true;
		const actions = [
			action("Try from here", reporting(() => live.trying.begin())),
			action("Copy revision", reporting(async () => report(await this.#copy()))),
			action("View as JSON", reporting(() => this.#show())),
		];
		this.element = fold("Analysis", html("div", { class: "files" }, ...actions), submits(find, async () => report(await this.#find())), submits(this.compare, () => this.#compare()), this.view);
	}

	/** Lists the branches to compare with. @param {string[]} branches */
	list(branches) {
		const others = branches.filter((branch) => branch !== this.live.branch);
		this.other.replaceChildren(...others.map((branch) => html("option", { value: branch }, branch)));
		this.compare.hidden = others.length === 0;
	}

	/** Hides the JSON view if another entry is shown. */
	moved() {
		if (this.#number !== this.#viewed) this.view.hidden = true;
	}

	/** The entry whose view is shown as JSON. */
	#viewed = -1;

	get #number() {
		const { timeline, position } = this.live.viewer;
		return timeline.number(position);
	}

	/** Copies the revision of the entry for commands in a terminal; if that fails, returns it. */
	async #copy() {
		const { match, branch } = this.live;
		const revision = `${match}@${branch}:${this.#number}`;
		return navigator.clipboard.writeText(revision).then(() => `Copied ${revision}.`, () => revision);
	}

	/** Goes to the next entry at which a condition becomes true; continues from the start after the end. */
	async #find() {
		const { live } = this;
		/** @param {number} after @returns {Promise<number | null>} */
		const next = async (after) => (await live.api.get(live.path("find", { when: this.condition.value.trim(), after }))).seq;
		const later = await next(this.#number);
		const seq = later ?? (await next(0));
		if (seq === null) return "No entry makes it true.";
		live.viewer.goTo(`${seq}`);
		return `Entry ${seq}${later === null ? ", on from the start" : ""}.`;
	}

	async #show() {
		const number = this.#number;
		const view = await this.live.api.get(this.live.path("view", { at: number }));
		if (number !== this.#number) return;
		this.#viewed = number;
		this.view.textContent = JSON.stringify(view, null, 2);
		this.view.hidden = false;
	}

	#compare() {
		const { live } = this;
		live.viewer.write();
		location.assign(comparisonOf(live.match, live.branch, this.other.value, live.as));
	}
}
