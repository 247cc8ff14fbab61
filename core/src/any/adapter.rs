//! The one implementation of the erased traits, for every ruleset alike.

use core::marker::PhantomData;
use core::mem;

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::erased_trial::trial;
use super::{AnyRules, AnyState, AnyTrial, Choice, FoldError, Logged, Step};
use crate::decode::{DecodeError, decode_strictly};
use crate::dice::{DicePolicy, DiceStream, DueRoll};
use crate::digest::Digest;
use crate::ending::MatchResult;
use crate::fold::{Folder, perspective, view_at, view_json};
use crate::hash::hash_as;
use crate::json::Json;
use crate::outcome::{Rejected, Ruled, Verdict};
use crate::picture::Picture;
use crate::rules::{Answer, NamedSetup, QueryError, Rules, Secrets, SetupError};
use crate::seat::{Perspective, Seat};
use crate::simulate;
use crate::targets::Targets;
use crate::text::{Malformed, split_verb};

/// Erases the types of a ruleset.
#[must_use]
pub fn erase<R: Rules>() -> Arc<dyn AnyRules> {
    Arc::new(Adapter::<R>(PhantomData))
}

struct Adapter<R>(PhantomData<fn() -> R>);

impl<R: Rules> AnyRules for Adapter<R> {
    fn name(&self) -> &str {
        R::NAME
    }

    fn version(&self) -> u32 {
        R::VERSION
    }

    fn summary(&self) -> &str {
        R::SUMMARY
    }

    fn example(&self) -> &str {
        R::EXAMPLE
    }

    fn setups(&self) -> Vec<NamedSetup<'_>> {
        R::SETUPS.to_vec()
    }

    fn mail_terms(&self) -> &str {
        R::MAIL_TERMS
    }

    fn has_secrets(&self) -> bool {
        !matches!(R::SECRETS, Secrets::None)
    }

    fn rulebook(&self) -> &str {
        R::RULEBOOK
    }

    fn ignored_codes(&self) -> Vec<&str> {
        R::Reason::ALL.iter().map(|reason| reason.ruling().code).collect()
    }

    fn rejected_codes(&self) -> Vec<&str> {
        R::Rejection::ALL.iter().map(|rejection| rejection.ruling().code).collect()
    }

    fn read_setup(&self, toml: &str) -> Result<Vec<u8>, SetupError> {
        encode_setup::<R>(&setup_from_toml(toml)?)
    }

    fn read_setup_of(&self, document: &str) -> Result<Vec<u8>, SetupError> {
        let Document { setup } = setup_from_toml(document)?;
        encode_setup::<R>(&setup)
    }

    fn write_setup(&self, setup: &[u8]) -> Result<String, SetupError> {
        toml::to_string(&decode_setup::<R>(setup)?).map_err(|error| SetupError::Bytes(error.to_string()))
    }

    fn canonical(&self, command: &str) -> Result<String, Malformed> {
        Ok(command.parse::<R::Command>()?.to_string())
    }

    fn rule_ids(&self, code: &str) -> Vec<&str> {
        let reasons = R::Reason::ALL.iter().map(|reason| reason.ruling());
        let mut rulings = reasons.chain(R::Rejection::ALL.iter().map(|rejection| rejection.ruling()));
        match rulings.find(|ruling| ruling.code == code) {
            Some(ruling) => ruling.rules.to_vec(),
            None => Vec::new(),
        }
    }

    fn command_text(&self, command: &[u8]) -> Result<String, DecodeError> {
        Ok(decode_strictly::<R::Command>(command)?.to_string())
    }

    fn start(&self, setup: &[u8]) -> Result<Box<dyn AnyState>, SetupError> {
        Ok(Box::new(Folder::<R>::new(R::start(&decode_setup::<R>(setup)?)?, 0)))
    }

    fn resume(&self, state: &[u8], rolls: u64) -> Result<Box<dyn AnyState>, DecodeError> {
        Ok(Box::new(Folder::<R>::new(decode_strictly(state)?, rolls)))
    }
}

fn decode_setup<R: Rules>(bytes: &[u8]) -> Result<R::Setup, SetupError> {
    decode_strictly(bytes).map_err(|cause| SetupError::Bytes(cause.to_string()))
}

/// A document with a setup, whatever else is in it.
#[derive(Deserialize)]
struct Document<S> {
    setup: S,
}

/// Requires that a match can start from a setup, and encodes it.
fn encode_setup<R: Rules>(setup: &R::Setup) -> Result<Vec<u8>, SetupError> {
    R::start(setup)?;
    Ok(postcard::to_allocvec(setup).expect("plain data encodes"))
}

/// Reads a setup from TOML.
///
/// # Errors
/// [`SetupError::Text`] with the line and column.
pub fn setup_from_toml<T: DeserializeOwned>(text: &str) -> Result<T, SetupError> {
    toml::from_str(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        SetupError::in_text(text, start, error.message())
    })
}

/// Returns the commands that random play chooses from.
fn drawn_from<R: Rules>(state: &R::State, seat: Seat) -> Vec<R::Command> {
    let mut candidates = R::candidates(state, seat);
    candidates.retain(|command| !R::left_out_at_random(command));
    candidates
}

fn is_legal<R: Rules>(state: &R::State, seat: Seat, command: &R::Command) -> bool {
    matches!(R::judge(state, seat, command), Ok(Verdict::Applied(_)))
}

impl<R: Rules> AnyState for Folder<R> {
    fn players(&self) -> &[Seat] {
        R::players(&self.state)
    }

    fn over(&self) -> bool {
        R::over(&self.state)
    }

    fn result(&self) -> Option<MatchResult> {
        R::result(&self.state)
    }

    fn turn(&self) -> Option<u64> {
        R::turn(&self.state)
    }

    fn has_secrets(&self) -> bool {
        !matches!(R::SECRETS, Secrets::None)
    }

    fn read(&self, command: &str) -> Result<String, Malformed> {
        Ok(R::read(&self.state, command)?.to_string())
    }

    fn due_roll(&self) -> Option<DueRoll> {
        R::due_roll(&self.state)
    }

    fn rolls(&self) -> u64 {
        self.rolls
    }

    fn seeded_roll(&self, dice: &DicePolicy) -> Option<Vec<i32>> {
        dice.values(self.rolls.saturating_add(1), &R::due_roll(&self.state)?)
    }

    fn roll_command(&self, values: Vec<i32>) -> Option<String> {
        Some(R::roll(values)?.to_string())
    }

    fn default_seat(&self, command: &str) -> Option<Seat> {
        let command = command.parse().ok()?;
        Some(R::default_seat(&self.state, &command))
    }

    fn judge(&self, seat: Seat, command: &str) -> Result<Verdict, Rejected> {
        let command = command.parse::<R::Command>().map_err(|cause| Rejected::new("malformed", cause.0))?;
        match R::judge(&self.state, seat, &command) {
            Ok(Verdict::Applied(_)) => Ok(Verdict::Applied(())),
            Ok(Verdict::Ignored(reason)) => Ok(Verdict::Ignored(reason.into())),
            Err(rejection) => Err(rejection.into()),
        }
    }

    fn fold(
        &mut self,
        log: &[Logged<'_>],
        dice: &DicePolicy,
        observe: &mut dyn FnMut(&mut dyn Step),
    ) -> Result<(), FoldError> {
        Self::fold(self, log, dice, None, observe)
    }

    fn fold_as(
        &mut self,
        viewer: Perspective,
        log: &[Logged<'_>],
        dice: &DicePolicy,
        observe: &mut dyn FnMut(&mut dyn Step),
    ) -> Result<(), FoldError> {
        let mut end = Self::new(self.state.clone(), self.rolls);
        Self::fold(&mut end, log, dice, None, &mut |_| {})?;
        Self::fold(self, log, dice, Some((perspective::<R>(&end.state, viewer), &end.state)), observe)
    }

    fn fold_as_at(
        &mut self,
        viewer: Perspective,
        now: &[u8],
        log: &[Logged<'_>],
        dice: &DicePolicy,
        observe: &mut dyn FnMut(&mut dyn Step),
    ) -> Result<(), FoldError> {
        let now = decode_strictly(now).map_err(|cause| FoldError::Undecodable { seq: 0, cause })?;
        Self::fold(self, log, dice, Some((perspective::<R>(&now, viewer), &now)), observe)
    }

    fn state_hash(&self) -> Digest {
        self.hasher.clone().hash::<R>(&self.state)
    }

    fn state_hash_as(&self, version: u32) -> Digest {
        hash_as(R::NAME, version, &self.state_bytes())
    }

    fn state_bytes(&self) -> Vec<u8> {
        postcard::to_allocvec(&self.state).expect("plain data encodes")
    }

    fn legal(&self, seat: Seat) -> Vec<String> {
        R::legal(&self.state, seat).iter().map(ToString::to_string).collect()
    }

    fn targets(&self, command: &str) -> Targets {
        match command.parse() {
            Ok(command) => R::targets(&command),
            Err(_) => Targets::default(),
        }
    }

    fn legal_at_random(&self, seat: Seat) -> Vec<String> {
        let mut legal = R::legal(&self.state, seat);
        legal.retain(|command| !R::left_out_at_random(command));
        legal.iter().map(ToString::to_string).collect()
    }

    fn choices(&self, seat: Seat) -> Vec<Choice> {
        let mut kinds = Vec::new();
        let mut choices = Vec::new();
        for command in drawn_from::<R>(&self.state, seat) {
            let variant = mem::discriminant(&command);
            let kind = kinds.iter().position(|known| *known == variant).unwrap_or(kinds.len());
            if kind == kinds.len() {
                kinds.push(variant);
            }
            choices.push(Choice {
                command: command.to_string(),
                kind: u32::try_from(kind).unwrap_or(u32::MAX),
                legal: is_legal::<R>(&self.state, seat, &command),
            });
        }
        choices
    }

    fn candidates(&self, seat: Seat) -> Vec<String> {
        R::candidates(&self.state, seat).iter().map(ToString::to_string).collect()
    }

    fn random_command(&self, chance: &mut DiceStream) -> Option<(Seat, String)> {
        let state = &self.state;
        let (seat, command) = simulate::random_command(
            R::players(state),
            chance,
            |seat| drawn_from::<R>(state, seat),
            mem::discriminant,
            |seat, command| is_legal::<R>(state, seat, command),
        )?;
        Some((seat, command.to_string()))
    }

    fn setup_seen(&self, setup: &[u8], viewer: Perspective) -> Result<Vec<u8>, SetupError> {
        let viewer = self.perspective(viewer);
        let seen = R::SECRETS.setup_seen(&decode_setup::<R>(setup)?, &self.state, viewer);
        Ok(postcard::to_allocvec(&seen).expect("plain data encodes"))
    }

    fn view(&self, viewer: Perspective) -> Json {
        view_json::<R>(&self.state, self.perspective(viewer))
    }

    fn view_at(&self, viewer: Perspective, path: &str) -> Option<serde_json::Value> {
        view_at::<R>(&self.state, self.perspective(viewer), path)
    }

    fn query(&self, viewer: Perspective, question: &str) -> Result<Answer, QueryError> {
        match R::query(&self.state, self.perspective(viewer), question) {
            Ok(Some(answer)) => Ok(answer),
            Ok(None) => Err(QueryError::Unknown {
                ruleset: R::NAME.into(),
                found: split_verb(question).0.into(),
                known: R::QUERIES.into(),
            }),
            Err(malformed) => Err(QueryError::Arguments(malformed.0)),
        }
    }

    fn picture(&self, viewer: Perspective) -> Picture {
        R::picture(&self.state, self.perspective(viewer))
    }

    fn fork(&self) -> Box<dyn AnyState> {
        Box::new(Self::new(self.state.clone(), self.rolls))
    }

    fn trial(&self) -> Box<dyn AnyTrial> {
        trial::<R>(self.state.clone(), self.rolls)
    }
}
