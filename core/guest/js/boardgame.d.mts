import type { Game as Referee } from "./turnfold.mjs";

/** What a referee has besides the game of boardgame.io; `enumerate` stands in for the game's `ai.enumerate`. */
export type Options = Partial<
  Pick<Referee, "name" | "version" | "example" | "summary" | "rulebook" | "secrets" | "picture" | "read">
> & { enumerate?: (G: any, ctx: any, playerID: string) => object[] };

/** The referee of a game of boardgame.io. Setups are `{ numPlayers, setupData }`; player 0 is p1. */
export function boardgame(game: object, options?: Options): Referee;

/** The lines of a recording of a match that boardgame.io recorded. */
export function recording(
  game: object,
  match: { initialState: object; log: object[]; state?: object },
): Generator<Record<string, unknown>>;
