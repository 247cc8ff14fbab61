// Flank, the game of `turnfold tour`: a module of turnfold without any of turnfold's code.
//
//   cli/tour/build flank.wasm                the rules
//   cli/tour/build flank-wrong.wasm -DWRONG  with the bug that the tour finds
//
// Each player has five stones on a board of 5 x 5: p1 `A` to `E`, p2 `a` to `e`. `D d3` moves a stone in a straight line over
// free squares. An opponent's stone between the moved one and another of the same player, in one row or column, is taken. Who
// has fewer than two stones left loses.

#include "../../fixtures/modules/tictactoe/json.h"

#define EXPORT(name) __attribute__((export_name(#name)))
#define SIDE 5
#define SQUARES (SIDE * SIDE)
#define STONES 10
#define TAKEN -1

// Where each stone is, `A` to `E` before `a` to `e`; and the player, 0 or 1, whose turn it is.
typedef struct {
  int at[STONES];
  int turn;
} State;

static int owner(int stone) { return stone / SIDE; }
static int row(int square) { return square / SIDE; }
static int column(int square) { return square % SIDE; }
static const char *player(int number) { return number ? "\"p2\"" : "\"p1\""; }

static int stone_at(const State *state, int square) {
  for (int stone = 0; stone < STONES; stone++)
    if (state->at[stone] == square) return stone;
  return -1;
}

static int count(const State *state, int number) {
  int left = 0;
  for (int stone = 0; stone < STONES; stone++) left += owner(stone) == number && state->at[stone] != TAKEN;
  return left;
}

static int is_over(const State *state) { return count(state, 0) < 2 || count(state, 1) < 2; }

// ---- texts

static char letter(int stone) { return (char)((owner(stone) ? 'a' : 'A') + stone % SIDE); }

static void put_letter(int stone) {
  char text = letter(stone);
  put_slice((Slice){&text, 1});
}

static void put_square(int square) {
  char text[2] = {(char)('a' + column(square)), (char)('1' + row(square))};
  put_slice((Slice){text, 2});
}

static int read_stone(char text) {
  for (int stone = 0; stone < STONES; stone++)
    if (letter(stone) == text) return stone;
  return -1;
}

static int read_square(const char *text) {
  int file = text[0] - 'a', rank = text[1] - '1';
  return file >= 0 && file < SIDE && rank >= 0 && rank < SIDE ? rank * SIDE + file : -1;
}

static void put_state(const State *state) {
  put("{\"turn\":"), put(player(state->turn)), put(",\"stones\":{");
  for (int stone = 0; stone < STONES; stone++) {
    put(stone ? ",\"" : "\""), put_letter(stone), put("\":");
    if (state->at[stone] == TAKEN) put("null");
    else put("\""), put_square(state->at[stone]), put("\"");
  }
  put("}}");
}

static void put_status(const State *state) {
  put("\"status\":{\"players\":[\"p1\",\"p2\"]");
  if (is_over(state)) put(",\"over\":true,\"result\":{\"winners\":["), put(player(count(state, 0) < 2)), put("]}");
  else put(",\"active\":["), put(player(state->turn)), put("]");
  put("}");
}

static void put_picture(const State *state) {
  put("[{\"grid\":{\"board\":[5,5],\"flipped\":false,\"cells\":[");
  for (int stone = 0, any = 0; stone < STONES; stone++) {
    if (state->at[stone] == TAKEN) continue;
    put(any++ ? ",{\"at\":\"" : "{\"at\":\""), put_square(state->at[stone]), put("\",\"piece\":{\"glyph\":\"");
    put_letter(stone), put("\",\"letter\":\""), put_letter(stone), put("\",\"name\":\"stone "), put_letter(stone);
    put(owner(stone) ? "\",\"tint\":\"second\"}" : "\",\"tint\":\"first\"}"), put(",\"mark\":\"\",\"tint\":\"plain\"}");
  }
  put("],\"arrows\":[]}}]");
}

// ---- rules

typedef struct {
  int stone, to;
} Move;

#define EXPECTED "expected a stone and a square, such as `D d3`"

typedef enum { LEGAL, MALFORMED, WRONG_SEAT, NOT_YOUR_TURN, NOT_YOUR_STONE, BLOCKED } Verdict;

// Reads a command such as `D d3`; its stone is -1 where it is none.
static Move read_move(Slice text) {
  Move move = {-1, -1};
  if (text.len != 4 || text.at[1] != ' ') return move;
  move.to = read_square(text.at + 2);
  if (move.to >= 0) move.stone = read_stone(text.at[0]);
  return move;
}

static int is_free_way(const State *state, int from, int to) {
  int step = row(from) == row(to) ? 1 : column(from) == column(to) ? SIDE : 0;
  if (from == to || !step) return 0;
  if (to < from) step = -step;
  for (int square = from; square != to;) {
    square += step;
    if (stone_at(state, square) >= 0) return 0;
  }
  return 1;
}

static Verdict judge(const State *state, Slice seat, Move move) {
  int who = same(seat, S("\"p1\"")) ? 0 : same(seat, S("\"p2\"")) ? 1 : -1;
  if (move.stone < 0) return MALFORMED;
  if (who < 0) return WRONG_SEAT;
  if (who != state->turn) return NOT_YOUR_TURN;
  if (owner(move.stone) != who || state->at[move.stone] == TAKEN) return NOT_YOUR_STONE;
  return is_free_way(state, state->at[move.stone], move.to) ? LEGAL : BLOCKED;
}

// Returns the stone that a player takes in a direction from a square, or -1.
static int taken(const State *state, int who, int square, int step) {
  int victim = stone_at(state, square + step), beyond = square + 2 * step;
#ifdef WRONG
  if (beyond < 0 || beyond >= SQUARES) return -1;
#else
  if (beyond < 0 || beyond >= SQUARES || (row(beyond) != row(square) && column(beyond) != column(square))) return -1;
#endif
  int other = stone_at(state, beyond);
  return victim >= 0 && owner(victim) != who && other >= 0 && owner(other) == who ? victim : -1;
}

// Carries out a legal move and writes its step.
static void carry_out(State *state, Move move) {
  static const int steps[4] = {-SIDE, -1, 1, SIDE};
  int who = state->turn;
  state->at[move.stone] = move.to;
  state->turn = !who;
  put("{\"effects\":[{\"effect\":\"moved\",\"stone\":\""), put_letter(move.stone);
  put("\",\"to\":\""), put_square(move.to), put("\"}");
  for (int i = 0; i < 4; i++) {
    int victim = taken(state, who, move.to, steps[i]);
    if (victim < 0) continue;
    state->at[victim] = TAKEN;
    put(",{\"effect\":\"took\",\"stone\":\""), put_letter(victim);
    put("\",\"with\":\""), put_square(move.to), put(","), put_square(move.to + 2 * steps[i]), put("\"}");
  }
  put("],\"state\":"), put_state(state), put(","), put_status(state), put("}");
}

// ---- requests

// What is written behind the number of the request.
typedef enum { OK, NO, FAULT } Kind;

static void put_hello(void) {
  put("{\"name\":\"flank\",\"version\":1,\"summary\":\"stones between two others are taken\","
      "\"example\":\"first = \\\"p1\\\"\\n\",\"rulebook\":\"# Flank\\n\\n"
      "Each player has five stones: p1 `A` to `E`, p2 `a` to `e`. `D d3` moves a stone in a straight line over free squares. "
      "An opponent's stone between the moved one and another of yours, in one row or column, is taken. "
      "Who has fewer than two stones left loses.\\n\","
      "\"secrets\":\"none\",\"batches\":true,\"can\":[\"legal\",\"see\",\"read\"],\"ignored\":{},"
      "\"rejected\":{\"not_your_turn\":[],\"not_your_stone\":[],\"blocked\":[]}}");
}

static Kind start(Slice args) {
  Slice first = member(member(args, "setup"), "first");
  State state = {{0}, same(first, S("\"p2\""))};
  if (!state.turn && !same(first, S("\"p1\"")))
    return put("{\"field\":\"first\",\"message\":\"expected \\\"p1\\\" or \\\"p2\\\"\"}"), NO;
  for (int stone = 0; stone < STONES; stone++)
    state.at[stone] = owner(stone) ? SQUARES - SIDE + stone % SIDE : stone;
  put("{\"state\":"), put_state(&state), put(","), put_status(&state), put("}");
  return OK;
}

// Reads a state that this module wrote.
static int read_state(Slice json, State *state) {
  Slice stones = member(json, "stones");
  if (!stones.at) return 0;
  state->turn = same(member(json, "turn"), S("\"p2\""));
  for (int stone = 0; stone < STONES; stone++) {
    char name[2] = {letter(stone), 0};
    Slice square = member(stones, name);
    state->at[stone] = square.len == 4 ? read_square(square.at + 1) : TAKEN;
  }
  return 1;
}

static void put_stop(Verdict verdict) {
  switch (verdict) {
    case MALFORMED: put("{\"code\":\"malformed\",\"message\":\"" EXPECTED "\"}"); break;
    case WRONG_SEAT: put("{\"code\":\"wrong_seat\",\"message\":\"p1 and p2 play\"}"); break;
    case NOT_YOUR_TURN: put("{\"code\":\"not_your_turn\",\"message\":\"it is the other player's turn\"}"); break;
    case NOT_YOUR_STONE: put("{\"code\":\"not_your_stone\",\"message\":\"you have no such stone on the board\"}"); break;
    default: put("{\"code\":\"blocked\",\"message\":\"no straight way of free squares leads there\"}");
  }
}

// Writes the steps of entries, up to the first that is rejected, the end of the match or a large answer.
static void fold(State *state, Slice entries) {
  const char *end = entries.at + entries.len, *p = entries.at;
  Verdict verdict = LEGAL;
  put("{\"steps\":[");
  for (int steps = 0; out_len < OUT_MAX / 2 && !is_over(state) && (p = next_item(p, end)); steps++) {
    // Reading a text overwrites it, so where the entry ends is found before.
    Slice entry = value_at(p, end), seat = member(entry, "seat"), text;
    p = entry.at + entry.len;
    Move move = unescape(member(entry, "command"), &text) ? read_move(text) : (Move){-1, -1};
    verdict = judge(state, seat, move);
    if (verdict != LEGAL) break;
    put(steps ? "," : ""), carry_out(state, move);
  }
  put("],\"state\":"), put_state(state), put(","), put_status(state);
  if (verdict != LEGAL) put(",\"stop\":"), put_stop(verdict);
  put("}");
}

static void put_legal(const State *state, Slice seat) {
  put("[");
  for (int stone = 0, any = 0; stone < STONES; stone++)
    for (int to = 0; to < SQUARES; to++) {
      if (is_over(state) || judge(state, seat, (Move){stone, to}) != LEGAL) continue;
      put(any++ ? ",\"" : "\""), put_letter(stone), put(" "), put_square(to), put("\"");
    }
  put("]");
}

static void put_seen(const State *state, Slice what) {
  int is_picture = same(what, S("[\"picture\"]")), is_view = same(what, S("[\"view\"]"));
  put("{");
  if (!is_picture) put("\"view\":"), put_state(state);
  if (!is_picture && !is_view) put(",");
  if (!is_view) put("\"picture\":"), put_picture(state);
  put("}");
}

static Kind answer(Slice op, Slice args) {
  if (same(op, S("\"hello\""))) return put_hello(), OK;
  if (same(op, S("\"start\""))) return start(args);
  State state;
  if (!read_state(member(args, "state"), &state)) return FAULT;
  if (same(op, S("\"fold\""))) {
    Slice entries = member(args, "entries");
    return entries.at ? fold(&state, entries), OK : FAULT;
  }
  if (same(op, S("\"read\""))) {
    Slice text;
    Move move = unescape(member(args, "text"), &text) ? read_move(text) : (Move){-1, -1};
    if (move.stone < 0) return put("\"" EXPECTED "\""), NO;
    return put("{\"command\":\""), put_letter(move.stone), put(" "), put_square(move.to), put("\"}"), OK;
  }
  int is_legal = same(op, S("\"legal\""));
  Slice listed = member(args, is_legal ? "seats" : "viewers");
  if (!listed.at || (!is_legal && !same(op, S("\"see\"")))) return FAULT;
  const char *end = listed.at + listed.len, *p = listed.at;
  put("{");
  for (int any = 0; (p = next_item(p, end)); any++) {
    Slice who = value_at(p, end);
    p = who.at + who.len;
    put(any ? "," : ""), put_slice(who), put(":");
    if (is_legal) put_legal(&state, who);
    else put_seen(&state, member(args, "what"));
  }
  put("}");
  return OK;
}

// ---- exports

extern unsigned char __heap_base;

EXPORT(turnfold_abi) int turnfold_abi(void) { return 2; }

// One request is there at a time: behind everything else, in as much memory as it takes.
EXPORT(turnfold_alloc) char *turnfold_alloc(unsigned bytes) {
  unsigned long end = (unsigned long)&__heap_base + bytes, size = __builtin_wasm_memory_size(0) << 16;
  if (end > size && __builtin_wasm_memory_grow(0, (end - size + 65535) >> 16) == (unsigned long)-1) __builtin_trap();
  return (char *)&__heap_base;
}

EXPORT(turnfold_call) unsigned long long turnfold_call(const char *request, int bytes) {
  static char said[OUT_MAX + 64];
  const char *end = request + bytes, *after = skip_value(request, end, 0);
  Slice whole = after && skip_space(after, end) == end ? value_at(request, end) : (Slice){0, 0};
  Slice id = member(whole, "id"), op = member(whole, "op"), args = member(whole, "args");
  out_len = 0;
  Kind kind = id.at && op.at && args.at ? answer(op, args) : FAULT;
  // What was written goes behind the number of the request and its kind.
  Slice text = {said, out_len};
  for (int i = 0; i < out_len; i++) said[i] = out[i];
  out_len = 0;
  put("{\"id\":"), put_slice(id.at ? id : S("0"));
  if (kind == FAULT) put(",\"fault\":\"no request that flank knows\"");
  else put(kind == OK ? ",\"ok\":" : ",\"no\":"), put_slice(text);
  put("}");
  return (unsigned long long)(unsigned long)out << 32 | (unsigned)out_len;
}
