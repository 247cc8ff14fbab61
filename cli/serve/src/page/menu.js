/** Menus next to the elements that they are about. */
import { html, shown } from "./viewer.js";

/** Opens a menu in an element. @param {Element} inside @param {string} name @param {DOMRect | undefined} place where its subject is
 * @param {[text: string, chosen: () => void][]} choices */
export function openMenu(inside, name, place, choices) {
	const items = choices.map(([text, chosen]) => {
		const item = html("button", { type: "button", role: "menuitem", tabindex: -1 }, html("bdi", {}, shown(text)));
		item.addEventListener("click", () => (menu.hidePopover(), chosen()));
		return item;
	});
	// A popover is above everything. Escape and a click elsewhere close it, and return the focus to the board.
	const menu = html("div", { role: "menu", class: "menu", popover: "", "aria-label": name }, ...items);
	menu.addEventListener("keydown", (event) => {
		const index = items.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
		if (event.key === "Tab") menu.hidePopover();
		else if (event.key === "ArrowDown") items[(index + 1) % items.length].focus();
		else if (event.key === "ArrowUp") items[(index + items.length - 1) % items.length].focus();
		else return;
		event.preventDefault();
	});
	menu.addEventListener("toggle", (event) => /** @type {ToggleEvent} */ (event).newState === "closed" && menu.remove());
	inside.append(menu);
	menu.showPopover();
	const { width, height } = menu.getBoundingClientRect();
	if (place) {
		const below = place.bottom + height <= innerHeight ? place.bottom : place.top - height;
		menu.style.top = `${Math.max(0, below)}px`;
		menu.style.left = `${Math.max(0, Math.min(place.left, innerWidth - width))}px`;
	}
	items[0].focus();
}
