/** A calendar of the deadlines of all seats that this browser plays (VW-68), as one secret link for calendar programs. */
import { html } from "./viewer.js";
import { Api, makeToken } from "./api.js";
import { kept, keptMatches } from "./access.js";
import { action } from "./buttons.js";

/** What this browser keeps of its calendar. `shows` has the ends of the tokens whose deadlines the calendar shows.
 * @typedef {{token: string, link: string, shows: string[]}} KeptCalendar */

const CALENDAR = "turnfold-calendar";

/** @returns {KeptCalendar | null} */
function keptCalendar() {
	try {
		return JSON.parse(localStorage.getItem(CALENDAR) ?? "null");
	} catch {
		return null;
	}
}

/** Adds the seats of a match that this browser plays to its calendar, if it has one. @param {string} match */
export async function showInCalendar(match) {
	const calendar = keptCalendar();
	if (!calendar) return;
	for (const { token, mail } of kept(match).tokens) {
		// The deadlines of a match by mail are in its letters.
		if (token[3] !== "s" || mail || calendar.shows.includes(token.slice(-8))) continue;
		const { link } = await new Api(token).post(`/v1/matches/${match}/calendar`, { token: calendar.token });
		calendar.link = link;
		calendar.shows.push(token.slice(-8));
	}
	localStorage.setItem(CALENDAR, JSON.stringify(calendar));
}

/** The part of *My seat* about the calendar. @param {string} match */
export function calendarPart(match) {
	const note = html("p", { role: "status", class: "note" });
	const choices = html("div", { class: "files" });
	const part = html("div", { class: "calendar" }, choices, note);
	const draw = () => {
		const link = keptCalendar()?.link;
		if (!link) return choices.replaceChildren(action("Subscribe to deadlines", () => subscribe()));
		const open = html("a", { href: link.replace(/^https?:/, "webcal:") }, "Open in a calendar");
		choices.replaceChildren(open, action("Copy calendar link", () => copy(link)), action("End calendar", () => end(link)));
	};
	/** @param {unknown} error */
	const report = (error) => (note.textContent = error instanceof Error ? error.message : `${error}`);
	const subscribe = async () => {
		localStorage.setItem(CALENDAR, JSON.stringify({ token: makeToken("c"), link: "", shows: [] }));
		try {
			await showInCalendar(match);
			// A match that is gone is left out.
			for (const other of keptMatches()) await showInCalendar(other).catch(() => {});
			note.textContent = "Your calendar shows the deadlines of all your matches in this browser, including later ones. Whoever has its link sees them and nothing else.";
		} catch (error) {
			localStorage.removeItem(CALENDAR);
			report(error);
		}
		draw();
	};
	/** @param {string} link */
	const copy = async (link) => {
		try {
			await navigator.clipboard.writeText(link);
			note.textContent = "Copied. Subscribe to it in your calendar program.";
		} catch {
			const field = html("input", { value: link, readonly: "", "aria-label": "Link of your calendar", class: "link" });
			note.replaceChildren("Copy it from here: ", field);
			field.select();
		}
	};
	/** @param {string} link */
	const end = async (link) => {
		try {
			await new Api("").fetch(new URL(link).pathname, { method: "DELETE" });
			localStorage.removeItem(CALENDAR);
			note.textContent = "The link no longer works.";
		} catch (error) {
			report(error);
		}
		draw();
	};
	draw();
	return part;
}
