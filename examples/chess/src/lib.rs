//! Chess on the move generator `cozy-chess`: setups by FEN, draws, resignation and a clock.

use cozy_chess::util::{display_san_move, parse_san_move};
use cozy_chess::{Board, CastleRights, Color, File, GameStatus, Move, Piece, Square};
use serde::{Deserialize, Serialize};
use turnfold_core::prelude::*;

mod board;
use board::Position;

turnfold_guest::export!(Chess);

/// Chess for two.
pub struct Chess;

/// CS-1, CS-7: how a match begins.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Setup {
    /// The position in Forsyth–Edwards Notation.
    #[serde(with = "as_text")]
    pub fen: Board,
    /// The ticks of each player for all moves; without it there is no clock.
    pub clock: Option<Ticks>,
    /// The ticks that each own move adds.
    pub increment: u64,
}

/// Everything the future depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    position: Position,
    /// CS-4: the positions before it since the last capture or move of a pawn.
    earlier: Vec<Position>,
    agreement: Agreement,
    clock: Clock,
}

commands! {
    /// An input of the match.
    pub enum Command, "a move such as `e2e4` or `e7e8q`, `offer`, `accept`, `decline`, `resign` or `tick N`" {
        /// CS-5: offers a draw.
        "offer" => Offer,
        /// CS-5: accepts the offer.
        "accept" => Accept,
        /// CS-5: refuses the offer.
        "decline" => Decline,
        /// CS-6: gives up.
        "resign" => Resign,
        /// CS-7: lets time pass.
        "tick" => Tick(ticks: Ticks),
    } else {
        /// CS-2: moves a piece.
        Move(#[serde(with = "as_text")] chosen: Move)
    }
}

effects! {
    pub enum Effect {
        Moved { san: Box<str> },
        Status { offer: Option<Seat>, left: Option<u64> },
        MatchOver { by: Option<String>, winner: Option<Seat> },
    }
}

reasons! {
    pub enum Rejection {
        NotYourTurn = Ruling::of("not_your_turn", &["CS-2"]).says("the other player is to move"),
        IllegalMove = Ruling::of("illegal_move", &["CS-2"]).says("this move is not legal here"),
        NoOffer = Ruling::of("no_offer", &["CS-5"]).says("the other player offers no draw"),
        Offered = Ruling::of("offered", &["CS-5"]).says("a draw is offered already"),
        NoClock = Ruling::of("no_clock", &["CS-7"]).says("this match has no clock"),
    }
}

/// What everyone sees.
#[derive(Serialize)]
pub struct View {
    fen: String,
    turn: Seat,
    agreement: Agreement,
    clock: Clock,
    result: Option<MatchResult>,
}

fn mover(board: &Board) -> Seat {
    if board.side_to_move() == Color::White { Seat::P1 } else { Seat::P2 }
}

/// CS-2: finds a legal move as the generator has it, which castles by capturing the own rook.
fn find(board: &Board, chosen: Move) -> Option<Move> {
    let mut found = chosen;
    let is_of_king = board.piece_on(chosen.from) == Some(Piece::King) && chosen.from.file() == File::E;
    if is_of_king && chosen.to.rank() == chosen.from.rank() {
        let CastleRights { short, long } = *board.castle_rights(board.side_to_move());
        let rook = match chosen.to.file() {
            File::G => short,
            File::C => long,
            _ => None,
        };
        found.to = rook.map_or(chosen.to, |file| Square::new(file, chosen.to.rank()));
    }
    (board.is_legal(found) && board.color_on(chosen.to) != Some(board.side_to_move())).then_some(found)
}

/// Returns a legal move of the generator as players name it: the king castles to the file c or g.
fn as_named(board: &Board, found: Move) -> Move {
    if board.color_on(found.to) != Some(board.side_to_move()) {
        return found;
    }
    let is_short = board.castle_rights(board.side_to_move()).short == Some(found.to.file());
    let file = if is_short { File::G } else { File::C };
    Move { to: Square::new(file, found.to.rank()), ..found }
}

impl Rules for Chess {
    const NAME: &'static str = "chess";
    const VERSION: u32 = 1;
    const SUMMARY: &'static str = "chess with draws, resignation and a clock";
    const EXAMPLE: &'static str = "clock = 3000\nincrement = 20";
    const RULEBOOK: &'static str = include_str!("../RULES.md");
    const SECRETS: Secrets<Self> = Secrets::None;
    const MAIL_TERMS: &'static str = "missed = \"second\"\ndefault = [\"resign\"]\n";

    type Setup = Setup;
    type State = State;
    type Command = Command;
    type Plan = (Seat, Command);
    type Effect = Effect;
    type Reason = std::convert::Infallible;
    type Rejection = Rejection;
    type View = View;

    fn start(setup: &Setup) -> Result<State, SetupError> {
        let Setup { fen, clock, increment } = setup.clone();
        for color in Color::ALL {
            let CastleRights { short, long } = *fen.castle_rights(color);
            if (short.is_some() || long.is_some()) && fen.king(color).file() != File::E {
                return Err(SetupError::value("fen", "a king castles from the file e"));
            }
            if short.is_some_and(|file| file != File::H) || long.is_some_and(|file| file != File::A) {
                return Err(SetupError::value("fen", "a king castles with rooks on the files a and h"));
            }
        }
        let clock = clock.map(|ticks| Clock::new(Seat::players(2), ticks, increment)).unwrap_or_default();
        let state = State { position: Position(fen), earlier: vec![], agreement: Default::default(), clock };
        let over = |result| Err(SetupError::value("fen", format!("the match would be over: {result}")));
        Self::result(&state).map_or(Ok(state), over)
    }

    fn decide(state: &State, seat: Seat, command: &Command) -> Decision<Self> {
        let (offer, turn) = (state.agreement.offered_by(), mover(&state.position.0));
        Err(match command {
            // CS-2
            Command::Move(_) if seat != turn => Rejection::NotYourTurn,
            Command::Move(chosen) if find(&state.position.0, *chosen).is_none() => Rejection::IllegalMove,
            // CS-5
            Command::Offer if offer.is_some() => Rejection::Offered,
            Command::Accept | Command::Decline if offer.is_none_or(|by| by == seat) => Rejection::NoOffer,
            // CS-7
            Command::Tick(_) if state.clock.left(turn).is_none() => Rejection::NoClock,
            _ => return Ok(Verdict::Applied((seat, command.clone()))),
        })
    }

    fn carry_out(state: &mut State, (seat, command): Self::Plan, effects: &mut impl EffectSink<Effect>) {
        let State { position: Position(board), earlier, agreement, clock } = state;
        match command {
            Command::Move(chosen) => {
                let Some(found) = find(board, chosen) else { return };
                effects.push(|| Effect::Moved { san: display_san_move(board, found).to_string().into() });
                earlier.push(Position(board.clone()));
                board.play(found);
                earlier.truncate(board.halfmove_clock().into()); // CS-4: no more can come again
                agreement.moved(seat);
                clock.moved(seat);
            }
            Command::Offer | Command::Accept => agreement.offer_draw(seat),
            Command::Decline => agreement.close_offer(),
            Command::Resign => agreement.resign(seat),
            Command::Tick(ticks) => _ = clock.tick(mover(board), ticks),
        }
        if matches!(command, Command::Offer | Command::Decline | Command::Tick(_)) {
            effects.push(|| Effect::Status { offer: agreement.offered_by(), left: clock.left(mover(board)) });
        }
        if let Some(MatchResult { winners, reason, .. }) = Self::result(state) {
            effects.push(|| Effect::MatchOver { by: reason, winner: winners.first().copied() });
        }
    }

    fn players(_state: &State) -> &[Seat] {
        Seat::players(2)
    }

    fn issuer(command: &Command) -> Issuer {
        if matches!(command, Command::Tick(_)) { Issuer::Host } else { Issuer::Player }
    }

    fn active_seat(state: &State) -> Option<Seat> {
        Some(mover(&state.position.0))
    }

    fn result(state: &State) -> Option<MatchResult> {
        let Position(board) = &state.position;
        let is_out_of_time = state.clock.left(mover(board)) == Some(0);
        let times = state.earlier.iter().filter(|earlier| earlier.0.same_position(board)).count();
        let draw = |reason| MatchResult::drawn().because(reason);
        let other = if mover(board) == Seat::P1 { Seat::P2 } else { Seat::P1 };
        let win = |reason| MatchResult::won_by([other]).because(reason);
        Some(match board.status() {
            // CS-3
            GameStatus::Won => win("checkmate"),
            GameStatus::Drawn if board.halfmove_clock() < 100 => draw("stalemate"),
            _ if board::is_dead(board) => draw("material"),
            // CS-4
            GameStatus::Drawn => draw("fifty moves"),
            _ if times >= 2 => draw("repetition"),
            // CS-7
            _ if is_out_of_time && board.colors(!board.side_to_move()).len() == 1 => draw("time"),
            _ if is_out_of_time => win("time"),
            // CS-5, CS-6
            GameStatus::Ongoing => return state.agreement.result(Seat::players(2)),
        })
    }

    fn turn(state: &State) -> Option<u64> {
        Some(state.position.0.fullmove_number().into())
    }

    fn read(state: &State, text: &str) -> Result<Command, Malformed> {
        let Position(board) = &state.position;
        text.parse().or_else(|malformed| {
            let found = parse_san_move(board, text).map_err(|_| malformed)?;
            // The generator castles by capturing the own rook, so it reads `Kxh1` as castling.
            let is_named = text.starts_with('O') || board.color_on(found.to) != Some(board.side_to_move());
            Ok(Command::Move(if is_named { as_named(board, found) } else { found }))
        })
    }

    fn left_out_at_random(command: &Command) -> bool {
        !matches!(command, Command::Move(_) | Command::Tick(_))
    }

    fn candidates(state: &State, _seat: Seat) -> Vec<Command> {
        let Position(board) = &state.position;
        let mut commands = Vec::new();
        board.generate_moves(|moves| {
            commands.extend(moves.into_iter().map(|found| Command::Move(as_named(board, found))));
            false
        });
        commands.extend([Command::Offer, Command::Accept, Command::Decline, Command::Resign]);
        commands.extend([Ticks::ONE, Ticks::FEW].map(Command::Tick));
        commands
    }

    fn targets(command: &Command) -> Targets {
        let Command::Move(Move { from, to, promotion }) = command else {
            let is_irreversible = matches!(command, Command::Accept | Command::Resign);
            return if is_irreversible { Targets::irreversible() } else { Targets::default() };
        };
        let squares = Targets::squares([*from, *to].into_iter().filter_map(board::square));
        promotion.iter().fold(squares, |targets, kind| targets.then_word(board::NAMES[*kind as usize]))
    }

    fn view(state: &State, _viewer: Perspective) -> View {
        let State { position, agreement, clock, .. } = state.clone();
        let (fen, turn, result) = (board::fen(&position.0), mover(&state.position.0), Self::result(state));
        View { fen, turn, agreement, clock, result }
    }

    fn sentence(
        state: &State,
        seat: Seat,
        command: &Command,
        Ok(effect): Happened<'_, Self>,
        reader: Perspective,
    ) -> String {
        let who = |seat: Seat| seat.as_subject(reader);
        match effect {
            Effect::Moved { san } => format!("{} played {san}.", who(seat)),
            Effect::Status { offer: Some(by), .. } => format!("{} offered a draw.", who(*by)),
            Effect::Status { .. } if *command == Command::Decline => {
                format!("{} declined the draw.", who(seat))
            }
            Effect::Status { left: Some(left), .. } => {
                let mover = mover(&state.position.0);
                let verb = if reader.is_seat(mover) { "have" } else { "has" };
                format!("{} {verb} {left} ticks left.", who(mover))
            }
            Effect::Status { .. } => String::new(),
            Effect::MatchOver { by, winner } => {
                let by = by
                    .as_deref()
                    .map(|by| format!(" by {}", if by == "agreed" { "agreement" } else { by }))
                    .unwrap_or_default();
                winner.map_or_else(|| format!("A draw{by}."), |winner| format!("{} won{by}.", who(winner)))
            }
        }
    }

    fn picture(state: &State, viewer: Perspective) -> Picture {
        board::picture(state, viewer)
    }
}
