/**
 * The tools at the head of a match: its viewer, branches and files, and invitations for the host.
 *
 * @import {LiveMatch} from "./match.js"
 */
import { html, shown } from "./viewer.js";
import { dropToken, keep, nameOf, switches, tokenForm } from "./access.js";
import { Analysis } from "./analysis.js";
import { action, fold, pair } from "./buttons.js";
import { MySeat, called } from "./seat.js";
import { trialChoice } from "./trial.js";
import { countOfEntries } from "./turn.js";

/** @typedef {{id: string, kind: string, seat: string | null, label: string, name: string | null, live: boolean, became: string | null, created_at_ms: number, expires_at_ms: number | null, seen_at_ms: number | null}} Grant */
/** @typedef {{branch: string, entries: number, from: {branch: string, seq: number} | null}} Branch */

/** Returns a short form of a time. @param {number} ms */
export const atTime = (ms) => new Date(ms).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });

/** When a host's link can end: the values for the service, and their names. */
const ENDS = { "": "never", "1d": "in a day", "7d": "in a week", "30d": "in a month" };

/** How long a token counts as in use after a request with it, in milliseconds. */
const HERE_FOR = 20_000;

/** Returns when a token was given out, and when it was last used (VW-60). @param {Grant} grant @param {Grant[]} all */
function historyOf({ id, kind, created_at_ms, expires_at_ms, seen_at_ms }, all) {
	const isJoined = all.some(({ became }) => became === id);
	const seen = seen_at_ms === null ? "not seen since the service started" : seen_at_ms > Date.now() - HERE_FOR ? "here now" : `last seen ${atTime(seen_at_ms)}`;
	const until = expires_at_ms === null ? [] : [`until ${atTime(expires_at_ms)}`];
	return [`${isJoined ? "joined" : "issued"} ${atTime(created_at_ms)}`, ...until, ...(kind === "invitation" ? ["not accepted yet"] : [seen])].join(", ");
}

/** The tools of a match (VW-15), which also start branches (VW-20). */
export class MatchTools {
	element = html("div", { class: "matchtools" });
	branches = html("div", { class: "branches" });
	about = html("p", { class: "about" });
	note = html("p", { role: "status", class: "note" });
	/** As whom this page looks and plays; it opens the switch to others (VW-38). */
	you = html("summary", {});
	seat = html("select", { id: "look-as", "aria-label": "Viewer" });
	branchName = html("input", { id: "branch-name", autocomplete: "off", size: 12 });
	grants = html("ul", { role: "list", class: "grants" });

	/** @param {LiveMatch} live */
	constructor(live) {
		this.live = live;
		this.mine = new MySeat(live);
		this.analysis = new Analysis(live, (text) => this.#report(text));
		this.#drawYou();
		this.seat.addEventListener("change", () => {
			live.lookAs(this.seat.value === "host" ? "" : this.seat.value).catch((error) => live.fail(error));
		});
		this.here = html("p", {});
		const start = html("form", {}, html("label", { for: "branch-name" }, "New branch from here"), this.branchName, html("button", {}, "Start"));
		start.addEventListener("submit", (event) => (event.preventDefault(), this.#start()));
		this.start = html("div", {}, start);
		const problem = html("form", {}, html("label", { for: "problem" }, "Report a problem"), this.problem, html("button", {}, "Make a report"));
		problem.addEventListener("submit", (event) => (event.preventDefault(), this.#reportProblem()));
		const files = html("div", { class: "files" }, action("Page of what you see (.html)", () => this.#download("replay.html")), this.replayFile);
		const links = [html("a", { href: "/" }, "All matches"), action("Forget this device", () => this.#forget("every token of this match", () => keep(live.match, null)))];
		const drop = action("Forget this token", () => this.#forget(`the token of ${nameOf(live.access)}`, () => dropToken(live.match, live.access.token)));
		const who = html("div", { class: "who" }, ...(live.hosts ? [pair("Look as", this.seat)] : []), ...switches(live.match, live.access.token));
		const access = html("details", { class: "fold access", name: "tools" }, this.you, html("div", { class: "panel" }, this.mine.element, who, ...(live.plays ? [live.turn.calls.choices(), trialChoice()] : []), tokenForm(live.match), drop));
		access.addEventListener("toggle", () => access.open && this.mine.askCalls());
		const branches = fold("Branches", this.branches, this.here, this.start);
		for (const one of [branches, this.analysis.element]) one.addEventListener("toggle", () => one.open && this.listBranches().catch((error) => this.#report(error)));
		const invite = live.hosts ? [fold("Players", ...this.#invitations())] : [];
		const more = fold("More", this.about, files, problem, ...links, this.note);
		more.addEventListener("toggle", () => more.open && live.readInfo().catch((error) => this.#report(error)));
		this.element.append(this.mine.reminder, access, live.rulebook.element, branches, this.analysis.element, ...invite, more);
	}

	problem = html("input", { id: "problem", autocomplete: "off", maxlength: 1000, placeholder: "what is wrong at this entry", required: "" });
	replayFile = action("Replay file (.tfl)", () => this.#download("replay.tfl"));

	/** Shows the information about the match. */
	describe() {
		const { info, as, hosts } = this.live;
		if (!info) return;
		document.querySelector("h1")?.replaceChildren(html("bdi", {}, shown(info.title || info.match)));
		this.about.textContent = [...(info.title ? [info.title] : []), info.match, `${info.ruleset}, version ${info.version}`].map(shown).join(" · ");
		if (this.seat.options.length === 0) {
			this.seat.append(...["host", ...info.players].map((seat) => html("option", { value: seat }, seat)));
		}
		this.seat.value = as || "host";
		this.#drawYou();
		this.mine.describe();
		this.replayFile.hidden = !hosts && !this.live.over;
		this.start.hidden = !hosts;
	}

	#drawYou() {
		const { access, as } = this.live;
		this.you.textContent = `You are: ${called(nameOf(access), this.live.info?.names)}${as ? `, as ${as}` : ""}`;
	}

	/** Lists the branches, each under its parent. */
	async listBranches() {
		const { live } = this;
		/** @type {{items: Branch[]}} */ const { items } = await live.api.get(`/v1/matches/${live.match}/branches`);
		/** @param {string | undefined} parent @returns {Node[]} */
		const under = (parent) => {
			const own = items.filter(({ from }) => from?.branch === parent);
			return own.length === 0 ? [] : [html("ul", {}, ...own.map((one) => html("li", {}, this.#link(one), ...under(one.branch))))];
		};
		this.branches.replaceChildren(...under(undefined));
		this.analysis.list(items.map(({ branch }) => branch));
	}

	/** @param {Branch} branch */
	#link({ branch, entries, from }) {
		const { live } = this;
		const isCurrent = branch === live.info?.current;
		const address = isCurrent ? `/m/${live.match}` : `/m/${live.match}?branch=${encodeURIComponent(branch)}`;
		const link = html("a", { href: address, ...(branch === live.branch ? { "aria-current": "page" } : {}) }, branch);
		link.addEventListener("click", (event) => {
			if (event.ctrlKey || event.metaKey || event.shiftKey) return;
			event.preventDefault();
			live.viewer.leave(address);
			live.load().catch((error) => live.fail(error));
		});
		return html("span", {}, link, ` ${countOfEntries(entries)}${from ? `, from entry ${from.seq}` : ""}${isCurrent && branch !== "main" ? ", the match continues here" : ""}`);
	}

	/** Updates the tools after another entry is shown. */
	moved() {
		const { viewer } = this.live;
		this.here.textContent = `Entry ${viewer.timeline.number(viewer.position)} is shown.`;
		this.analysis.moved();
	}

	#start() {
		const { timeline, position } = this.live.viewer;
		return this.#branch(this.branchName.value.trim(), timeline.number(position));
	}

	/** Creates a branch after an entry, and goes there. @param {string} name @param {number} number */
	async #branch(name, number) {
		const { live } = this;
		try {
			await live.api.post(`/v1/matches/${live.match}/branches`, { name, from: `${live.branch}:${number}` });
			live.viewer.leave(`/m/${live.match}?branch=${encodeURIComponent(name)}`);
			await live.load();
		} catch (error) {
			this.#report(error);
		}
	}

	/** Saves a file of what the viewer may know (VW-25). Links carry no token, so the file is fetched. @param {string} what */
	async #download(what) {
		try {
			const response = await this.live.api.fetch(this.live.path(what));
			this.#save(await response.blob(), `${this.live.match}.${what.split(".").at(-1)}`);
		} catch (error) {
			this.#report(error);
		}
	}

	/** Saves a replay file up to the entry shown, with a comment about what is wrong there (VW-63). */
	async #reportProblem() {
		const { live } = this;
		const { timeline, position } = live.viewer;
		const number = timeline.number(position);
		try {
			const replay = await (await live.api.fetch(live.path("replay.tfl", { view: "true", at: number }))).text();
			const said = shown(this.problem.value.trim()).replaceAll("\ufeff", "");
			const from = shown(`${live.match}@${live.branch}:${number}, as ${live.sees}`);
			// The comment comes after the last entry, which the report is about.
			const whole = `${replay}# reported at ${from}: ${said}\n`;
			const file = `${live.match}-${number}.tfl`;
			this.#save(new Blob([whole], { type: "text/plain" }), file);
			this.#report(`Saved ${file}: it ends with entry ${number} and holds what ${live.sees} may know. \`turnfold show ${file}\` opens it.`);
		} catch (error) {
			this.#report(error);
		}
	}

	/** @param {Blob} blob @param {string} name */
	#save(blob, name) {
		const link = html("a", { href: URL.createObjectURL(blob), download: name });
		link.click();
		setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
	}

	/** @param {string} what @param {() => void} act */
	#forget(what, act) {
		if (!confirm(`Forget ${what}? Without another copy of your link you cannot come back.`)) return;
		act();
		location.assign("/");
	}

	#invitations() {
		const { live } = this;
		const kind = html("select", { id: "grant-kind" }, ...["invitation", "spectator"].map((kind) => html("option", {}, kind)));
		const seat = html("select", { id: "grant-seat" });
		const label = html("input", { id: "grant-label", autocomplete: "off", maxlength: 64, size: 12 });
		const link = html("input", { readonly: "", "aria-label": "Link to give away", class: "link", hidden: "" });
		const ends = html("select", { id: "grant-ends" }, ...Object.entries(ENDS).map(([value, name]) => html("option", { value }, name)));
		const here = html("input", { type: "checkbox", id: "grant-here" });
		const entry = html("span", { class: "pair" }, here, html("label", { for: "grant-here" }, "at the entry shown"));
		const form = html("form", {}, pair("Give", kind), pair("Seat", seat), pair("Called", label), pair("Ends", ends), entry, html("button", { class: "primary" }, "Make a link"), link);
		const fit = () => {
			const isInvitation = kind.value === "invitation";
			seat.disabled = !isInvitation;
			entry.hidden = isInvitation;
			ends.value = isInvitation ? "7d" : "";
		};
		kind.addEventListener("change", fit);
		fit();
		const path = `/v1/matches/${live.match}/grants`;
		form.addEventListener("submit", async (event) => {
			event.preventDefault();
			const asked = { kind: kind.value, ...(seat.disabled ? {} : { seat: seat.value }), ...(label.value ? { label: label.value } : {}), ...(ends.value ? { expires: ends.value } : {}) };
			try {
				const made = await live.api.post(path, asked);
				link.value = here.checked && !entry.hidden ? this.#atEntry(made.link) : made.link;
				link.hidden = false;
				link.select();
				await list();
			} catch (error) {
				this.#report(error);
			}
		});
		const list = async () => {
			/** @type {{items: Grant[]}} */ const { items } = await live.api.get(path);
			// Players come first, then those who may still join.
			const order = ["seat", "invitation", "host", "spectator", "calendar"];
			const counted = items.filter((one) => one.live).sort((one, other) => order.indexOf(one.kind) - order.indexOf(other.kind) || `${one.seat}`.localeCompare(`${other.seat}`));
			this.grants.replaceChildren(...counted.map((one) => {
				const name = [one.kind, one.seat, one.name, one.label].filter(Boolean).map((part) => shown(`${part}`)).join(" ");
				const revoke = action("Call back", async () => {
					if (!confirm(`Call back ${name}? Its link stops working at once and for good.`)) return;
					await live.api.fetch(`${path}/${one.id}`, { method: "DELETE" }).catch((error) => this.#report(error));
					await Promise.all([list(), live.readInfo()]);
				});
				revoke.setAttribute("aria-label", `Call back ${name}`);
				return html("li", {}, html("bdi", {}, name), " ", html("small", {}, historyOf(one, items)), " ", revoke);
			}));
		};
		const opened = html("div", {}, form, this.grants);
		setTimeout(() => opened.closest("details")?.addEventListener("toggle", () => {
			if (seat.options.length === 0) seat.append(...(live.info?.players ?? []).map((player) => html("option", {}, player)));
			list().catch((error) => this.#report(error));
		}));
		return [opened];
	}

	/** Returns a link that opens at the entry and branch shown. @param {string} link */
	#atEntry(link) {
		const { branch, viewer } = this.live;
		const address = new URL(link);
		if (branch !== "main" || this.live.info?.current !== "main") address.searchParams.set("branch", branch);
		address.searchParams.set("at", `${viewer.timeline.number(viewer.position)}`);
		return address.href;
	}

	/** @param {unknown} error */
	#report(error) {
		this.note.textContent = error instanceof Error ? error.message : `${error}`;
		this.element.querySelector("details[open] > .panel")?.append(this.note);
		this.note.closest("details")?.setAttribute("open", "");
	}
}
