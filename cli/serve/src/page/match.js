/**
 * A live match: the viewer, the data that it shows, and everything for playing (VW-13).
 *
 * @import {Frames} from "./frames.d.ts"
 */
import { NAMES, html, shown } from "./viewer.js";
import { Api, NoAnswer, Problem, pause, readJson, sleep } from "./api.js";
import { ADMIN, addToken, chosenOf, keepTab, kept, nameOf, refusal, showInvitation, showNoAccess, tabOf, takeToken, useInTab } from "./access.js";
import { CommandPanel } from "./commands.js";
import { showComparison } from "./compare.js";
import { Presence } from "./here.js";
import { LiveViewer } from "./liveviewer.js";
import { Notes } from "./notes.js";
import { Rulebook } from "./rulebook.js";
import { Stream, waitFor } from "./stream.js";
import { Takeback } from "./takeback.js";
import { MatchTools } from "./tools.js";
import { Trying } from "./trying.js";
import { TurnLine } from "./turn.js";

/** @typedef {{match: string, ruleset: string, version: number, title: string, players: string[], branches: string[], branch: string, current: string, head: number, over: boolean, dice: string, names?: Record<string, string>, now?: import("./turn.js").Now, hosting?: import("./turn.js").Hosting, takebacks?: boolean, takeback?: import("./takeback.js").Asked}} MatchInfo */

/** How many entries are read at first. Earlier ones are read when the viewer goes there (VW-53). */
const FIRST_ENTRIES = 500;

/** The least time between two updates with new entries, in milliseconds. */
const SHOW_EVERY = 250;

/** Shows a match. @param {string} match @param {HTMLElement} root */
export async function showMatch(match, root) {
	const link = takeToken(match);
	// A link that is pasted into the address of an open page contains a secret.
	addEventListener("hashchange", () => takeToken(match) === "kept" && location.reload());
	const what = kept(match);
	const admin = sessionStorage.getItem(ADMIN);
	const access = chosenOf(match, what) ?? (admin ? { token: admin } : undefined);
	if (access) useInTab(match, access.token);
	if (link === "broken") return showNoAccess(match, root, ["This link is incomplete: the end of it is missing."]);
	if (what.invitation) return showInvitation(match, root);
	if (!access) return showNoAccess(match, root);
	if (!new URLSearchParams(location.search).has("compare")) return new LiveMatch(match, access, root).begin();
	await showComparison(new Api(access.token), match, root).catch((error) => showNoAccess(match, root, [error instanceof Problem ? refusal(error, access) : `${error.message}`]));
}

/** Returns the button that shows or hides the parts of a dock that are folded on a phone (VW-61). @param {HTMLElement} dock */
function foldOf(dock) {
	const fold = html("button", { type: "button", class: "unfold", "aria-expanded": "false" }, "More");
	fold.addEventListener("click", () => {
		const isFolded = dock.classList.toggle("folded");
		fold.textContent = isFolded ? "More" : "Less";
		fold.setAttribute("aria-expanded", `${!isFolded}`);
	});
	return fold;
}

/** A match that is followed as it is played. */
export class LiveMatch {
	/** The tag of the last frame, by which the service checks that the page is up to date; empty while the match is read. */
	tag = "";
	/** The last tag that the service named, and its head. */ #named = { head: -1, tag: "" };
	/** Whether every branch is over. */
	over = false;
	/** @type {MatchInfo | null} */ info = null;
	/** The viewer whose view is shown. */
	sees = "";
	#abort = new AbortController();
	#wanted = Infinity;
	#isLoading = false;
	/** The fetching of new entries, while it runs. @type {Promise<void> | null} */ #fetching = null;
	#shownAt = 0;
	#unseen = 0;
	connection = html("p", { class: "connection", role: "status" });
	trying = new Trying(this);
	fresh = html("button", { type: "button", class: "fresh", hidden: "" });
	/** Reports that this tab is another seat than before. */ changed = html("p", { class: "note", role: "status" });

	/** @param {string} match @param {import("./access.js").Access} access @param {HTMLElement} root */
	constructor(match, access, root) {
		this.match = match;
		this.access = access;
		this.api = new Api(access.token);
		this.kind = access.token[3];
		this.root = root;
		this.as = this.hosts ? (tabOf(match).as ?? "") : "";
		this.viewer = new LiveViewer(root, (parts) => this.commands.picked(parts));
		this.rulebook = new Rulebook(this);
		this.commands = new CommandPanel(this);
		this.turn = new TurnLine(this);
		this.tools = new MatchTools(this);
		this.presence = new Presence(this);
		this.notes = new Notes(this);
		this.takeback = new Takeback(this);
		root.querySelector(".fields")?.append(this.notes.element);
		this.viewer.read = (...part) => this.#readPart(...part);
		this.fresh.addEventListener("click", () => this.viewer.go(this.viewer.length));
		this.viewer.addEventListener("position", () => this.#moved());
		addEventListener("popstate", () => this.branch !== this.#shownBranch && this.load());
		document.querySelector("header")?.append(this.connection, this.presence.element, this.changed, this.fresh, this.tools.element);
		// What can be done is below the board, in sight on a phone too.
		const controls = root.querySelector(".controls");
		const dock = html("div", { class: "dock folded" }, this.rulebook.offer, this.trying.element, this.takeback.element);
		dock.append(html("div", { class: "turnrow" }, this.turn.element, this.presence.again, foldOf(dock)), this.commands.element, this.takeback.offer);
		controls?.replaceWith(dock);
		if (controls) dock.append(controls);
	}

	#shownBranch = "";

	/** The current branch of the match, as far as it is known. */ #current = "main";

	/** The branch that the address names (VW-14), or the current one. */
	get branch() {
		return new URLSearchParams(location.search).get("branch") ?? this.#current;
	}

	/** Whether the match continues on another branch than the one shown. The page of a match by mail asks its desk instead. */
	get #hasMoved() {
		return !this.access.mail && this.branch !== this.#shownBranch;
	}

	/** Whether the token's holder may give commands. */
	get plays() {
		return this.trying.isOn || ("ahs".includes(this.kind) && !this.as.startsWith("p"));
	}

	/** Whether the token may know everything of the match. */
	get hosts() {
		return "ah".includes(this.kind);
	}

	/** Returns the path of a resource of the shown branch. @param {string} what @param {Record<string, string | number>} [query] */
	path(what, query = {}) {
		const asked = new URLSearchParams(Object.entries({ ...query, ...(this.as ? { as: this.as } : {}) }).map(([name, value]) => [name, `${value}`]));
		return `/v1/matches/${this.match}/branches/${encodeURIComponent(this.branch)}/${what}${asked.size ? `?${asked}` : ""}`;
	}

	/** Shows all that can be done now. */
	showWhatCanBeDone() {
		const unfold = this.root.querySelector(".folded .unfold");
		if (unfold instanceof HTMLElement) unfold.click();
		this.commands.show();
	}

	/** Shows the match and follows it from then on. */
	async begin() {
		for (let tries = 1; ; tries++) {
			try {
				return await this.load();
			} catch (error) {
				if (!(error instanceof NoAnswer)) return this.fail(error);
				await waitFor(pause(tries), error.message, this.#report);
			}
		}
	}

	/** Reads everything again: the match, its frames and its stream. @returns {Promise<void>} */
	async load() {
		this.#abort.abort();
		this.#abort = new AbortController();
		const { signal } = this.#abort;
		this.#shownBranch = this.branch;
		this.trying.end();
		this.#wanted = Infinity;
		this.#isLoading = true;
		this.tag = "";
		this.commands.clear();
		this.turn.load();
		// Listen before reading, because other tabs may hear of entries after those that are read here.
		const stream = new Stream(this.api, this.path("events"), (event, data) => this.#received(event, data), this.#report, signal);
		const [first] = await Promise.all([this.api.get(this.path("frames", { last: FIRST_ENTRIES })), this.readInfo()]);
		if (this.#hasMoved) return this.load();
		if (first.next !== null) first.frames.push(...(await this.#read(first.next, first.head)).frames);
		const { tag, isDue } = await this.#readTag(first.head);
		if (signal.aborted) return;
		this.sees = first.viewer;
		if (!this.as) this.#known(this.kind === "s" ? first.viewer : nameOf(this.access));
		this.viewer.load(first);
		this.tag = tag;
		this.commands.due = isDue;
		const asked = /^#(\d+)$/.exec(location.hash)?.[1];
		// The page is not live before the entry that the address names was read.
		if (asked) await this.viewer.goTo(asked, true);
		if (signal.aborted) return;
		this.#isLoading = false;
		this.#arrived(!asked);
		this.tools.listBranches();
		this.rulebook.welcome();
		this.#follow(stream, first.event_id ?? `${first.head}`, signal);
		if (this.#wanted < Infinity) this.#fetchNews();
	}

	/** Stops following the match until it is loaded again. @param {string} why */
	suspend(why) {
		this.#abort.abort();
		this.commands.clear();
		this.#report("lost", why);
	}

	/** Keeps the name that the token gives access as, and reports it if this tab had another name. @param {string} seat */
	#known(seat) {
		const { name } = tabOf(this.match);
		if (name && name !== seat) this.changed.textContent = `You are ${seat} here now, no longer ${name}.`;
		keepTab(this.match, { name: seat });
		if (this.access.seat === seat) return;
		this.access.seat = seat;
		this.tools.describe();
		// The token may have been forgotten in another tab.
		if (kept(this.match).tokens.some(({ token }) => token === this.access.token)) addToken(this.match, this.access.token, seat);
	}

	/** Looks as a seat, which only the host may do; an empty seat is the host's own view. @param {string} seat */
	lookAs(seat) {
		this.as = seat;
		keepTab(this.match, { as: seat });
		return this.load();
	}

	/** Reads the information about the match. Once it is over, its players may know more. */
	async readInfo() {
		const branch = new URLSearchParams(location.search).get("branch");
		const asked = new URLSearchParams({ ...(branch ? { branch } : {}), ...(this.as ? { as: this.as } : {}) });
		/** @type {MatchInfo} */ const info = await this.api.get(`/v1/matches/${this.match}${asked.size ? `?${asked}` : ""}`);
		this.info = info;
		this.over = info.over;
		this.#current = info.current;
		if (this.#hasMoved && !this.#isLoading) {
			this.takeback.movedTo = info.head;
			return this.load();
		}
		this.#name(this.info?.names ?? {});
		this.tools.describe();
		this.takeback.draw();
	}

	/** Goes to the current branch of the match. */
	goOn() {
		this.viewer.leave(`/m/${this.match}`);
		return this.load().catch((error) => this.fail(error));
	}

	/** Shows players by these names from now on. @param {Record<string, string>} names */
	#name(names) {
		if (JSON.stringify(names) === this.#names) return;
		this.#names = JSON.stringify(names);
		NAMES.clear();
		for (const [seat, name] of Object.entries(names)) NAMES.set(seat, name);
		const { viewer } = this;
		if (viewer.length === 0) return;
		viewer.grown(0);
		viewer.show(viewer.position);
	}

	#names = "{}";

	/** Reads the frames after an entry up to another, at least up to `least`. @param {number} after @param {number} at
	 * @param {number} least @returns {Promise<Frames | null>} */
	async #readPart(after, at, least) {
		const { signal } = this.#abort;
		for (let tries = 1; !signal.aborted; tries++) {
			try {
				const part = await this.#read(after, at, least);
				return signal.aborted ? null : part;
			} catch (error) {
				if (!(error instanceof NoAnswer)) return this.fail(error), null;
				await sleep(pause(tries));
			}
		}
		return null;
	}

	/** Returns the frames after an entry up to another, at least up to `least`. @param {number} after @param {number} [at]
	 * @param {number} [least] @returns {Promise<Frames & {head: number}>} */
	async #read(after, at, least = Infinity) {
		const frames = await this.api.get(this.path("frames", { after, ...(at === undefined ? {} : { at }) }));
		for (let { next } = frames; next !== null && next < least; ) {
			const more = await this.api.get(this.path("frames", { after: next, at: at ?? frames.head }));
			frames.frames.push(...more.frames);
			next = more.next;
		}
		return frames;
	}

	/** Reads the tag of the view after an entry, and whether a roll is due then. @param {number} head */
	async #readTag(head) {
		const named = this.#named.head === head ? this.#named.tag : "";
		// The service has the head's view in memory. If the head has moved on, ask for the view at this entry.
		let response = named ? await this.api.fetch(this.path("view")) : null;
		const isRight = response?.headers.get("etag") === named;
		// A spectator sends no tag.
		if (!response || !isRight) response = await this.api.fetch(this.path("view", this.kind === "v" ? {} : { at: head }));
		const view = await readJson(response);
		return { tag: response.headers.get("etag") ?? "", isDue: Boolean(view.due_roll) };
	}

	/** Follows the match (VW-19). @param {Stream} stream @param {string} last @param {AbortSignal} signal */
	async #follow(stream, last, signal) {
		try {
			await stream.follow(last);
		} catch (error) {
			if (signal.aborted) return;
			if (error instanceof Problem && ["no_entry", "gone"].includes(error.code ?? "")) return void this.begin();
			this.fail(error);
		}
	}

	/** @param {string} event @param {string} data */
	#received(event, data) {
		if (event === "gone") return this.fail(new Error("This branch was deleted."));
		// The match has a question to take back, or another current branch (VW-85).
		if (event === "match") return void this.readInfo().catch((error) => (error instanceof NoAnswer ? undefined : this.fail(error)));
		if (event !== "entries") return;
		const { entries, head, tag } = JSON.parse(data);
		if (!entries) return void this.begin();
		this.learn(entries, head, tag);
	}

	/** Reads and shows what is new. An entry may be revealed before later ones; everything from there on is read again.
	 * @param {{seq: number}[]} entries @param {number} head @param {string} tag of the view there */
	learn(entries, head, tag) {
		this.#named = { head, tag };
		this.#wanted = Math.min(this.#wanted, ...entries.map(({ seq }) => seq));
		if (this.#isLoading) return null;
		this.#fetchNews();
		// The stream may name the same entries again. They are fetched again, but a command does not wait for that.
		return /** @type {Promise<void>} */ (new Promise((done) => this.#waiting.push(done)));
	}

	/** Called once what is new is shown. @type {(() => void)[]} */ #waiting = [];

	/** Fetches what is new, at most a few times a second. */
	#fetchNews() {
		return (this.#fetching ??= this.#fetchAll().finally(() => (this.#fetching = null)));
	}

	async #fetchAll() {
		for (let tries = 1; this.#wanted < Infinity && !this.#isLoading; tries++) {
			const { signal } = this.#abort;
			await sleep(Math.max(0, this.#shownAt + SHOW_EVERY - Date.now()));
			const after = this.#wanted - 1;
			// The revealed entry comes before those that were read.
			if (after < this.viewer.tail) return void this.begin();
			this.#wanted = Infinity;
			try {
				const [more] = await Promise.all([this.#read(after), this.readInfo()]);
				const { tag, isDue } = await this.#readTag(more.head);
				// If another branch is shown by now, its address must not change.
				if (signal.aborted) continue;
				const { isFollowing, length } = this.viewer;
				this.viewer.append(more.frames, this.viewer.timeline.position(after));
				this.tag = tag;
				this.commands.due = isDue;
				this.#unseen += Math.max(0, this.viewer.length - length);
				this.#shownAt = Date.now();
				this.#arrived(isFollowing);
				for (const done of this.#waiting.splice(0)) done();
				tries = 0;
			} catch (error) {
				if (signal.aborted) continue;
				this.#wanted = Math.min(this.#wanted, after + 1);
				if (!(error instanceof NoAnswer)) return void this.fail(error);
				await sleep(pause(tries), signal);
			}
		}
	}

	/** Updates the page after new entries came. @param {boolean} toHead */
	#arrived(toHead) {
		if (toHead) this.viewer.go(this.viewer.length);
		this.#moved();
		this.turn.draw();
		this.commands.refresh();
		this.presence.draw();
		this.notes.ask();
	}

	#moved() {
		const isAtHead = this.viewer.position === this.viewer.length;
		if (isAtHead) this.#unseen = 0;
		this.fresh.hidden = isAtHead || this.#unseen === 0;
		this.fresh.textContent = `${this.#unseen} new`;
		this.commands.moved(isAtHead);
		this.tools.moved();
		this.notes.draw();
		this.takeback.draw();
	}

	/** @type {import("./stream.js").Report} */
	#report = (state, why = "") => {
		const whom = this.kind === "v" ? "" : `, as ${this.sees}`;
		const text = state === "live" ? `Live${whom}` : state === "often" ? `Asked every few seconds${whom}` : why;
		this.connection.className = `connection ${state}`;
		if (this.connection.textContent !== text) this.connection.textContent = text;
		if (state === "live") this.presence.ask();
	};

	/** Ends following, and reports why. @param {unknown} error */
	async fail(error) {
		this.#abort.abort();
		if (this.sees) this.commands.end();
		this.turn.end();
		this.presence.end();
		const why = await this.#why(error);
		this.#report("lost", why);
		const main = html("a", { href: `/m/${this.match}` }, "Open the match");
		const isOfBranch = new URLSearchParams(location.search).has("branch") && why.includes("branch");
		const isRefused = error instanceof Problem && [401, 403, 404].includes(error.status) && error.code !== "no_entry";
		if (!this.sees && !isRefused) this.root.replaceChildren(html("section", { class: "panel" }, html("h2", {}, "Not shown"), html("p", { role: "alert" }, why)));
		else if (!this.sees) showNoAccess(this.match, this.root, [why, ...(isOfBranch ? [" ", main] : [])], this.access.token);
		else if (isOfBranch) this.connection.append(" ", main);
	}

	/** Returns what is wrong: with the branch, the token or the match. @param {unknown} error @returns {Promise<string>} */
	async #why(error) {
		if (!(error instanceof Problem) || ![401, 404].includes(error.status) || error.code === "no_entry") return `${error instanceof Error ? error.message : error}`;
		if (error.status === 401) return refusal(error, this.access);
		try {
			await this.api.get(`/v1/matches/${this.match}`);
			return `There is no branch ${shown(this.branch)} in this match.`;
		} catch (other) {
			return other instanceof Problem ? refusal(other, this.access) : error.message;
		}
	}
}
