/** A player, `"p1"` to `"p16"`, or the table itself, `"host"`. */
export type Seat = "host" | `p${number}`;
/** Who looks: a seat or `"spectator"`. */
export type Viewer = Seat | "spectator";
/** What a command did, such as `{ effect: "hit", hp: 9 }`; in games with secrets, `to` names who learns it. */
export type Effect = { effect: string; to?: "all" | Seat[]; [field: string]: unknown };
/** A roll that the match waits for: `count` values from `low` to `high`; `owner` alone learns them. */
export type Due = { purpose: string; count: number; low: number; high: number; owner?: Seat };
/** How a match ended. */
export type Result = { winners?: Seat[]; draw?: boolean; reason?: string; scores?: Partial<Record<Seat, number>> };
/** What everyone may know of a match. */
export type Status = {
  /** The seats of the players in order, or how many there are. */
  players: Seat[] | number;
  /** The seats that the match waits for. */
  active?: Seat[];
  /** Whether the match is over; left out, it is over when there is a result. */
  over?: boolean;
  result?: Result | null;
  turn?: number | null;
  due?: Due | null;
};

/** What a game answers instead of a state. */
declare class Outcome {
  private readonly kind: string;
}
export type { Outcome };

/** The command applies, with these effects; without `state`, the state that the game was given and changed. */
export function applied(
  effects: Effect[],
  state?: unknown,
  shown?: { to?: "all" | Seat[]; texts?: string[] },
): Outcome;
/** The command is recorded and changes nothing. `code` is one of the game's `ignored`. */
export function ignored(code: string, text?: string): Outcome;
/** The command is not recorded. `code` is one of the game's `rejected`, or `malformed` or `wrong_seat`. */
export function rejected(code: string, message: string): Outcome;
/** The setup is wrong at `field`, such as `units.0.hp`. */
export function invalid(field: string, message: string): Outcome;
/** A text cannot be read, or a question cannot be answered. */
export function no(message: string): Outcome;
/** Splits a command at its blanks; what stands in double quotes stays together, without them. */
export function words(command: string): string[];

/**
 * Chance. Where a value is wanted that was not rolled yet, the call throws, the match waits for the roll, and the
 * function of the game runs again with it.
 */
export interface Chance {
  /** One value from 1 to `sides`. */
  roll(sides: number): number;
  /** `count` values from 1 to `sides`, in one roll. */
  roll(sides: number, count: number | undefined, purpose?: string): number[];
  /** A whole number from `low` to `high`, both included. */
  range(low: number, high: number, purpose?: string): number;
  /** A number from 0 to below 1, of 31 bits. */
  number(purpose?: string): number;
  /** One of `list`. */
  pick<T>(list: readonly T[], purpose?: string): T;
  /** The index of one of `weights`, which are whole numbers. */
  weighted(weights: readonly number[], purpose?: string): number;
  /** A shuffled copy of `list`, by one roll of as many values. */
  shuffle<T>(list: readonly T[], purpose?: string): T[];
  /** `count` values from `low` to `high`, in one roll. */
  values(low: number, high: number, count: number, purpose?: string): number[];
  /** Chance whose values `seat` alone learns. */
  of(seat: Seat): Chance;
  /**
   * In a game with secrets: who sees the values, else the host and whose own they are, and who sees the command that waits
   * for them, else who gave it.
   */
  shown(to: { values?: "all" | Seat[]; command?: "all" | Seat[] }): Chance;
}

type Codes = string[] | Record<string, string[]>;
type Answer<T> = T | Promise<T>;

/** The rules of a game. `S` is its state, any value that JSON can hold. */
export interface Game<S = any, Setup = any> {
  /** A word of a-z and 0-9. */
  name: string;
  /** Raised when matches fold differently than before. */
  version: number;
  /** A setup to begin with, or the TOML text of one. */
  example: Setup | string;
  summary?: string;
  /** Markdown. */
  rulebook?: string;
  /** The questions that `query` answers, such as `"reach UNIT"`. */
  queries?: string[];
  /** Terms for play by mail, as TOML. */
  mail?: string;
  /** `"none"` if everyone may see everything; `"closed"` if left out. */
  secrets?: "none" | "closed";
  /** Codes of `ignored`, each with the ids of its rules if there are any. */
  ignored?: Codes;
  /** Codes of `rejected`, each with the ids of its rules if there are any. */
  rejected?: Codes;

  /** The state of a new match. */
  start(setup: Setup, chance: Chance): Answer<S | Outcome>;
  /** Applies a command: changes `state`, or answers a new one or an outcome. */
  apply(state: S, command: string, seat: Seat, chance: Chance): Answer<S | Outcome | void>;
  status(state: S): Status;

  /** The commands that a seat may give. */
  legal?(state: S, seat: Seat): Answer<Iterable<string | { command: string; random: boolean }>>;
  /** In place of `legal`: commands of which those are legal that apply. */
  candidates?(state: S, seat: Seat): Answer<Iterable<string | { command: string; random: boolean }>>;
  /** What a viewer may know. */
  view?(state: S, viewer: Viewer): unknown;
  /** What a viewer sees: text, or blocks. */
  picture?(state: S, viewer: Viewer): Answer<string | (string | object)[]>;
  /** The command that a text as people type it means; nothing or `no(…)` where it is none. */
  read?(state: S, text: string, seat?: Seat): Answer<string | { command: string; seat?: Seat } | Outcome | undefined>;
  query?(state: S, question: string, viewer?: Viewer): Answer<string | { text: string; json?: unknown } | Outcome>;
  /** The places and words that a click on the picture gives for a command. */
  targets?(command: string, state: S): unknown[] | { parts: unknown[]; irreversible: boolean };
  /** For games that set `due` in their status themselves: applies the values of that roll. */
  roll?(state: S, values: number[]): Answer<S | Outcome | void>;
}

/** Answers turnfold's requests on standard input until it ends. */
export function serve<S = any, Setup = any>(game: Game<S, Setup>): void;
/** Answers one request of the protocol, for tests of a game. */
export function answer<S = any>(game: Game<S>, request: { id?: number; op: string; args?: object }): Promise<any>;
