/** The home page (VW-13): the matches that this browser holds tokens for, and for the admin new ones. */
import { html, shown } from "./viewer.js";
import { Api, Problem, keep, kept, keptMatches } from "./api.js";

/** How often the matches are asked for while the page is visible, in milliseconds (VW-23). */
const ASK_EVERY = 15_000;

/** Where the admin's token is kept, for this tab alone. */
const ADMIN = "turnfold-admin";

/** Shows the home page. @param {HTMLElement} root */
export function showHome(root) {
	document.body.classList.add("home");
	const list = html("ul", { role: "list", class: "matches" });
	const own = html("section", { class: "panel" }, html("h2", {}, "Your matches"), list);
	root.replaceChildren(own, adminPart());
	const ask = async () => {
		if (document.visibilityState === "visible") list.replaceChildren(...(await Promise.all(keptMatches().map(matchItem))));
		if (list.children.length === 0) list.append(html("li", {}, "None yet. Open the link that a host sent you."));
	};
	ask();
	setInterval(ask, ASK_EVERY);
}

/** @param {string} match */
async function matchItem(match) {
	const link = html("a", { href: `/m/${match}` }, html("bdi", {}, shown(match)));
	const said = html("span", { class: "note" });
	const { token, invitation } = kept(match);
	const item = html("li", {}, link, " ", said);
	if (invitation || !token) {
		said.textContent = "invitation";
		return item;
	}
	try {
		const api = new Api(token);
		const info = await api.get(`/v1/matches/${match}`);
		const legal = info.over || !"sh".includes(token[3]) ? [] : (await api.get(`/v1/matches/${match}/branches/main/legal`)).items;
		if (info.title) link.replaceChildren(html("bdi", {}, shown(info.title)));
		const turn = info.over ? "over" : legal.length > 0 ? "your turn" : "waiting for others";
		said.textContent = `${info.ruleset}, ${info.head} entries, ${token[3] === "v" && !info.over ? "you look on" : turn}`;
		item.classList.toggle("turn", turn === "your turn");
	} catch (error) {
		said.textContent = error instanceof Problem && error.status === 401 ? "the token was taken back" : `${error instanceof Error ? error.message : error}`;
	}
	return item;
}

/** The part for whoever has the admin's token. */
function adminPart() {
	const token = html("input", { id: "admin", type: "password", autocomplete: "off", size: 40 });
	const form = html("form", {}, html("label", { for: "admin" }, "Admin token"), token, html("button", {}, "Open"));
	const part = html("details", { class: "fold" }, html("summary", {}, "Make a match"), html("div", { class: "panel" }, form));
	const open = async () => {
		form.after(await newMatch(sessionStorage.getItem(ADMIN) ?? ""));
		form.hidden = true;
	};
	form.addEventListener("submit", (event) => {
		event.preventDefault();
		sessionStorage.setItem(ADMIN, token.value.trim());
		open();
	});
	if (sessionStorage.getItem(ADMIN)) open();
	return part;
}

/** @param {string} label @param {HTMLElement} field */
const labelled = (label, field) => html("p", { class: "labelled" }, html("label", { for: field.id }, label), field);

/** @param {string} admin */
async function newMatch(admin) {
	const api = new Api(admin);
	/** @type {{items: {ruleset: string, summary: string, example: string}[]}} */
	const { items } = await api.get("/v1/rulesets");
	const name = html("input", { id: "name", required: "", pattern: "[a-z0-9][a-z0-9._\\-]{0,63}", autocomplete: "off" });
	const title = html("input", { id: "title", maxlength: 200, autocomplete: "off" });
	const ruleset = html("select", { id: "ruleset" }, ...items.map((one) => html("option", { value: one.ruleset }, `${one.ruleset}: ${one.summary}`)));
	const setup = html("textarea", { id: "setup", rows: 12, spellcheck: "false" });
	const dice = html("select", { id: "dice" }, html("option", { value: "seeded" }, "from a seed"), html("option", { value: "recorded" }, "recorded by the host"));
	const note = html("p", { role: "status", class: "note" });
	const form = html("form", { class: "newmatch" }, labelled("Name", name), labelled("Title", title), labelled("Game", ruleset), labelled("Setup", setup), labelled("Dice", dice), html("button", { class: "primary" }, "Make it"), note);
	const example = () => (setup.value = items.find((one) => one.ruleset === ruleset.value)?.example ?? "");
	ruleset.addEventListener("change", example);
	example();
	form.addEventListener("submit", async (event) => {
		event.preventDefault();
		try {
			const made = await api.post("/v1/matches", { name: name.value, ruleset: ruleset.value, setup: setup.value, dice: dice.value, ...(title.value ? { title: title.value } : {}) });
			keep(made.match, { token: made.token });
			location.assign(`/m/${made.match}`);
		} catch (error) {
			note.textContent = error instanceof Error ? error.message : `${error}`;
			if (error instanceof Problem && error.status === 401) sessionStorage.removeItem(ADMIN);
		}
	});
	return form;
}
