//! `accord`: what is agreed on a match besides its log: the terms of play and absences (SV-45), what is taken back, and the
//! current branch (SV-63 to SV-65).
//!
//! An accord is a separate match, as a desk is. It has no board and no secrets, and never looks at the game: the
//! service states when something happened, and does what follows.
//!
//! ```
//! use turnfold_core::rules::accord::Accord;
//! use turnfold_core::{Rules, Seat};
//!
//! let mut state = Accord::start(&toml::from_str(Accord::EXAMPLE)?)?;
//! let absent = "absent 2026-12-01T18:00:00Z 2026-12-05T18:00:00Z".parse()?;
//! assert!(Accord::apply(&mut state, Seat::P1, &absent, &mut ()).is_ok());
//! assert_eq!(state.absent_until(Seat::P1).unwrap().to_string(), "2026-12-05T18:00:00Z");
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

use core::fmt;
use core::str::FromStr;

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::desk::{self, Missed, check_commands};
use super::{Rules, Secrets, SetupError};
use crate::admission::Issuer;
use crate::declare::{arguments, commands, effects, reasons};
use crate::digest::Digest;
use crate::names::BranchName;
use crate::outcome::{EffectSink, Ruling, Verdict};
use crate::paper::{DeskTime, MatchId};
use crate::picture::{Block, Picture, TextLine};
use crate::seat::{Perspective, Seat};
use crate::text::Malformed;

/// The ruleset `accord`.
#[derive(Debug)]
pub struct Accord;

/// The terms of play, with their meaning at a desk (PM-17, PM-37, PM-39). The order of fields is the format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Terms {
    /// The hours of each turn; 0 for turns without a deadline.
    pub hours: u16,
    /// What happens to a seat that missed a deadline.
    pub missed: Missed,
    /// The commands for a seat that missed a deadline, at most 20.
    pub default: Vec<String>,
    /// The commands of the host while the game waits for no player, at most 20.
    pub between: Vec<String>,
    /// The misses in a row after which the match no longer waits for a seat; 0 for never.
    pub patience: u32,
    /// The days that each seat may be absent in all.
    pub absences: u16,
}

/// The setup as written in TOML.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// The id of the game's match: 32 hex digits.
    #[serde(rename = "match")]
    pub match_id: String,
    /// The link of the game's Genesis: 64 hex digits.
    pub game: String,
    /// The players, 1..=16.
    pub seats: u8,
    /// The hours of each turn, at most 8760; 0 for turns without a deadline.
    #[serde(default = "desk::default_hours")]
    pub hours: u16,
    /// What happens to a seat that missed a deadline.
    #[serde(default)]
    pub missed: Missed,
    /// The commands for a seat that missed a deadline.
    #[serde(default)]
    pub default: Vec<String>,
    /// The commands of the host while the game waits for no player.
    #[serde(default)]
    pub between: Vec<String>,
    /// The misses in a row after which the match no longer waits for a seat; 0 for never.
    #[serde(default = "desk::default_patience")]
    pub patience: u32,
    /// The days that each seat may be absent in all, at most 366.
    #[serde(default = "desk::default_absences")]
    pub absences: u16,
}

/// The state of an accord.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    seats: u8,
    terms: Terms,
    absences: BTreeMap<Seat, Absence>,
    /// The current branch of the match.
    branch: BranchName,
    /// The branches that were current before.
    left: BTreeSet<BranchName>,
    /// How many times a player asked to take something back.
    asked: u32,
    /// What a player asks to take back and the others have not all answered.
    takeback: Option<Takeback>,
    /// The last entry there was when the others declined what a seat asked for, or it changed its mind.
    declined: BTreeMap<Seat, (BranchName, u64)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Absence {
    said: DeskTime,
    until: DeskTime,
    days: u64,
}

/// What a player asks to take back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Takeback {
    /// Its number, from 1.
    pub number: u32,
    /// Who asks.
    pub by: Seat,
    /// The current branch of the match.
    pub branch: BranchName,
    /// The last entry there was when the player asked. With another one there is nothing to answer any more.
    pub head: u64,
    /// The entry after which the match is to go on.
    pub after: u64,
    /// Who agreed.
    pub agreed: BTreeSet<Seat>,
}

commands! {
    /// An input of the accord. The order of the forms is part of the log format.
    pub enum Command, "`terms TERMS`, `absent FROM UNTIL`, `takeback BRANCH HEAD AFTER`, `agree N`, `decline N` or `stand BRANCH`" {
        /// The host sets the terms, which are written as JSON.
        "terms" => Terms(terms: Terms),
        /// A player announces, at the first time, an absence until the second.
        "absent" => Absent(from: DeskTime, until: DeskTime),
        /// A player asks to go on from an earlier entry of the branch, which has entries up to a head.
        "takeback" => Takeback(branch: BranchName, head: u64, after: u64),
        /// A player agrees to what another asked for.
        "agree" => Agree(number: u32),
        /// A player does not agree, or asks no longer.
        "decline" => Decline(number: u32),
        /// The host has the match continue on another branch.
        "stand" => Stand(branch: BranchName),
    }
}

arguments!(Terms, DeskTime, BranchName);

impl Command {
    /// Returns its bytes in the log.
    ///
    /// # Panics
    /// Never: plain data encodes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_allocvec(self).expect("plain data encodes")
    }
}

effects! {
    /// Something that happened at an accord.
    pub enum Effect {
        /// The terms changed.
        TermsSet,
        /// A player is away.
        Absent {
            /// The player's seat.
            seat: Seat,
            /// The end of the absence.
            until: DeskTime,
        },
        /// A player asks to take back what came after an entry.
        Asked {
            /// Who.
            seat: Seat,
            /// The entry.
            after: u64,
        },
        /// A player agrees.
        Agreed {
            /// Who.
            seat: Seat,
        },
        /// A player does not agree, or asks no longer.
        Declined {
            /// Who.
            seat: Seat,
        },
        /// The match continues on another branch.
        Moved {
            /// The branch.
            branch: BranchName,
        },
    }
}

reasons! {
    /// Why a command changes nothing.
    pub enum Reason {
        /// SV-48: the time is not later than that of the command or of an earlier absence.
        NotLater = Ruling::of("not_later", &["SV-48"]).says("the time is not later"),
        /// SV-48: the seat would be absent for more days than the terms allow.
        TooLong = Ruling::of("too_long", &["SV-48"]).says("the terms allow no absence that long"),
        /// SV-63: that branch is not the current one.
        OtherBranch = Ruling::of("other_branch", &["SV-63"]).says("the match continues on another branch"),
        /// SV-63: another player asked already.
        AlreadyAsked = Ruling::of("already_asked", &["SV-63"]).says("there is such a question already; answer it first"),
        /// SV-64: the question was answered or withdrawn at this entry.
        Answered = Ruling::of("answered", &["SV-64"]).says("that was answered; ask again after another entry"),
        /// SV-64: no such question is open, or it is the seat's own.
        NoQuestion = Ruling::of("no_question", &["SV-64"]).says("there is no such question to answer"),
        /// SV-65: the match continues there already.
        SameBranch = Ruling::of("same_branch", &["SV-65"]).says("the match continues there already"),
    }
}

reasons! {
    /// Why a command is not recorded, besides the reasons that all rulesets share.
    pub enum Rejection {
        /// SV-45: the terms are not allowed.
        BadTerms = Ruling::of("bad_terms", &["SV-45"]).says("these terms are not allowed"),
        /// SV-63: the entry is the last one or comes after it.
        NotBefore = Ruling::of("not_before", &["SV-63"]).says("the entry is not before the last one"),
    }
}

/// What to do.
#[derive(Debug)]
pub enum Plan {
    /// The terms change.
    Terms(Terms),
    /// A seat announces, at the first time, an absence until the second. Its days of absence add up to the number.
    Absent(Seat, DeskTime, DeskTime, u64),
    /// A player asks.
    Ask(Takeback),
    /// A seat agrees.
    Agree(Seat),
    /// A seat declines what is asked.
    Decline(Seat),
    /// The match continues on another branch.
    Stand(BranchName),
}

/// The view of an accord, which is the same for everyone.
#[derive(Debug, Serialize)]
pub struct View {
    terms: Terms,
    absent: BTreeMap<Seat, DeskTime>,
    branch: BranchName,
    takeback: Option<Takeback>,
}

impl Terms {
    /// The terms of a match that has none: nothing is hosted, and no deadline counts.
    #[must_use]
    pub const fn none() -> Self {
        let missed = Missed::Wait;
        Self { hours: 0, missed, default: Vec::new(), between: Vec::new(), patience: 0, absences: 0 }
    }

    /// Requires terms to be allowed.
    ///
    /// # Errors
    /// [`SetupError`] naming the field.
    pub fn check(&self) -> Result<(), SetupError> {
        SetupError::within("hours", &self.hours, 0..=8760)?;
        check_commands("default", &self.default)?;
        check_commands("between", &self.between)?;
        SetupError::within("absences", &self.absences, 0..=366)
    }
}

/// Writes the terms as JSON.
impl fmt::Display for Terms {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let json = serde_json::to_string(self).map_err(|_| fmt::Error)?;
        out.write_str(&json)
    }
}

impl FromStr for Terms {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let terms: Option<Self> = serde_json::from_str(text).ok();
        let terms = terms.filter(|terms| format!("{terms}") == text);
        terms.ok_or_else(|| Malformed::expected("terms as JSON, without spaces", text))
    }
}

impl Setup {
    /// Returns the terms with which the accord begins.
    #[must_use]
    pub fn terms(&self) -> Terms {
        Terms {
            hours: self.hours,
            missed: self.missed,
            default: self.default.clone(),
            between: self.between.clone(),
            patience: self.patience,
            absences: self.absences,
        }
    }

    /// Returns its bytes in the log.
    ///
    /// # Panics
    /// Never: plain data encodes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_allocvec(self).expect("plain data encodes")
    }
}

impl State {
    /// Returns how many players there are.
    #[must_use]
    pub const fn seats(&self) -> u8 {
        self.seats
    }

    /// Returns the terms that count now.
    #[must_use]
    pub const fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Returns `true` if the service hosts the match by its terms.
    #[must_use]
    pub fn has_terms(&self) -> bool {
        self.terms != Terms::none()
    }

    /// Returns the current branch of the match (SV-65).
    #[must_use]
    pub const fn branch(&self) -> &BranchName {
        &self.branch
    }

    /// Returns `true` if the match was played on this branch before, and does no longer.
    #[must_use]
    pub fn has_left(&self, branch: &BranchName) -> bool {
        self.left.contains(branch)
    }

    /// Returns what a player asks to take back, if nobody declined it and the match did not go on.
    #[must_use]
    pub fn takeback(&self, head: u64) -> Option<&Takeback> {
        self.takeback.as_ref().filter(|takeback| takeback.head == head)
    }

    /// SV-63: one question at a time, and none again at the entry at which it was answered.
    fn ask(&self, by: Seat, branch: &BranchName, head: u64, after: u64) -> Result<Plan, Reason> {
        if *branch != self.branch {
            return Err(Reason::OtherBranch);
        }
        if self.takeback(head).is_some() {
            return Err(Reason::AlreadyAsked);
        }
        if self.declined.get(&by) == Some(&(branch.clone(), head)) {
            return Err(Reason::Answered);
        }
        let number = self.asked.saturating_add(1);
        let agreed = BTreeSet::new();
        Ok(Plan::Ask(Takeback { number, by, branch: branch.clone(), head, after, agreed }))
    }

    /// SV-64: another player answers, and whoever asked can withdraw.
    fn answer(&self, seat: Seat, number: u32, agrees: bool) -> Result<Plan, Reason> {
        let asked = self.takeback.as_ref().filter(|asked| asked.number == number);
        let asked = asked.ok_or(Reason::NoQuestion)?;
        if agrees && (asked.by == seat || asked.agreed.contains(&seat)) {
            return Err(Reason::NoQuestion);
        }
        Ok(if agrees { Plan::Agree(seat) } else { Plan::Decline(seat) })
    }

    /// Returns until when a player is or was absent, if any absence was announced.
    #[must_use]
    pub fn absent_until(&self, seat: Seat) -> Option<DeskTime> {
        self.absences.get(&seat).map(|absence| absence.until)
    }

    /// Returns when a player last announced an absence.
    #[must_use]
    pub fn last_said(&self, seat: Seat) -> Option<DeskTime> {
        self.absences.get(&seat).map(|absence| absence.said)
    }

    fn absent(&self) -> BTreeMap<Seat, DeskTime> {
        self.absences.iter().map(|(seat, absence)| (*seat, absence.until)).collect()
    }

    /// SV-48: an absence counts in whole days, rounded up.
    fn absence(&self, seat: Seat, from: DeskTime, until: DeskTime) -> Result<Plan, Reason> {
        let before = self.absences.get(&seat);
        let begins = before.map_or(from, |before| before.until.max(from));
        if until <= begins {
            return Err(Reason::NotLater);
        }
        let more = (until.unix_seconds() - begins.unix_seconds()).div_ceil(24 * 60 * 60);
        let days = before.map_or(0, |before| before.days).saturating_add(more);
        if days > u64::from(self.terms.absences) {
            return Err(Reason::TooLong);
        }
        Ok(Plan::Absent(seat, from, until, days))
    }
}

impl Rules for Accord {
    const NAME: &'static str = "accord";
    const VERSION: u32 = 1;
    const SUMMARY: &'static str = "the accord of a match on a service: terms, absences and the branch";
    const EXAMPLE: &'static str = "\
match = \"5f0c9d3e1a2b4c6d8e9f0a1b2c3d4e5f\"
game = \"826f618eed31aac0826f618eed31aac0826f618eed31aac0826f618eed31aac0\"
seats = 2
";
    const RULEBOOK: &'static str = "# accord\n\nWhat is agreed on a match: terms and absences (SV-45), and the current branch (SV-65).\n";
    const SECRETS: Secrets<Self> = Secrets::None;

    type Setup = Setup;
    type State = State;
    type Command = Command;
    type Plan = Plan;
    type Effect = Effect;
    type Reason = Reason;
    type Rejection = Rejection;
    type View = View;

    fn start(setup: &Setup) -> Result<State, SetupError> {
        let read = setup.match_id.parse::<MatchId>();
        read.map_err(|error| SetupError::value("match", format!("{error}")))?;
        let read = setup.game.parse::<Digest>();
        read.map_err(|error| SetupError::value("game", format!("{error}")))?;
        SetupError::within("seats", &setup.seats, 1..=16)?;
        let terms = setup.terms();
        terms.check()?;
        Ok(State {
            seats: setup.seats,
            terms,
            absences: BTreeMap::new(),
            branch: BranchName::main(),
            left: BTreeSet::new(),
            asked: 0,
            takeback: None,
            declined: BTreeMap::new(),
        })
    }

    fn decide(state: &State, seat: Seat, command: &Command) -> Result<Verdict<Plan, Reason>, Rejection> {
        let decided = match command {
            Command::Terms(terms) if terms.check().is_err() => return Err(Rejection::BadTerms),
            Command::Terms(terms) => Ok(Plan::Terms(terms.clone())),
            Command::Absent(from, until) => state.absence(seat, *from, *until),
            Command::Takeback(_, head, after) if after >= head => return Err(Rejection::NotBefore),
            Command::Takeback(branch, head, after) => state.ask(seat, branch, *head, *after),
            Command::Agree(number) => state.answer(seat, *number, true),
            Command::Decline(number) => state.answer(seat, *number, false),
            Command::Stand(branch) if *branch == state.branch => Err(Reason::SameBranch),
            Command::Stand(branch) => Ok(Plan::Stand(branch.clone())),
        };
        Ok(match decided {
            Ok(plan) => Verdict::Applied(plan),
            Err(reason) => Verdict::Ignored(reason),
        })
    }

    fn carry_out(state: &mut State, plan: Plan, effects: &mut impl EffectSink<Effect>) {
        match plan {
            Plan::Terms(terms) => {
                state.terms = terms;
                effects.push(|| Effect::TermsSet);
            }
            Plan::Absent(seat, said, until, days) => {
                state.absences.insert(seat, Absence { said, until, days });
                effects.push(|| Effect::Absent { seat, until });
            }
            Plan::Ask(takeback) => {
                let Takeback { number, by: seat, after, .. } = takeback;
                state.asked = number;
                state.takeback = Some(takeback);
                effects.push(|| Effect::Asked { seat, after });
            }
            Plan::Agree(seat) => {
                if let Some(takeback) = &mut state.takeback {
                    takeback.agreed.insert(seat);
                }
                effects.push(|| Effect::Agreed { seat });
            }
            Plan::Decline(seat) => {
                if let Some(Takeback { by, branch, head, .. }) = state.takeback.take() {
                    state.declined.insert(by, (branch, head));
                }
                effects.push(|| Effect::Declined { seat });
            }
            Plan::Stand(branch) => {
                state.left.remove(&branch);
                state.left.insert(core::mem::replace(&mut state.branch, branch.clone()));
                state.takeback = None;
                effects.push(|| Effect::Moved { branch });
            }
        }
    }

    fn players(state: &State) -> &[Seat] {
        Seat::players(state.seats.into())
    }

    fn issuer(command: &Command) -> Issuer {
        match command {
            Command::Terms(_) | Command::Stand(_) => Issuer::Host,
            Command::Absent(..) | Command::Takeback(..) | Command::Agree(_) | Command::Decline(_) => {
                Issuer::Player
            }
        }
    }

    /// Terms and times are unbounded, so no commands are listed.
    fn candidates(_state: &State, _seat: Seat) -> Vec<Command> {
        Vec::new()
    }

    fn view(state: &State, _viewer: Perspective) -> View {
        View {
            terms: state.terms.clone(),
            absent: state.absent(),
            branch: state.branch.clone(),
            takeback: state.takeback.clone(),
        }
    }

    fn picture(state: &State, _viewer: Perspective) -> Picture {
        let mut lines = Vec::from([TextLine::plain(format!("terms {}", state.terms))]);
        for (seat, until) in state.absent() {
            lines.push(TextLine::plain(format!("{seat} is absent until {until}")));
        }
        lines.push(TextLine::plain(format!("on branch {}", state.branch)));
        if let Some(Takeback { by, after, .. }) = &state.takeback {
            lines.push(TextLine::plain(format!("{by} asks to go on after entry {after}")));
        }
        Picture { blocks: Vec::from([Block::Lines(lines)]) }
    }
}
