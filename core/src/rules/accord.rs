//! `accord`: what a service knows about a hosted match besides its log: the terms of play, and absences (SV-45).
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

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::desk::{Missed, check_commands};
use super::{Rules, Secrets, SetupError};
use crate::admission::Issuer;
use crate::declare::{arguments, commands, effects, reasons};
use crate::digest::Digest;
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
    #[serde(default = "default_hours")]
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
    #[serde(default = "default_patience")]
    pub patience: u32,
    /// The days that each seat may be absent in all, at most 366.
    #[serde(default = "default_absences")]
    pub absences: u16,
}

const fn default_hours() -> u16 {
    72
}

const fn default_patience() -> u32 {
    3
}

const fn default_absences() -> u16 {
    14
}

/// The state of an accord.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    seats: u8,
    terms: Terms,
    absences: BTreeMap<Seat, Absence>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Absence {
    said: DeskTime,
    until: DeskTime,
    days: u64,
}

commands! {
    /// An input of the accord. The order of the forms is part of the log format.
    pub enum Command, "`terms TERMS` or `absent FROM UNTIL`" {
        /// The host sets the terms, which are written as JSON.
        "terms" => Terms(terms: Terms),
        /// A player announces, at the first time, an absence until the second.
        "absent" => Absent(from: DeskTime, until: DeskTime),
    }
}

arguments!(Terms, DeskTime);

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
    }
}

reasons! {
    /// Why a command changes nothing.
    pub enum Reason {
        /// SV-48: the time is not later than that of the command or of an earlier absence.
        NotLater = Ruling::of("not_later", &["SV-48"]).says("the time is not later"),
        /// SV-48: the seat would be absent for more days than the terms allow.
        TooLong = Ruling::of("too_long", &["SV-48"]).says("the terms allow no absence that long"),
    }
}

reasons! {
    /// Why a command is not recorded, besides the reasons that all rulesets share.
    pub enum Rejection {
        /// SV-45: the terms are not allowed.
        BadTerms = Ruling::of("bad_terms", &["SV-45"]).says("these terms are not allowed"),
    }
}

/// What to do.
#[derive(Debug)]
pub enum Plan {
    /// The terms change.
    Terms(Terms),
    /// A seat announces, at the first time, an absence until the second. Its days of absence add up to the number.
    Absent(Seat, DeskTime, DeskTime, u64),
}

/// The view of an accord, which is the same for everyone.
#[derive(Debug, Serialize)]
pub struct View {
    terms: Terms,
    absent: BTreeMap<Seat, DeskTime>,
}

impl Terms {
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
    const SUMMARY: &'static str = "the accord of a match on a service: terms and absences";
    const EXAMPLE: &'static str = "\
match = \"5f0c9d3e1a2b4c6d8e9f0a1b2c3d4e5f\"
game = \"826f618eed31aac0826f618eed31aac0826f618eed31aac0826f618eed31aac0\"
seats = 2
";
    const RULEBOOK: &'static str = "# accord\n\nWhat a service knows of a match that it hosts (SV-45).\n";
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
        Ok(State { seats: setup.seats, terms, absences: BTreeMap::new() })
    }

    fn decide(state: &State, seat: Seat, command: &Command) -> Result<Verdict<Plan, Reason>, Rejection> {
        let decided = match command {
            Command::Terms(terms) if terms.check().is_err() => return Err(Rejection::BadTerms),
            Command::Terms(terms) => Ok(Plan::Terms(terms.clone())),
            Command::Absent(from, until) => state.absence(seat, *from, *until),
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
        }
    }

    fn players(state: &State) -> &[Seat] {
        Seat::players(state.seats.into())
    }

    fn issuer(command: &Command) -> Issuer {
        match command {
            Command::Terms(_) => Issuer::Host,
            Command::Absent(..) => Issuer::Player,
        }
    }

    /// Terms and times are unbounded, so no commands are listed.
    fn candidates(_state: &State, _seat: Seat) -> Vec<Command> {
        Vec::new()
    }

    fn view(state: &State, _viewer: Perspective) -> View {
        View { terms: state.terms.clone(), absent: state.absent() }
    }

    fn picture(state: &State, _viewer: Perspective) -> Picture {
        let mut lines = Vec::from([TextLine::plain(format!("terms {}", state.terms))]);
        for (seat, until) in state.absent() {
            lines.push(TextLine::plain(format!("{seat} is absent until {until}")));
        }
        Picture { blocks: Vec::from([Block::Lines(lines)]) }
    }
}
