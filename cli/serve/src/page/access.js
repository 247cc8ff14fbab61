/** What this browser keeps of a match: the tokens that give access, and how they are added and dropped (VW-38). */
import { html, shown } from "./viewer.js";
import { Api, NoAnswer, Problem, makeToken, pause, sleep } from "./api.js";

/** A token, and the seat that it gave access to last. `mail` marks the token of a letter's link (PM-70).
 * @typedef {{token: string, seat?: string, mail?: boolean, unsaved?: boolean}} Access
 * @typedef {{tokens: Access[], chosen?: string, invitation?: string, joining?: string}} Kept */

const PREFIX = "turnfold:";

/** The prefix of the storage keys of trials (VW-56). */
export const TRIED = "turnfold-tried:";

/** The prefix of the storage keys of orders by mail until they are sent (PM-71). */
export const ORDER = "turnfold-order:";

/** The storage key of the admin token, for one tab only. */
export const ADMIN = "turnfold-admin";

const TOKEN = /tf_[ahsv]_[\w-]{43}/;

/** Returns what is kept of a match. Earlier pages kept a single token. @param {string} match @returns {Kept} */
export function kept(match) {
	try {
		const { token, seat, tokens = token ? [{ token, seat }] : [], ...rest } = JSON.parse(localStorage.getItem(PREFIX + match) ?? "{}");
		return Array.isArray(tokens) ? { ...rest, tokens } : { tokens: [] };
	} catch {
		return { tokens: [] };
	}
}

/** @param {string} match @param {Kept | null} what */
export function keep(match, what) {
	if (what && (what.tokens.length > 0 || what.invitation)) return localStorage.setItem(PREFIX + match, JSON.stringify(what));
	for (const prefix of [PREFIX, TRIED, ORDER]) localStorage.removeItem(prefix + match);
	sessionStorage.removeItem(PREFIX + match);
}

/** Returns the matches for which this browser keeps tokens or an invitation. */
export const keptMatches = () =>
	Object.keys(localStorage).filter((key) => key.startsWith(PREFIX)).map((key) => key.slice(PREFIX.length)).sort();

/** Who a tab is: the end of its token, its name, and the seat that a host looks as. This survives a reload.
 * @typedef {{end?: string, name?: string, as?: string}} Tab */

/** @param {string} match @returns {Tab} */
export const tabOf = (match) => JSON.parse(sessionStorage.getItem(PREFIX + match) ?? "{}");

/** @param {string} match @param {Tab} what */
export const keepTab = (match, what) => sessionStorage.setItem(PREFIX + match, JSON.stringify({ ...tabOf(match), ...what }));

/** @param {string} token */
const endOf = (token) => token.slice(-8);

/** Returns the access that this tab uses, if any: its own, else the one that this browser used last.
 * @param {string} match @param {Kept} [what] @returns {Access | undefined} */
export function chosenOf(match, { tokens, chosen } = kept(match)) {
	const { end } = tabOf(match);
	return tokens.find(({ token }) => endOf(token) === end) ?? tokens.find(({ token }) => token === chosen) ?? tokens.at(-1);
}

/** Adds a token to those of a match, and chooses it. @param {string} match @param {string} token @param {string} [seat]
 * @param {boolean} [unsaved] whether only this browser has it */
export function addToken(match, token, seat, unsaved) {
	const what = kept(match);
	const known = what.tokens.find((one) => one.token === token);
	if (!known) what.tokens.push({ token, seat, unsaved });
	else if (seat) known.seat = seat;
	keep(match, { ...what, chosen: token });
	useInTab(match, token);
}

/** Returns the link that opens a match with a token. @param {string} match @param {string} token */
export const linkOf = (match, token) => `${location.origin}/m/${match}#t=${token}`;

/** Makes this tab use a token from now on. @param {string} match @param {string} token */
export function useInTab(match, token) {
	if (endOf(token) !== tabOf(match).end) keepTab(match, { end: endOf(token), as: "" });
}

/** Forgets a token of a match. @param {string} match @param {string} token */
export function dropToken(match, token) {
	const what = kept(match);
	keep(match, { ...what, tokens: what.tokens.filter((one) => one.token !== token) });
}

/** Forgets an invitation of a match. @param {string} match */
function dropInvitation(match) {
	const { tokens, chosen } = kept(match);
	keep(match, { tokens, chosen });
}

/** Returns the name of what a token gives access as. @param {Access} access */
export function nameOf({ token, seat }) {
	/** @type {Record<string, string>} */ const names = { a: "admin", h: "host", v: "spectator" };
	return names[token[3]] ?? seat ?? "a player";
}

/** Takes the secret of a link out of the address and keeps it. Returns whether there was one, and whether it is complete.
 * @param {string} match @returns {"" | "kept" | "broken"} */
export function takeToken(match) {
	const [, letter, secret] = /^#([it])=(.*)$/.exec(location.hash) ?? [];
	if (!letter) return "";
	// A link to an entry has its number in the query. It replaces the secret in the address (VW-63).
	const query = new URLSearchParams(location.search);
	const at = /^\d+$/.exec(query.get("at") ?? "")?.[0];
	query.delete("at");
	const rest = query.size > 0 ? `?${query}` : "";
	history.replaceState(history.state, "", location.pathname + rest + (at ? `#${at}` : ""));
	const token = /^tf_[a-z]_[\w-]{43}$/.test(secret) ? secret : "";
	if (!token) return "broken";
	const { joining, ...own } = kept(match);
	if (letter === "t") addToken(match, token);
	else keep(match, { ...own, invitation: token, ...(own.invitation === token ? { joining } : {}) });
	return "kept";
}

/** Returns buttons that open a match with each of the kept tokens but one. @param {string} match @param {string} [but] */
export function switches(match, but) {
	return kept(match).tokens.filter(({ token }) => token !== but).map((access) => {
		const button = html("button", { type: "button" }, `Open as ${nameOf(access)}`);
		button.addEventListener("click", () => {
			dropInvitation(match);
			addToken(match, access.token);
			location.reload();
		});
		return button;
	});
}

/** Returns a form for another token. @param {string} match */
export function tokenForm(match) {
	const field = html("input", { id: "token", autocomplete: "off", spellcheck: "false", size: 30 });
	const note = html("p", { role: "status", class: "note" });
	const form = html("form", {}, html("label", { for: "token" }, "Token or link"), field, html("button", { class: "primary" }, "Open"), note);
	form.addEventListener("submit", (event) => {
		event.preventDefault();
		const token = TOKEN.exec(field.value)?.[0];
		if (!token) return void (note.textContent = "That is not a token.");
		dropInvitation(match);
		addToken(match, token);
		location.reload();
	});
	return form;
}

/** Shows that there is no access, and why. @param {string} match @param {HTMLElement} root @param {(Node | string)[]} [why] @param {string} [used] */
export function showNoAccess(match, root, why, used) {
	const reason = why ?? ["This browser has no access to ", html("bdi", {}, shown(match)), "."];
	const next = html("p", {}, "Open the link that the host gave you, or paste it or your token here.");
	root.replaceChildren(html("section", { class: "panel noaccess" }, html("h2", {}, "No access"), html("p", { role: "alert" }, ...reason), next, tokenForm(match), ...switches(match, used)));
}

/** Returns why a token that the service refused gives no access. @param {Problem} problem @param {Access | undefined} access */
export function refusal({ status, ended }, access) {
	// When the admin ends a match, its hosts lose their tokens, too.
	if (ended === "revoked") return access?.token[3] === "h" ? "The admin has ended this match, or another host has taken this access back." : "The host or the admin has taken this access back.";
	if (ended === "expired") return "This access has expired.";
	if (access?.seat) return "The match is gone: the service no longer knows it.";
	return status === 401 ? "The service does not know this token." : "This token is for another match, or the match is gone.";
}

/** Shows what an invitation is for, and asks whether to accept it, because programs that open links must not spend it.
 * @param {string} match @param {HTMLElement} root */
export async function showInvitation(match, root) {
	const { invitation = "", joining } = kept(match);
	const note = html("p", { role: "status", class: "note" }, "Loading…");
	const panel = html("section", { class: "panel" }, html("h2", {}, "Invitation"), note, ...switches(match));
	root.replaceChildren(panel);
	/** @type {{title: string, ruleset: string, seat: string} | null} */ let invited = null;
	try {
		invited = await untilAnswered(note, () => new Api(invitation).get("/v1/join"));
	} catch (error) {
		// The answer to this browser's own request to join may have been lost. Then it repeats the same request.
		if (!joining || !(error instanceof Problem && error.code === "spent")) {
			note.textContent = notInvited(error);
			return dropInvitation(match);
		}
	}
	const name = html("input", { id: "player", maxlength: 64, autocomplete: "nickname", spellcheck: "false" });
	const join = html("form", {}, html("label", { for: "player" }, "Your name, for all players to see"), name, html("button", { class: "primary" }, "Join"));
	join.addEventListener("submit", (event) => (event.preventDefault(), accept(match, note, join, name.value.trim().replace(/\s+/g, " "))));
	const { title = "", ruleset = "", seat = "" } = invited ?? {};
	const game = html("bdi", {}, shown(title || match));
	const facts = invited ? [", a match of ", html("bdi", {}, shown(ruleset)), ", as ", html("strong", {}, seat)] : [];
	const others = kept(match).tokens.length > 0 ? [html("p", {}, "What this browser already has of the match stays.")] : [];
	note.textContent = "";
	note.before(html("p", {}, "You are invited to play ", game, ...facts, ", by the host at ", html("bdi", {}, location.host), ". The first to join gets the seat."), ...others, join);
	name.focus();
}

/** @param {string} match @param {HTMLElement} note @param {HTMLFormElement} join @param {string} name */
async function accept(match, note, join, name) {
	const button = join.querySelector("button");
	button?.setAttribute("disabled", "");
	// Keep the token before it is sent, so that the same request can be repeated if its answer is lost.
	const asked = kept(match);
	const token = asked.joining ?? makeToken("s");
	keep(match, { ...asked, joining: token });
	try {
		const { seat } = await untilAnswered(note, () => new Api(asked.invitation ?? "").post("/v1/join", { token, ...(name ? { name } : {}) }));
		addToken(match, token, seat, true);
		dropInvitation(match);
		location.reload();
	} catch (error) {
		note.textContent = notInvited(error);
		// Another name may be accepted.
		if (error instanceof Problem && (error.code === "name_taken" || error.status === 422)) return button?.removeAttribute("disabled");
		dropInvitation(match);
		join.remove();
	}
}

/** @param {unknown} error */
function notInvited(error) {
	if (!(error instanceof Problem)) return `${error instanceof Error ? error.message : error}`;
	if (error.code === "spent") return "This invitation has been used on another device. Ask the host for a new one.";
	if (error.code === "seat_taken") return "Someone else joined first and has the seat. If that is wrong, ask the host, who can take that access back and invite again.";
	if (error.code === "name_taken") return "Another player of this match has that name, or one that looks like it. Choose another one.";
	if (error.status === 422) return "A name has 1 to 32 visible characters and is not the name of a seat.";
	const ends = error.ended === "revoked" ? "The host has taken this invitation back." : error.ended === "expired" ? "This invitation has expired." : "";
	return error.status === 401 ? `${ends || "The service does not know this invitation."} Ask the host for a new one.` : error.message;
}

/** Asks until the service answers, and shows when it asks again. @template T @param {HTMLElement} note @param {() => Promise<T>} ask */
export async function untilAnswered(note, ask) {
	for (let tries = 1; ; tries++) {
		try {
			return await ask();
		} catch (error) {
			if (!(error instanceof NoAnswer)) throw error;
			const wait = pause(tries);
			note.textContent = `No answer. Trying again in ${Math.ceil(wait / 1000)} s.`;
			await sleep(wait);
		}
	}
}
