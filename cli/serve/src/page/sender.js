/**
 * Sends a command until the service answers (VW-18).
 *
 * @import {LiveMatch} from "./match.js"
 */
import { shown } from "./viewer.js";
import { NoAnswer, Problem, readJson, sleep } from "./api.js";

/** How long a command waits at most, in milliseconds, until its entries are shown. */
const SHOWN_MAX = 5_000;

/** Sends commands, one at a time, and reports their outcomes. */
export class Sender {
	#isSending = false;

	/** @param {LiveMatch} live @param {(text: string, reason?: string) => void} report */
	constructor(live, report) {
		this.live = live;
		this.report = report;
	}

	/** Gives a command; an empty one rolls what is due. Sends it again, with the same key, until an answer comes.
	 * @param {string} command @returns {Promise<"given" | "moved" | "refused" | "waiting">} the outcome */
	async give(command) {
		if (this.#isSending) return this.report("The last command is still on its way."), "waiting";
		const { live } = this;
		if (live.trying.isOn) return live.trying.give(command, this.report);
		if (!live.tag) return this.report("The match is being read. Look at it, then send again."), "refused";
		this.#isSending = true;
		// The tag belongs to the view that is shown. The command was decided on that view, and counts for no other.
		const headers = { "idempotency-key": crypto.randomUUID(), "if-match": live.tag };
		try {
			const entries = await this.#sent({ commands: command ? [command] : [] }, headers, command || "the roll");
			const [first] = entries;
			const isIgnored = first?.outcome === "ignored";
			this.report(isIgnored ? first.message ? `It changed nothing: ${first.message}` : "It changed nothing:" : first ? "" : "The host rolls the dice of this match.", isIgnored ? (first.reason ?? "") : "");
			return "given";
		} catch (error) {
			const isMoved = error instanceof Problem && error.status === 412;
			this.report(isMoved ? "The game has moved on. Look at it, then send again." : `Not done: ${error instanceof Error ? error.message : error}`, error instanceof Problem ? error.reason : "");
			return isMoved ? "moved" : "refused";
		} finally {
			this.#isSending = false;
		}
	}

	/** Returns the entries that were recorded. @param {object} body @param {Record<string, string>} headers @param {string} what
	 * @returns {Promise<{outcome: string, reason: string | null, message: string | null}[]>} */
	async #sent(body, headers, what) {
		for (let wait = 1; ; wait = Math.min(30, 2 * wait)) {
			try {
				this.report(`Sending ${shown(what)} …`);
				const response = await this.live.api.send(this.live.path("entries"), body, headers);
				const { entries, head } = await readJson(response);
				// The next command is given after these entries, so show them.
				this.live.viewer.isPinned = false;
				await Promise.race([this.live.learn(entries, head, response.headers.get("etag") ?? ""), sleep(SHOWN_MAX)]);
				return entries;
			} catch (error) {
				if (!(error instanceof NoAnswer)) throw error;
				for (let left = wait; left > 0; left--) {
					this.report(`${error.message} No answer yet to ${shown(what)}. Sending it again in ${left} s.`);
					await sleep(1000);
				}
			}
		}
	}
}
