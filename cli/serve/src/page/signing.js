/**
 * Papers that this browser signs (PM-72), with a key that never leaves the browser.
 *
 * @import {SeatDesk} from "./draft.js"
 */

/** A seat's key. `papers` is its public half in the form of papers. @typedef {{name: string, papers: string, pair: CryptoKeyPair}} SeatKey */

/** The storage key of the last history of a desk that was seen. */
const SEEN = "turnfold-seen:";

/** @param {Uint8Array} bytes */
const base64 = (bytes) => btoa(String.fromCharCode(...bytes));

/** Reads or writes the database of keys. @param {IDBTransactionMode} mode
 * @param {(keys: IDBObjectStore) => IDBRequest} act @returns {Promise<any>} */
function withKeys(mode, act) {
	return new Promise((done, failed) => {
		const opening = indexedDB.open("turnfold", 1);
		opening.onupgradeneeded = () => opening.result.createObjectStore("keys");
		opening.onerror = () => failed(opening.error);
		opening.onsuccess = () => {
			const transaction = opening.result.transaction("keys", mode);
			const request = act(transaction.objectStore("keys"));
			transaction.oncomplete = () => (opening.result.close(), done(request.result));
			transaction.onabort = () => failed(transaction.error);
		};
	});
}

/** Returns the key of a seat, if this browser has it. @param {string} match @param {string} seat @returns {Promise<SeatKey | undefined>} */
export const readKey = (match, seat) => withKeys("readonly", (keys) => keys.get(`${match} ${seat}`)).catch(() => undefined);

/** Generates and keeps a key for a seat; returns undefined if the browser cannot (PM-73).
 * @param {string} match @param {string} seat @param {string} name @returns {Promise<SeatKey | undefined>} */
export async function makeKey(match, seat, name) {
	try {
		const pair = /** @type {CryptoKeyPair} */ (await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]));
		const half = new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey));
		const key = { name: nameOfKey(name), papers: base64(new Uint8Array([1, ...half])), pair };
		await withKeys("readwrite", (keys) => keys.put(key, `${match} ${seat}`));
		return key;
	} catch {
		return undefined;
	}
}

/** Returns a name in the form of key names: lowercase letters, digits and dots. @param {string} name */
const nameOfKey = (name) => name.normalize("NFKD").toLowerCase().replace(/[^a-z0-9]+/g, " ").trim().replaceAll(" ", ".").slice(0, 64) || `player.${crypto.getRandomValues(new Uint16Array(1))[0]}`;

/** Returns the text of a paper (PM-4). @param {SeatDesk} desk @param {"join" | "order"} kind @param {string[]} lines the lines of this kind of paper */
export function paperOf({ seat, match_id, number, seen, desk }, kind, lines) {
	const nonce = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
	const [count, turn, link] = kind === "join" ? [0, 0, []] : [number, desk.turn, [`link: ${desk.stand?.link}`]];
	return ["#turnfold paper 1", `paper: ${kind}`, `match: ${match_id}`, `seat: ${seat}`, `number: ${count}`, `turn: ${turn}`, ...link, `seen: ${seen}`, `nonce: ${nonce}`, ...lines, ""].join("\n");
}

/** Returns a paper as a signed note. @param {string} text @param {SeatKey} key */
export async function sign(text, { name, papers, pair }) {
	const bytes = new TextEncoder();
	const half = Uint8Array.from(atob(papers), (sign) => sign.charCodeAt(0));
	const id = new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array([...bytes.encode(`${name}\n`), ...half])));
	const signature = new Uint8Array(await crypto.subtle.sign("Ed25519", pair.privateKey, bytes.encode(text)));
	return `${text}\n\u2014 ${name} ${base64(new Uint8Array([...id.slice(0, 4), ...signature]))}\n`;
}

/** Requires that a desk continues the history that this browser saw before, because a signed paper names the history.
 * @param {string} match @param {SeatDesk} desk */
export function requireSameHistory(match, { match_id, seen }) {
	const [size, root] = seen.split(" ");
	/** @type {{match_id: string, size: number, root: string} | null} */ const before = JSON.parse(localStorage.getItem(SEEN + match) ?? "null");
	const isOther = before && (before.match_id !== match_id || Number(size) < before.size || (Number(size) === before.size && root !== before.root));
	if (isOther) throw new Error("The service shows another history of this match than before, so nothing was signed. Ask the host.");
	localStorage.setItem(SEEN + match, JSON.stringify({ match_id, size: Number(size), root }));
}
