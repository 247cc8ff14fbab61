/**
 * Asks for the legal commands, and for what commands mean.
 *
 * @import {LiveMatch} from "./match.js"
 * @import {Legal} from "./choice.js"
 */
import { Problem } from "./api.js";

/** Returns the legal commands that this token may give, none if there are too many or the rules list none. Also returns the
 * seats that others have or are invited to, because a host does not give their commands. @param {LiveMatch} live */
export async function askLegal(live) {
	if (live.trying.isOn) return { taken: new Set(), legal: live.trying.legal };
	try {
		/** @type {{items: Legal[]}} */ const { items } = await live.api.get(live.path("legal"));
		const taken = live.hosts ? await askTaken(live) : new Set();
		return { taken, legal: items.filter(({ seat }) => !taken.has(seat)) };
	} catch (error) {
		if (error instanceof Problem && [413, 422].includes(error.status)) return { taken: new Set(), legal: [] };
		throw error;
	}
}

/** @param {LiveMatch} live @returns {Promise<Set<string>>} */
async function askTaken(live) {
	const { items } = await live.api.get(`/v1/matches/${live.match}/grants`);
	return new Set(items.flatMap((/** @type {{live: boolean, seat: string | null}} */ one) => (one.live && one.seat ? [one.seat] : [])));
}

/** Returns what the commands of a game mean, by their first words (VW-44). @param {LiveMatch} live */
export async function askMeanings(live) {
	/** @type {{items: {ruleset: string, commands?: {command: string, text: string}[]}[]}} */
	const { items } = await live.api.get("/v1/rulesets");
	const { commands = [] } = items.find(({ ruleset }) => ruleset === live.info?.ruleset) ?? {};
	// If a command has several forms, the first one has the simplest text.
	return new Map(commands.toReversed().map(({ command, text }) => [command.split(" ")[0], text]));
}
