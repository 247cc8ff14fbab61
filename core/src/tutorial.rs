//! Write a ruleset: a game of your own, from scratch to a match that folds, hashes and replays.
//!
//! The game is *Twenty-one*: two players in turn add 1, 2 or 3 to a total, and the first to reach 21 wins.
//!
//! 1. **Write down the rules**, each with an id: TO-1 players take turns, p1 first; TO-2 a move adds 1 to 3 and no more
//!    than leads to 21; TO-3 the player who reaches 21 wins. The ids are repeated at the branches of the code and in the reasons.
//! 2. **The state is everything the future depends on and nothing else.** Its bytes are hashed, so the order of its
//!    fields is part of the game's format. The setup is what people write in TOML; `start` checks it and returns the
//!    first state.
//! 3. **A command has one text and one meaning**: `Display` and `FromStr` are exact inverses. The macros of
//!    [`declare`](crate::declare) write them, and the text of effects, from one table.
//! 4. **`decide` only reads.** It returns *applied* with a plan, *ignored* with a [reason](crate::outcome::Ruled), or
//!    an error: *rejected*. What all games share, such as the right kind of seat, a due roll or the end of the match, is
//!    checked before (see [`admission`](crate::admission)), from what `players`, `issuer`, `over` and `due_roll` return.
//! 5. **`carry_out` changes the state** as planned and reports effects. Only a plan gets there, so what is ignored or
//!    rejected changes nothing.
//! 6. **Candidates, view, picture and queries** tell people about the state; none of them knows a rule.
//! 7. **Register it**: [`Registry::default`](crate::Registry)`().with(erase::<TwentyOne>())`, or in place of the first part
//!    `turnfold::standard()`, which has the games of turnfold. A program whose `main` hands this registry to
//!    `turnfold::run` has the whole command line for the game; `examples/nim` is such a program.
//!
//! ```
//! use core::convert::Infallible;
//!
//! use serde::{Deserialize, Serialize};
//! use turnfold_core::admission::Issuer;
//! use turnfold_core::any::erase;
//! use turnfold_core::declare::{commands, effects, reasons};
//! use turnfold_core::outcome::{EffectSink, Ruling, Verdict};
//! use turnfold_core::picture::{Block, TextLine, Picture};
//! use turnfold_core::text::Malformed;
//! use turnfold_core::{
//!     Answer, CommandSource, DicePolicy, Perspective, Logged, Registry, Rules, Seat, Secrets, SetupError,
//! };
//!
//! #[derive(Clone, Debug, Serialize, Deserialize)]
//! #[serde(deny_unknown_fields)]
//! struct Setup {
//!     /// Where the total starts, below 21.
//!     total: u8,
//! }
//!
//! #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
//! struct State {
//!     total: u8,
//!     turn: Seat,
//! }
//!
//! #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
//! struct Add(u8);
//!
//! commands! {
//!     Add, "`add N`";
//!     "add" => Add(amount),
//! }
//!
//! effects! {
//!     enum Effect {
//!         Added { total: u8 },
//!         MatchOver { winner: Seat },
//!     }
//! }
//!
//! reasons! {
//!     enum NotAccepted {
//!         /// TO-1
//!         NotYourTurn = Ruling::of("not_your_turn", &["TO-1"]).says("it is the other player's turn"),
//!         /// TO-2
//!         BadAmount = Ruling::of("bad_amount", &["TO-2"]).says("a move adds 1 to 3, up to 21"),
//!     }
//! }
//!
//! #[derive(Serialize)]
//! struct View {
//!     total: u8,
//!     turn: Seat,
//! }
//!
//! struct TwentyOne;
//!
//! impl Rules for TwentyOne {
//!     const NAME: &'static str = "twentyone";
//!     const VERSION: u32 = 1;
//!     const SUMMARY: &'static str = "the first to reach 21 wins";
//!     const EXAMPLE: &'static str = "total = 0";
//!     const SECRETS: Secrets<Self> = Secrets::None; // all viewers see all
//!     const QUERIES: &'static str = "`left`";
//!     const RULEBOOK: &'static str = "# Twenty-one\n\n- **TO-1** Players take turns, p1 first. …\n";
//!
//!     type Setup = Setup;
//!     type State = State;
//!     type Command = Add;
//!     type Plan = u8;
//!     type Effect = Effect;
//!     type Reason = Infallible; // nothing is ignored in this game
//!     type Rejection = NotAccepted;
//!     type View = View;
//!
//!     fn start(setup: &Setup) -> Result<State, SetupError> {
//!         SetupError::within("total", &setup.total, 0..=20)?;
//!         Ok(State { total: setup.total, turn: Seat::P1 })
//!     }
//!
//!     fn decide(state: &State, seat: Seat, add: &Add) -> Result<Verdict<u8, Infallible>, NotAccepted> {
//!         // TO-1
//!         if seat != state.turn {
//!             return Err(NotAccepted::NotYourTurn);
//!         }
//!         // TO-2
//!         if !(1..=3).contains(&add.0) || state.total + add.0 > 21 {
//!             return Err(NotAccepted::BadAmount);
//!         }
//!         Ok(Verdict::Applied(state.total + add.0))
//!     }
//!
//!     fn carry_out(state: &mut State, total: u8, effects: &mut impl EffectSink<Effect>) {
//!         state.total = total;
//!         effects.push(|| Effect::Added { total });
//!         // TO-3
//!         if Self::over(state) {
//!             let winner = state.turn;
//!             effects.push(|| Effect::MatchOver { winner });
//!         }
//!         state.turn = if state.turn == Seat::P1 { Seat::P2 } else { Seat::P1 };
//!     }
//!
//!     fn players(_state: &State) -> &[Seat] {
//!         Seat::players(2)
//!     }
//!
//!     fn issuer(_add: &Add) -> Issuer {
//!         Issuer::Player
//!     }
//!
//!     fn active_seat(state: &State) -> Option<Seat> {
//!         Some(state.turn)
//!     }
//!
//!     fn over(state: &State) -> bool {
//!         state.total == 21
//!     }
//!
//!     fn candidates(_state: &State, _seat: Seat) -> Vec<Add> {
//!         (1..=3).map(Add).collect()
//!     }
//!
//!     fn view(state: &State, _viewer: Perspective) -> View {
//!         View { total: state.total, turn: state.turn }
//!     }
//!
//!     fn query(state: &State, _viewer: Perspective, question: &str) -> Result<Option<Answer>, Malformed> {
//!         let left = 21 - state.total;
//!         Ok((question == "left").then(|| Answer::new(left.to_string(), &left)))
//!     }
//!
//!     fn picture(state: &State, _viewer: Perspective) -> Picture {
//!         Picture { blocks: vec![Block::Lines(vec![TextLine::plain(format!("total {}", state.total))])] }
//!     }
//! }
//!
//! // A match, with nothing known of the game but its name.
//! let registry = Registry::default().with(erase::<TwentyOne>());
//! let rules = registry.find("twentyone").expect("it was added");
//! let mut state = rules.start(&rules.read_setup("total = 17")?)?;
//! let entry = |seq, seat, text| Logged { seq, seat, command: CommandSource::Text(text) };
//! let log = [entry(1, Seat::P1, "add 1"), entry(2, Seat::P2, "add 3")];
//! let mut outcomes = Vec::new();
//! state.fold(&log, &DicePolicy::Recorded, &mut |step| outcomes.push(step.outcome().to_string()))?;
//! assert_eq!(outcomes, ["added total=18", "added total=21; match_over winner=p2"]);
//! assert!(state.over() && state.legal(Seat::P1).is_empty());
//! assert_eq!(&*state.view(Seat::P1.into()), r#"{"ruleset":"twentyone","total":21,"turn":"p1"}"#);
//! let late = state.judge(Seat::P1, "add 1").unwrap_err();
//! assert_eq!((late.code.as_str(), late.message.as_str()), ("match_over", "the match is over"));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! Before you trust it, test it against the laws: legal commands apply and others do not, text and bytes read back, a
//! resumed match continues as before, and no seat sees what is secret. The crate `turnfold-laws` has these tests: call
//! its `require_kept` in one test, as in `examples/nim`. `turnfold simulate` plays the game at random, `turnfold bless`
//! writes golden logs for you to read, and `turnfold check` compares with them from then on.
//!
//! # Dice
//!
//! A ruleset rolls nothing. Its `due_roll` returns the roll that it waits for, and `host` records the values with a command of
//! the game, which `roll` makes and `rolled` recognizes. While a roll is due no other command is accepted. So any dice
//! will do: real ones, or dice that follow from a seed, as here. `candidates` of the host list some rolls.
//!
//! ```
//! use turnfold_games::initiative::Initiative;
//! use turnfold_core::{DicePolicy, Rules, Seat, Seed, any::erase};
//!
//! let rules = erase::<Initiative>();
//! let state = rules.start(&rules.read_setup(Initiative::EXAMPLE)?)?;
//! let due = state.due_roll().expect("a turn begins with a roll");
//! assert_eq!((due.count, due.low, due.high), (4, 1, 6));
//! let values = state.seeded_roll(&DicePolicy::Seeded(Seed::new([7; 32]))).expect("a seed gives values");
//! assert!(due.accepts(&values));
//! let roll = state.roll_command(values).expect("the game has dice");
//! assert!(state.judge(Seat::Host, &roll).is_ok() && state.judge(Seat::P1, &roll).is_err());
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! # Secrets
//!
//! `SECRETS` names what a game conceals. `view` leaves out what its viewer may not know, and `shows` decides who may
//! know of each command and effect. Everything that shows a match uses these two. In *cycletap* both players plan in
//! secret:
//!
//! ```
//! use turnfold_games::cycletap::Cycletap;
//! use turnfold_core::{CommandSource, DicePolicy, Logged, Rules, Seat, any::erase};
//!
//! let rules = erase::<Cycletap>();
//! let setup = rules.read_setup(Cycletap::EXAMPLE)?;
//! let state = rules.start(&setup)?;
//! let mut legal = state.legal(Seat::P1).into_iter();
//! let command = legal.find(|command| command.starts_with("tap")).expect("a unit can be tapped");
//! let tap = Logged { seq: 1, seat: Seat::P1, command: CommandSource::Text(&command) };
//! let mut concealed = Vec::new();
//! for viewer in [Seat::P1, Seat::P2, Seat::Host] {
//!     rules.start(&setup)?.fold_as(viewer.into(), &[tap], &DicePolicy::Recorded, &mut |step| {
//!         concealed.push(step.concealed());
//!     })?;
//! }
//! assert_eq!(concealed, [false, true, false]);
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! # Pictures
//!
//! A [`Picture`](crate::picture::Picture) lists what a viewer sees, block below block. The program draws it as
//! characters, as SVG and as a page. A color is never the only sign of a difference.
//!
//! ```
//! use turnfold_core::picture::{Bar, Block, Picture, TextLine, Tint};
//!
//! let label = TextLine::plain("total ").with("of 21", Tint::Faint);
//! let bar = Bar { label, value: 17, of: 21, tint: Tint::Plain, chips: Vec::new(), target: String::new() };
//! let picture = Picture { blocks: vec![Block::Bars(vec![bar]), Block::Lines(vec![TextLine::plain("p2 adds")])] };
//! assert_eq!(picture.blocks.len(), 2);
//! ```
//!
//! # Results
//!
//! A match is over once it has a `result`; `matches --long` lists it. The module
//! [`ending`](crate::ending) has what many games share: resigning, draws by agreement, and clocks that count ticks. A game
//! keeps these in its state. `left_out_at_random` marks commands such as `resign`, so that random play does not end
//! with them.
//!
//! ```
//! use turnfold_core::ending::{Agreement, Clock};
//! use turnfold_core::{MatchResult, Seat, Ticks};
//!
//! let players = Seat::players(2);
//! let mut agreement = Agreement::default();
//! agreement.offer_draw(Seat::P1);
//! assert_eq!(agreement.result(players), None);
//! agreement.offer_draw(Seat::P2);
//! assert_eq!(agreement.result(players).map(|result| result.to_string()).as_deref(), Some("draw (agreed)"));
//!
//! let mut clock = Clock::new(players, Ticks::FEW, 0);
//! let is_out_of_time = clock.tick(Seat::P2, Ticks::FEW);
//! let result = is_out_of_time.then(|| MatchResult::won_by([Seat::P1]).because("time"));
//! assert_eq!(result.map(|result| result.to_string()).as_deref(), Some("p1 won (time)"));
//! ```
