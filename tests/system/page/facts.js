// What a picture shows, from the page or from SVG: order, texts, middles, marks and classes (VW-16), the thick edge and
// the corner of what changed among them (VW-17).
const classes = (element) => [...element.classList].sort().join(" ");
const text = (element) => element?.textContent ?? "";
const fill = (element) => element?.getAttribute("fill") ?? "";
const spans = (element) =>
  [...(element?.querySelectorAll(".span") ?? [])].filter(text).map((span) => `${classes(span)} ${text(span)}`).join(" | ");

function board(element) {
  const cells = [...element.querySelectorAll(".cell")].map((cell) => {
    const part = (name) => cell.querySelector(`:scope > .${name}`);
    const [label, mark, hex] = [part("label"), part("mark"), part("hex")];
    return ["cell", cell.dataset.at, classes(cell), text(label), text(mark), hex.getAttribute("d"), fill(hex), fill(label), part("corner")?.getAttribute("d"), text(part("at"))].join(" ; ");
  });
  const arrows = [...element.querySelectorAll(".arrow")].map((arrow) => {
    // The ends stand apart from the middles of their hexes, and are rounded.
    const line = arrow.getAttribute("d").split("M")[1].split("L");
    return ["arrow", classes(arrow), arrow.getAttribute("stroke"), line.slice(1, -1)].join(" ; ");
  });
  const coordinates = [...element.querySelectorAll(".at")].map(text).sort().join(" ");
  return ["board", element.querySelector(".ground").getAttribute("d"), coordinates, ...cells.sort(), ...arrows];
}

const lists = {
  lines: (line) => `${classes(line)} ; ${spans(line)}`,
  rows: (row) => {
    const pieces = [...row.querySelectorAll(".piece")].map((piece) => {
      const [label, disc] = [piece.querySelector(".label"), piece.querySelector(".disc")];
      return `${classes(piece)} ${fill(disc)} ${text(label)} ${fill(label)} ${text(piece.querySelector(".mark"))}`;
    });
    return [classes(row), spans(row.querySelector(".rowlabel")), ...pieces].join(" ; ");
  },
  bars: (bar) => {
    const chips = [...bar.querySelectorAll(".chip")].map((chip) => `${classes(chip)} ${text(chip)}`);
    return [classes(bar), spans(bar.querySelector(".barlabel")), text(bar.querySelector(".value")), ...chips].join(" ; ");
  },
};

function facts(picture) {
  return [...picture.querySelectorAll(".board, .lines, .rows, .bars")].flatMap((block) => {
    const kind = Object.keys(lists).find((kind) => block.classList.contains(kind));
    return kind ? [kind, ...[...block.children].map(lists[kind])] : board(block);
  });
}

// A number of 53 bits for each position's facts: all facts of all golden logs are too much to hand over.
function digest(facts) {
  if (facts.length < 3) throw new Error(`a picture of ${facts}`);
  let [one, other] = [0xdeadbeef, 0x41c6ce57];
  const text = facts.join("\n");
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    one = Math.imul(one ^ code, 2654435761);
    other = Math.imul(other ^ code, 1597334677);
  }
  one = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(other ^ (other >>> 13), 3266489909);
  other = Math.imul(other ^ (other >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909);
  return 4294967296 * (2097151 & other) + (one >>> 0);
}
