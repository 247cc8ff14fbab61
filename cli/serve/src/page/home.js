/** The home page (VW-13): the matches for which this browser has tokens, and new matches for the admin. */
import { html, shown } from "./viewer.js";
import { Api, Problem } from "./api.js";
import { ADMIN, addToken, chosenOf, kept, keptMatches, nameOf, refusal } from "./access.js";
import { Calls, markTab } from "./calls.js";
import { countOfEntries, until, waiting } from "./turn.js";

/** How often to ask for the matches while the page is visible, in milliseconds (VW-23). */
const ASK_EVERY = 15_000;

/** Shows the home page. @param {HTMLElement} root */
export function showHome(root) {
	document.body.classList.add("home");
	const list = html("ul", { role: "list", class: "matches" });
	const calls = new Calls();
	const own = html("section", { class: "panel" }, html("h2", {}, "Your matches"), list, calls.choices());
	root.replaceChildren(own, adminPart());
	/** The turns that were the player's at the last look. @type {Set<string> | null} */ let before = null;
	const ask = async () => {
		// A hidden page asks, too, if the player wants to be called.
		if (document.visibilityState === "hidden" && !calls.isWanted) return;
		const matches = await Promise.all(keptMatches().map(look));
		matches.sort((one, other) => one.order - other.order || one.match.localeCompare(other.match));
		list.replaceChildren(...matches.map(({ item }) => item));
		if (matches.length === 0) list.append(html("li", {}, "None yet. Open the link that a host sent you."));
		const mine = matches.filter(({ order }) => order === MINE);
		document.title = mine.length > 0 ? `(${mine.length}) turnfold` : "turnfold";
		markTab(mine.length > 0);
		const turns = new Set(mine.map(({ match, head }) => `${match} ${head}`));
		const fresh = before && document.visibilityState === "hidden" ? mine.filter(({ match, head }) => !before?.has(`${match} ${head}`)) : [];
		for (const { match, title, head } of fresh) calls.call(match, title, head);
		before = turns;
	};
	ask();
	setInterval(ask, ASK_EVERY);
	document.addEventListener("visibilitychange", ask);
}

/** The order of matches: those that wait for the player, open ones, then those that are over or cannot be seen. */
const [MINE, OPEN, ENDED] = [0, 1, 2];

/** Looks at a match. @param {string} match */
async function look(match) {
	const link = html("a", { href: `/m/${match}` }, html("bdi", {}, shown(match)));
	const note = html("span", { class: "note" });
	const what = kept(match);
	const access = chosenOf(match, what);
	const item = html("li", {}, link, " ", note);
	const looked = { match, item, order: OPEN, title: match, head: 0 };
	if (what.invitation || !access) {
		note.textContent = "invitation";
		return looked;
	}
	try {
		const { token } = access;
		const api = new Api(token);
		/** @type {import("./match.js").MatchInfo} */ const info = await api.get(`/v1/matches/${match}`);
		if (info.title) link.replaceChildren(html("bdi", {}, shown(info.title)));
		const { over, turn } = info.now ?? { over: info.over, turn: null };
		const name = nameOf(access);
		const isMine = !over && Boolean(turn?.includes(name));
		const state = over ? "over" : isMine ? "your turn" : waiting(turn, info.names).replace(/^[WN]/, (first) => first.toLowerCase());
		const own = info.names?.[name];
		const end = over ? "" : until(info.hosting, isMine ? [name] : turn);
		note.replaceChildren(`${info.ruleset}, ${countOfEntries(info.head)}, ${state}${end}`, ...(own ? [", you are ", html("bdi", {}, shown(own))] : []), token[3] === "v" ? ", you watch" : "");
		item.classList.toggle("turn", isMine);
		return { ...looked, order: over ? ENDED : isMine ? MINE : OPEN, title: info.title || match, head: info.head };
	} catch (error) {
		note.textContent = error instanceof Problem && [401, 404].includes(error.status) ? refusal(error, access) : `${error instanceof Error ? error.message : error}`;
		return { ...looked, order: error instanceof Problem ? ENDED : OPEN };
	}
}

/** The part for those who have the admin token. */
function adminPart() {
	const token = html("input", { id: "admin", type: "password", autocomplete: "off", size: 40 });
	const note = html("p", { role: "status", class: "note" });
	const form = html("form", {}, html("label", { for: "admin" }, "Admin token"), token, html("button", {}, "Open"), note);
	const part = html("details", { class: "fold" }, html("summary", {}, "Make a match"), html("div", { class: "panel" }, form));
	/** @type {HTMLElement | null} */ let made = null;
	/** @param {string} why */
	const refused = (why) => {
		sessionStorage.removeItem(ADMIN);
		form.hidden = false;
		note.textContent = why;
		token.value = "";
	};
	/** @param {string} admin */
	const open = async (admin) => {
		try {
			// Every token may list its matches, so check the kind, too.
			if (!admin.startsWith("tf_a_")) return refused("That is not the admin token.");
			await new Api(admin).get("/v1/matches?limit=1");
			sessionStorage.setItem(ADMIN, admin);
			if (!made) form.after((made = await newMatch(() => refused("The admin token is no longer valid. Enter the present one; what you typed below stays."))));
			form.hidden = true;
		} catch (error) {
			if (error instanceof Problem && error.status === 401) refused("That is not the admin token.");
			else note.textContent = error instanceof Error ? error.message : `${error}`;
		}
	};
	form.addEventListener("submit", (event) => (event.preventDefault(), open(token.value.trim())));
	const before = sessionStorage.getItem(ADMIN);
	if (before) open(before);
	return part;
}

/** @param {string} label @param {HTMLElement} field */
const labelled = (label, field) => html("p", { class: "labelled" }, html("label", { for: field.id }, label), field);

/** How many hours of a turn suit most games. */
const GOOD_HOURS = "72";

/** Who hosts a match, and how long a turn lasts if the service does (VW-66). */
const HOSTING = [
	["", "I do what a host does"],
	[GOOD_HOURS, "the service: 3 days a move"],
	["24", "the service: 24 hours a move"],
	["168", "the service: a week a move"],
	["0", "the service, without deadlines"],
];

/** @param {() => void} refused called when the admin token is no longer valid */
async function newMatch(refused) {
	/** @type {{items: {ruleset: string, summary: string, example: string, terms: string}[]}} */
	const { items } = await new Api("").get("/v1/rulesets");
	const name = html("input", { id: "name", required: "", pattern: "[a-z0-9][a-z0-9._\\-]{0,63}", autocomplete: "off" });
	const title = html("input", { id: "title", maxlength: 200, autocomplete: "off" });
	const ruleset = html("select", { id: "ruleset" }, ...items.map((one) => html("option", { value: one.ruleset }, `${one.ruleset}: ${one.summary}`)));
	const setup = html("textarea", { id: "setup", rows: 12, spellcheck: "false" });
	const dice = html("select", { id: "dice" }, html("option", { value: "seeded" }, "from a seed"), html("option", { value: "recorded" }, "recorded by the host"));
	const hosting = html("select", { id: "hosting" }, ...HOSTING.map(([value, text]) => html("option", { value }, text)));
	const terms = html("p", { class: "note" });
	const note = html("p", { role: "status", class: "note" });
	const form = html("form", { class: "newmatch" }, labelled("Name", name), labelled("Title", title), labelled("Game", ruleset), labelled("Setup", setup), labelled("Dice", dice), labelled("Host", hosting), terms, html("button", { class: "primary" }, "Make it"), note);
	const describe = () => {
		const all = items.find((one) => one.ruleset === ruleset.value)?.terms.split("\n") ?? [];
		// The other terms are about play by mail.
		const named = all.filter((line) => /^(default|between) = \[./.test(line) && !line.endsWith("[]")).join("; ");
		terms.textContent = hosting.value ? `At a deadline and between turns: ${named || "nothing, as the game names no commands for it"}` : "";
	};
	const example = () => {
		const one = items.find(({ ruleset: name }) => name === ruleset.value);
		setup.value = one?.example ?? "";
		// If a game names good terms, the service is a good host.
		hosting.value = one?.terms ? GOOD_HOURS : "";
		describe();
	};
	ruleset.addEventListener("change", example);
	hosting.addEventListener("change", describe);
	example();
	form.addEventListener("submit", async (event) => {
		event.preventDefault();
		try {
			note.textContent = "";
			const api = new Api(sessionStorage.getItem(ADMIN) ?? "");
			const made = await api.post("/v1/matches", { name: name.value, ruleset: ruleset.value, setup: setup.value, dice: dice.value, ...(title.value ? { title: title.value } : {}), ...(hosting.value ? { terms: `hours = ${hosting.value}\n` } : {}) });
			addToken(made.match, made.token, "host", true);
			location.assign(`/m/${made.match}`);
		} catch (error) {
			if (error instanceof Problem && error.status === 401) refused();
			else note.textContent = error instanceof Error ? error.message : `${error}`;
		}
	});
	return form;
}
