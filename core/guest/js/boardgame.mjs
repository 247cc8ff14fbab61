/**
 * Serves any game of boardgame.io to turnfold: `serve(boardgame(game))`. It needs boardgame.io 0.50 where the game is.
 *
 * A command is a move or an event with its arguments: `clickCell 4`, `endTurn`. Player 0 is p1.
 */
import { createRequire } from "node:module";
import process from "node:process";
import { pathToFileURL } from "node:url";

import { applied, invalid, rejected } from "./turnfold.mjs";

/** Finds boardgame.io where the program is, then here: this file may lie in another folder. */
function internals() {
  const places = [process.argv[1] && pathToFileURL(process.argv[1]), pathToFileURL(`${process.cwd()}/x`), import.meta.url];
  for (const place of places.filter(Boolean)) {
    try {
      return createRequire(place)("boardgame.io/internal");
    } catch (error) {
      if (error.code !== "MODULE_NOT_FOUND") throw error;
    }
  }
  throw new Error("boardgame.io is not installed where the game is: npm install boardgame.io");
}

/** Copies plain objects and lists and keeps functions, because boardgame.io writes into the game that it processes. */
function copied(value, known = new Map()) {
  if (value === null || typeof value !== "object") return value;
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) return value;
  if (known.has(value)) return known.get(value);
  const copy = Array.isArray(value) ? [] : {};
  known.set(value, copy);
  for (const [key, part] of Object.entries(value)) copy[key] = copied(part, known);
  return copy;
}

const playerOf = (seat) => String(Number(seat.slice(1)) - 1);
const seatOf = (player) => `p${Number(player) + 1}`;

/** One argument as text: a bare word, or JSON without blanks outside of its strings. */
function argument(value) {
  if (typeof value === "string" && /^[A-Za-z_][\w.-]*$/.test(value) && !/^(true|false|null)$/.test(value)) return value;
  return JSON.stringify(value ?? null)
    .replaceAll("  ", " \\u0020")
    .replace(/[\u007f-\u009f\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function argumentsOf(text) {
  const parts = text.match(/(?:[^ "]|"(?:[^"\\]|\\.)*")+/g) ?? [];
  return parts.map((part) => (/^[A-Za-z_][\w.-]*$/.test(part) && !/^(true|false|null)$/.test(part) ? part : JSON.parse(part)));
}

const EVENTS = ["endTurn", "pass", "endPhase", "setPhase", "endStage", "setStage", "setActivePlayers", "endGame"];

/** The names of moves; of an event that has the name of a move, the text is `event NAME`. */
class Names {
  constructor(game, flow) {
    this.moves = flow.moveNames;
    // Many games end turns by events; only a game that lists `endGame` is ended by one.
    this.events = EVENTS.filter((name) =>
      flow.enabledEventNames.includes(name) && (name !== "endGame" || game.events?.endGame === true));
  }
  write({ type, args = [] }, isEvent) {
    const list = (Array.isArray(args) ? args : [args]).map(argument);
    while (list.at(-1) === "null") list.pop();
    // `roll` is the host's word.
    const prefix = isEvent ? (this.moves.includes(type) ? ["event"] : []) : type === "roll" ? ["do"] : [];
    return [...prefix, type, ...list].join(" ");
  }
  /** The action of a command, or nothing if no move and no event has its name. */
  read(command, playerID) {
    const found = command.match(/^(?:(do|event) )?([^ ]+)(?: (.*))?$/);
    if (!found) return undefined;
    const [, prefix, type, rest = ""] = found;
    let args;
    try {
      args = argumentsOf(rest);
    } catch {
      return undefined;
    }
    const payload = { type, args, playerID };
    if (prefix !== "event" && this.moves.includes(type)) return { type: "MAKE_MOVE", payload };
    return prefix !== "do" && this.events.includes(type) ? { type: "GAME_EVENT", payload } : undefined;
  }
}

/** boardgame.io's `random`, from the rolls of the match. It has no `flush`, since the plugin that it replaces runs too. */
function randomPlugin(current) {
  const dice = (sides, count) =>
    count === 0 ? [] : current.chance.roll(sides, count, count === undefined ? "roll" : "dice");
  const api = {
    Die: (sides = 6, count) => dice(sides, count),
    Number: () => current.chance.number(),
    Shuffle: (deck) => current.chance.shuffle(deck),
    _private: { isUsed: () => false, getState: () => ({}) },
  };
  for (const sides of [4, 6, 8, 10, 12, 20]) api[`D${sides}`] = (count) => dice(sides, count);
  return { name: "random", setup: () => ({}), api: () => api, playerView: () => undefined };
}

/** What a state of boardgame.io needs to go on; its undo and its log grow without end. */
const kept = ({ G, ctx, plugins, _stateID }) => ({ G, ctx, plugins, _stateID });
const resumed = (state) => ({ ...state, _undo: [], _redo: [], deltalog: [] });

const ERRORS = {
  "action/invalid_move": "invalid_move", "action/unavailable_move": "unavailable_move",
  "action/inactive_player": "not_active", "action/plugin_invalid": "plugin_invalid",
};

/** Who may act: the keys of `activePlayers`, whose values may be `null`, or the current player. */
const active = (ctx) => (ctx.activePlayers ? Object.keys(ctx.activePlayers).sort() : [ctx.currentPlayer]);

function result(ctx) {
  const end = ctx.gameover;
  const isPlayer = (player) => ctx.playOrder.concat(Object.keys(Array(ctx.numPlayers).fill())).includes(String(player));
  const winners = [end?.winner ?? end?.winners ?? []].flat();
  if (winners.length > 0 && winners.every(isPlayer)) return { winners: winners.map(seatOf) };
  if (end?.draw) return { draw: true };
  return { reason: JSON.stringify(end) };
}

/** What a command led to: the events after it, and the end of the game. */
function effectsOf(deltalog, ctx) {
  const own = deltalog.findIndex((entry) => !entry.automatic);
  const effects = deltalog.filter((_, index) => index !== Math.max(own, 0)).map(({ action }) => ({
    effect: action.payload.type.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    ...(action.payload.args?.next !== undefined && { next: action.payload.args.next }),
  }));
  if (ctx.gameover !== undefined) effects.push({ effect: "gameover", result: ctx.gameover });
  return effects;
}

/**
 * The referee of a game of boardgame.io. Setups are `{ numPlayers, setupData }`.
 * `options` has what a referee needs besides: `version`, `example`, `summary`, `rulebook`, `secrets`, `picture`.
 */
export function boardgame(game, options = {}) {
  const { CreateGameReducer, InitializeGame, ProcessGameConfig } = internals();
  const current = { chance: undefined };
  const copy = copied(game);
  const processed = ProcessGameConfig({
    ...copy, disableUndo: true, plugins: [...(copy.plugins ?? []), randomPlugin(current)],
  });
  const names = new Names(game, processed.flow);
  const reduce = CreateGameReducer({ game: processed });
  const secrets = options.secrets ?? (game.playerView ? "closed" : "none");
  const enumerate = game.ai?.enumerate ?? options.enumerate;

  return {
    name: (game.name ?? "game").toLowerCase().replace(/[^a-z0-9]/g, "").replace(/^[0-9]*/, "") || "game",
    version: 1,
    example: { numPlayers: Math.max(2, game.minPlayers ?? 2) },
    summary: `${game.name ?? "a game"} of boardgame.io`,
    ...options,
    secrets,
    rejected: [...Object.values(ERRORS), "no_effect"],

    start({ numPlayers = 2, setupData }, chance) {
      const { minPlayers = 1, maxPlayers = 16 } = game;
      if (!(numPlayers >= minPlayers && numPlayers <= maxPlayers)) {
        throw invalid("numPlayers", `expected ${minPlayers} to ${maxPlayers}, found ${numPlayers}`);
      }
      const wrong = game.validateSetupData?.(setupData, numPlayers);
      if (wrong) throw invalid("setupData", wrong);
      current.chance = chance;
      return kept(InitializeGame({ game: processed, numPlayers, setupData }));
    },

    apply(state, command, seat, chance) {
      const action = seat === "host" ? undefined : names.read(command, playerOf(seat));
      if (!action) {
        return rejected("malformed", `expected a move (${names.moves.join(", ")}) or an event (${names.events.join(", ")})`);
      }
      current.chance = chance;
      const before = JSON.stringify([state.G, state.ctx]);
      const { transients, deltalog, ...after } = reduce(resumed(state), action);
      if (transients?.error) {
        const { type, payload } = transients.error;
        const about = payload ? `: ${String(payload.message ?? payload).split("\n")[0]}` : "";
        return rejected(ERRORS[type] ?? "invalid_move", `boardgame.io refuses \`${command}\`, ${type}${about}`);
      }
      // boardgame.io has no error for an event that does nothing, such as `endTurn` before `minMoves`.
      if (action.type === "GAME_EVENT" && JSON.stringify([after.G, after.ctx]) === before) {
        return rejected("no_effect", `\`${command}\` changes nothing now`);
      }
      return applied(effectsOf(deltalog ?? [], after.ctx), kept(after));
    },

    status({ ctx }) {
      const over = ctx.gameover !== undefined;
      return {
        players: ctx.numPlayers, active: over ? [] : active(ctx).map(seatOf), over, turn: ctx.turn,
        result: over ? result(ctx) : undefined,
      };
    },

    view(state, viewer) {
      if (viewer === "host") return { G: state.G, ctx: state.ctx };
      const playerID = viewer === "spectator" ? null : playerOf(viewer);
      return { G: processed.playerView({ G: state.G, ctx: state.ctx, playerID }), ctx: state.ctx };
    },

    ...(enumerate && {
      candidates({ G, ctx }, seat) {
        if (seat === "host" || !active(ctx).includes(playerOf(seat))) return [];
        const commands = enumerate(G, ctx, playerOf(seat)).map(({ move, event, args, payload, type }) =>
          (payload ? names.write(payload, type === "GAME_EVENT") : names.write({ type: move ?? event, args }, !move)));
        return [...new Set(commands)];
      },
    }),
  };
}

const LOSSES = "boardgame.io logs no `setActivePlayers`, no `setPhase` outside of a phase and no player of an event";

/**
 * Reads a match that boardgame.io recorded: `initialState` and `log`, as its client and its server have them. Answers the
 * lines of a recording: the first names the game and its state, the others are `{ seat, command, state }`.
 *
 * boardgame.io does not log everything, so give the match's last `state` too: it is compared with what the log leads to.
 */
export function* recording(game, { initialState, log, state: end }) {
  const { CreateGameReducer, ProcessGameConfig } = internals();
  const processed = ProcessGameConfig(copied(game));
  const reduce = CreateGameReducer({ game: processed });
  const names = new Names(game, processed.flow);
  let state = kept(initialState);
  const status = () => (state.ctx.gameover === undefined ? undefined : { over: true, result: result(state.ctx) });
  const players = Array.from({ length: state.ctx.numPlayers }, (_, index) => `player ${index}`);
  yield { game: processed.name, secrets: game.playerView ? "closed" : "none", players, state };
  const groups = new Map();
  for (const entry of log) groups.set(entry._stateID, [...(groups.get(entry._stateID) ?? []), entry]);
  for (const [id, entries] of groups) {
    // An event without effect counts as a state and is not logged.
    state = { ...state, _stateID: id };
    // What the player did comes with the events that followed from it, which mostly are marked.
    const { action } = entries.find((entry) => !entry.automatic) ?? entries[0];
    const { playerID = null } = action.payload;
    let tried;
    for (const payload of logged(action.payload)) {
      const { currentPlayer } = state.ctx, may = active(state.ctx);
      payload.playerID = playerID ?? (may.includes(currentPlayer) ? currentPlayer : may[0]);
      const { transients, ...after } = reduce(resumed(state), { type: action.type, payload });
      if (transients?.error) throw new Error(`the log does not go on from state ${id}: ${transients.error.type}; ${LOSSES}`);
      tried = { payload, after: kept(after) };
      if (JSON.stringify([tried.after.G, tried.after.ctx]) !== JSON.stringify([state.G, state.ctx])) break;
    }
    state = tried.after;
    const command = names.write(tried.payload, action.type === "GAME_EVENT");
    yield { seat: seatOf(tried.payload.playerID), command, state, status: status() };
  }
  if (end && JSON.stringify([end.G, end.ctx]) !== JSON.stringify([state.G, state.ctx])) {
    throw new Error(`the log leads to another state; ${LOSSES}`);
  }
}

/** What a logged action was: `setPhase`, `setStage` and `pass` are logged by other names. */
function logged({ type, args }) {
  if (type === "endPhase" && args?.next) return [{ type: "setPhase", args: [args.next] }];
  if (type === "endStage" && args) return [{ type: "setStage", args: [args] }];
  return type === "endTurn" ? [{ type, args }, { type: "pass", args }] : [{ type, args }];
}
