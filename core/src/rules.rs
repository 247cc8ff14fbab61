//! The one trait that a ruleset implements, with its own types.

use core::fmt::{Debug, Display};
use core::str::FromStr;

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::admission::{Denied, Issuer, Refusal};
use crate::dice::DueRoll;
use crate::ending::MatchResult;
use crate::json::Json;
use crate::outcome::{EffectSink, Ruled, Verdict, effect_in_words, reason_in_words};
use crate::picture::Picture;
use crate::seat::{Perspective, Seat};
pub use crate::setup::{NamedSetup, SetupError};
use crate::targets::Targets;
use crate::text::Malformed;

pub mod accord;
pub mod desk;

/// A game's rules: pure, total and deterministic.
///
/// Judging and carrying out are two steps. [`decide`](Rules::decide) only reads; it returns either a plan or a reason,
/// and only a plan reaches [`carry_out`](Rules::carry_out). So an ignored or rejected command cannot
/// change anything. Nothing here panics or runs without a bound, whatever the command.
pub trait Rules: Sized + Send + Sync + 'static {
    /// The ruleset's name: `[a-z][a-z0-9]*`.
    const NAME: &'static str;
    /// Raised by every change that makes any existing log fold differently.
    const VERSION: u32;
    /// What the game is, in one line.
    const SUMMARY: &'static str;
    /// A small setup to try the game on, as TOML.
    const EXAMPLE: &'static str;
    /// Setups that come with the game, in the order in which they are listed. None by default.
    const SETUPS: &'static [NamedSetup<'static>] = &[];
    /// The rules for players, as Markdown: `RULES.md` of the ruleset's folder.
    const RULEBOOK: &'static str;
    /// What is concealed from whom in a match. It has no default, so that no game shows secrets by an oversight.
    const SECRETS: Secrets<Self>;
    /// Terms for a match by mail that suit the game, as TOML: keys of the desk's setup. Games that are not meant for mail
    /// keep this default.
    const MAIL_TERMS: &'static str = "";
    /// The forms of the questions that a state answers, such as `` `reach UNIT` ``.
    const QUERIES: &'static str = "no questions";

    /// How a match begins, as written in TOML.
    type Setup: Clone + Debug + Serialize + DeserializeOwned;
    /// Everything the future depends on and nothing else.
    type State: Clone + Eq + Debug + Serialize + DeserializeOwned + Send;
    /// An input. `Display` writes the canonical text that `FromStr` reads back.
    type Command: Clone
        + Eq
        + Debug
        + Display
        + FromStr<Err = Malformed>
        + Serialize
        + DeserializeOwned
        + Send
        + Sync;
    /// What `judge` decided to do.
    type Plan;
    /// Something that happened: one line as `Display`, `{"effect": …}` as JSON.
    type Effect: Display + Serialize + Debug + Send;
    /// Why a command was ignored.
    type Reason: Ruled;
    /// Why a command is not accepted, besides the reasons that all rulesets share.
    type Rejection: Ruled;
    /// What a seat sees, in the stable JSON form that the rules document. The core writes its first key, `ruleset`.
    type View: Serialize;

    /// Checks a setup and returns the first state.
    ///
    /// # Errors
    /// [`SetupError`] naming the field, unit or hex that is not allowed.
    fn start(setup: &Self::Setup) -> Result<Self::State, SetupError>;

    /// Decides what an admitted command would do now. It only reads; [`judge`](Rules::judge) calls it.
    ///
    /// # Errors
    /// The first of the ruleset's own rejections that applies, in the order of the rulings.
    fn decide(state: &Self::State, seat: Seat, command: &Self::Command) -> Decision<Self>;

    /// Carries out a plan made by `judge` on this very state, reporting effects in order of happening.
    fn carry_out(state: &mut Self::State, plan: Self::Plan, effects: &mut impl EffectSink<Self::Effect>);

    /// Returns the seats of the match's players, in order, without `host`.
    fn players(state: &Self::State) -> &[Seat];

    /// Returns the kind of seat that may issue a command.
    fn issuer(command: &Self::Command) -> Issuer;

    /// Returns the player whose turn it is, if it is one player's.
    fn active_seat(state: &Self::State) -> Option<Seat> {
        let _ = state;
        None
    }

    /// Returns `true` once the match is over and takes no more commands. Games that never end keep this default, and so do
    /// games that have a [`result`](Rules::result) whenever they are over.
    fn over(state: &Self::State) -> bool {
        Self::result(state).is_some()
    }

    /// Returns how the match ended, or `None` while it goes on. Games without a result keep this default.
    ///
    /// Result and turn are the same for all viewers, so they depend on nothing that is concealed.
    fn result(state: &Self::State) -> Option<MatchResult> {
        let _ = state;
        None
    }

    /// Returns the number of the turn, in games that count turns.
    fn turn(state: &Self::State) -> Option<u64> {
        let _ = state;
        None
    }

    /// Reads a command as someone types it in this state.
    ///
    /// A game may take other spellings here, such as `Nf3` for `g1f3`; the log holds the canonical text. That text is
    /// always read as `FromStr` reads it.
    ///
    /// # Errors
    /// [`Malformed`] when the text is no command.
    fn read(state: &Self::State, text: &str) -> Result<Self::Command, Malformed> {
        let _ = state;
        text.parse()
    }

    /// Returns `true` for a legal command that random play and counts of sequences leave out, such as `resign`.
    ///
    /// A match waits for no seat that has only such commands, and a match by mail does not ask it.
    fn left_out_at_random(command: &Self::Command) -> bool {
        let _ = command;
        false
    }

    /// Returns the roll that is due. Games without dice keep this default and the next two.
    fn due_roll(state: &Self::State) -> Option<DueRoll> {
        let _ = state;
        None
    }

    /// Returns the command that records rolled values, or `None` for a game without dice.
    #[must_use]
    fn roll(values: Vec<i32>) -> Option<Self::Command> {
        let _ = values;
        None
    }

    /// Returns the values when `command` is a roll.
    fn rolled(command: &Self::Command) -> Option<&[i32]> {
        let _ = command;
        None
    }

    /// Returns `true` if all may know the values of a roll with an owner that left the state `after`, when the match is at
    /// `now`. Until then a viewer other than the owner and the host is shown the roll without values and without effects.
    ///
    /// What has been revealed stays so. By default such a roll is never revealed.
    fn reveals(after: &Self::State, now: &Self::State) -> bool {
        let _ = (after, now);
        false
    }

    /// Returns every command that `seat` might try now; a sensible sample if arguments are unbounded.
    ///
    /// Not all need to apply, but none that applies may be missing, apart from sampling. No command is listed twice.
    fn candidates(state: &Self::State, seat: Seat) -> Vec<Self::Command>;

    /// Returns the parts of a command that are clicked on the boards of a picture, in order. Games whose commands name
    /// nothing on a board keep this default.
    #[must_use]
    fn targets(command: &Self::Command) -> Targets {
        let _ = command;
        Targets::default()
    }

    /// Returns what `viewer` may see of the state. A program that knows the game reads its fields:
    ///
    /// ```
    /// use turnfold_games::initiative::Initiative;
    /// use turnfold_core::{Perspective, Rules, Seat};
    ///
    /// let setup = toml::from_str(Initiative::EXAMPLE)?;
    /// let state = Initiative::start(&setup)?;
    /// let view = Initiative::view(&state, Perspective::Seat(Seat::P1));
    /// assert_eq!((view.turn, view.units[0].owner), (1, Seat::P1));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    fn view(state: &Self::State, viewer: Perspective) -> Self::View;

    /// Returns a view in which only `field` must be right, for a search over many states. Games with other fields that
    /// are expensive to compute leave them out; all others keep this default.
    fn view_with(state: &Self::State, viewer: Perspective, field: &str) -> Self::View {
        let _ = field;
        Self::view(state, viewer)
    }

    /// Answers a question about the state as `viewer` may know it; `None` if the question is not one of
    /// [`QUERIES`](Rules::QUERIES).
    ///
    /// # Errors
    /// [`Malformed`] when the question's arguments are unusable.
    fn query(state: &Self::State, viewer: Perspective, question: &str) -> Result<Option<Answer>, Malformed> {
        let _ = (state, viewer, question);
        Ok(None)
    }

    /// Returns what an applied or ignored command of `seat` did, in whole sentences for people: one of its effects, or
    /// why nothing changed. Empty if no one needs to read it. `state` is the state after the command.
    ///
    /// The effect is one that `reader` may know. A sentence says nothing of the state that is concealed from anyone.
    /// Letters use these sentences; logs and JSON use the text of `Display`, which this default puts into words.
    fn sentence(
        state: &Self::State,
        seat: Seat,
        command: &Self::Command,
        happened: Happened<'_, Self>,
        reader: Perspective,
    ) -> String {
        let _ = (state, seat, command, reader);
        match happened {
            Ok(effect) => effect_in_words(&effect.to_string()),
            Err(reason) => reason_in_words(&reason.into()),
        }
    }

    /// Returns a drawing of what `viewer` may see.
    fn picture(state: &Self::State, viewer: Perspective) -> Picture;

    /// Returns the seat that issues `command` when none is named: the host or the player whose turn it is.
    fn default_seat(state: &Self::State, command: &Self::Command) -> Seat {
        match Self::issuer(command) {
            Issuer::Host => Seat::Host,
            Issuer::Player => Self::active_seat(state).unwrap_or(Seat::P1),
            Issuer::Seat(seat) => seat,
        }
    }

    /// Judges a command: makes the checks that all rulesets share, then lets the ruleset decide. It only reads.
    ///
    /// # Errors
    /// The first rejection that applies, in the order of the rulings.
    fn judge(state: &Self::State, seat: Seat, command: &Self::Command) -> Judged<Self> {
        admit::<Self>(state, seat, command)?;
        Self::decide(state, seat, command).map_err(Denied::Ruled)
    }

    /// Returns the commands of [`candidates`](Rules::candidates) that `judge` would apply.
    fn legal(state: &Self::State, seat: Seat) -> Vec<Self::Command> {
        let mut commands = Self::candidates(state, seat);
        commands.retain(|command| matches!(Self::judge(state, seat, command), Ok(Verdict::Applied(_))));
        commands
    }

    /// Judges a command and carries it out.
    ///
    /// # Errors
    /// The rejection; the state is then unchanged.
    fn apply(
        state: &mut Self::State,
        seat: Seat,
        command: &Self::Command,
        effects: &mut impl EffectSink<Self::Effect>,
    ) -> Result<Verdict<(), Self::Reason>, Denied<Self::Rejection>> {
        match Self::judge(state, seat, command)? {
            Verdict::Applied(plan) => {
                Self::carry_out(state, plan, effects);
                Ok(Verdict::Applied(()))
            }
            Verdict::Ignored(reason) => Ok(Verdict::Ignored(reason)),
        }
    }
}

/// Checks what all rulesets check before their own rules, in the order of the rulings.
///
/// # Errors
/// The first [`Refusal`] that applies.
pub fn admit<R: Rules>(state: &R::State, seat: Seat, command: &R::Command) -> Result<(), Refusal> {
    if R::over(state) {
        return Err(Refusal::MatchOver);
    }
    let rolled = R::rolled(command);
    let due = match R::due_roll(state) {
        Some(due) if rolled.is_none() => return Err(Refusal::RollDue(due)),
        None if rolled.is_some() => return Err(Refusal::NoRollDue),
        due => due,
    };
    let issuer = R::issuer(command);
    let entitled = match issuer {
        Issuer::Host => seat == Seat::Host,
        Issuer::Player => R::players(state).contains(&seat),
        Issuer::Seat(named) => seat == named && R::players(state).contains(&seat),
    };
    if !entitled {
        return Err(Refusal::WrongSeat(issuer));
    }
    if let (Some(due), Some(values)) = (due, rolled)
        && !due.accepts(values)
    {
        return Err(Refusal::BadRoll(due));
    }
    Ok(())
}

/// What is concealed from whom in a match, besides what each viewer's view leaves out.
pub enum Secrets<R: Rules> {
    /// Nothing: all viewers have the same view, and no record of a match may be left out of a bundle.
    None,
    /// The values of [rolls with an owner](DueRoll::owner) and nothing else.
    Rolls,
    /// What these two functions conceal, and the values of rolls with an owner.
    Kept {
        /// Returns `true` if a viewer may know of a part of an entry that left the first state, when the state of the
        /// match is the second.
        ///
        /// A part that is not shown must have changed nothing in the viewer's view, legal list, answers and picture at
        /// the second state. What is shown stays shown as the match goes on, and what is shown to a spectator is shown
        /// to every player.
        shows: Shows<R>,
        /// Returns a setup that shows no more of this one than a viewer may know when the match is at this state.
        ///
        /// What stands in place of a secret must not depend on it. A match that begins with this setup and has those
        /// entries that the viewer may know of must be the same one in all that the viewer sees.
        setup_seen: SetupSeen<R>,
    },
}

/// A function that decides what is shown: of the state after an entry, the state now, a part of the entry and a viewer.
pub type Shows<R> = fn(&<R as Rules>::State, &<R as Rules>::State, &Part<'_, R>, Perspective) -> bool;

/// A function that makes the setup that a viewer may know from the whole setup and the current state.
pub type SetupSeen<R> = fn(&<R as Rules>::Setup, &<R as Rules>::State, Perspective) -> <R as Rules>::Setup;

impl<R: Rules> Secrets<R> {
    /// Returns `true` if `viewer` may know of a part of an entry that left the state `after`, when the match is at `now`.
    pub fn shows(&self, after: &R::State, now: &R::State, part: &Part<'_, R>, viewer: Perspective) -> bool {
        match self {
            Self::None | Self::Rolls => true,
            Self::Kept { shows, .. } => shows(after, now, part, viewer),
        }
    }

    /// Returns as much of a setup as `viewer` may know when the match is at `now`.
    pub fn setup_seen(&self, setup: &R::Setup, now: &R::State, viewer: Perspective) -> R::Setup {
        match self {
            Self::None | Self::Rolls => setup.clone(),
            Self::Kept { setup_seen, .. } => setup_seen(setup, now, viewer),
        }
    }
}

/// What a command did: an effect, or the reason why it was ignored.
pub type Happened<'a, R> = Result<&'a <R as Rules>::Effect, <R as Rules>::Reason>;

/// The result of [`Rules::decide`].
pub type Decision<R> = Result<Verdict<<R as Rules>::Plan, <R as Rules>::Reason>, <R as Rules>::Rejection>;

/// The result of [`Rules::judge`].
pub type Judged<R> =
    Result<Verdict<<R as Rules>::Plan, <R as Rules>::Reason>, Denied<<R as Rules>::Rejection>>;

/// A part of an entry that a viewer may or may not know of.
#[derive(Debug)]
pub enum Part<'a, R: Rules> {
    /// The command itself, given by this seat.
    Command(Seat, &'a R::Command),
    /// One effect of a command given by this seat.
    Effect(Seat, &'a R::Effect),
}

/// The answer to a query, as text and as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// One line for people.
    pub text: String,
    /// A JSON document for programs.
    pub json: Json,
}

impl Answer {
    /// Returns an answer; `value` becomes the JSON.
    #[must_use]
    pub fn new(text: String, value: &impl Serialize) -> Self {
        Self { text, json: Json::of(value) }
    }
}

/// A question that cannot be answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(tag = "kind", content = "message", rename_all = "snake_case", deny_unknown_fields)]
pub enum QueryError {
    /// The ruleset has no such query.
    #[error("unknown query `{found}`: `{ruleset}` answers {known}")]
    Unknown {
        /// The ruleset asked.
        ruleset: String,
        /// The question's first word.
        found: String,
        /// The forms it knows.
        known: String,
    },
    /// The query's arguments are unusable.
    #[error("{0}")]
    Arguments(String),
}
