/** Frames as the program writes them, and what the page makes of them. */

/** q and r of a hex. */
export type At = [number, number];
/** A color by its meaning, or `#rrggbb`. */
export type Tint = string;
export type Line = [text: string, tint: Tint][];
export type Cell = [label: string, mark: string, tint: Tint];
export type Row = [label: Line, pieces: [text: string, tint: Tint, mark: string][]];
export type Bar = [label: Line, value: number, of: number, tint: Tint, chips: Line];
export type Arrow = [tint: Tint, ...path: At[]];

/** A board (its radius) with cells and arrows, or one of the lists. */
export interface Block {
  board?: number;
  cells?: [q: number, r: number, ...cell: Cell][];
  arrows?: Arrow[];
  lines?: Line[];
  rows?: Row[];
  bars?: Bar[];
}

/** What stands in one place of a block; `null` is gone. */
export type Content = Cell | Line | Row | Bar | Arrow[] | null;

/** A hex or `"arrows"` of a board, else an index of the block's list. */
export type Change = [block: number, place: At | number | "arrows", content: Content];

/** An entry, and what differs after it; `picture` instead of `changes` is all of it. */
export interface Frame {
  record: { seq: number; seat: string; command: string; outcome: string };
  text: string;
  changes?: Change[];
  picture?: Block[];
  fields: { path: string; old?: unknown; new?: unknown }[];
}

/** A document of frames: the picture after entry `after`, and what follows. */
export interface Frames {
  after: number;
  picture: Block[];
  frames: Frame[];
}

/** What kind of block it is: a board's radius, or which list. */
export type Shape = number | "lines" | "rows" | "bars";

export type Attributes = Record<string, string | number>;
