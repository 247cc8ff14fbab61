const values = VALUES;
const played = (window.played = { given: [], clicks: { place: 0, piece: 0, word: 0 }, most: 0, end: "" });
let seed = values.seed;
const chance = (count) => ((seed = (Math.imul(seed, 1103515245) + 12345) >>> 0) >>> 8) % count;
const all = (selector) => [...document.querySelectorAll(selector)];
const ask = async (what) => (await fetch(`/v1/matches/${values.name}${what}`, { headers: { authorization: `Bearer ${values.token}` } })).json();
const moment = () => new Promise((done) => setTimeout(done, 5));
async function until(what, isSo) {
  for (const begun = performance.now(); performance.now() - begun < 20_000; await moment()) {
    const found = isSo();
    if (found) return found;
  }
  throw new Error(`${what}: not so in 20 s; ${document.querySelector(".dock").textContent}`);
}
const entry = () => Number(document.querySelector(".status strong").textContent);
const isReady = () => !document.querySelector(".legal[aria-busy]") && document.querySelector(".giving button:not([type])").disabled === false;
/** Clicks on the middle of a place of a board. */
function clickPlace(at) {
  const place = document.querySelector(`.field [data-at="${at}"]`);
  if (!place?.classList.contains("reach")) throw new Error(`${at} is not marked`);
  const { left, top, width, height } = place.firstElementChild.getBoundingClientRect();
  place.dispatchEvent(new MouseEvent("click", { bubbles: true, clientX: left + width / 2, clientY: top + height / 2 }));
  played.clicks.place++;
}
/** Clicks a button with one of these texts. */
function clickWord(selector, texts) {
  const buttons = all(selector);
  played.most = Math.max(played.most, all(".legal button:not(.back)").length);
  const button = buttons.find((one) => texts.includes((one.querySelector("bdi") ?? one).textContent));
  if (button) return button.click(), played.clicks.word++, button;
  const more = buttons.find((one) => /^(\d+ more|First ones)$/.test(one.textContent));
  if (!more) throw new Error(`no button ${texts.join(" or ")} among ${buttons.map((one) => one.textContent).join(", ")}`);
  more.click();
  return clickWord(selector, texts);
}
function give({ seat, command, targets = [] }, named) {
  const [verb, ...words] = command.split(" ");
  const text = `${seat}: ${command}`;
  const isOpen = targets.length > 0 && typeof targets[0] !== "string";
  const before = entry();
  const isGiven = () => document.querySelector(".giving button:not([type])").disabled || entry() > before;
  if (!isOpen) {
    const clicked = clickWord(".legal button", [`${seat}: ${verb}`, verb, text]);
    if (clicked.querySelector("bdi").textContent === text && words.length > 0) return;
  }
  for (const target of targets.length > 0 ? targets : words) {
    if (typeof target === "string") clickWord(".legal button", [target]);
    else if (Array.isArray(target)) clickPlace(`${target[1]}`);
    else if (named.has(target.piece)) clickPlace(named.get(target.piece));
    else {
      const piece = [`${seat} ${target.piece}`, target.piece].flatMap((name) => all(`.picture [data-target="${name}"].reach[role=button]`))[0];
      if (!piece) throw new Error(`${target.piece} is not marked`);
      piece.click();
      played.clicks.piece++;
    }
  }
  if (document.querySelector(".menu:popover-open")) clickWord(".menu button", [text]);
  else if (!isGiven()) clickWord(".legal button", [text]);
}
async function playOn() {
  while (entry() < values.entries) {
    await until("the page is ready", isReady);
    const before = entry();
    const [{ items }, { head, picture }] = await Promise.all([ask("/branches/main/legal"), ask(`/branches/main/frames?after=${before}`)]);
    const roll = document.querySelector(".giving button:not(.primary)");
    if (items.length === 0 && roll.hidden && (await ask("")).now.over) break;
    if (before !== head || before !== entry()) {
      await moment();
      continue;
    }
    if (!roll.hidden) {
      roll.click();
    } else {
      const names = picture.find(({ board }) => board !== undefined)?.targets ?? [];
      // Of a kind of command there may be hundreds, and of another one.
      const kindOf = ({ seat, command }) => `${seat} ${command.split(" ")[0]}`;
      const kinds = [...new Set(items.map(kindOf))];
      const kind = kinds[chance(kinds.length)];
      const some = chance(2) ? items : items.filter((one) => kindOf(one) === kind);
      const one = some[chance(some.length)];
      played.given.push(`${one.seat}: ${one.command}`);
      give(one, new Map(names.map(([at, name]) => [name, `${at}`])));
    }
    await until(`an entry of ${played.given.at(-1)}`, () => entry() > before && isReady());
  }
  if (played.most > 12) throw new Error(`${played.most} buttons at a time`);
}
playOn().then(() => (played.end = "played"), (error) => (played.end = String(error.stack)));
