/**
 * Serves the rules of a game to turnfold, as a child process: `serve(game)` (RF-19). `turnfold help referees` has an
 * example.
 *
 * Answers follow from their request alone, because turnfold may start another child at any time: after each entry the
 * game goes on from what the JSON text of its state reads back as, so a batch of entries equals single ones.
 */
import { Buffer } from "node:buffer";
import process from "node:process";

/** What a game answers where it does not answer a state: made by the functions below, returned or thrown. */
class Outcome {
  constructor(kind, fields) {
    this.kind = kind;
    Object.assign(this, fields);
  }
}

/** The command applies, with these effects; without `state`, the state that the game was given and changed. */
export const applied = (effects, state, { to, texts } = {}) =>
  new Outcome("applied", { effects, state, to, texts });
/** The command is recorded and changes nothing. `code` is one of the game's `ignored`. */
export const ignored = (code, text) => new Outcome("ignored", { code, text });
/** The command is not recorded. `code` is one of the game's `rejected`, or `malformed` or `wrong_seat`. */
export const rejected = (code, message) => new Outcome("rejected", { code, message });
/** The setup is wrong at `field`, such as `units.0.hp`. */
export const invalid = (field, message) => new Outcome("no", { no: { field, message } });
/** A text cannot be read, or a question cannot be answered. */
export const no = (message) => new Outcome("no", { no: String(message) });

/** Splits a command at its blanks; what stands in double quotes stays together, without them. */
export function words(command) {
  const found = command.match(/"(?:[^"\\]|\\.)*"|[^ ]+/g) ?? [];
  return found.map((word) => (word.startsWith('"') ? JSON.parse(word) : word));
}

/** Thrown out of the game where it wants a value that no entry has given yet. */
const ASKED = Symbol("a roll is due");
const SHUFFLED_AT_ONCE = 256;
const GREATEST = 2 ** 31 - 1;
/** So many questions that a start which repeats a roll until it fits is stopped. */
const QUESTIONS_MAX = 10_000;

/** Chance: hands out the values of the rolls so far, then asks for the next one. */
class Chance {
  #rolls;
  #next = 0;
  #owner;
  #asked;
  #shown;

  constructor(rolls, asked, owner, shown = {}) {
    this.#rolls = rolls;
    this.#asked = asked ?? { due: undefined, given: 0 };
    this.#owner = owner;
    this.#shown = shown;
  }
  /** One value from 1 to `sides`; with `count`, a list of them. */
  roll(sides, count, purpose = "roll") {
    const values = this.values(1, sides, count ?? 1, purpose);
    return count === undefined ? values[0] : values;
  }
  /** A whole number from `low` to `high`, both included. */
  range(low, high, purpose = "roll") {
    return this.values(low, high, 1, purpose)[0];
  }
  /** A number from 0 to below 1, of 31 bits. */
  number(purpose = "number") {
    return this.values(0, GREATEST, 1, purpose)[0] / 2 ** 31;
  }
  /** One of `list`. */
  pick(list, purpose = "pick") {
    return list[this.range(0, list.length - 1, purpose)];
  }
  /** The index of one of `weights`, which are whole numbers. */
  weighted(weights, purpose = "chance") {
    let left = this.range(1, weights.reduce((sum, weight) => sum + weight, 0), purpose);
    return weights.findIndex((weight) => (left -= weight) <= 0);
  }
  /** A shuffled copy of `list`: one roll of as many values, by which it is sorted. */
  shuffle(list, purpose = "shuffle") {
    const keys = [];
    while (keys.length < list.length) {
      const count = Math.min(list.length - keys.length, SHUFFLED_AT_ONCE);
      keys.push(...this.values(0, GREATEST, count, purpose));
    }
    const order = list.map((_, index) => index);
    return order.sort((a, b) => keys[a] - keys[b] || a - b).map((index) => list[index]);
  }
  /** Chance whose values `seat` alone learns. */
  of(seat) {
    return new Chance(this.#rolls, this.#asked, seat, { ...this.#shown, values: [seat] });
  }
  /**
   * Chance of a game with secrets: who sees its `values`, else the host and whose own they are, and who sees the `command`
   * that waits for them, else who gave it. Each is `"all"` or a list of seats.
   */
  shown({ command, values = this.#owner && [this.#owner] } = {}) {
    return new Chance(this.#rolls, this.#asked, this.#owner, { command, values });
  }
  /** `count` values from `low` to `high`. */
  values(low, high, count, purpose = "roll") {
    for (const number of [low, high, count]) {
      if (!Number.isSafeInteger(number)) throw new TypeError(`chance: ${number} is no whole number`);
    }
    if (low > high || count < 1) throw new RangeError(`chance: ${count} of ${low} to ${high}`);
    if (this.#asked.given < this.#rolls.length) return this.#rolls[this.#asked.given++];
    // Kept besides being thrown, because the game may catch what it throws.
    if (this.#asked.due === undefined) {
      this.#asked.due = { purpose, count, low, high, ...(this.#owner && { owner: this.#owner }) };
      this.#asked.shown = this.#shown;
    }
    throw ASKED;
  }
  get due() {
    return this.#asked.due;
  }
}

/** A fault of the game or of the request: its message is the answer's `fault`. */
class Fault extends Error {}

const isWaiting = (state) => state !== null && typeof state === "object" && state.turnfold === "waiting";

/** Writes a state, and names what JSON would lose. */
function write(value, what) {
  let text;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    throw new Fault(`${what} cannot be written as JSON: ${error.message.split("\n")[0]}`);
  }
  if (text === undefined) throw new Fault(`${what} is ${typeof value}, not a value that JSON can hold`);
  // What becomes `null` or `{}` in JSON leaves that word, so most states need no second look.
  if (text.includes("null") || text.includes("{}")) name_loss(value, what, "");
  return text;
}

function name_loss(value, what, path) {
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw new Fault(`${what} has ${value} at ${path || "/"}, which JSON cannot hold`);
  }
  if (value === null || typeof value !== "object" || typeof value.toJSON === "function") return;
  if (value instanceof Map || value instanceof Set) {
    const instead = value instanceof Map ? "an object" : "a sorted list";
    throw new Fault(`${what} has a ${value.constructor.name} at ${path || "/"}; JSON needs ${instead}`);
  }
  for (const [key, part] of Object.entries(value)) {
    if (Array.isArray(value) && (part === undefined || typeof part === "function")) {
      throw new Fault(`${what} has ${typeof part} at ${path}/${key}, which JSON cannot hold`);
    }
    if (part !== null && typeof part === "object" || typeof part === "number") {
      name_loss(part, what, `${path}/${key}`);
    }
  }
}

const codes = (declared = {}) =>
  Array.isArray(declared) ? Object.fromEntries(declared.map((code) => [code, []])) : declared;

/** Answers requests for one game. */
class Referee {
  constructor(game) {
    for (const method of ["start", "apply", "status"]) {
      if (typeof game?.[method] !== "function") throw new TypeError(`serve: the game has no function \`${method}\``);
    }
    if (typeof game.name !== "string" || !/^[a-z][a-z0-9]*$/.test(game.name)) {
      throw new TypeError("serve: `name` must be a word of a-z and 0-9");
    }
    if (!Number.isSafeInteger(game.version)) throw new TypeError("serve: `version` must be a whole number");
    if (game.example === undefined) throw new TypeError("serve: `example` must be a setup");
    this.game = game;
    this.ignored = codes(game.ignored);
    this.rejected = codes(game.rejected);
  }

  /** Answers one request with the text of an answer. */
  async answer(request) {
    const { id = null, op, args = {} } = request;
    try {
      const known = Object.hasOwn(OPERATIONS, op) && OPERATIONS[op];
      if (!known) throw new Fault(`no operation \`${op}\``);
      return `{"id":${JSON.stringify(id)},"ok":${await known(this, args)}}`;
    } catch (error) {
      if (error instanceof Outcome && error.kind === "no") return JSON.stringify({ id, no: error.no });
      const place = error instanceof Fault ? "" : place_of(error);
      process.stderr.write(`${error instanceof Fault ? error.message : error?.stack ?? error}\n`);
      const fault = error instanceof Fault ? error.message : `${op}: ${error}${place}`;
      return JSON.stringify({ id, fault: fault.split("\n")[0] });
    }
  }

  hello() {
    const { name, version, example, summary, rulebook, queries, mail, secrets } = this.game;
    const can = ["read", "query", "targets"].filter((method) => this.game[method]);
    if (this.game.legal || this.game.candidates) can.push("legal");
    if (this.game.view || this.game.picture) can.push("see");
    const { ignored, rejected } = this;
    return JSON.stringify({
      name, version, example, summary, rulebook, queries, mail, secrets, can, ignored, rejected, batches: true,
    });
  }

  /** Calls the game where it may ask for chance: answers its outcome, or the roll that is due. */
  async ask(rolls, call) {
    const asked = { due: undefined, given: 0 };
    let outcome;
    try {
      outcome = await call(new Chance(rolls, asked));
    } catch (error) {
      if (!(error instanceof Outcome) && asked.due === undefined) throw error;
      outcome = error;
    }
    return asked.due === undefined ? { outcome } : { due: asked.due, shown: asked.shown };
  }

  /** Starts a match with the rolls so far. */
  async start(setup, rolls) {
    const { outcome, due, shown } = await this.ask(rolls, (chance) =>
      this.game.start(structuredClone(setup), chance));
    if (due) {
      const players = await this.players(setup, rolls);
      return { turnfold: "waiting", setup, players, rolls, due, values: shown.values };
    }
    if (outcome instanceof Outcome) {
      if (outcome.kind === "no" && rolls.length === 0) throw outcome;
      throw new Fault(`start answered ${outcome.kind}; expected a state`);
    }
    return outcome;
  }

  /** The players of a match whose start still asks for chance: as if each value were the least. */
  async players(setup, rolls) {
    const values = [...rolls];
    for (let asked = 0; asked < QUESTIONS_MAX; asked += 1) {
      const { outcome, due } = await this.ask(values, (chance) => this.game.start(structuredClone(setup), chance));
      if (!due) return this.status(outcome).players;
      values.push(Array(due.count).fill(due.low));
    }
    throw new Fault(`start asks for more than ${QUESTIONS_MAX} rolls`);
  }

  status(state) {
    if (isWaiting(state)) {
      const before = "setup" in state ? { players: state.players, over: false } : this.status(state.state);
      return { ...before, active: ["host"], due: state.due };
    }
    const status = this.game.status(state);
    if (status === null || typeof status !== "object") throw new Fault("status answered no object");
    let { players, over, result } = status;
    if (Number.isInteger(players)) players = Array.from({ length: players }, (_, index) => `p${index + 1}`);
    if (!Array.isArray(players) || players.length === 0) {
      throw new Fault("status: `players` must be a list of seats, such as [\"p1\",\"p2\"], or their number");
    }
    over ??= result !== undefined && result !== null;
    return { ...status, players, over };
  }

  /** Applies one entry to a state. */
  async entry(state, { seat, command, roll }) {
    if (roll === undefined) {
      const { outcome, due, shown } = await this.ask([], (chance) => this.game.apply(state, command, seat, chance));
      if (!due) return outcome;
      return { wait: { entry: { seat, command }, rolls: [], due, values: shown.values }, to: shown.command };
    }
    if (!isWaiting(state)) {
      if (!this.game.roll) throw new Fault("a roll came, and the game has no function `roll`");
      const { outcome } = await this.ask([], () => this.game.roll(state, roll));
      return outcome;
    }
    const rolls = [...state.rolls, roll];
    // The values are shown to whom the game named when it asked, whoever may see the command.
    const { entry, values: to } = state;
    if ("setup" in state) return applied([], await this.start(state.setup, rolls), { to });
    const before = JSON.stringify(state.state);
    const { outcome, due, shown } = await this.ask(rolls, (chance) =>
      this.game.apply(state.state, entry.command, entry.seat, chance));
    if (due) return { wait: { entry, rolls, due, values: shown.values }, to, before };
    if (outcome instanceof Outcome && outcome.kind !== "applied") {
      const refused = { effect: "refused", code: outcome.code };
      const isOpen = this.game.secrets === "none"; // there `to` is a field like any other
      return applied([isOpen ? refused : { ...refused, to: [entry.seat] }], JSON.parse(before), { to });
    }
    const { effects = [], texts, state: next } = outcome instanceof Outcome ? outcome : { state: outcome };
    return applied(effects, next === undefined ? state.state : next, { to, texts });
  }

  async fold({ state: first, entries = [], want = "all" }) {
    let text = write(first, "the state");
    let state = first;
    let stop;
    const steps = [];
    let length = 0;
    for (const entry of entries) {
      let outcome = await this.entry(state, entry);
      if (outcome?.wait) {
        const before = outcome.before ?? text;
        const head = JSON.stringify({ turnfold: "waiting", ...outcome.wait });
        outcome = applied([], JSON.parse(`${head.slice(0, -1)},"state":${before}}`), { to: outcome.to });
      }
      if (outcome instanceof Outcome && outcome.kind !== "applied") {
        this.check_code(outcome, entry);
        // The game may have changed the state before it saw that the command does not apply.
        state = JSON.parse(text);
        if (outcome.kind === "rejected") {
          stop = { code: outcome.code, message: outcome.message };
          break;
        }
        steps.push(JSON.stringify({ ignored: outcome.code, text: outcome.text }));
        continue;
      }
      const { effects = [], to, texts, state: next } = outcome instanceof Outcome ? outcome : { state: outcome };
      text = write(next === undefined ? state : next, "the state");
      state = JSON.parse(text);
      const step = JSON.stringify({ effects: check_effects(effects), to, texts, status: this.status(state) });
      steps.push(want === "all" ? `${step.slice(0, -1)},"state":${text}}` : step);
      length += steps.at(-1).length;
      if (length > 16_000_000) break;
    }
    const tail = JSON.stringify({ stop, status: this.status(state) });
    return `{"steps":[${steps.join(",")}],"state":${text},${tail.slice(1)}`;
  }

  /** The commands that a seat may give: those that the game lists, or its candidates that apply. */
  async legal(state, seat) {
    if (isWaiting(state)) return [];
    const text = JSON.stringify(state);
    if (this.game.legal) return [...((await this.game.legal(JSON.parse(text), seat)) ?? [])];
    const commands = [];
    for (const candidate of (await this.game.candidates(JSON.parse(text), seat)) ?? []) {
      const command = candidate.command ?? candidate;
      const outcome = await this.entry(JSON.parse(text), { seat, command });
      if (!(outcome instanceof Outcome) || outcome.kind === "applied") commands.push(candidate);
    }
    return commands;
  }

  check_code({ kind, code, message }, entry) {
    if (kind === "no") throw new Fault("apply answered `no` or `invalid`; expected `rejected(code, message)`");
    const always = kind === "rejected" && (code === "malformed" || code === "wrong_seat");
    if (!always && !Object.hasOwn(this[kind], code)) {
      const known = Object.keys(this[kind]).join(", ") || "none";
      throw new Fault(`the game does not declare the code \`${code}\` in \`${kind}\` (${known}); \`${entry.command}\``);
    }
    if (kind === "rejected" && typeof message !== "string") throw new Fault(`rejected \`${code}\` has no message`);
  }
}

function check_effects(effects) {
  if (!Array.isArray(effects)) throw new Fault("the effects must be a list");
  for (const effect of effects) {
    if (typeof effect?.effect !== "string") {
      throw new Fault(`an effect needs its name in \`effect\`; found ${JSON.stringify(effect)}`);
    }
  }
  name_loss(effects, "an effect", "");
  return effects;
}

/** The first line of a stack that is not of this file. */
function place_of(error) {
  const lines = String(error?.stack ?? "").split("\n").slice(1);
  const line = lines.find((line) => !/\/turnfold\.mjs|node:/.test(line) && /:\d+:\d+\)?$/.test(line));
  return line ? ` (${line.replace(/.*[/\\(]/, "").replace(/:\d+\)?$/, "")})` : "";
}

/** A picture: blocks as PROTOCOL.md has them, or text, each line of which is one line. */
function blocks(picture) {
  const list = Array.isArray(picture) ? picture : [picture];
  return list.map((block) => (typeof block !== "string" ? block : {
    lines: block.split("\n").map((text) => ({ spans: [{ text, tint: "plain" }] })),
  }));
}

/** Where a match waits for a roll, people still look at the state before the command. */
const shown = (state) => (isWaiting(state) ? state.state : state);

const OPERATIONS = {
  hello(referee, { protocol }) {
    if (protocol !== 1) throw new Fault(`this guest speaks protocol 1, not ${protocol}`);
    return referee.hello();
  },
  async start(referee, { setup }) {
    const text = write(await referee.start(setup, []), "the state");
    return `{"state":${text},"status":${JSON.stringify(referee.status(JSON.parse(text)))}}`;
  },
  fold: (referee, args) => referee.fold(args),
  async legal(referee, { state, seats }) {
    const commands = {};
    for (const seat of seats) commands[seat] = await referee.legal(state, seat);
    return write(commands, "the list of commands");
  },
  async see({ game }, { state, viewers, what }) {
    const seen = {};
    for (const viewer of viewers) {
      const parts = (seen[viewer] = {});
      if (shown(state) === undefined) continue;
      if (what.includes("view") && game.view) parts.view = await game.view(structuredClone(shown(state)), viewer);
      if (what.includes("picture") && game.picture) {
        parts.picture = blocks(await game.picture(structuredClone(shown(state)), viewer));
      }
    }
    return write(seen, "the view");
  },
  async read({ game }, { state, seat, text }) {
    const command = await game.read(shown(state), text, seat);
    if (command === undefined || command === null || command instanceof Outcome) {
      throw command instanceof Outcome ? command : no(`\`${text}\` is no command here`);
    }
    return JSON.stringify(command);
  },
  async query({ game }, { state, viewer, question }) {
    const answer = await game.query(shown(state), question, viewer);
    if (answer instanceof Outcome) throw answer;
    return write(typeof answer === "string" ? { text: answer } : answer, "the answer");
  },
  async targets({ game }, { state, commands }) {
    const found = [];
    for (const command of commands) {
      const target = await game.targets(command, shown(state));
      found.push(Array.isArray(target) ? { parts: target, irreversible: false } : target);
    }
    return write(found, "the targets");
  },
};

/** Answers one request, an object, with an answer: for tests of a game. */
export async function answer(game, request) {
  return JSON.parse(await new Referee(game).answer(JSON.parse(JSON.stringify(request))));
}

/** Answers turnfold's requests on standard input until it ends. */
export function serve(game) {
  const out = process.stdout;
  const print = out.write.bind(out);
  // Standard output carries answers only. Deno and Bun print past `process.stdout`, hence both.
  out.write = (...args) => process.stderr.write(...args);
  const printing = ["log", "info", "debug", "dir", "table", "group", "groupCollapsed", "timeEnd", "timeLog", "count"];
  for (const method of printing) {
    console[method] = (...args) => console.error(...args);
  }
  out.on("error", () => process.exit(0)); // turnfold is gone
  const referee = new Referee(game);
  const decoder = new TextDecoder("utf-8");
  let parts = [];
  let work = Promise.resolve();

  async function line(bytes) {
    // Decoded as a whole line: a chunk may end within a character.
    const text = decoder.decode(bytes).trim();
    if (text === "") return;
    let request;
    try {
      request = JSON.parse(text);
    } catch (error) {
      process.stderr.write(`a request is no JSON: ${error.message}\n`);
      print(`{"id":null,"fault":"a request is no JSON"}\n`);
      return;
    }
    print(`${await referee.answer(request)}\n`);
  }

  process.stdin.on("data", (chunk) => {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      parts.push(chunk.subarray(from, end));
      const bytes = parts.length === 1 ? parts[0] : Buffer.concat(parts);
      parts = [];
      from = end + 1;
      work = work.then(() => line(bytes));
    }
    if (from < chunk.length) parts.push(chunk.subarray(from));
  });
  process.stdin.on("end", () => {
    const bytes = Buffer.concat(parts);
    work = work.then(() => line(bytes)).then(() => print("", () => process.exit(0)));
  });
}
