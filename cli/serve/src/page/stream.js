/**
 * Follows a branch. All tabs of a browser that show the same branch share one stream, and hidden tabs have none, because a
 * browser opens only six connections to an HTTP/1.1 server, and a stream takes one of them (VW-23).
 *
 * The tab that holds the lock of a stream reads it and passes its events on. When that tab is closed or hidden, the lock goes to
 * the next one. A few streams may be open at a time, for windows next to each other; other tabs poll.
 */
import { NoAnswer, Problem, pause, readEvents, sleep } from "./api.js";

/** The most streams of a browser. */
const STREAMS_MAX = 3;

/** How often a tab without a stream asks, in sight and hidden, and how long it then listens, because news comes at once. */
const LOOK_EVERY = 5_000;
const LOOK_HIDDEN_EVERY = 30_000;
const LOOK_FOR = 700;

const isHidden = () => document.visibilityState === "hidden";

/** @typedef {(state: "live" | "often" | "lost", why?: string) => void} Report */

/** Waits, and shows why and how long. The wait ends early if the network is back or the page is in sight again.
 * @param {number} ms @param {string} why @param {Report} report @param {AbortSignal} [signal] */
export async function waitFor(ms, why, report, signal) {
	const ended = new AbortController();
	const end = () => ended.abort();
	addEventListener("online", end, { signal: ended.signal });
	document.addEventListener("visibilitychange", () => !isHidden() && end(), { signal: ended.signal });
	signal?.addEventListener("abort", end, { signal: ended.signal });
	for (let left = Math.ceil(ms / 1000); left > 0 && !ended.signal.aborted && !signal?.aborted; left--) {
		report("lost", `${why} Trying again in ${left} s.`);
		await sleep(1000, ended.signal);
	}
	end();
}

/** A branch that is followed, by a stream of this tab or of another one. */
export class Stream {
	/** The id of the last event. */ #last = "";
	/** @type {Parameters<Report>} */ #state = ["lost", "Connecting…"];
	#leads = false;

	/** Receives the events of other tabs from now on.
	 * @param {import("./api.js").Api} api @param {string} path @param {(event: string, data: string) => void} receive
	 * @param {Report} report @param {AbortSignal} signal */
	constructor(api, path, receive, report, signal) {
		this.api = api;
		this.path = path;
		this.receive = receive;
		this.report = report;
		this.signal = signal;
		this.name = `turnfold ${path} ${api.token}`;
		this.channel = new BroadcastChannel(this.name);
		this.channel.onmessage = (/** @type {MessageEvent<{heard?: Parameters<Stream["hear"]>, state?: Parameters<Report>}>} */ { data: { heard, state } }) => {
			if (heard) this.hear(...heard);
			else if (state) this.report(...state);
			else if (this.#leads) this.channel.postMessage({ state: this.#state });
		};
		signal.addEventListener("abort", () => this.channel.close(), { once: true });
	}

	/** Follows after an event or entry until the signal aborts. Throws the problem if the service refuses. @param {string} last */
	async follow(last) {
		this.#last = last;
		while (!this.signal.aborted) {
			const until = new AbortController();
			const end = () => until.abort();
			this.signal.addEventListener("abort", end, { signal: until.signal });
			document.addEventListener("visibilitychange", end, { signal: until.signal });
			if (isHidden()) {
				this.report("lost", "Updates resume when this page is visible.");
				await sleep(LOOK_HIDDEN_EVERY, until.signal);
				if (!until.signal.aborted) await this.#ask(until.signal);
			} else {
				this.channel.postMessage({});
				await withLock(this.name, () => this.#lead(until.signal).finally(() => (this.#leads = false)), until.signal);
			}
			end();
		}
	}

	/** @param {string} event @param {string} data @param {string} id */
	hear(event, data, id) {
		this.#last = id || this.#last;
		if (event) this.receive(event, data);
	}

	/** Reports to all tabs. @type {Report} */
	#report = (...state) => {
		this.#state = state;
		this.report(...state);
		if (!this.signal.aborted) this.channel.postMessage({ state });
	};

	/** Reads the stream, for all tabs. @param {AbortSignal} signal */
	async #lead(signal) {
		this.#leads = true;
		for (let tries = 1; !signal.aborted; tries++) {
			// After a change of the network, an old connection is dead, even if it does not report that.
			const moved = new AbortController();
			for (const change of ["online", "offline"]) addEventListener(change, () => moved.abort(), { signal: moved.signal });
			const ends = AbortSignal.any([signal, moved.signal]);
			const isRead = await withPlace(() => this.#read(ends, () => ((tries = 0), this.#report("live"))));
			const isAsked = !isRead && (await this.#ask(ends));
			if (isAsked) {
				tries = 0;
				this.#report("often");
				await sleep(LOOK_EVERY, ends);
			} else if (moved.signal.aborted) {
				// After a change of the network, connect again without a wait.
				this.#report("lost", "Connecting…");
			} else if (!signal.aborted) await waitFor(pause(tries), "Connection lost.", this.#report, signal);
			moved.abort();
		}
	}

	/** Reads new events for a moment, one tab at a time. @param {AbortSignal} signal
	 * @returns {Promise<boolean>} whether the service answered */
	async #ask(signal) {
		let isOpen = false;
		const enough = new AbortController();
		const opened = () => {
			isOpen = true;
			setTimeout(() => enough.abort(), LOOK_FOR);
		};
		await withLock("turnfold asks", () => this.#read(AbortSignal.any([signal, enough.signal]), opened), signal);
		return isOpen;
	}

	/** @param {AbortSignal} signal @param {() => void} opened */
	async #read(signal, opened) {
		try {
			await readEvents(this.api, this.path, this.#last, (...heard) => {
				if (this.signal.aborted) return;
				this.channel.postMessage({ heard });
				this.hear(...heard);
			}, opened, signal);
		} catch (error) {
			if (error instanceof Problem && !signal.aborted) throw error;
			if (!(error instanceof NoAnswer)) throw error;
		}
	}
}

/** Waits for a lock, and calls `act` while this tab holds it. @param {string} name @param {() => Promise<void>} act
 * @param {AbortSignal} signal */
async function withLock(name, act, signal) {
	// Pages without encryption have no locks, so each of their tabs has a stream.
	if (!navigator.locks) return act();
	/** @type {unknown} */ let failed;
	await navigator.locks.request(name, { signal }, () => act().catch((error) => (failed = error))).catch(() => {});
	if (failed) throw failed;
}

/** Calls `act` in one of the places for streams; returns `false` if all are taken. @param {() => Promise<void>} act */
async function withPlace(act) {
	if (!navigator.locks) return act().then(() => true);
	/** @type {unknown} */ let failed;
	for (let place = 1; place <= STREAMS_MAX; place++) {
		const isDone = await navigator.locks.request(`turnfold stream ${place}`, { ifAvailable: true }, (lock) => lock && act().catch((error) => (failed = error)).then(() => true));
		if (failed) throw failed;
		if (isDone) return true;
	}
	return false;
}
