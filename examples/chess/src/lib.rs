//! Chess on the move generator `cozy-chess`: setups by FEN, draws, resignation and a clock.

use std::fmt;

use cozy_chess::util::display_san_move;
use cozy_chess::{Board, Color, Move};
use serde::{Deserialize, Serialize};
use turnfold_core::admission::Issuer;
use turnfold_core::outcome::{EffectSink, Ruled, Ruling, Verdict};
use turnfold_core::picture::Picture;
use turnfold_core::text::OrNone;
use turnfold_core::{Malformed, Perspective, Rules, Seat, Secrets, SetupError, Targets, Ticks};

mod command;
mod picture;
mod position;

pub use command::{Command, MoveText};
use position::{Position, is_dead, legal_moves};

/// Chess for two.
#[derive(Debug)]
pub struct Chess;

/// CS-1, CS-7: how a match begins.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Setup {
    /// The position in Forsyth–Edwards Notation.
    pub fen: Option<String>,
    /// The ticks of each player for all moves; without it there is no clock.
    pub clock: Option<u32>,
    /// The ticks that each own move adds.
    pub increment: u32,
}

/// Everything the future depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    position: Position,
    /// CS-5: who offers a draw; both once it is agreed.
    for_draw: Vec<Seat>,
    resigned: Option<Seat>,
    clock: Option<Clock>,
}

/// CS-7: the ticks that the players have left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Clock {
    left: [u32; 2],
    increment: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum Effect {
    Moved { san: String },
    DrawOffered { by: Seat },
    DrawDeclined,
    Ticked { ticks: u32 },
    MatchOver { by: &'static str, winner: Option<Seat> },
}

impl fmt::Display for Effect {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Moved { san } => write!(out, "moved san={san}"),
            Self::DrawOffered { by } => write!(out, "draw_offered by={by}"),
            Self::DrawDeclined => out.write_str("draw_declined"),
            Self::Ticked { ticks } => write!(out, "ticked ticks={ticks}"),
            Self::MatchOver { by, winner } => write!(out, "match_over by={by} winner={}", OrNone(*winner)),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    NotYourTurn,
    IllegalMove,
    NoOffer,
    Offered,
    NoClock,
}

impl Ruled for Rejection {
    const ALL: &'static [Self] =
        &[Self::NotYourTurn, Self::IllegalMove, Self::NoOffer, Self::Offered, Self::NoClock];

    fn ruling(self) -> Ruling {
        match self {
            Self::NotYourTurn => Ruling::of("not_your_turn", &["CS-2"]).says("the other player is to move"),
            Self::IllegalMove => Ruling::of("illegal_move", &["CS-2"]).says("this move is not legal here"),
            Self::NoOffer => Ruling::of("no_offer", &["CS-5"]).says("the other player offers no draw"),
            Self::Offered => Ruling::of("offered", &["CS-5"]).says("a draw is offered already"),
            Self::NoClock => Ruling::of("no_clock", &["CS-7"]).says("this match has no clock"),
        }
    }
}

/// What everyone sees.
#[derive(Serialize)]
pub struct View {
    fen: String,
    turn: Seat,
    check: bool,
    offer: Option<Seat>,
    clock: Option<[u32; 2]>,
    ended: Option<&'static str>,
    winner: Option<Seat>,
}

const fn seat_of(color: Color) -> Seat {
    if matches!(color, Color::White) { Seat::P1 } else { Seat::P2 }
}

fn other(seat: Seat) -> Seat {
    if seat == Seat::P1 { Seat::P2 } else { Seat::P1 }
}

impl State {
    /// Returns the position for the move generator.
    #[must_use]
    pub fn board(&self) -> Board {
        self.position.board().unwrap_or_default()
    }

    const fn turn(&self) -> Seat {
        seat_of(self.position.to_move())
    }

    /// CS-3 to CS-7: returns how the match ended and who won, once it is over.
    fn ending(&self) -> Option<(&'static str, Option<Seat>)> {
        let (board, waiting) = (self.board(), other(self.turn()));
        let is_out_of_time = |clock: &Clock| clock.left.get(usize::from(waiting == Seat::P1)) == Some(&0);
        let has_king_alone = board.colors(!board.side_to_move()).len() == 1;
        match (board.generate_moves(|_| true), board.checkers().is_empty()) {
            (false, false) => Some(("checkmate", Some(waiting))),
            (false, true) => Some(("stalemate", None)),
            _ if is_dead(&board) => Some(("material", None)),
            _ if self.position.is_repeated() => Some(("repetition", None)),
            _ if self.position.is_stale() => Some(("fifty_moves", None)),
            _ if self.for_draw.len() > 1 => Some(("agreement", None)),
            _ if self.clock.as_ref().is_some_and(is_out_of_time) => {
                Some(("time", (!has_king_alone).then_some(waiting)))
            }
            _ => self.resigned.map(|seat| ("resignation", Some(other(seat)))),
        }
    }
}

impl Rules for Chess {
    const NAME: &'static str = "chess";
    const VERSION: u32 = 1;
    const SUMMARY: &'static str = "chess with draws, resignation and a clock";
    const EXAMPLE: &'static str = "clock = 3000\nincrement = 20";
    const RULEBOOK: &'static str = include_str!("../RULES.md");
    const SECRETS: Secrets<Self> = Secrets::None;

    type Setup = Setup;
    type State = State;
    type Command = Command;
    type Plan = (Seat, Command, Option<Move>);
    type Effect = Effect;
    type Reason = std::convert::Infallible;
    type Rejection = Rejection;
    type View = View;

    fn start(setup: &Setup) -> Result<State, SetupError> {
        let read = setup.fen.as_ref().map_or_else(|| Ok(Board::default()), |fen| Board::from_fen(fen, false));
        let board = read.map_err(|error| SetupError::value("fen", format!("{error}")))?;
        let clock = setup.clock.map(|ticks| Clock { left: [ticks; 2], increment: setup.increment });
        SetupError::within("clock", &setup.clock.unwrap_or(1), 1..=1_000_000)?;
        SetupError::within("increment", &setup.increment, 0..=1_000_000)?;
        let state = State { position: Position::of(&board), for_draw: Vec::new(), resigned: None, clock };
        // CS-1: castling with rooks on other files is not among the rules.
        let rights = |board: &Board| [Color::White, Color::Black].map(|color| *board.castle_rights(color));
        if state.position.board().as_ref().map(rights) != Some(rights(&board)) {
            return Err(SetupError::value("fen", "castling is with the rooks of the files a and h"));
        }
        match state.ending() {
            Some((by, _)) => Err(SetupError::value("fen", format!("the position is over: {by}"))),
            None => Ok(state),
        }
    }

    fn decide(
        state: &State,
        seat: Seat,
        command: &Command,
    ) -> Result<Verdict<Self::Plan, Self::Reason>, Rejection> {
        let mut found = None;
        match command {
            // CS-2
            Command::Move(_) if seat != state.turn() => return Err(Rejection::NotYourTurn),
            Command::Move(MoveText(text)) => {
                found = Some(position::legal(&state.board(), *text).ok_or(Rejection::IllegalMove)?);
            }
            // CS-5
            Command::Offer if !state.for_draw.is_empty() => return Err(Rejection::Offered),
            Command::Accept | Command::Decline if state.for_draw != [other(seat)] => {
                return Err(Rejection::NoOffer);
            }
            // CS-7
            Command::Tick(_) if state.clock.is_none() => return Err(Rejection::NoClock),
            _ => {}
        }
        Ok(Verdict::Applied((seat, command.clone(), found)))
    }

    fn carry_out(
        state: &mut State,
        (seat, command, found): Self::Plan,
        effects: &mut impl EffectSink<Effect>,
    ) {
        let mut clock = state.clock.as_mut();
        let increment = clock.as_ref().map_or(0, |clock| clock.increment);
        let left =
            clock.as_mut().and_then(|clock| clock.left.get_mut(usize::from(state.position.is_black())));
        match (command, found) {
            (Command::Move(_), Some(found)) => {
                let board = state.position.board().unwrap_or_default();
                effects.push(|| Effect::Moved { san: display_san_move(&board, found).to_string() });
                state.for_draw.retain(|by| *by == seat); // CS-5: a move refuses the offer of the other player
                left.into_iter().for_each(|left| *left = left.saturating_add(increment));
                state.position = state.position.after(&board, found);
            }
            (Command::Offer, _) => {
                state.for_draw.push(seat);
                effects.push(|| Effect::DrawOffered { by: seat });
            }
            (Command::Decline, _) => {
                state.for_draw.clear();
                effects.push(|| Effect::DrawDeclined);
            }
            (Command::Tick(ticks), _) => {
                left.into_iter().for_each(|left| *left = left.saturating_sub(ticks.get()));
                effects.push(|| Effect::Ticked { ticks: ticks.get() });
            }
            (Command::Accept, _) => state.for_draw.push(seat),
            (Command::Resign, _) => state.resigned = Some(seat),
            (Command::Move(_), None) => {}
        }
        if let Some((by, winner)) = state.ending() {
            effects.push(|| Effect::MatchOver { by, winner });
        }
    }

    fn players(_state: &State) -> &'static [Seat] {
        Seat::players(2)
    }

    fn issuer(command: &Command) -> Issuer {
        if matches!(command, Command::Tick(_)) { Issuer::Host } else { Issuer::Player }
    }

    fn active_seat(state: &State) -> Option<Seat> {
        Some(state.turn())
    }

    fn over(state: &State) -> bool {
        state.ending().is_some()
    }

    fn read(state: &State, text: &str) -> Result<Command, Malformed> {
        Command::read(&state.board(), text)
    }

    fn left_out_at_random(command: &Command) -> bool {
        matches!(command, Command::Offer | Command::Accept | Command::Resign)
    }

    fn candidates(state: &State, seat: Seat) -> Vec<Command> {
        if seat == Seat::Host {
            return vec![Command::Tick(Ticks::ONE), Command::Tick(Ticks::FEW)];
        }
        let moves = legal_moves(&state.board()).into_iter().map(|found| Command::Move(MoveText(found)));
        moves.chain([Command::Offer, Command::Accept, Command::Decline, Command::Resign]).collect()
    }

    fn targets(command: &Command) -> Targets {
        match command {
            Command::Move(MoveText(Move { from, to, promotion })) => {
                let squares = [from, to].into_iter().filter_map(|at| picture::square(*at));
                let targets = Targets::squares(squares);
                match promotion {
                    Some(piece) => targets.then_word(picture::name(*piece)),
                    None => targets,
                }
            }
            Command::Accept | Command::Resign => Targets::irreversible(),
            Command::Offer | Command::Decline | Command::Tick(_) => Targets::default(),
        }
    }

    fn view(state: &State, _viewer: Perspective) -> View {
        let (board, ending) = (state.board(), state.ending());
        View {
            fen: board.to_string(),
            turn: state.turn(),
            check: !board.checkers().is_empty(),
            offer: state.for_draw.first().copied(),
            clock: state.clock.as_ref().map(|clock| clock.left),
            ended: ending.map(|(by, _)| by),
            winner: ending.and_then(|(_, winner)| winner),
        }
    }

    fn picture(state: &State, viewer: Perspective) -> Picture {
        picture::picture(state, viewer)
    }
}
