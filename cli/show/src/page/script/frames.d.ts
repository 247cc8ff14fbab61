/** Frames as the program writes them, and what the page makes of them. */

/** q and r of a hex. */
export type At = [number, number];
/** A color by its meaning, or `#rrggbb`. */
export type Tint = string;
export type Line = [text: string, tint: Tint][];
/** On a square also the piece's tint, name and letter. */
export type Cell = [label: string, mark: string, tint: Tint, of?: Tint, name?: string, letter?: string];
/** What stands last, if there, is the part of commands that it stands for (VW-43). */
export type Row = [label: Line, pieces: [text: string, tint: Tint, mark: string, target?: string][], target?: string];
export type Bar = [label: Line, value: number, of: number, tint: Tint, chips: [text: string, tint: Tint, target?: string][], target?: string];
/** A hex that stands for a part of commands. */
export type Named = [at: At, target: string];
export type Arrow = [tint: Tint, ...path: (At | string)[]];

/** A board (the radius of hexes, or how many files and ranks) with cells and arrows, or one of the lists. */
export interface Block {
  board?: number;
  grid?: [files: number, ranks: number];
  flipped?: boolean;
  /** Each with its q and r or the name of its square first, then what a `Cell` has. */
  cells?: (string | number)[][];
  arrows?: Arrow[];
  targets?: Named[];
  lines?: Line[];
  rows?: Row[];
  bars?: Bar[];
}

/** What stands in one place of a block; `null` is gone. */
export type Content = Cell | Line | Row | Bar | Arrow[] | Named[] | null;

/** A hex, a square such as `"e4"`, `"arrows"` or `"targets"` of a board, else an index of the block's list. */
export type Change = [block: number, place: At | number | string, content: Content];

/** An entry, and what differs after it; `picture` instead of `changes` is all of it. */
export interface Frame {
  record: { seq: number; seat: string; command: string; outcome: string };
  text: string;
  /** What happened in the game's words, with seats for players. */
  sentence?: string;
  changes?: Change[];
  picture?: Block[];
  /** The result or the turn after it, in words. */
  standing?: string;
  fields: { path: string; old?: unknown; new?: unknown }[];
  /** It stands for entries that are not there: those after this one, up to its own. */
  gap?: number;
}

/** A document of frames: the picture after entry `after`, the result or the turn then, and what follows. */
export interface Frames {
  after: number;
  /** From what on a stream sends the news; the service alone writes it. */
  event_id?: string;
  picture: Block[];
  standing?: string;
  frames: Frame[];
}

/** What kind of block it is: a board's radius, its files, ranks and way, or which list. */
export type Shape = number | number[] | "lines" | "rows" | "bars";

/** How a board is laid out around its middle; places are written `q,r` or `e4`. */
export interface Layout {
  kind: "hex" | "square";
  places: string[];
  isLarge?: boolean;
  size: [width: number, height: number];
  /** How far neighbors are away, sideways and upwards. */
  step: At;
  /** Of a place: its edge, what is inside where commands name it, and the corner where it changed. */
  paths: Record<"edge" | "inner" | "corner", [left: number, top: number, path: string]>;
  /** How far right of and below the middle of a place its mark stands, and how wide it may be. */
  mark: [x: number, y: number, width: number];
  /** What stands around the board. */
  names: SVGElement[];
  middle(place: string): At;
  shade(place: string): string;
  texts(middle: At, place: string, label: string, ink: Attributes, of: Tint): SVGElement[];
}

export type Attributes = Record<string, string | number>;
