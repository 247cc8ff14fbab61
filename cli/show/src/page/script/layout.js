/**
 * Where the places of a board lie, and what is drawn on one.
 *
 * @import {At, Layout} from "./frames.d.ts"
 */
import { fillOf, fitted, inkOn, strokeOf, svg, tintClass } from "./elements.js";

/** @param {At} from @param {At} to @param {number} distance @returns {At} */
function toward([x, y], [toX, toY], distance) {
	const share = distance / (Math.hypot(toX - x, toY - y) || 1);
	return [Math.round(x + (toX - x) * share), Math.round(y + (toY - y) * share)];
}

/** @param {At[]} points */
export function arrowLine(points) {
	const [last, before] = [points[points.length - 1], points[points.length - 2]];
	const tip = toward(last, before, 9);
	const [x, y] = toward(tip, before, 7);
	const [asideX, asideY] = toward([0, 0], [last[1] - before[1], before[0] - last[0]], 5);
	const head = `M${x + asideX},${y + asideY}L${tip}M${x - asideX},${y - asideY}L${tip}`;
	return `M${[toward(points[0], points[1], 12), ...points.slice(1, -1), tip].join("L")}${head}`;
}

/** @param {number} radius @returns {Layout} */
export function hexes(radius) {
	const places = [];
	for (let q = -radius; q <= radius; q++) {
		for (let r = Math.max(-radius, -q - radius); r <= Math.min(radius, radius - q); r++) places.push(`${q},${r}`);
	}
	return {
		kind: "hex",
		places,
		isLarge: radius > 12,
		size: [60 * radius + 46, 68 * radius + 40],
		step: [30, 34],
		paths: { edge: [-20, 0, "l10,-17h20l10,17l-10,17h-20z"], inner: [-17, 0, "l9,-15h16l9,15l-9,15h-16z"], corner: [3, -17, "h7l4,7z"] },
		mark: [0, 6, 26],
		names: [],
		middle(place) {
			const [q, r] = place.split(",").map(Number);
			return [30 * q, 17 * (2 * r + q)];
		},
		shade: () => "",
		texts: ([x, y], place, label, ink) => [
			fitted("at", place, [x, y + 12], [22, place.length > 7 ? 4 : 7, 4], ink),
			fitted("label", label, [x, y - 2], [26, 12, 5], ink),
		],
	};
}

/** @param {number[]} shape how many files and ranks, and -1 as seen from the far side @returns {Layout} */
export function squares([files, ranks, way]) {
	/** @param {string} place */
	const parse = (place) => [place.charCodeAt(0) - 97, parseInt(place.slice(1)) - 1];
	/** @type {Layout["middle"]} */
	const middle = (place) => {
		const [file, rank] = parse(place);
		return [way * (40 * file - 20 * (files - 1)), way * (20 * (ranks - 1) - 40 * rank)];
	};
	const places = Array.from({ length: files * ranks }, (_, index) => `${String.fromCharCode(97 + (index % files))}${Math.floor(index / files) + 1}`);
	const names = places.flatMap((place) => {
		const [[file, rank], [x, y]] = [parse(place), middle(place)];
		const below = rank ? [] : [fitted("at", place[0], [x, 20 * ranks + 13], [18, 11, 5])];
		return file ? below : [...below, fitted("at", place.slice(1), [-20 * files - 9, y + 4], [18, 11, 5])];
	});
	return {
		kind: "square",
		places,
		size: [40 * files + 36, 40 * ranks + 36],
		step: [40, 40],
		paths: { edge: [-20, -20, "h40v40h-40z"], inner: [-16, -16, "h32v32h-32z"], corner: [11, -20, "h9v9z"] },
		mark: [14, 17, 10],
		names,
		middle,
		shade: (place) => ((parse(place)[0] + parse(place)[1]) % 2 ? " light" : " dark"),
		texts: ([x, y], _place, glyph, _ink, tint) => [
			svg("g", { class: `figure ${tintClass(tint)}`, ...strokeOf(inkOn(tint)) }, fitted("glyph", glyph, [x, y + 11], [36, 32, 5], fillOf(tint))),
		],
	};
}
