//! Liar's dice with the whole command line of turnfold: `cargo run -- new table --rules liars`.
//!
//! Each roll belongs to a player, who alone learns it until the cups are lifted. The game declares it in two places,
//! `due_roll` and `reveals`, and its view shows a cup to its owner. The library conceals the rest.

use std::fmt;
use std::process::ExitCode;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use turnfold_core::admission::Issuer;
use turnfold_core::any::erase;
use turnfold_core::dice::some_values;
use turnfold_core::outcome::{EffectSink, Ruled, Ruling, Verdict};
use turnfold_core::picture::{Block, Picture, TextLine};
use turnfold_core::text::{Malformed, number, split_verb};
use turnfold_core::{DueRoll, MatchResult, Perspective, Rules, Seat, Secrets, SetupError};

#[cfg(test)]
mod tests;

fn main() -> ExitCode {
    turnfold::run(std::env::args_os(), turnfold::standard().with(erase::<Liars>()))
}

struct Liars;

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Setup {
    players: u8,
    /// The dice of each player.
    dice: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    round: u32,
    turn: Seat,
    bid: Option<Bid>,
    /// The players in the order of their seats.
    players: Vec<Player>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Player {
    seat: Seat,
    dice: u8,
    /// What the dice show, once they are rolled and as far as a viewer may see it.
    cup: Option<Vec<u8>>,
}

impl Player {
    fn is_to_roll(&self) -> bool {
        self.dice > 0 && self.cup.is_none()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Bid {
    seat: Seat,
    count: u8,
    face: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Command {
    Roll(#[serde(deserialize_with = "some_values")] Vec<i32>),
    Bid { count: u8, face: u8 },
    Doubt,
}

impl fmt::Display for Command {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Roll(values) => {
                out.write_str("roll")?;
                values.iter().try_for_each(|value| write!(out, " {value}"))
            }
            Self::Bid { count, face } => write!(out, "bid {count} {face}"),
            Self::Doubt => out.write_str("doubt"),
        }
    }
}

impl FromStr for Command {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        match split_verb(text) {
            ("roll", Some(values)) => values.split(' ').map(number).collect::<Result<_, _>>().map(Self::Roll),
            ("bid", Some(words)) => {
                let words =
                    words.split_once(' ').ok_or_else(|| Malformed::expected("`bid COUNT FACE`", text))?;
                Ok(Self::Bid { count: number(words.0)?, face: number(words.1)? })
            }
            ("doubt", None) => Ok(Self::Doubt),
            _ => Err(Malformed::expected("`roll A B …`, `bid COUNT FACE` or `doubt`", text)),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
enum Effect {
    Rolled { seat: Seat, dice: Vec<u8> },
    Bid(Bid),
    Lifted { seat: Seat, dice: Vec<u8> },
    Lost { seat: Seat, left: u8 },
    MatchOver { winner: Seat },
}

impl fmt::Display for Effect {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rolled { seat, dice } => write!(out, "rolled seat={seat} dice={}", listed(dice)),
            Self::Bid(Bid { seat, count, face }) => write!(out, "bid seat={seat} count={count} face={face}"),
            Self::Lifted { seat, dice } => write!(out, "lifted seat={seat} dice={}", listed(dice)),
            Self::Lost { seat, left } => write!(out, "lost seat={seat} left={left}"),
            Self::MatchOver { winner } => write!(out, "match_over winner={winner}"),
        }
    }
}

fn listed(dice: &[u8]) -> String {
    dice.iter().map(u8::to_string).collect::<Vec<_>>().join(",")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    OutOfRange,
    TooLow,
    NothingToDoubt,
}

impl Ruled for Reason {
    const ALL: &'static [Self] = &[Self::OutOfRange, Self::TooLow, Self::NothingToDoubt];

    fn ruling(self) -> Ruling {
        match self {
            Self::OutOfRange => {
                Ruling::of("bad_bid", &["LD-3"]).says("a bid is of dice that are there, and of faces 1 to 6")
            }
            Self::TooLow => Ruling::of("low_bid", &["LD-3"]).says("a bid is higher than the one before"),
            Self::NothingToDoubt => Ruling::of("no_bid", &["LD-4"]).says("there is no bid to doubt"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rejection {
    NotYourTurn,
}

impl Ruled for Rejection {
    const ALL: &'static [Self] = &[Self::NotYourTurn];

    fn ruling(self) -> Ruling {
        Ruling::of("not_your_turn", &["LD-3", "LD-4"]).says("it is another player's turn")
    }
}

#[derive(Serialize)]
struct View {
    round: u32,
    turn: Option<Seat>,
    bid: Option<Bid>,
    due_roll: Option<DueRoll>,
    players: Vec<Player>,
}

impl State {
    fn all_dice(&self) -> u8 {
        self.players.iter().map(|player| player.dice).sum()
    }

    /// Returns the first player who has dice, in the order of the seats from this one on or after it.
    fn next_player(&self, seat: Seat, is_after: bool) -> Seat {
        let with_dice = || self.players.iter().filter(|player| player.dice > 0).map(|player| player.seat);
        let next = with_dice().find(|other| *other > seat || (!is_after && *other == seat));
        next.or_else(|| with_dice().next()).unwrap_or(seat)
    }

    /// LD-4 to LD-6.
    fn lift(&mut self, bid: Bid, doubter: Seat, effects: &mut impl EffectSink<Effect>) {
        let mut count = 0;
        for player in &mut self.players {
            let Some(dice) = player.cup.take() else { continue };
            count += dice.iter().filter(|face| **face == bid.face).count();
            effects.push(|| Effect::Lifted { seat: player.seat, dice });
        }
        let loser = if count < usize::from(bid.count) { bid.seat } else { doubter };
        if let Some(player) = self.players.iter_mut().find(|player| player.seat == loser) {
            player.dice = player.dice.saturating_sub(1);
            effects.push(|| Effect::Lost { seat: loser, left: player.dice });
        }
        (self.round, self.bid, self.turn) =
            (self.round.saturating_add(1), None, self.next_player(loser, false));
        if Liars::over(self) {
            effects.push(|| Effect::MatchOver { winner: self.turn });
        }
    }
}

impl Rules for Liars {
    const NAME: &'static str = "liars";
    const VERSION: u32 = 1;
    const SUMMARY: &'static str = "bids on dice under cups, for up to six players";
    const EXAMPLE: &'static str = "players = 3\ndice = 2\n";
    const RULEBOOK: &'static str = include_str!("../RULES.md");
    const SECRETS: Secrets<Self> = Secrets::Rolls;

    type Setup = Setup;
    type State = State;
    type Command = Command;
    type Plan = (Seat, Command);
    type Effect = Effect;
    type Reason = Reason;
    type Rejection = Rejection;
    type View = View;

    fn start(setup: &Setup) -> Result<State, SetupError> {
        SetupError::within("players", &setup.players, 2..=6)?;
        SetupError::within("dice", &setup.dice, 1..=5)?;
        let player = |seat: &Seat| Player { seat: *seat, dice: setup.dice, cup: None };
        let players = Seat::players(setup.players.into()).iter().map(player).collect();
        Ok(State { round: 1, turn: Seat::P1, bid: None, players })
    }

    fn decide(
        state: &State,
        seat: Seat,
        command: &Command,
    ) -> Result<Verdict<Self::Plan, Reason>, Rejection> {
        let applied = Verdict::Applied((seat, command.clone()));
        Ok(match (command, state.bid) {
            (Command::Roll(_), _) => applied,
            _ if seat != state.turn => return Err(Rejection::NotYourTurn),
            (Command::Doubt, None) => Verdict::Ignored(Reason::NothingToDoubt),
            (Command::Bid { count, face }, _)
                if !(1..=state.all_dice()).contains(count) || !(1..=6).contains(face) =>
            {
                Verdict::Ignored(Reason::OutOfRange)
            }
            (Command::Bid { count, face }, Some(bid)) if (*count, *face) <= (bid.count, bid.face) => {
                Verdict::Ignored(Reason::TooLow)
            }
            _ => applied,
        })
    }

    fn carry_out(state: &mut State, (seat, command): Self::Plan, effects: &mut impl EffectSink<Effect>) {
        match command {
            Command::Roll(values) => {
                let dice: Vec<u8> = values.into_iter().filter_map(|value| value.try_into().ok()).collect();
                if let Some(player) = state.players.iter_mut().find(|player| player.is_to_roll()) {
                    player.cup = Some(dice.clone());
                    effects.push(|| Effect::Rolled { seat: player.seat, dice });
                }
            }
            Command::Bid { count, face } => {
                let bid = Bid { seat, count, face };
                state.bid = Some(bid);
                state.turn = state.next_player(seat, true);
                effects.push(|| Effect::Bid(bid));
            }
            Command::Doubt => {
                if let Some(bid) = state.bid {
                    state.lift(bid, seat, effects);
                }
            }
        }
    }

    fn players(state: &State) -> &'static [Seat] {
        Seat::players(state.players.len())
    }

    fn issuer(command: &Command) -> Issuer {
        if matches!(command, Command::Roll(_)) { Issuer::Host } else { Issuer::Player }
    }

    fn active_seat(state: &State) -> Option<Seat> {
        (!Self::over(state)).then_some(state.turn)
    }

    fn over(state: &State) -> bool {
        state.players.iter().filter(|player| player.dice > 0).count() < 2
    }

    fn result(state: &State) -> Option<MatchResult> {
        Self::over(state).then(|| MatchResult::won_by([state.turn]))
    }

    fn turn(state: &State) -> Option<u64> {
        Some(state.round.into())
    }

    /// LD-2: the values are the player's own.
    fn due_roll(state: &State) -> Option<DueRoll> {
        let player = state.players.iter().find(|player| player.is_to_roll() && !Self::over(state))?;
        let count = player.dice.into();
        Some(DueRoll { purpose: "cup".into(), count, low: 1, high: 6, owner: Some(player.seat) })
    }

    /// LD-4: the cups of earlier rounds were lifted.
    fn reveals(after: &State, now: &State) -> bool {
        after.round < now.round
    }

    fn roll(values: Vec<i32>) -> Option<Command> {
        Some(Command::Roll(values))
    }

    fn rolled(command: &Command) -> Option<&[i32]> {
        if let Command::Roll(values) = command { Some(values) } else { None }
    }

    fn candidates(state: &State, seat: Seat) -> Vec<Command> {
        if seat == Seat::Host {
            return Self::due_roll(state).map(|due| Command::Roll(due.stand_in())).into_iter().collect();
        }
        let bids =
            (1..=state.all_dice()).flat_map(|count| (1..=6).map(move |face| Command::Bid { count, face }));
        bids.chain([Command::Doubt]).collect()
    }

    fn view(state: &State, viewer: Perspective) -> View {
        let mut players = state.players.clone();
        for player in players.iter_mut().filter(|player| !viewer.may_know_as(player.seat)) {
            player.cup = None;
        }
        let (turn, due_roll) = (Self::active_seat(state), Self::due_roll(state));
        View { round: state.round, turn, bid: state.bid, due_roll, players }
    }

    fn picture(state: &State, viewer: Perspective) -> Picture {
        let View { round, bid, players, .. } = Self::view(state, viewer);
        let bid =
            bid.map_or("no bid".into(), |bid| format!("{} bids {} of {}", bid.seat, bid.count, bid.face));
        let cup = |player: &Player| {
            let cup = player.cup.as_ref().map_or_else(|| "hidden".into(), |dice| listed(dice));
            TextLine::plain(format!("{}: {} dice, {cup}", player.seat, player.dice))
        };
        let heading = TextLine::plain(format!("round {round}, {bid}"));
        Picture { blocks: vec![Block::Lines([heading].into_iter().chain(players.iter().map(cup)).collect())] }
    }
}
