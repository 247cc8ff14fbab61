/**
 * Requests to the service with a token, and the live stream.
 *
 * @typedef {{type: string, title: string, status: number, detail: string, ended?: "revoked" | "expired", index?: number, record?: {message: string | null, reason: string | null}}} ProblemJson
 */

/** Why the service refused a request. */
export class Problem extends Error {
	/** @param {number} status @param {ProblemJson | null} problem */
	constructor(status, problem) {
		super(problem?.record?.message || problem?.detail || `The service answered ${status}.`);
		this.status = status;
		this.code = (problem?.type ?? "").split(":").at(-1);
		this.ended = problem?.ended;
		this.reason = problem?.record?.reason ?? "";
	}
}

/** A lost connection, or a service that cannot answer now. The same request may work later. */
export class NoAnswer extends Error {}

/** Returns after this number of milliseconds. @param {number} ms @param {AbortSignal} [signal] */
export const sleep = (ms, signal) =>
	new Promise((done) => {
		const timer = setTimeout(done, ms);
		signal?.addEventListener("abort", () => (clearTimeout(timer), done(undefined)), { once: true });
	});

/** After how many milliseconds without a byte a request fails, and a stream, which has a comment every 15 s. */
const SILENT_MAX = 15_000;
const SILENT_STREAM_MAX = 45_000;

/** Returns a response that fails when no byte comes for a while (VW-42). A slow connection is not a silent one.
 * @param {string} path @param {RequestInit} options @param {number} silentMax */
async function heard(path, options, silentMax) {
	const silence = new AbortController();
	const signals = [silence.signal, ...(options.signal ? [options.signal] : [])];
	let timer = 0;
	const listen = (most = silentMax) => {
		clearTimeout(timer);
		timer = window.setTimeout(() => silence.abort(), most);
	};
	listen(SILENT_MAX);
	const { body, status, statusText, headers } = await fetch(path, { ...options, signal: AbortSignal.any(signals) }).finally(() => clearTimeout(timer));
	// Chromium gives an empty body to a response that may have none.
	if (!body || status === 204) return new Response(null, { status, statusText, headers });
	listen();
	/** @type {TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>} */ const passed = new TransformStream({
		transform: (part, out) => (listen(), out.enqueue(part)),
		flush: () => clearTimeout(timer),
	});
	return new Response(body.pipeThrough(passed), { status, statusText, headers });
}

/** Sends requests as the holder of a token. */
export class Api {
	/** @param {string} token */
	constructor(token) {
		this.token = token;
	}

	/** @param {string} path @param {RequestInit & {headers?: Record<string, string>}} [options] @param {number} [silentMax] */
	async fetch(path, options = {}, silentMax = SILENT_MAX) {
		/** @type {Record<string, string>} */ const headers = { ...options.headers };
		if (this.token) headers.authorization = `Bearer ${this.token}`;
		if (options.body) headers["content-type"] ??= "application/json";
		/** @type {Response} */ let response;
		try {
			response = await heard(path, { ...options, headers }, silentMax);
		} catch {
			throw new NoAnswer("No connection.");
		}
		if (response.ok) return response;
		const body = await response.json().catch(() => null);
		const problem = new Problem(response.status, body);
		// If waiting helps, the service names a time. A proxy that answers instead of the service names no problem.
		const isPassing = [429, 502, 503, 504].includes(response.status) && (!problem.code || response.headers.has("retry-after"));
		if (isPassing) throw new NoAnswer(`${problem.message[0].toUpperCase()}${problem.message.slice(1).replace(/\.$/, "")}.`);
		throw problem;
	}

	/** @param {string} path @returns {Promise<any>} */
	async get(path) {
		return readJson(await this.fetch(path));
	}

	/** @param {string} path @param {object} body @param {Record<string, string>} [headers] */
	send(path, body, headers = {}) {
		return this.fetch(path, { method: "POST", body: JSON.stringify(body), headers });
	}

	/** @param {string} path @param {object} body @returns {Promise<any>} */
	async post(path, body) {
		return readJson(await this.send(path, body));
	}
}

/** Returns the JSON of a response, whose connection may break. @param {Response} response @returns {Promise<any>} */
export const readJson = (response) =>
	response.json().catch(() => {
		throw new NoAnswer("No connection.");
	});

/** Returns how long to wait before try number `tries`: at random around 2, 4, … 30 seconds. @param {number} tries */
export const pause = (tries) => Math.min(30, 2 ** Math.min(tries, 5)) * (750 + 500 * Math.random());

/** Reads a live stream and passes on each event, until the stream ends. Uses `fetch`, because `EventSource` sends no token.
 * @param {Api} api @param {string} path @param {string} last the last event that is known
 * @param {(event: string, data: string, id: string) => void} receive @param {() => void} opened @param {AbortSignal} signal */
export async function readEvents(api, path, last, receive, opened, signal) {
	const response = await api.fetch(path, { headers: { accept: "text/event-stream", "last-event-id": last }, signal }, SILENT_STREAM_MAX);
	const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
	if (!reader) return;
	opened();
	let rest = "";
	for (;;) {
		const { done, value } = await reader.read().catch(() => ({ done: true, value: "" }));
		if (done) return;
		const blocks = (rest + value).split("\n\n");
		rest = blocks.pop() ?? "";
		for (const block of blocks) {
			const fields = Object.fromEntries(block.split("\n").map((line) => /^([^:]*):? ?(.*)$/s.exec(line)?.slice(1) ?? []));
			if (fields.event || fields.id) receive(fields.event ?? "", fields.data ?? "", fields.id ?? "");
		}
	}
}

/** Returns a new token of a kind, made from 32 random bytes. @param {"s" | "h" | "c"} kind */
export function makeToken(kind) {
	const bytes = crypto.getRandomValues(new Uint8Array(32));
	const text = btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
	return `tf_${kind}_${text}`;
}
