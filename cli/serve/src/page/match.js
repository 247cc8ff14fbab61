/**
 * One match, live: the viewer, what it shows from the service, and what belongs to playing (VW-13).
 *
 * @import {Frames} from "./frames.d.ts"
 */
import { html, shown } from "./viewer.js";
import { Api, NoAnswer, Problem, pause, readEvents, readJson, sleep } from "./api.js";
import { addToken, chosenOf, kept, nameOf, refusal, showInvitation, showNoAccess, takeToken } from "./access.js";
import { CommandPanel } from "./commands.js";
import { showComparison } from "./compare.js";
import { LiveViewer } from "./liveviewer.js";
import { MatchTools } from "./tools.js";
import { Trying } from "./trying.js";
import { TurnLine } from "./turn.js";

/** @typedef {{match: string, ruleset: string, version: number, title: string, players: string[], branches: string[], head: number, over: boolean, dice: string, now?: import("./turn.js").Now}} MatchInfo */

/** How many entries are read at first; those before are read when someone goes there (VW-53). */
const FIRST_ENTRIES = 500;

/** At most so often, in milliseconds, new entries are shown. */
const SHOW_EVERY = 250;

/** Shows a match. @param {string} match @param {HTMLElement} root */
export async function showMatch(match, root) {
	const link = takeToken(match);
	// A link that is pasted into an open page brings its secret there.
	addEventListener("hashchange", () => takeToken(match) === "kept" && location.reload());
	const what = kept(match);
	const access = chosenOf(what);
	if (link === "broken") return showNoAccess(match, root, ["This link is incomplete: the end of it is missing."]);
	if (what.invitation) return showInvitation(match, root);
	if (!access) return showNoAccess(match, root);
	if (!new URLSearchParams(location.search).has("compare")) return new LiveMatch(match, access, root).begin();
	await showComparison(new Api(access.token), match, root).catch((error) => showNoAccess(match, root, [error instanceof Problem ? refusal(error, access) : `${error.message}`]));
}

/** A match that is followed as it is played. */
export class LiveMatch {
	/** The tag of what the viewer sees, by which the service knows whether it has changed. */
	tag = "";
	/** How many commands were answered. */
	given = 0;
	/** Whether every branch is over. */
	over = false;
	/** @type {MatchInfo | null} */ info = null;
	/** Viewer see what is shown. */
	sees = "";
	#abort = new AbortController();
	#wanted = Infinity;
	#isFetching = false;
	#unseen = 0;
	connection = html("p", { class: "connection", role: "status" });
	trying = new Trying(this);
	fresh = html("button", { type: "button", class: "fresh", hidden: "" });

	/** @param {string} match @param {import("./access.js").Access} access @param {HTMLElement} root */
	constructor(match, access, root) {
		this.match = match;
		this.access = access;
		this.api = new Api(access.token);
		this.kind = access.token[3];
		this.root = root;
		this.as = "";
		this.viewer = new LiveViewer(root, (parts) => this.commands.picked(parts));
		this.commands = new CommandPanel(this);
		this.turn = new TurnLine(this);
		this.tools = new MatchTools(this);
		this.viewer.readBack = (number) => this.#readBack(number);
		this.fresh.addEventListener("click", () => this.viewer.go(this.viewer.length));
		this.viewer.addEventListener("position", () => this.#moved());
		addEventListener("popstate", () => this.branch !== this.#shownBranch && this.load());
		document.querySelector("header")?.append(this.connection, this.fresh, this.tools.element);
		// What can be done stands below the board, in sight on a phone too.
		const controls = root.querySelector(".controls");
		const dock = html("div", { class: "dock" }, this.trying.element, this.turn.element, this.commands.element);
		controls?.replaceWith(dock);
		if (controls) dock.append(controls);
	}

	#shownBranch = "";

	/** The branch that the address names (VW-14). */
	get branch() {
		return new URLSearchParams(location.search).get("branch") ?? "main";
	}

	/** Whether the token's holder may give commands. */
	get plays() {
		return this.trying.isOn || ("ahs".includes(this.kind) && !this.as.startsWith("p"));
	}

	/** Whether the token may know everything of the match. */
	get hosts() {
		return "ah".includes(this.kind);
	}

	/** Returns the path of something of the shown branch. @param {string} what @param {Record<string, string | number>} [query] */
	path(what, query = {}) {
		const asked = new URLSearchParams(Object.entries({ ...query, ...(this.as ? { as: this.as } : {}) }).map(([name, value]) => [name, `${value}`]));
		return `/v1/matches/${this.match}/branches/${encodeURIComponent(this.branch)}/${what}${asked.size ? `?${asked}` : ""}`;
	}

	/** Shows the match and follows it from then on. */
	async begin() {
		for (let tries = 1; ; tries++) {
			try {
				return await this.load();
			} catch (error) {
				if (!(error instanceof NoAnswer)) return this.fail(error);
				await this.#waitFor(pause(tries), error.message);
			}
		}
	}

	/** Reads everything again: the match, its frames and its stream. */
	async load() {
		this.#abort.abort();
		this.#abort = new AbortController();
		const { signal } = this.#abort;
		this.#shownBranch = this.branch;
		this.trying.end();
		this.#wanted = Infinity;
		this.commands.clear();
		this.turn.load();
		await Promise.all([this.#readTag(), this.readInfo()]);
		const asked = /^#(\d+)$/.exec(location.hash)?.[1];
		let first = await this.api.get(this.path("frames", { last: FIRST_ENTRIES }));
		if (Number(asked) <= first.after) first = await this.api.get(this.path("frames", { after: Math.max(0, Number(asked) - FIRST_ENTRIES) }));
		if (signal.aborted) return;
		this.sees = first.viewer;
		if (!this.as) this.#known(this.kind === "s" ? first.viewer : nameOf(this.access));
		this.viewer.load(first);
		await this.#readRest(first);
		if (asked) this.viewer.goTo(asked);
		this.#arrived(!asked);
		this.tools.listBranches();
		if (!signal.aborted) this.#follow(first.event_id ?? `${first.head}`, signal);
	}

	/** Follows the match no more until it is loaded again. @param {string} why */
	suspend(why) {
		this.#abort.abort();
		this.commands.clear();
		this.#report("lost", why);
	}

	/** Keeps as whom the token gives access. @param {string} seat */
	#known(seat) {
		if (this.access.seat === seat) return;
		this.access.seat = seat;
		this.tools.describe();
		// It may have been forgotten in another tab.
		if (kept(this.match).tokens.some(({ token }) => token === this.access.token)) addToken(this.match, this.access.token, seat);
	}

	/** Reads what is known of the match; once it is over, more may be open to its players. */
	async readInfo() {
		const asked = new URLSearchParams({ ...(this.branch === "main" ? {} : { branch: this.branch }), ...(this.as ? { as: this.as } : {}) });
		this.info = await this.api.get(`/v1/matches/${this.match}${asked.size ? `?${asked}` : ""}`);
		this.over = this.info?.over ?? false;
		this.tools.describe();
	}

	/** Reads the entries before the first one that is there, down to a number and some more. @param {number} number */
	async #readBack(number) {
		const { signal } = this.#abort;
		const { after } = this.viewer.timeline;
		for (let tries = 1; !signal.aborted; tries++) {
			try {
				const earlier = await this.#read(Math.max(0, number - FIRST_ENTRIES), after);
				if (!signal.aborted && this.viewer.timeline.after === after) this.viewer.prepend(earlier);
				return;
			} catch (error) {
				if (!(error instanceof NoAnswer)) return this.fail(error);
				await sleep(pause(tries));
			}
		}
	}

	/** Returns the frames after an entry, up to another. @param {number} after @param {number} at @returns {Promise<Frames>} */
	async #read(after, at) {
		const frames = await this.api.get(this.path("frames", { after, at }));
		for (let { next } = frames; next !== null; ) {
			const more = await this.api.get(this.path("frames", { after: next, at }));
			frames.frames.push(...more.frames);
			next = more.next;
		}
		return frames;
	}

	/** @param {Frames & {next: number | null, head: number}} document */
	async #readRest(document) {
		for (let next = document.next; next !== null; ) {
			const more = await this.api.get(this.path("frames", { after: next, at: document.head }));
			this.viewer.append(more.frames, this.viewer.timeline.position(next));
			next = more.next;
		}
	}

	/** Reads the tag and whether a roll is due. The tag comes first: what is seen then is no older. */
	async #readTag() {
		const given = this.given;
		const response = await this.api.fetch(this.path("view"));
		// An answer to a command that came in the meantime had a later tag.
		if (given === this.given) this.tag = response.headers.get("etag") ?? "";
		const view = await readJson(response);
		this.commands.due = Boolean(view.due_roll);
	}

	/** Follows the stream (VW-19), and comes back to it when it is lost. @param {string} last the id of the last event that is known @param {AbortSignal} signal */
	async #follow(last, signal) {
		for (let tries = 1; !signal.aborted; tries++) {
			// Back in a network, what was connected before is not any more, however silent it may be about that.
			const moved = new AbortController();
			addEventListener("online", () => moved.abort(), { signal: moved.signal });
			try {
				const opened = () => ((tries = 0), this.#report("live", this.kind === "v" ? "Live" : `Live, as ${this.sees}`));
				await readEvents(this.api, this.path("events", { after: last }), (event, data, id) => {
					last = id || last;
					this.#received(event, data);
				}, opened, AbortSignal.any([signal, moved.signal]));
			} catch (error) {
				if (signal.aborted) return;
				if (error instanceof Problem && [400, 410].includes(error.status)) return void this.begin();
				if (error instanceof Problem) return this.fail(error);
			}
			// What brought the end of this connection needs no wait before the next.
			if (moved.signal.aborted) {
				this.#report("lost", "Connecting…");
				continue;
			}
			moved.abort();
			if (!signal.aborted) await this.#waitFor(pause(tries), "Connection lost.", signal);
		}
	}

	/** @param {string} event @param {string} data */
	#received(event, data) {
		if (event === "gone") return this.fail(new Error("This branch was deleted."));
		if (event !== "entries") return;
		const { entries } = JSON.parse(data);
		if (!entries) return void this.begin();
		// An entry may come to light behind later ones; everything from there on is read again.
		this.#wanted = Math.min(this.#wanted, ...entries.map((/** @type {{seq: number}} */ { seq }) => seq));
		this.#fetchNews();
	}

	/** Fetches what is new, a few times a second at most. */
	async #fetchNews() {
		if (this.#isFetching) return;
		this.#isFetching = true;
		while (this.#wanted < Infinity) {
			const { signal } = this.#abort;
			const after = this.#wanted - 1;
			this.#wanted = Infinity;
			// What came to light lies before all that was read.
			if (after < this.viewer.timeline.after) {
				this.#isFetching = false;
				return void this.begin();
			}
			try {
				await Promise.all([this.#readTag(), this.readInfo()]);
				const more = await this.api.get(this.path("frames", { after }));
				// Another branch is shown by now, and its address must not change.
				if (signal.aborted) continue;
				const wasAtHead = this.viewer.position === this.viewer.length;
				const before = this.viewer.length;
				this.viewer.append(more.frames, this.viewer.timeline.position(after));
				await this.#readRest(more);
				this.#unseen += Math.max(0, this.viewer.length - before);
				this.#arrived(wasAtHead);
			} catch (error) {
				if (signal.aborted) continue;
				this.#wanted = Math.min(this.#wanted, after + 1);
				if (!(error instanceof NoAnswer)) {
					this.#isFetching = false;
					return this.fail(error);
				}
			}
			await sleep(SHOW_EVERY);
		}
		this.#isFetching = false;
	}

	/** Something new is there. @param {boolean} toHead */
	#arrived(toHead) {
		if (toHead) this.viewer.go(this.viewer.length);
		this.#moved();
		this.turn.draw();
		this.commands.refresh();
	}

	#moved() {
		const isAtHead = this.viewer.position === this.viewer.length;
		if (isAtHead) this.#unseen = 0;
		this.fresh.hidden = isAtHead || this.#unseen === 0;
		this.fresh.textContent = `${this.#unseen} new`;
		this.commands.moved(isAtHead);
		this.tools.moved();
	}

	/** Waits, and shows for what and how long; a network that is back, or a page in sight again, ends the wait.
	 * @param {number} ms @param {string} why @param {AbortSignal} [signal] */
	async #waitFor(ms, why, signal) {
		const ended = new AbortController();
		const end = () => ended.abort();
		addEventListener("online", end, { signal: ended.signal });
		document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && end(), { signal: ended.signal });
		signal?.addEventListener("abort", end, { signal: ended.signal });
		for (let left = Math.ceil(ms / 1000); left > 0 && !ended.signal.aborted && !signal?.aborted; left--) {
			this.#report("lost", `${why} Trying again in ${left} s.`);
			await sleep(1000, ended.signal);
		}
		end();
	}

	/** @param {string} state @param {string} text */
	#report(state, text) {
		this.connection.className = `connection ${state}`;
		if (this.connection.textContent !== text) this.connection.textContent = text;
	}

	/** Reports why nothing more will come. @param {unknown} error */
	async fail(error) {
		this.#abort.abort();
		if (this.sees) this.commands.end();
		this.turn.end();
		const why = await this.#why(error);
		this.#report("lost", why);
		const main = html("a", { href: `/m/${this.match}` }, "Open branch main");
		const isOfBranch = this.branch !== "main" && why.includes("branch");
		if (!this.sees) showNoAccess(this.match, this.root, [why, ...(isOfBranch ? [" ", main] : [])], this.access.token);
		else if (isOfBranch) this.connection.append(" ", main);
	}

	/** Reports what is wrong: with the branch, the token or the match. @param {unknown} error @returns {Promise<string>} */
	async #why(error) {
		if (!(error instanceof Problem) || ![401, 404].includes(error.status)) return `${error instanceof Error ? error.message : error}`;
		if (error.status === 401) return refusal(error, this.access);
		try {
			await this.api.get(`/v1/matches/${this.match}`);
			return `There is no branch ${shown(this.branch)} in this match.`;
		} catch (other) {
			return other instanceof Problem ? refusal(other, this.access) : error.message;
		}
	}
}
