//! Erasure: rulesets known only at run time, a whole operation at a time.
//!
//! [`AnyRules`] stands for a ruleset, [`AnyState`] for the state of one match under it. The private adapter below
//! implements both for every type that implements [`Rules`](crate::Rules); inside an operation the code is monomorphic.
//! Nothing in these traits is `'static`, so that a ruleset that is loaded at run time can implement them too.

mod adapter;
mod erased_trial;
mod fault;
mod fold_error;

use core::fmt;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::decode::DecodeError;
use crate::dice::{DicePolicy, DiceStream, DueRoll};
use crate::digest::Digest;
use crate::ending::MatchResult;
use crate::json::Json;
use crate::outcome::{Outcome, Rejected, Verdict, effect_in_words, reason_in_words};
use crate::picture::Picture;
use crate::rules::{Answer, NamedSetup, QueryError, SetupError};
use crate::seat::{Perspective, Seat};
use crate::targets::Targets;
use crate::text::Malformed;

pub use adapter::{erase, setup_from_toml};
pub use fault::{Fault, FaultKind, FaultOf};
pub use fold_error::FoldError;

/// A ruleset whose types are erased.
pub trait AnyRules: Send + Sync {
    /// Returns the ruleset's name.
    fn name(&self) -> &str;

    /// Returns the ruleset's version.
    fn version(&self) -> u32;

    /// Returns the blake3 digest of the module's file; `None` for a built-in ruleset (MD-1).
    fn module(&self) -> Option<Digest> {
        None
    }

    /// Returns the command that starts the referee; `None` for a built-in ruleset or a module (RF-4).
    fn referee(&self) -> Option<String> {
        None
    }

    /// Returns `true` if every line of text may be a command, because the rules have states in JSON. turnfold itself
    /// makes the bytes of such commands (RF-9).
    fn takes_any_line(&self) -> bool {
        false
    }

    /// Returns `false` for a recording: its entries contain their outcomes, which no rules computed (RF-18).
    fn has_rules(&self) -> bool {
        true
    }

    /// Returns the ruleset for checks, which folds entries twice: the second time from bytes and without memory, to
    /// find what a module or a referee remembers (MD-7, RF-15); `None` for a built-in ruleset.
    fn distrusting(&self) -> Option<Arc<dyn AnyRules>> {
        None
    }

    /// Returns what the game is, in one line.
    fn summary(&self) -> &str;

    /// Returns a small setup to try the game on, as TOML.
    fn example(&self) -> &str;

    /// Returns the setups that come with the game, in the order in which they are listed.
    fn setups(&self) -> Vec<NamedSetup<'_>> {
        Vec::new()
    }

    /// Returns the rules for players, as Markdown.
    fn rulebook(&self) -> &str;

    /// Returns terms for a match by mail that suit the game, as TOML; empty if the game is not meant for mail.
    fn mail_terms(&self) -> &str;

    /// Returns `true` if a part of a match may be concealed from a seat.
    fn has_secrets(&self) -> bool;

    /// Returns the names of the ruleset's reasons for ignoring a command.
    fn ignored_codes(&self) -> Vec<&str>;

    /// Returns the names of the ruleset's own rejections, without those that all rulesets share.
    fn rejected_codes(&self) -> Vec<&str>;

    /// Reads a setup from TOML, checks that a match can start from it, and returns its bytes for the log.
    ///
    /// # Errors
    /// [`SetupError`] naming the position in the text, or the field that is not allowed.
    fn read_setup(&self, toml: &str) -> Result<Vec<u8>, SetupError>;

    /// Reads a setup as [`AnyRules::read_setup`] does, from the table `setup` of a TOML document.
    ///
    /// # Errors
    /// [`SetupError`] naming the position in the document, or the field that is not allowed.
    fn read_setup_of(&self, document: &str) -> Result<Vec<u8>, SetupError>;

    /// Returns a setup as TOML, given its bytes.
    ///
    /// # Errors
    /// [`SetupError::Bytes`] if the bytes are not a setup of this ruleset.
    fn write_setup(&self, setup: &[u8]) -> Result<String, SetupError>;

    /// Returns the canonical text of a command that is spelled as in logs.
    ///
    /// # Errors
    /// [`Malformed`] if the text is not a command of this ruleset.
    fn canonical(&self, command: &str) -> Result<String, Malformed>;

    /// Returns the ids of the rules behind a reason or rejection, such as `CT-6`, by its name.
    ///
    /// Empty for a name that is neither, and for the rejections that all rulesets share.
    fn rule_ids(&self, code: &str) -> Vec<&str>;

    /// Returns the canonical text of a command, given the bytes that the log stores.
    ///
    /// # Errors
    /// [`DecodeError`] when the bytes are not exactly a command of this ruleset.
    fn command_text(&self, command: &[u8]) -> Result<String, DecodeError>;

    /// Starts a match from the bytes of a setup.
    ///
    /// # Errors
    /// [`SetupError`] if the bytes are not a setup, or the setup cannot be played.
    fn start(&self, setup: &[u8]) -> Result<Box<dyn AnyState>, SetupError>;

    /// Resumes a match from the bytes of a state and the number of rolls before it.
    ///
    /// # Errors
    /// [`DecodeError`] when the bytes are not exactly a state of this ruleset.
    fn resume(&self, state: &[u8], rolls: u64) -> Result<Box<dyn AnyState>, DecodeError>;
}

impl fmt::Debug for dyn AnyRules {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.name(), self.version())
    }
}

/// Rulesets of one name and version are equal if both are built in or share their module or referee (MD-9, RF-4).
impl PartialEq for dyn AnyRules {
    fn eq(&self, other: &Self) -> bool {
        (self.name(), self.version()) == (other.name(), other.version())
            && (self.module(), self.referee()) == (other.module(), other.referee())
    }
}

impl Eq for dyn AnyRules {}

/// The state of a match whose types are erased.
pub trait AnyState: Send {
    /// Returns the seats of the match's players.
    fn players(&self) -> &[Seat];

    /// Returns `true` once the match is over and takes no more commands.
    fn over(&self) -> bool;

    /// Returns how the match ended, or `None` while it goes on and for games without a result.
    fn result(&self) -> Option<MatchResult>;

    /// Returns the number of the turn, if the game counts turns.
    fn turn(&self) -> Option<u64>;

    /// Returns `true` if a part of a match may be concealed from a seat.
    fn has_secrets(&self) -> bool;

    /// Announces that the entries to fold are new. For new entries a module has narrower limits than for recorded ones,
    /// so that everything that was recorded can be folded again (MD-6).
    fn begin_recording(&mut self) {}

    /// Returns the canonical text of a command as someone types it in this state.
    ///
    /// # Errors
    /// [`Malformed`] if the text is not a command.
    fn read(&self, command: &str) -> Result<String, Malformed>;

    /// Returns the roll that is due.
    fn due_roll(&self) -> Option<DueRoll>;

    /// Returns the number of rolls that led to the state, on which the seeded dice depend.
    ///
    /// It counts rolls that were applied, from the start of the match, and is not part of the state or its hash.
    fn rolls(&self) -> u64;

    /// Returns the values that the dice give for the due roll; `None` if none is due or any in range are accepted.
    fn seeded_roll(&self, dice: &DicePolicy) -> Option<Vec<i32>>;

    /// Returns the command that records rolled values, or `None` for a game without dice.
    fn roll_command(&self, values: Vec<i32>) -> Option<String>;

    /// Returns the seat that issues the command when none is named, or `None` when the command is malformed.
    fn default_seat(&self, command: &str) -> Option<Seat>;

    /// Returns what a command would do, without doing it.
    ///
    /// # Errors
    /// [`Rejected`], also for malformed text.
    fn judge(&self, seat: Seat, command: &str) -> Result<Verdict, Rejected>;

    /// Folds entries into the state and passes each to `observe`.
    ///
    /// # Errors
    /// [`FoldError`] at the first entry that cannot be folded; the state is then as it was before that entry.
    fn fold(
        &mut self,
        log: &[Logged<'_>],
        dice: &DicePolicy,
        observe: &mut dyn FnMut(&mut dyn Step),
    ) -> Result<(), FoldError>;

    /// Folds entries and passes only as much of each as `viewer` may know once all of them are folded.
    ///
    /// # Errors
    /// As for [`fold`](AnyState::fold).
    fn fold_as(
        &mut self,
        viewer: Perspective,
        log: &[Logged<'_>],
        dice: &DicePolicy,
        observe: &mut dyn FnMut(&mut dyn Step),
    ) -> Result<(), FoldError>;

    /// Folds entries and passes only as much of each as `viewer` may know when the match is at the state with the bytes
    /// `now`. So a long log can be folded part by part.
    ///
    /// # Errors
    /// As for [`fold`](AnyState::fold); for the entry 0 when `now` is not exactly a state of this ruleset.
    fn fold_as_at(
        &mut self,
        viewer: Perspective,
        now: &[u8],
        log: &[Logged<'_>],
        dice: &DicePolicy,
        observe: &mut dyn FnMut(&mut dyn Step),
    ) -> Result<(), FoldError>;

    /// Returns the hash of the state.
    fn state_hash(&self) -> Digest;

    /// Returns the hash of a state of the same bytes under another version of the ruleset.
    fn state_hash_as(&self, version: u32) -> Digest;

    /// Returns the state's bytes, from which it can be resumed together with [`rolls`](AnyState::rolls).
    fn state_bytes(&self) -> Vec<u8>;

    /// Returns `false` if the legal commands are not known: a referee need not list them (RF-6).
    fn lists_legal(&self) -> bool {
        true
    }

    /// Returns `false` if the view of a viewer is not known: a referee with secrets need not give it (RF-6, RF-13).
    fn has_view(&self, _viewer: Perspective) -> bool {
        true
    }

    /// Returns the commands that `judge` would apply now, in canonical text.
    fn legal(&self, seat: Seat) -> Vec<String>;

    /// Returns the parts of a command that are clicked on the boards of a picture; none for a malformed command.
    fn targets(&self, command: &str) -> Targets;

    /// Returns the commands of `legal` for random play and counts of sequences: all but those that the game leaves out.
    fn legal_at_random(&self, seat: Seat) -> Vec<String>;

    /// Returns what random play chooses from: the candidates that the game does not leave out, in order.
    fn choices(&self, seat: Seat) -> Vec<Choice>;

    /// Returns `true` for a seat that the match waits for: it has a legal command that random play chooses from. No
    /// match waits for commands such as `resign` or the offer of a draw (PM-14).
    fn waits_for(&self, seat: Seat) -> bool {
        !self.legal_at_random(seat).is_empty()
    }

    /// Returns the commands that `legal` chooses from.
    fn candidates(&self, seat: Seat) -> Vec<String>;

    /// Draws a seat that has a legal command, and one of its legal commands but no roll, as [`Simulation`] describes.
    ///
    /// [`Simulation`]: crate::simulate::Simulation
    fn random_command(&self, chance: &mut DiceStream) -> Option<(Seat, String)>;

    /// Returns the bytes of a setup that shows no more than `viewer` may know of the setup behind this state.
    ///
    /// A match that begins with this setup and has the entries that the viewer may know of is the same in everything
    /// that the viewer sees.
    ///
    /// # Errors
    /// [`SetupError`] if the bytes are not a setup of this ruleset.
    fn setup_seen(&self, setup: &[u8], viewer: Perspective) -> Result<Vec<u8>, SetupError>;

    /// Returns the view of `viewer` as a JSON document.
    fn view(&self, viewer: Perspective) -> Json;

    /// Returns what a JSON pointer leads to in the view of `viewer`; an empty one leads to all of it.
    fn view_at(&self, viewer: Perspective, path: &str) -> Option<serde_json::Value>;

    /// Answers a question as `viewer` may know it.
    ///
    /// # Errors
    /// [`QueryError`] for an unknown question or unusable arguments.
    fn query(&self, viewer: Perspective, question: &str) -> Result<Answer, QueryError>;

    /// Returns a drawing of what `viewer` may see.
    fn picture(&self, viewer: Perspective) -> Picture;

    /// Returns an independent copy.
    fn fork(&self) -> Box<dyn AnyState>;

    /// Begins a trial at a copy of the state.
    fn trial(&self) -> Box<dyn AnyTrial>;
}

/// A state in which many logs are tried. Commands are read once, and it can return to states that were kept.
pub trait AnyTrial {
    /// Reads a command and returns its number, under which it can be folded from then on.
    ///
    /// # Errors
    /// [`Malformed`] if the text is not a command of this ruleset.
    fn read(&mut self, seat: Seat, command: &str) -> Result<usize, Malformed>;

    /// Folds a command by its number, with rolls as recorded. Returns `true` if the rules accept it.
    fn fold(&mut self, command: usize) -> bool;

    /// Returns the state.
    fn state(&self) -> &dyn AnyState;

    /// Keeps a copy of the state and returns its number. Numbers of forgotten states are used again.
    fn keep(&mut self) -> usize;

    /// Goes back to a kept state.
    fn go_back(&mut self, kept: usize);

    /// Returns `true` if the state is equal to a kept one.
    fn is_at(&self, kept: usize) -> bool;

    /// Forgets a kept state.
    fn forget(&mut self, kept: usize);
}

/// A command that random play may choose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// Its canonical text.
    pub command: String,
    /// Its kind, a variant of the ruleset's enum: kinds are counted from 0 as they first appear in the list.
    pub kind: u32,
    /// Whether `judge` would apply it now.
    pub legal: bool,
}

/// An entry to be folded.
#[derive(Clone, Copy, Debug)]
pub struct Logged<'a> {
    /// Its number, from 1.
    pub seq: u64,
    /// Who gave the command.
    pub seat: Seat,
    /// The command.
    pub command: CommandSource<'a>,
}

/// A command as people write it or as the log stores it.
#[derive(Clone, Copy, Debug)]
pub enum CommandSource<'a> {
    /// Text, canonical or not.
    Text(&'a str),
    /// Canonical postcard bytes.
    Bytes(&'a [u8]),
}

/// An entry just folded. Texts and hashes are computed on demand.
pub trait Step {
    /// Returns the entry's number.
    fn seq(&self) -> u64;
    /// Returns the seat that issued the command.
    fn seat(&self) -> Seat;
    /// Returns the command's canonical text. A roll whose values the viewer may not know has `?` in their place.
    fn command(&self) -> String;
    /// Returns the command as it is shown to people; in a recording, only the move (RF-18).
    fn shown(&self) -> String {
        self.command()
    }
    /// Returns the command for a match that has nothing but what the viewer may know: its canonical text, with
    /// meaningless values in place of concealed ones.
    fn stand_in(&self) -> String;
    /// Returns the command's canonical bytes for every viewer.
    fn command_bytes(&self) -> Vec<u8>;
    /// Returns `true` if the viewer may not know of the command.
    fn concealed(&self) -> bool;
    /// Returns `true` if the viewer may know all of the command and of every effect.
    fn wholly_shown(&self) -> bool;
    /// Returns the verdict on it, without effects.
    fn verdict(&self) -> Verdict;
    /// Returns its outcome, with the effects the viewer may know of.
    fn outcome(&self) -> Outcome;
    /// Returns the effects the viewer may know of, as a JSON array.
    fn effects_json(&self) -> Json;
    /// Returns what the viewer may know of its effects, or why it was ignored, in sentences for this reader.
    fn sentences(&self, reader: Perspective) -> Vec<String> {
        let _ = reader;
        match self.verdict() {
            Verdict::Applied(()) => self.outcome().effects().map(effect_in_words).collect(),
            Verdict::Ignored(why) => [reason_in_words(&why)].into(),
        }
    }
    /// Returns `true` if the game itself writes these sentences. Others are made from log text and read no better.
    fn is_worded(&self) -> bool {
        false
    }
    /// Returns the seats of the match's players after the entry.
    fn players(&self) -> &[Seat];
    /// Returns the result of a match that ended with the entry or before it.
    fn result(&self) -> Option<MatchResult>;
    /// Returns the number of the turn after the entry.
    fn turn(&self) -> Option<u64>;
    /// Returns the hash of the state after the entry.
    fn state_hash(&mut self) -> Digest;
    /// Returns the bytes of the state after the entry.
    fn state_bytes(&self) -> Vec<u8>;
    /// Returns a view of the state after the entry as a JSON document.
    fn view(&self, viewer: Perspective) -> Json;
    /// Returns what a JSON pointer leads to in a view of the state after the entry; an empty one leads to all of it.
    fn view_at(&self, viewer: Perspective, path: &str) -> Option<serde_json::Value>;
    /// Returns a drawing of what `viewer` may see of the state after the entry.
    fn picture(&self, viewer: Perspective) -> Picture;
}
