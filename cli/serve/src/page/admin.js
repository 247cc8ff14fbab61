/** The page of the admin: the status of the service, its matches and their tokens. */
import { html, shown } from "./viewer.js";
import { Api, Problem } from "./api.js";

/** The storage key of the admin token, for this tab only. */
const ADMIN_TOKEN = "turnfold-admin";

/** The label of the host of a match that the admin ended. */
const ENDED = "ended by the admin";

/** The columns of the table; on a phone each row is a list of them. */
const COLUMNS = ["Match", "Game", "Entries", "Last move", "Tokens"];

/** How many matches to ask for at once. */
const MATCHES_OF_PAGE = 100;

/**
 * @typedef {{match: string, ruleset: string, version: number, head: number, title: string, active_at_ms: number}} AdminMatch
 * @typedef {{id: string, kind: string, seat: string | null, label: string, live: boolean}} AdminGrant
 */

/** @param {number} bytes */
const inBytes = (bytes) => (bytes < 2 ** 20 ? `${Math.ceil(bytes / 1024)} KiB` : bytes < 2 ** 30 ? `${(bytes / 2 ** 20).toFixed(1)} MiB` : `${(bytes / 2 ** 30).toFixed(1)} GiB`);

/** @param {unknown} error */
const inWords = (error) => (error instanceof Error ? error.message : `${error}`);

/** @param {string} text @param {() => Promise<void>} work @param {HTMLElement} note shows what failed */
function button(text, work, note) {
	const made = html("button", { type: "button" }, text);
	made.addEventListener("click", async () => {
		note.textContent = "";
		made.setAttribute("disabled", "");
		await work().catch((error) => (note.textContent = inWords(error)));
		made.removeAttribute("disabled");
	});
	return made;
}

/** Shows a field for the token, and the page that the token opens. @param {HTMLElement} root */
function showAdmin(root) {
	document.body.classList.add("home", "admin");
	const token = html("input", { id: "admin", type: "password", autocomplete: "off", size: 40 });
	const note = html("p", { role: "status", class: "note" });
	const form = html("form", { class: "panel" }, html("label", { for: "admin" }, "Admin token"), " ", token, " ", html("button", {}, "Open"), note);
	/** @param {string} admin */
	const open = async (admin) => {
		note.textContent = "";
		const api = new Api(admin);
		try {
			// Tokens of matches may list matches, too, so ask first for what only the admin may see.
			const status = await api.get("/v1/status");
			sessionStorage.setItem(ADMIN_TOKEN, admin);
			root.replaceChildren(...new AdminPage(api, status).parts);
		} catch (error) {
			sessionStorage.removeItem(ADMIN_TOKEN);
			note.textContent = error instanceof Problem && [401, 403].includes(error.status) ? "That is not the admin token." : inWords(error);
		}
	};
	form.addEventListener("submit", (event) => (event.preventDefault(), open(token.value.trim())));
	root.replaceChildren(form);
	const kept = sessionStorage.getItem(ADMIN_TOKEN);
	if (kept) open(kept);
}

class AdminPage {
	note = html("p", { role: "status", class: "note" });
	rows = html("tbody", { role: "rowgroup" });
	status = html("dl", { class: "facts" });

	/** @param {Api} api @param {any} status */
	constructor(api, status) {
		this.api = api;
		this.#drawStatus(status);
		this.more = button("More matches", () => this.#list(this.last), this.note);
		const again = button("Refresh", () => this.#refresh(), this.note);
		const backup = button("Download a backup", () => this.#backup(), this.note);
		const head = html("tr", { role: "row" }, ...COLUMNS.map((text) => html("th", { scope: "col", role: "columnheader" }, text)));
		const table = html("table", { role: "table", "aria-label": "Matches" }, html("thead", { role: "rowgroup" }, head), this.rows);
		const service = html("section", { class: "panel" }, html("h2", {}, "Service"), this.status, html("div", { class: "files" }, again, backup), this.note);
		this.parts = [service, html("section", { class: "panel" }, html("h2", {}, "Matches"), table, this.more)];
		this.#list("").catch((error) => (this.note.textContent = inWords(error)));
	}

	/** @param {any} status */
	#drawStatus(status) {
		const facts = {
			Version: status.version,
			Store: status.stopped ?? "accepts writes",
			Requests: `${status.requests} since the start, ${status.failed_requests} failed`,
			Streams: `${status.streams}`,
			"In memory": `${status.branches_held} branches, ${inBytes(status.bytes_held)}`,
			Disk: status.store_bytes === null ? "in a database" : `${inBytes(status.store_bytes)}${status.free_bytes === null ? "" : `, ${inBytes(status.free_bytes)} free`}`,
		};
		this.status.replaceChildren(...Object.entries(facts).flatMap(([name, value]) => [html("dt", {}, name), html("dd", {}, html("bdi", {}, shown(value)))]));
	}

	async #refresh() {
		this.#drawStatus(await this.api.get("/v1/status"));
		this.rows.replaceChildren();
		await this.#list("");
	}

	/** Lists the matches after a name. @param {string} after */
	async #list(after) {
		const { items, next } = await this.api.get(`/v1/matches?limit=${MATCHES_OF_PAGE}${after ? `&after=${after}` : ""}`);
		this.rows.append(...items.map((/** @type {AdminMatch} */ match) => this.#row(match)));
		this.last = next ?? "";
		this.more.hidden = !next;
	}

	/** @param {AdminMatch} match */
	#row(match) {
		/** @param {number} column @param {(Node | string)[]} children */
		const cell = (column, ...children) => html("td", { role: "cell", "data-column": COLUMNS[column] }, ...children);
		const tokens = html("div", {});
		const show = button("Show", async () => tokens.replaceChildren(await this.#tokens(match.match)), this.note);
		show.setAttribute("aria-label", `Show the tokens of ${match.match}`);
		tokens.append(show);
		const link = html("a", { href: `/m/${match.match}` }, html("bdi", {}, match.match));
		const name = html("th", { scope: "row", role: "rowheader" }, link, ...(match.title ? [html("br"), html("bdi", { class: "note" }, shown(match.title))] : []));
		const moved = new Date(match.active_at_ms);
		const time = html("time", { datetime: moved.toISOString() }, moved.toLocaleString());
		return html("tr", { role: "row" }, name, cell(1, `${match.ruleset} ${match.version}`), cell(2, `${match.head}`), cell(3, time), cell(4, tokens));
	}

	/** Lists the valid tokens of a match. @param {string} match @returns {Promise<HTMLElement>} */
	async #tokens(match) {
		const path = `/v1/matches/${match}/grants`;
		/** @type {{items: AdminGrant[]}} */ const { items } = await this.api.get(path);
		const live = items.filter((grant) => grant.live);
		const list = html("ul", { role: "list", class: "grants" });
		const element = html("div", {}, list);
		/** @param {AdminGrant[]} grants */
		const revoke = async (grants) => {
			for (const { id } of grants) await this.api.fetch(`${path}/${id}`, { method: "DELETE" });
			element.replaceWith(await this.#tokens(match));
		};
		for (const grant of live) {
			const name = [grant.kind, grant.seat, grant.label].filter(Boolean).map((part) => shown(`${part}`)).join(" ");
			const back = button("Take back", async () => {
				if (confirm(`Take back the token of ${name} in ${match}? It stops working at once and for good.`)) await revoke([grant]);
			}, this.note);
			back.setAttribute("aria-label", `Take back ${name} in ${match}`);
			list.append(html("li", {}, html("bdi", {}, name), " ", back));
		}
		if (live.every((grant) => grant.label === ENDED)) return html("p", {}, "ended");
		const end = button("End the match", async () => {
			if (!confirm(`End ${match}? All ${live.length} tokens stop working at once and for good. The log stays.`)) return;
			// A match must keep a host, so create one and forget its token.
			await this.api.post(path, { kind: "host", label: ENDED });
			await revoke(live);
		}, this.note);
		end.setAttribute("aria-label", `End the match ${match}`);
		element.append(end);
		return element;
	}

	async #backup() {
		const response = await this.api.fetch("/v1/backup");
		const address = URL.createObjectURL(await response.blob());
		html("a", { href: address, download: "turnfold.backup" }).click();
		// The browser has begun to read the file by then.
		setTimeout(() => URL.revokeObjectURL(address), 60_000);
	}
}

const adminRoot = document.getElementById("viewer");
if (adminRoot) showAdmin(adminRoot);
