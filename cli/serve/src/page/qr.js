/** QR codes (ISO/IEC 18004) of short texts, as bytes with error correction level M. */
import { svg } from "./viewer.js";

/** For versions 1 to 15: the bytes of error correction in each block, and the number of blocks. */
const BLOCKS = [[10, 1], [16, 1], [26, 1], [18, 2], [24, 2], [16, 4], [18, 4], [22, 4], [22, 5], [26, 5], [30, 5], [22, 8], [22, 9], [24, 9], [24, 10]];

/** Level M in the format of a code. */
const LEVEL_M = 0;

/** The eight masks, by column and row. @type {((x: number, y: number) => boolean)[]} */
const MASKS = [
	(x, y) => (x + y) % 2 === 0,
	(x, y) => y % 2 === 0,
	(x, y) => x % 3 === 0,
	(x, y) => (x + y) % 3 === 0,
	(x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
	(x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
	(x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
	(x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

/** Multiplies in the field with 256 elements. @param {number} a @param {number} b */
function times(a, b) {
	let product = 0;
	for (let bit = 7; bit >= 0; bit--) product = (product << 1) ^ ((product >> 7) * 0x11d) ^ (((b >> bit) & 1) * a);
	return product;
}

/** Returns the bytes of error correction for a block. @param {number[]} block @param {number} count */
function corrections(block, count) {
	const divisor = [...Array(count - 1).fill(0), 1];
	for (let round = 0, root = 1; round < count; round++, root = times(root, 2)) {
		for (let at = 0; at < count; at++) divisor[at] = times(divisor[at], root) ^ (divisor[at + 1] ?? 0);
	}
	const rest = Array(count).fill(0);
	for (const byte of block) {
		const factor = byte ^ rest.shift();
		rest.push(0);
		divisor.forEach((value, at) => (rest[at] ^= times(value, factor)));
	}
	return rest;
}

/** Returns how many bytes a version has in total. @param {number} version */
function capacity(version) {
	const aligned = version > 1 ? Math.floor(version / 7) + 2 : 0;
	const patterns = aligned ? (25 * aligned - 10) * aligned - 55 + (version > 6 ? 36 : 0) : 0;
	return Math.floor(((16 * version + 128) * version + 64 - patterns) / 8);
}

/** Returns all bytes of a code: the blocks of the text, then their corrections, both interleaved. @param {Uint8Array} bytes @param {number} version */
function codewords(bytes, version) {
	const [each, count] = BLOCKS[version - 1];
	const total = capacity(version);
	const room = total - each * count;
	/** @type {number[]} */ const bits = [];
	/** @param {number} value @param {number} length */
	const push = (value, length) => {
		for (let bit = length - 1; bit >= 0; bit--) bits.push((value >> bit) & 1);
	};
	push(4, 4);
	push(bytes.length, version < 10 ? 8 : 16);
	for (const byte of bytes) push(byte, 8);
	push(0, Math.min(4, room * 8 - bits.length));
	const data = Array.from({ length: Math.ceil(bits.length / 8) }, (_, at) => parseInt(bits.slice(at * 8, at * 8 + 8).join("").padEnd(8, "0"), 2));
	for (let pad = 0xec; data.length < room; pad ^= 0xec ^ 0x11) data.push(pad);
	const blocks = Array.from({ length: count }, (_, at) => data.splice(0, Math.floor(total / count) - each + (at < count - (total % count) ? 0 : 1)));
	const checks = blocks.map((block) => corrections(block, each));
	return [blocks, checks].flatMap((parts) => Array.from({ length: Math.max(...parts.map(({ length }) => length)) }, (_, at) => parts.flatMap((part) => part.slice(at, at + 1))).flat());
}

/** Returns the squares of a code in rows, dark ones as 1; null if the text is too long. @param {string} text */
export function squaresOf(text) {
	const bytes = new TextEncoder().encode(text);
	const version = 1 + BLOCKS.findIndex(([each, count], at) => capacity(at + 1) - each * count >= bytes.length + (at < 9 ? 2 : 3));
	if (version === 0) return null;
	const size = 4 * version + 17;
	const rows = Array.from({ length: size }, () => Array(size).fill(0));
	const fixed = rows.map((row) => row.map(() => false));
	/** @param {number} x @param {number} y @param {number | boolean} dark */
	const fix = (x, y, dark) => {
		if (!(y in rows) || !(x in rows)) return;
		rows[y][x] = Number(dark);
		fixed[y][x] = true;
	};
	/** Draws square rings around a middle; those at the distances listed in `light` are light. @param {number} x @param {number} y @param {number} reach @param {number[]} light */
	const rings = (x, y, reach, light) => {
		for (let dx = -reach; dx <= reach; dx++) for (let dy = -reach; dy <= reach; dy++) fix(x + dx, y + dy, !light.includes(Math.max(Math.abs(dx), Math.abs(dy))));
	};
	for (let at = 0; at < size; at++) fix(6, at, at % 2 === 0), fix(at, 6, at % 2 === 0);
	const count = version > 1 ? Math.floor(version / 7) + 2 : 0;
	const step = count ? Math.ceil((4 * version + 4) / (2 * count - 2)) * 2 : 0;
	const middles = Array.from({ length: count }, (_, at) => (at === 0 ? 6 : size - 7 - step * (count - 1 - at)));
	for (const x of middles) for (const y of middles) if (!((x === 6 && (y === 6 || y === size - 7)) || (y === 6 && x === size - 7))) rings(x, y, 2, [1]);
	for (const [x, y] of [[3, 3], [size - 4, 3], [3, size - 4]]) rings(x, y, 4, [2, 4]);
	if (version > 6) {
		let rest = version;
		for (let round = 0; round < 12; round++) rest = (rest << 1) ^ ((rest >> 11) * 0x1f25);
		const whole = (version << 12) | rest;
		for (let at = 0; at < 18; at++) fix(size - 11 + (at % 3), Math.floor(at / 3), (whole >> at) & 1), fix(Math.floor(at / 3), size - 11 + (at % 3), (whole >> at) & 1);
	}
	/** @param {number} mask */
	const fixFormat = (mask) => {
		let rest = (LEVEL_M << 3) | mask;
		for (let round = 0; round < 10; round++) rest = (rest << 1) ^ ((rest >> 9) * 0x537);
		const whole = ((((LEVEL_M << 3) | mask) << 10) | rest) ^ 0x5412;
		for (let at = 0; at < 15; at++) {
			const bit = (whole >> at) & 1;
			fix(8, at < 6 ? at : at < 8 ? at + 1 : size - 15 + at, bit);
			fix(at < 8 ? size - 1 - at : at === 8 ? 7 : 14 - at, 8, bit);
		}
		fix(8, size - 8, 1);
	};
	fixFormat(0);
	const words = codewords(bytes, version);
	let place = 0;
	for (let right = size - 1; right > 0; right -= 2) {
		if (right === 6) right--;
		for (let down = 0; down < size; down++) {
			const y = ((right + 1) & 2) === 0 ? size - 1 - down : down;
			for (const x of [right, right - 1]) if (!fixed[y][x]) rows[y][x] = (words[place >> 3] >> (7 - (place++ & 7))) & 1;
		}
	}
	/** @param {number} mask */
	const turn = (mask) => rows.forEach((row, y) => row.forEach((_, x) => (row[x] ^= Number(!fixed[y][x] && MASKS[mask](x, y)))));
	// Large areas of one color confuse scanners, so the mask with the fewest of them wins.
	const counts = MASKS.map((_, mask) => {
		fixFormat(mask);
		turn(mask);
		const same = rows.flatMap((row, y) => row.filter((dark, x) => [[x + 1, y], [x, y + 1], [x + 1, y + 1]].every(([right, low]) => rows[low]?.[right] === dark))).length;
		turn(mask);
		return same;
	});
	const best = counts.indexOf(Math.min(...counts));
	fixFormat(best);
	turn(best);
	return rows;
}

/** Draws the code of a text, black on white whatever the page's colors; null if the text is too long. @param {string} text */
export function qrCode(text) {
	const rows = squaresOf(text);
	if (!rows) return null;
	const size = rows.length + 8;
	const dark = rows.flatMap((row, y) => row.flatMap((one, x) => (one ? [`M${x + 4} ${y + 4}h1v1h-1z`] : [])));
	return svg("svg", { class: "qr", viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": "QR code of the link", "shape-rendering": "crispEdges" }, svg("rect", { width: size, height: size, fill: "#ffffff" }), svg("path", { d: dark.join(""), fill: "#000000" }));
}
