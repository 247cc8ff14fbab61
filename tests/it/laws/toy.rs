//! A small game that keeps every law, and faulty versions that each break one.
//!
//! In the game two players take turns to add to a total, and each has a secret number. The host may shake a die, which
//! is also added. `FAULT` is the number of the fault.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};

use turnfold_core::admission::{self, Issuer, Refusal};
use turnfold_core::any::erase;
use turnfold_core::dice::DueRoll;
use turnfold_core::outcome::{EffectSink, Verdict};
use turnfold_core::picture::Picture;
use turnfold_core::rules::admit;
use turnfold_core::rules::{Judged, Part};
use turnfold_core::targets::Targets;
use turnfold_core::text::{number, split_verb};
use turnfold_core::{
    Answer, Malformed, MatchResult, Perspective, Registry, Rules, Seat, Secrets, SetupError,
};
use turnfold_history::{History, MatchStanding, SeatHistory, Viewer, tfl};
use turnfold_laws::{Fixture, Law, broken_laws};
use turnfold_show::render::WhoseTurn;

use parts::{Command, Effect, Forgetful, Plan, Reason, Rejection, Setup, State, View};

mod fault;
mod parts;

const PLAYERS: [Seat; 2] = [Seat::P1, Seat::P2];
const DIE: DueRoll = DueRoll { purpose: Cow::Borrowed("shake"), count: 1, low: 1, high: 6, owner: None };

struct Toy<const FAULT: u8>;

impl<const FAULT: u8> Toy<FAULT> {
    /// Returns `true` if the game's fault is to accept this command.
    fn overlooks(state: &State, seat: Seat, command: &Command<FAULT>, refusal: &Refusal) -> bool {
        let player_move = matches!(command, Command::Add(_));
        match (FAULT, refusal) {
            (fault::ADMITS_GUEST, Refusal::WrongSeat(_)) => player_move && seat == Seat::P3,
            (fault::HOST_PLAYS, Refusal::WrongSeat(_)) => player_move && seat == Seat::Host,
            (fault::PLAYS_ON_AFTER_END, Refusal::MatchOver) => {
                matches!(command, Command::Hide(_)) && PLAYERS.contains(&seat) && !state.due
            }
            (fault::PLAYS_ON_UNROLLED, Refusal::RollDue(_)) => player_move && PLAYERS.contains(&seat),
            (fault::ROLLS_SEVEN, Refusal::BadRoll(_)) => Self::rolled(command) == Some(&[7]),
            _ => false,
        }
    }
}

fn shows<const FAULT: u8>(
    after: &State,
    now: &State,
    part: &Part<'_, Toy<FAULT>>,
    viewer: Perspective,
) -> bool {
    if matches!(part, Part::Effect(..)) {
        let is_new = FAULT == fault::TAKES_BACK && after.total == now.total;
        let is_guest = FAULT == fault::SHOWS_GUEST_MORE && viewer == Perspective::Spectator;
        if is_new || is_guest {
            return true;
        }
    }
    let seat = match part {
        Part::Command(seat, Command::Hide(_)) | Part::Effect(seat, Effect::Hidden { .. }) => *seat,
        Part::Command(..) | Part::Effect(..) => return true,
    };
    viewer.may_know_as(seat) || FAULT == fault::CONCEALS_NOTHING
}

fn setup_seen<const FAULT: u8>(setup: &Setup<FAULT>, _now: &State, viewer: Perspective) -> Setup<FAULT> {
    let mut seen = setup.clone();
    if FAULT == fault::SHOWS_OTHER_SETUP && viewer.is_seat(Seat::P2) {
        seen.end += 1;
        seen.start.0 += 1;
    }
    seen
}

impl<const FAULT: u8> Rules for Toy<FAULT> {
    const NAME: &'static str = "toy";
    const VERSION: u32 = 1;
    const SUMMARY: &'static str = "two players add to a total and keep a secret";
    const EXAMPLE: &'static str = "";
    const RULEBOOK: &'static str = if FAULT == fault::HAS_NO_RULES { "" } else { "# Toy\n\nAdd.\n" };
    const SECRETS: Secrets<Self> =
        if FAULT == fault::DECLARES_NONE { Secrets::None } else { Secrets::Kept { shows, setup_seen } };
    const QUERIES: &'static str = "`plus AMOUNT`";

    type Setup = Setup<FAULT>;
    type State = State;
    type Command = Command<FAULT>;
    type Plan = Plan;
    type Effect = Effect<FAULT>;
    type Reason = Reason;
    type Rejection = Rejection;
    type View = View;

    fn start(setup: &Setup<FAULT>) -> Result<State, SetupError> {
        let start = setup.start.0;
        assert!(FAULT != fault::PANICS_ON_SETUP || start < 256, "the start is too far");
        SetupError::within("start", &start, 0..=100_000)?;
        let is_dealt = matches!(FAULT, fault::DEALS_SECRET_IN_SETUP | fault::PRINTS_SECRET);
        let (total, dealt) = if is_dealt { (0, start) } else { (start, 0) };
        Ok(State {
            total,
            end: setup.end,
            turn: Seat::P1,
            secrets: [dealt, 0],
            due: false,
            attempts: Cell::new(0),
            unsaved: 0,
        })
    }

    fn decide(
        state: &State,
        seat: Seat,
        command: &Command<FAULT>,
    ) -> Result<Verdict<Plan, Reason>, Rejection> {
        Ok(match command {
            Command::Add(amount) => {
                let foreign = !PLAYERS.contains(&seat);
                if state.turn != seat && !foreign {
                    return Err(Rejection::NotYourTurn);
                }
                assert!(
                    FAULT != fault::PANICS_ON_COMMAND || amount.0 < 2_000_000_000,
                    "the amount is too much"
                );
                let other = state.secrets[usize::from(seat == Seat::P1)];
                if (1..=3).contains(&amount.0) {
                    Verdict::Applied(Plan::Add(amount.0))
                } else if FAULT == fault::LEAKS_IN_REASON && other == 1 {
                    Verdict::Ignored(Reason::SameSecret)
                } else {
                    Verdict::Ignored(Reason::TooMuch)
                }
            }
            Command::Hide(_) if FAULT == fault::PRINTS_SECRET => Verdict::Ignored(Reason::SameSecret),
            Command::Hide(secret) => {
                let place = usize::from(seat != Seat::P1);
                if state.secrets[place] == *secret {
                    Verdict::Ignored(Reason::SameSecret)
                } else {
                    Verdict::Applied(Plan::Hide(place, *secret))
                }
            }
            Command::Shake => Verdict::Applied(Plan::Shake),
            Command::Roll(values) => {
                Verdict::Applied(Plan::Roll(values.iter().map(|value| value.unsigned_abs()).sum()))
            }
        })
    }

    fn judge(state: &State, seat: Seat, command: &Command<FAULT>) -> Judged<Self> {
        if FAULT == fault::JUDGES_WITH_SIDE_EFFECT && *command == Command::Shake && seat != Seat::Host {
            state.attempts.set(state.attempts.get() + 1);
        }
        match admit::<Self>(state, seat, command) {
            Err(refusal) if !Self::overlooks(state, seat, command, &refusal) => Err(refusal.into()),
            _ => Self::decide(state, seat, command).map_err(admission::Denied::Ruled),
        }
    }

    fn carry_out(state: &mut State, plan: Plan, effects: &mut impl EffectSink<Effect<FAULT>>) {
        match plan {
            Plan::Add(amount) => {
                state.total += amount;
                if FAULT == fault::FORGETS_IN_STATE {
                    state.total += state.unsaved;
                    state.unsaved = amount;
                }
                state.turn = if state.turn == Seat::P1 { Seat::P2 } else { Seat::P1 };
                let total = if FAULT == fault::PRINTS_SECRET { state.secrets[0] } else { state.total };
                if FAULT != fault::SILENT {
                    effects.push(|| Effect::Added { amount, total });
                }
            }
            Plan::Hide(place, secret) => {
                state.secrets[place] = secret;
                effects.push(|| Effect::Hidden { player: PLAYERS[place], secret });
            }
            Plan::Shake => {
                state.due = true;
                let named_applied = FAULT == fault::NAMES_EFFECT_APPLIED;
                effects.push(|| if named_applied { Effect::Applied } else { Effect::Shaken });
            }
            Plan::Roll(amount) if FAULT == fault::ROLLS_SECRET_OPENLY => {
                state.due = false;
                state.secrets[0] = amount;
                effects.push(|| Effect::Shaken);
            }
            Plan::Roll(amount) => {
                state.due = false;
                state.total += amount;
                let total = state.total;
                effects.push(|| Effect::Added { amount, total });
            }
        }
    }

    fn players(_state: &State) -> &[Seat] {
        &PLAYERS
    }

    fn over(state: &State) -> bool {
        state.total >= state.end
    }

    fn result(state: &State) -> Option<MatchResult> {
        let is_over = state.total >= state.end || FAULT == fault::WINS_TOO_SOON;
        let scores = PLAYERS.into_iter().zip(state.secrets.map(i64::from));
        let result = MatchResult::won_by([state.turn]);
        is_over.then(|| if FAULT == fault::LEAKS_IN_RESULT { result.scored(scores) } else { result })
    }

    fn turn(state: &State) -> Option<u64> {
        (FAULT == fault::LEAKS_IN_TURN).then(|| state.secrets.iter().sum::<u32>().into())
    }

    fn read(state: &State, text: &str) -> Result<Command<FAULT>, Malformed> {
        match text {
            "add 2" if FAULT == fault::READS_OTHER_COMMAND => "add 3".parse(),
            "double" => format!("add {}", state.total).parse(),
            _ => text.parse(),
        }
    }

    fn due_roll(state: &State) -> Option<DueRoll> {
        state.due.then_some(DIE)
    }

    fn roll(values: Vec<i32>) -> Option<Command<FAULT>> {
        Some(Command::Roll(values))
    }

    fn rolled(command: &Command<FAULT>) -> Option<&[i32]> {
        if let Command::Roll(values) = command { Some(values) } else { None }
    }

    fn issuer(command: &Command<FAULT>) -> Issuer {
        command.issuer()
    }

    fn active_seat(state: &State) -> Option<Seat> {
        Some(state.turn)
    }

    fn candidates(_state: &State, seat: Seat) -> Vec<Command<FAULT>> {
        if FAULT == fault::LISTS_NO_ROLL && seat == Seat::Host {
            return vec![Command::Shake];
        }
        if seat == Seat::Host && FAULT != fault::HOST_PLAYS {
            return vec![Command::Shake, Command::Roll(vec![1]), Command::Roll(vec![6])];
        }
        let adds = (1..=4).map(|amount| Command::Add(Forgetful(amount)));
        let rolls = [Command::Shake, Command::Roll(vec![1]), Command::Roll(vec![6])];
        let host = rolls.into_iter().filter(|_| seat == Seat::Host);
        adds.chain((0..4).map(Command::Hide)).chain(host).collect()
    }

    fn legal(state: &State, seat: Seat) -> Vec<Command<FAULT>> {
        let mut commands = Self::candidates(state, seat);
        commands.retain(|command| {
            let lied_about = FAULT == fault::LISTS_IGNORED && *command == Command::Add(Forgetful(4));
            match Self::judge(state, seat, command) {
                Ok(Verdict::Applied(_)) => true,
                Ok(Verdict::Ignored(_)) => lied_about,
                Err(_) => false,
            }
        });
        if FAULT == fault::LEAVES_OUT_APPLIED {
            commands.retain(|command| *command != Command::Add(Forgetful(2)));
        }
        if FAULT == fault::LISTS_TWICE {
            commands.extend(commands.first().cloned());
        }
        commands
    }

    fn view(state: &State, viewer: Perspective) -> View {
        static ASKED: AtomicU32 = AtomicU32::new(0);
        let seen = |place: usize| {
            let all = matches!(FAULT, fault::LEAKS_IN_VIEW | fault::CONCEALS_NOTHING);
            let own = viewer.may_know_as(PLAYERS[place]) || all;
            own.then_some(state.secrets[place])
        };
        let counts = FAULT == fault::COUNTS_VIEWS && viewer == Perspective::HOST;
        let asked = if counts { ASKED.fetch_add(1, Ordering::Relaxed) } else { 0 };
        let ruleset = (FAULT == fault::NAMES_VIEW_TWICE).then_some("toy");
        View { ruleset, total: state.total, turn: state.turn, secrets: [seen(0), seen(1)], asked }
    }

    fn view_with(state: &State, viewer: Perspective, field: &str) -> View {
        let view = Self::view(state, viewer);
        let total = if FAULT == fault::LEAVES_OUT_FIELD && field == "total" { u32::MAX } else { view.total };
        View { total, ..view }
    }

    fn query(state: &State, _viewer: Perspective, question: &str) -> Result<Option<Answer>, Malformed> {
        let sum: u32 = if FAULT == fault::LEAKS_IN_ANSWER { state.secrets.iter().sum() } else { 0 };
        match split_verb(question) {
            ("plus", Some(amount)) => {
                let amount: u16 = number(amount)?;
                let total = u64::from(state.total) + u64::from(amount) + u64::from(sum);
                Ok(Some(Answer::new(total.to_string(), &total)))
            }
            _ => Ok(None),
        }
    }

    fn targets(_command: &Command<FAULT>) -> Targets {
        Targets::pieces((FAULT == fault::NAMES_NO_PIECE).then_some("total"))
    }

    fn picture(_state: &State, _viewer: Perspective) -> Picture {
        Picture::default()
    }
}

/// Returns the laws that the toy game with this fault breaks, and the sentences of the report.
fn broken_by<const FAULT: u8>() -> (BTreeSet<Law>, Vec<String>) {
    let fixture = |name: &str, toml: &str| Fixture { name: name.into(), toml: toml.into() };
    let fixtures = [fixture("long", "start = 0\nend = 30\n"), fixture("short", "start = 5\nend = 20\n")];
    // The short fixture reveals every fault.
    let first = usize::from(FAULT != fault::HONEST);
    let sentences = broken_laws(&*erase::<Toy<FAULT>>(), &fixtures[first..]);
    let laws = Law::ALL.into_iter().filter(|law| {
        let name = format!("`{law}` is broken: toy, ");
        sentences.iter().any(|sentence| sentence.starts_with(&name))
    });
    (laws.collect(), sentences)
}

fn check<const FAULT: u8>(expected: &[Law]) {
    let (laws, sentences) = broken_by::<FAULT>();
    assert_eq!(laws, expected.iter().copied().collect(), "fault {FAULT}:\n{}", sentences.join("\n"));
}

#[test]
fn an_honest_game_keeps_every_law() {
    let (_, sentences) = broken_by::<{ fault::HONEST }>();
    assert_eq!(sentences, [""; 0]);
}

#[test]
fn a_list_of_legal_commands_that_lies_is_caught() {
    check::<{ fault::LISTS_IGNORED }>(&[Law::LegalIsWhatApplies, Law::Choices]);
    check::<{ fault::LEAVES_OUT_APPLIED }>(&[Law::LegalIsWhatApplies, Law::Choices]);
    check::<{ fault::LISTS_TWICE }>(&[Law::LegalIsWhatApplies, Law::Choices]);
}

#[test]
fn a_command_that_does_not_read_back_is_caught() {
    check::<{ fault::WRITES_OTHER_TEXT }>(&[Law::TextRoundTrip]);
    check::<{ fault::READS_OTHER_VALUE }>(&[Law::TextRoundTrip]);
    check::<{ fault::READS_LOOSELY }>(&[Law::Malformed]);
    check::<{ fault::FORGETS_IN_BYTES }>(&[Law::BytesRoundTrip]);
}

#[test]
fn a_state_that_does_not_hold_all_is_caught() {
    check::<{ fault::FORGETS_IN_STATE }>(&[Law::Resuming]);
    check::<{ fault::COUNTS_VIEWS }>(&[Law::Stable, Law::Views, Law::Leaks]);
    check::<{ fault::JUDGES_WITH_SIDE_EFFECT }>(&[Law::NothingElseChanges]);
}

#[test]
fn effects_that_are_missing_or_differ_in_their_forms_are_caught() {
    check::<{ fault::SILENT }>(&[Law::AppliedHasEffects]);
    check::<{ fault::EFFECT_FORMS_DIFFER }>(&[Law::EffectForms]);
    check::<{ fault::EFFECT_VALUES_DIFFER }>(&[Law::EffectForms]);
    check::<{ fault::NAMES_EFFECT_APPLIED }>(&[Law::OutcomeRoundTrip]);
}

#[test]
fn a_command_accepted_out_of_order_is_caught() {
    check::<{ fault::PLAYS_ON_UNROLLED }>(&[Law::Rolls]);
    check::<{ fault::ROLLS_SEVEN }>(&[Law::Rolls]);
    check::<{ fault::PLAYS_ON_AFTER_END }>(&[Law::MatchOver]);
    check::<{ fault::ADMITS_GUEST }>(&[Law::Seats]);
    check::<{ fault::HOST_PLAYS }>(&[Law::Seats]);
}

/// The message names the method to correct.
#[test]
fn a_due_roll_that_is_not_listed_is_caught() {
    check::<{ fault::LISTS_NO_ROLL }>(&[Law::Rolls]);
    let (_, sentences) = broken_by::<{ fault::LISTS_NO_ROLL }>();
    let expected = "host: no `roll` is legal while it is due: `candidates` of `host` lists none; see `due_roll`, `roll`, \
                `rolled` and `candidates` of the host";
    assert!(sentences.iter().all(|sentence| sentence.ends_with(expected)), "{}", sentences.join("\n"));
}

#[test]
fn a_view_that_leaks_a_secret_or_names_its_ruleset_twice_is_caught() {
    check::<{ fault::LEAKS_IN_VIEW }>(&[Law::Secrecy, Law::SeatsFile]);
    check::<{ fault::LEAKS_IN_ANSWER }>(&[Law::Secrecy, Law::SeatsFile]);
    check::<{ fault::LEAKS_IN_REASON }>(&[Law::Secrecy, Law::SeatsFile]);
    check::<{ fault::LEAKS_IN_TURN }>(&[Law::Secrecy, Law::SeatsFile]);
    check::<{ fault::LEAKS_IN_RESULT }>(&[Law::SeatsFile]);
    check::<{ fault::SHOWS_OTHER_SETUP }>(&[Law::SeatsFile]);
    check::<{ fault::NAMES_VIEW_TWICE }>(&[Law::Views]);
    check::<{ fault::LEAVES_OUT_FIELD }>(&[Law::Views]);
}

/// Each message names the field, and the entry or the setup.
#[test]
fn what_is_shown_and_reveals_a_concealed_field_is_caught() {
    check::<{ fault::ROLLS_SECRET_OPENLY }>(&[Law::Leaks]);
    check::<{ fault::DEALS_SECRET_IN_SETUP }>(&[Law::Leaks]);
    check::<{ fault::PRINTS_SECRET }>(&[Law::Leaks]);
    let require = |sentences: &[String], parts: &[&str]| {
        let has_parts = |sentence: &String| parts.iter().all(|part| sentence.contains(part));
        assert!(sentences.iter().any(has_parts), "{parts:?} in:\n{}", sentences.join("\n"));
    };
    let of_roll = broken_by::<{ fault::ROLLS_SECRET_OPENLY }>().1;
    require(&of_roll, &["entry ", "p2 is shown `roll ", "learns `/secrets/0`, which its view conceals"]);
    let of_setup = broken_by::<{ fault::DEALS_SECRET_IN_SETUP }>().1;
    require(&of_setup, &["the setup that p2 is shown reveals `/secrets/0`, which its view conceals"]);
    let of_effect = broken_by::<{ fault::PRINTS_SECRET }>().1;
    require(&of_effect, &["entry 1", "p2 is shown `add ", "\"total\":", "learns `/secrets/0`"]);
}

#[test]
fn secrets_that_are_not_declared_or_not_there_are_caught() {
    check::<{ fault::DECLARES_NONE }>(&[Law::Leaks, Law::Secrets]);
    check::<{ fault::CONCEALS_NOTHING }>(&[Law::Secrets]);
}

#[test]
fn an_effect_that_is_taken_back_or_shown_to_spectators_alone_is_caught() {
    check::<{ fault::TAKES_BACK }>(&[Law::ShownStays, Law::Leaks]);
    check::<{ fault::SHOWS_GUEST_MORE }>(&[Law::Spectators, Law::Leaks]);
}

#[test]
fn a_ruleset_without_rules_that_reads_otherwise_or_ends_too_soon_is_caught() {
    check::<{ fault::HAS_NO_RULES }>(&[Law::Description]);
    check::<{ fault::READS_OTHER_COMMAND }>(&[Law::Typing]);
    check::<{ fault::WINS_TOO_SOON }>(&[Law::Result]);
    let (_, sentences) = broken_by::<{ fault::HAS_NO_RULES }>();
    assert!(
        sentences
            .iter()
            .all(|sentence| sentence.ends_with("see `NAME`, `SUMMARY`, `RULEBOOK` and `MAIL_TERMS`"))
    );
}

#[test]
fn a_setup_that_does_not_read_back_and_a_panic_are_caught() {
    check::<{ fault::LOSES_SETUP }>(&[Law::Setups]);
    check::<{ fault::PANICS_ON_SETUP }>(&[Law::NoPanic]);
    check::<{ fault::PANICS_ON_COMMAND }>(&[Law::NoPanic]);
}

/// VW-54
#[test]
fn a_command_given_with_a_piece_that_no_picture_names_is_caught() {
    check::<{ fault::NAMES_NO_PIECE }>(&[Law::Targets]);
}

/// Returns the standing at the end of a match in which p1 has this secret, as a viewer sees it.
fn standing<const FAULT: u8>(secret: u32, viewer: Viewer) -> String {
    let text = format!(
        "turnfold replay 2\n+++\nruleset = \"toy\"\nversion = 1\ndice = \"recorded\"\n[setup]\nstart = 0\nend = 3\n+++\n\
         1 p1 hide {secret}\n2 p1 add 3\n"
    );
    let registry = Registry::default().with(erase::<Toy<FAULT>>());
    let replay = tfl::read("toy.tfl", text.as_bytes(), &registry).unwrap();
    let history = History::of_replay("toy.tfl".as_ref(), &replay).unwrap();
    let history = SeatHistory::of(viewer, history).unwrap();
    let MatchStanding { turn_number, result } = history.standing().unwrap();
    // The answer about the turn uses the same match, so it has the same result.
    let turn = serde_json::to_value(WhoseTurn::of_history(&history).unwrap()).unwrap();
    let [number, of_turn] =
        ["turn_number", "result"].map(|member| turn.get(member).cloned().unwrap_or_default());
    assert_eq!(number, serde_json::json!(turn_number));
    assert_eq!(of_turn, serde_json::json!(result));
    assert_eq!((&turn["over"], &turn["turn"]), (&true.into(), &serde_json::json!([])));
    format!("{turn_number:?} {}", result.unwrap())
}

/// Although the rules leak a secret, players see the standing of the match as they may know it.
#[test]
fn a_turn_and_a_result_show_players_nothing_that_is_concealed() {
    let both = |viewer: Viewer| {
        [1, 3].map(|secret| {
            [
                standing::<{ fault::LEAKS_IN_TURN }>(secret, viewer),
                standing::<{ fault::LEAKS_IN_RESULT }>(secret, viewer),
            ]
        })
    };
    assert_eq!(both(Viewer::HOST)[1], ["Some(3) p2 won", "None p2 won: p1 3, p2 0"]);
    assert_eq!(both(Viewer::of(Seat::P1))[1], both(Viewer::HOST)[1]);
    for viewer in [Viewer::of(Seat::P2), Viewer::SPECTATOR] {
        assert_eq!(both(viewer), [["Some(0) p2 won", "None p2 won: p1 0, p2 0"]; 2]);
    }
}
