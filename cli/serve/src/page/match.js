/**
 * One match, live: the viewer, what it shows from the service, and what belongs to playing (VW-13).
 *
 * @import {Frame, Frames} from "./frames.d.ts"
 */
import { Viewer, html, shown } from "./viewer.js";
import { Api, NoAnswer, Problem, keep, kept, makeToken, pause, readEvents, readJson, sleep } from "./api.js";
import { CommandPanel } from "./commands.js";
import { MatchTools } from "./tools.js";

/** @typedef {{match: string, ruleset: string, version: number, title: string, players: string[], branches: string[], head: number, over: boolean}} MatchInfo */

/** At most so often, in milliseconds, new entries are shown. */
const SHOW_EVERY = 250;

/** Takes a token out of the address, where a link put it. @param {string} match */
function takeToken(match) {
	const [, kind, token] = /^#([it])=(tf_[a-z]_[\w-]{43})$/.exec(location.hash) ?? [];
	if (!token) return;
	history.replaceState(history.state, "", location.pathname + location.search);
	const { invitation, joining, ...own } = kept(match);
	keep(match, kind === "i" ? { ...own, invitation: token, ...(invitation === token ? { joining } : {}) } : { token });
}

/** Shows a match. @param {string} match @param {HTMLElement} root */
export async function showMatch(match, root) {
	takeToken(match);
	const { token, invitation } = kept(match);
	if (invitation) return showInvitation(match, root);
	if (!token) return showNoToken(match, root);
	await new LiveMatch(match, token, root).begin();
}

/** Asks whether an invitation is to be accepted: programs that look at links must not spend it. @param {string} match @param {HTMLElement} root */
function showInvitation(match, root) {
	const join = html("button", { type: "button", class: "primary" }, "Join");
	const note = html("p", { role: "status", class: "note" });
	join.addEventListener("click", async () => {
		join.disabled = true;
		// The token is made and kept before it is sent, so that the same request can be repeated if its answer is lost.
		const asked = kept(match);
		const token = asked.joining ?? makeToken("s");
		keep(match, { ...asked, joining: token });
		for (let tries = 1; ; tries++) {
			try {
				const { seat } = await new Api(asked.invitation ?? "").post("/v1/join", { token });
				keep(match, { token, seat });
				return location.reload();
			} catch (error) {
				if (!(error instanceof NoAnswer)) {
					keep(match, asked.token ? { token: asked.token, seat: asked.seat } : null);
					note.textContent = error instanceof Problem && error.code === "spent" ? "This invitation has been used on another device. Ask the host for a new one." : `${error instanceof Error ? error.message : error}`;
					if (asked.token) note.append(" ", html("a", { href: location.pathname }, "Open the match with the token that this browser has"));
					return;
				}
				const wait = pause(tries);
				note.textContent = `No answer. Trying again in ${Math.ceil(wait / 1000)} s.`;
				await sleep(wait);
			}
		}
	});
	const replaced = kept(match).token ? [html("p", {}, "This browser holds another token for the match, which joining replaces.")] : [];
	root.replaceChildren(html("section", { class: "panel" }, html("h2", {}, "Invitation"), html("p", {}, "You are invited to play ", html("bdi", {}, shown(match)), ". The first to join gets the seat."), ...replaced, join, note));
	join.focus();
}

/** @param {string} match @param {HTMLElement} root */
function showNoToken(match, root) {
	const field = html("input", { id: "token", autocomplete: "off", spellcheck: "false", size: 50 });
	const note = html("p", { role: "status", class: "note" });
	const form = html("form", { class: "panel" }, html("h2", {}, "No token"), html("p", {}, "This browser holds no token for ", html("bdi", {}, shown(match)), ". Open the link that the host gave you, or paste your token."), html("label", { for: "token" }, "Token"), field, html("button", { class: "primary" }, "Open"), note);
	form.addEventListener("submit", (event) => {
		event.preventDefault();
		const token = /tf_[ahsv]_[\w-]{43}/.exec(field.value)?.[0];
		if (!token) return void (note.textContent = "That is no token.");
		keep(match, { token });
		location.reload();
	});
	root.replaceChildren(form);
}

/** A viewer of a match that goes on. */
export class LiveViewer extends Viewer {
	/** Adds frames in place of those after `position`. @param {Frame[]} frames @param {number} [position] */
	append(frames, position = this.length) {
		const { timeline } = this;
		timeline.frames.length = Math.min(timeline.frames.length, position);
		for (const track of [timeline.shapes, ...timeline.blocks.flatMap((places) => [...places.values()])]) {
			track.from.length = track.values.length = track.index(position) + 1;
		}
		timeline.append(frames);
		this.grown(position + 1);
		this.show(Math.min(this.position, this.length));
	}

	/** Marks places of each board, such as with ` reach`. @param {Map<string, string>[]} marks */
	mark(marks) {
		this.picture.boards.forEach((view, board) => (view.marks = marks[board] ?? new Map()));
		this.show(this.position);
	}

	/** Goes to another address of this page; "back" returns to this entry. @param {string} address */
	leave(address) {
		this.write();
		history.pushState(null, "", address);
	}
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
	fresh = html("button", { type: "button", class: "fresh", hidden: "" });

	/** @param {string} match @param {string} token @param {HTMLElement} root */
	constructor(match, token, root) {
		this.match = match;
		this.api = new Api(token);
		this.kind = token[3];
		this.root = root;
		this.as = "";
		this.viewer = new LiveViewer(root);
		this.commands = new CommandPanel(this);
		this.tools = new MatchTools(this);
		this.fresh.addEventListener("click", () => this.viewer.go(this.viewer.length));
		this.viewer.addEventListener("position", () => this.#moved());
		this.viewer.addEventListener("pick", (event) => {
			const [board, place] = /** @type {CustomEvent} */ (event).detail;
			this.commands.picked(board, place);
		});
		addEventListener("popstate", () => this.branch !== this.#shownBranch && this.load());
		document.querySelector("header")?.append(this.connection, this.fresh, this.tools.element);
		// What can be done stands below the board, in sight on a phone too.
		const controls = root.querySelector(".controls");
		const dock = html("div", { class: "dock" }, this.commands.element);
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
		return "ahs".includes(this.kind) && !this.as.startsWith("p");
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

	/** Reads everything anew: the match, its frames and its stream. */
	async load() {
		this.#abort.abort();
		this.#abort = new AbortController();
		const { signal } = this.#abort;
		this.#shownBranch = this.branch;
		this.#wanted = Infinity;
		this.commands.clear();
		await this.readInfo();
		await this.#readTag();
		const first = await this.api.get(this.path("frames"));
		if (signal.aborted) return;
		this.sees = first.viewer;
		this.viewer.load(first);
		await this.#readRest(first);
		const asked = /^#(\d+)$/.exec(location.hash)?.[1];
		if (asked) this.viewer.goTo(asked);
		this.#arrived(!asked);
		this.tools.listBranches();
		if (!signal.aborted) this.#follow(first.head, signal);
	}

	/** Reads what is known of the match, of which more may be open to whoever played it once it is over. */
	async readInfo() {
		this.info = await this.api.get(`/v1/matches/${this.match}`);
		this.over = this.info?.over ?? false;
		this.tools.describe();
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
		// An answer to a command that came meanwhile told a later tag.
		if (given === this.given) this.tag = response.headers.get("etag") ?? "";
		const view = await readJson(response);
		this.commands.due = Boolean(view.due_roll);
	}

	/** Follows the stream (VW-19), and comes back to it when it is lost. @param {number} head @param {AbortSignal} signal */
	async #follow(head, signal) {
		let last = `${head}`;
		for (let tries = 1; !signal.aborted; tries++) {
			try {
				const opened = () => ((tries = 0), this.#say("live", this.kind === "v" ? "Live" : `Live, as ${this.sees}`));
				await readEvents(this.api, this.path("events", { after: last }), (event, data, id) => {
					last = id || last;
					this.#told(event, data);
				}, opened, signal);
			} catch (error) {
				if (signal.aborted) return;
				if (error instanceof Problem && error.status === 400) return void this.begin();
				if (error instanceof Problem) return this.fail(error);
			}
			if (!signal.aborted) await this.#waitFor(pause(tries), "Connection lost.", signal);
		}
	}

	/** @param {string} event @param {string} data */
	#told(event, data) {
		if (event === "gone") return this.fail(new Error("This branch was deleted."));
		if (event !== "entries") return;
		const { entries } = JSON.parse(data);
		if (!entries) return void this.begin();
		// An entry may come to light behind later ones; everything from there on is read anew.
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
			try {
				await this.#readTag();
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

	/** Waits, and says for what and how long. @param {number} ms @param {string} why @param {AbortSignal} [signal] */
	async #waitFor(ms, why, signal) {
		for (let left = Math.ceil(ms / 1000); left > 0 && !signal?.aborted; left--) {
			this.#say("lost", `${why} Trying again in ${left} s.`);
			await sleep(1000, signal);
		}
	}

	/** @param {string} state @param {string} text */
	#say(state, text) {
		this.connection.className = `connection ${state}`;
		if (this.connection.textContent !== text) this.connection.textContent = text;
	}

	/** Says why nothing more will come. @param {unknown} error */
	fail(error) {
		this.#abort.abort();
		const isRefused = error instanceof Problem && [401, 404].includes(error.status);
		this.#say("lost", isRefused ? "The host has taken this token back, or the match is gone." : `${error instanceof Error ? error.message : error}`);
		this.commands.end();
	}
}
