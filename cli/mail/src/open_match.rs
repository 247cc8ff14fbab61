//! `mail open`: creates a game and its desk together (PM-25).

use std::sync::Arc;

use turnfold_core::any::erase;
use turnfold_core::decode::decode_strictly;
use turnfold_core::dice::DiceStream;
use turnfold_core::dice::fair::Owner;
use turnfold_core::paper::MatchId;
use turnfold_core::rules::desk::{self, Desk, Missed, Setup};
use turnfold_core::trust::PrivateKey;
use turnfold_core::{AnyRules, AnyState, DicePolicy, DueRoll, Rules, Seat, SetupError};
use turnfold_history::Viewer;
use turnfold_history::session::ScriptCommand;
use turnfold_store::{BranchName, Genesis, MatchName, Store, StoreError};

use super::execute_turn::{Round, TurnEnd};
use super::game_turn::{GameTurn, PlayedRules};
use super::host_dice::require_no_owner;
use super::letter_words::time_zone;
use super::pairing::{DeskOf, genesis_of};
use crate::error::MailError;

const FILLED_IN: [&str; 4] = ["match", "game", "host", "head"];

/// A match by mail to create.
pub struct NewMailMatch<'a> {
    /// The name of the game.
    pub name: &'a MatchName,
    /// The rules of the game.
    pub rules: Arc<dyn AnyRules>,
    /// The setup of the game, as the log stores it.
    pub setup: Vec<u8>,
    /// The terms of play as the host wrote them in TOML, without the keys that are filled in (PM-3).
    pub terms: &'a str,
    /// Whether dice are fair; otherwise rolls are recorded.
    pub is_fair: bool,
    /// Whether to refuse terms that fail a trial (PM-37).
    pub is_tried: bool,
    /// The id of the game, which no other match has.
    pub match_id: [u8; 16],
    /// When both are created, in Unix milliseconds.
    pub created_at_ms: i64,
}

impl NewMailMatch<'_> {
    /// Creates game and desk. Completes a call that was interrupted between the two.
    ///
    /// # Errors
    /// [`SetupError`] naming the field of the terms that does not fit the game, [`MailError::Unusable`] for a
    /// setup that holds secrets, and every error of the store.
    pub fn open(self, store: &Store, key: &PrivateKey) -> Result<(), MailError> {
        let game = start_for_mail(&*self.rules, &self.setup, self.is_fair)?;
        let left = self.left_by_interrupted(store, key)?;
        let genesis = left.clone().unwrap_or_else(|| self.game(self.match_id, key));
        let desk = DeskOf::game(self.name, &genesis.match_id)?;
        let desk_genesis = self.desk(&genesis, &desk, key, game.as_ref())?;
        if genesis_of(store, &desk.name)?.is_some() {
            return Err(taken(&desk.name).into());
        }
        if left.is_none() {
            store.create_match(self.name, &genesis, Vec::new())?;
        }
        Ok(store.create_match(&desk.name, &desk_genesis, Vec::new())?)
    }

    fn game(&self, match_id: [u8; 16], key: &PrivateKey) -> Genesis {
        // FD-6: the host commits to its chain before anyone joins.
        let mut dice = DicePolicy::Recorded;
        if self.is_fair {
            dice = DicePolicy::Fair(key.dice_chain(Owner { match_id, party: Seat::Host }).head());
        }
        let genesis = Genesis {
            format: Genesis::FORMAT,
            ruleset: self.rules.name().into(),
            ruleset_version: self.rules.version(),
            setup: self.setup.clone(),
            dice,
            match_id,
            title: String::new(),
            created_at_ms: self.created_at_ms,
            module: None,
            played_by: None,
            origins: Vec::new(),
        };
        genesis.pinned(self.rules.module())
    }

    fn left_by_interrupted(&self, store: &Store, key: &PrivateKey) -> Result<Option<Genesis>, MailError> {
        let Some(found) = genesis_of(store, self.name)? else { return Ok(None) };
        let made = Genesis { created_at_ms: found.created_at_ms, ..self.game(found.match_id, key) };
        let has_desk = match DeskOf::game(self.name, &found.match_id) {
            Ok(desk) => store.genesis(&desk.name).is_ok(),
            Err(_) => false,
        };
        if made != found || has_desk || store.head(self.name, &BranchName::main())? > 0 {
            return Err(taken(self.name).into());
        }
        Ok(Some(found))
    }

    fn desk(
        &self,
        genesis: &Genesis,
        desk: &DeskOf,
        key: &PrivateKey,
        game: &dyn AnyState,
    ) -> Result<Genesis, MailError> {
        let match_id = MatchId::new(genesis.match_id).to_string();
        let mut filled = vec![
            ("match", match_id),
            ("game", genesis.link().to_string()),
            ("host", key.verifier().to_string()),
        ];
        if let DicePolicy::Fair(head) = genesis.dice {
            filled.push(("head", head.to_string()));
        }
        let setup = read_terms(self.terms, &filled)?;
        let terms: desk::Setup =
            decode_strictly(&setup).map_err(|error| SetupError::Bytes(error.to_string()))?;
        let is_default_given =
            self.terms.parse::<toml::Table>().is_ok_and(|table| table.contains_key("default"));
        require_fitting(&terms, is_default_given, &*self.rules, game)?;
        if self.is_tried {
            try_terms(&*self.rules, &self.setup, &terms)?;
        }
        let desk_genesis = Genesis {
            ruleset: Desk::NAME.into(),
            ruleset_version: Desk::VERSION,
            setup,
            dice: DicePolicy::Recorded,
            match_id: desk.match_id,
            ..genesis.clone()
        };
        // MD-1: no module plays a desk.
        Ok(desk_genesis.pinned(None))
    }
}

/// Starts a game, if it can be played by mail. Its setup is in every bundle, so it must not show any player more than
/// they may know. With fair dice, its first roll must have no owner.
///
/// # Errors
/// [`MailError::Unusable`] with the reason why the game cannot be played by mail, and [`SetupError`].
pub fn start_for_mail(
    rules: &dyn AnyRules,
    setup: &[u8],
    is_fair: bool,
) -> Result<Box<dyn AnyState>, MailError> {
    let game = rules.start(setup)?;
    for seat in game.players() {
        if !Viewer::of(*seat).may_have_setup(rules, setup, game.as_ref())? {
            return Err(MailError::Unusable(format!(
                "`{}` cannot be played by mail: its setup is in every bundle and would show {seat} secrets",
                rules.name()
            )));
        }
    }
    if let Some(due) = game.due_roll()
        && is_fair
    {
        require_no_owner(&due)?;
    }
    Ok(game)
}

fn taken(name: &MatchName) -> StoreError {
    StoreError::AlreadyExists { match_name: name.clone() }
}

fn read_terms(toml: &str, filled: &[(&str, String)]) -> Result<Vec<u8>, SetupError> {
    // The rules read the same TOML below and report it if it is malformed.
    let table: toml::Table = toml.parse().unwrap_or_default();
    if let Some(key) = FILLED_IN.iter().find(|key| table.contains_key(**key)) {
        return Err(SetupError::value(*key, "`mail open` fills it in; remove it"));
    }
    // Appended at the end, so that line numbers in errors are those of the file.
    let mut toml = format!("{}\n", toml.trim_end());
    for (key, value) in filled {
        toml = format!("{toml}{key} = \"{value}\"\n");
    }
    erase::<Desk>().read_setup(&toml)
}

/// Requires that terms fit a game (PM-3).
pub(crate) fn require_fitting(
    terms: &desk::Setup,
    is_default_given: bool,
    rules: &dyn AnyRules,
    game: &dyn AnyState,
) -> Result<(), SetupError> {
    let players = game.players().len();
    let seats = usize::from(terms.seats);
    if players != seats {
        let message = format!("expected {players}, the players of this `{}`, found {seats}", rules.name());
        return Err(SetupError::value("seats", message));
    }
    // PM-112: the desk takes any name, but letters need a known time zone.
    for (index, zone) in terms.zones.iter().enumerate() {
        if time_zone(zone).is_none() {
            let message = format!("expected a time zone such as `Europe/Berlin` or `+02:00`, found `{zone}`");
            return Err(SetupError::value(format!("zones[{index}]"), message));
        }
    }
    for (field, commands) in [("default", &terms.default), ("between", &terms.between)] {
        for (index, command) in commands.iter().enumerate() {
            let Err(error) = rules.canonical(command) else { continue };
            if field == "default" && !is_default_given {
                let game = rules.name();
                let message = format!("it is `{command}` by default; set it for `{game}`: {error}");
                return Err(SetupError::value(field, message));
            }
            return Err(SetupError::value(format!("{field}[{index}]"), error.to_string()));
        }
    }
    Ok(())
}

/// Complete terms of play, and those that the host did not write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameTerms {
    /// The terms in TOML.
    pub toml: String,
    /// Whether the game proposes no terms, so that the match waits for a player who misses a deadline.
    pub is_waiting: bool,
    /// The lines that the host did not write.
    pub filled: Vec<String>,
}

const WAITING: &str = "default = []\nmissed = \"wait\"\npatience = 0\n";

impl GameTerms {
    /// Completes terms with those that the game proposes, and with the number of seats.
    #[must_use]
    pub fn complete(written: Option<&str>, rules: &dyn AnyRules, game: &dyn AnyState) -> Self {
        let written = written.unwrap_or_default().trim_end();
        // The rules read the same TOML later and report it if it is malformed.
        let own: toml::Table = written.parse().unwrap_or_default();
        let (mut rest, is_waiting) = rest_of_terms(&own, rules);
        rest.insert("seats".into(), toml::Value::Integer(i64::try_from(game.players().len()).unwrap_or(0)));
        rest.retain(|key, _| !own.contains_key(key));
        let filled: Vec<String> = rest.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        // Appended at the end, so that line numbers in errors are those of the file.
        Self { toml: format!("{written}\n{}\n", filled.join("\n")), is_waiting, filled }
    }
}

pub(crate) fn rest_of_terms(own: &toml::Table, rules: &dyn AnyRules) -> (toml::Table, bool) {
    let named = rules.mail_terms().trim();
    let is_waiting = named.is_empty();
    let mut rest: toml::Table = if is_waiting { WAITING } else { named }.parse().unwrap_or_default();
    // If the host writes a `default`, it is meant to be played, so the match does not wait.
    if is_waiting && own.contains_key("default") {
        rest.retain(|key, _| key == "default");
    }
    rest.retain(|key, _| !own.contains_key(key));
    (rest, is_waiting)
}

const TURNS: u32 = 20;
const ORDER_MAX: usize = 40;
const TRIALS: u64 = 3;

struct Trial<'a> {
    terms: &'a Setup,
    rules: PlayedRules<'a>,
    game: GameTurn<'a>,
    chance: DiceStream,
    misses_all: bool,
    round: Option<Round>,
    turn: u32,
}

/// Plays 20 turns with these terms, several times. Refuses terms with which the game stalls, commands do not end, or
/// the game stops with commands left.
pub(crate) fn try_terms(rules: &dyn AnyRules, setup: &[u8], terms: &Setup) -> Result<(), MailError> {
    for number in 0..=TRIALS {
        let mut dice = DiceStream::new(&blake3::derive_key("turnfold v2 trial", b"dice"), number);
        let roll =
            Box::new(move |due: &DueRoll| Ok((0..due.count).map(|_| dice.draw(due.low, due.high)).collect()));
        let mut trial = Trial {
            terms,
            rules: PlayedRules::of(terms),
            game: GameTurn::new(rules.start(setup)?, 0, roll),
            chance: DiceStream::new(&blake3::derive_key("turnfold v2 trial", b"orders"), number),
            misses_all: number == 0,
            round: None,
            turn: 0,
        };
        while trial.turn <= TURNS && trial.play_turn()? {
            trial.turn += 1;
        }
    }
    Ok(())
}

impl Trial<'_> {
    fn play_turn(&mut self) -> Result<bool, MailError> {
        let living = Seat::players(self.terms.seats.into());
        let before = self.game.state().state_hash();
        let asked = self.round.as_ref().map_or_else(Vec::new, |round| round.seats.clone());
        let mut end = TurnEnd::default();
        if self.turn == 0 {
            self.game.roll_due()?;
        }
        for &seat in &asked {
            let misses =
                self.terms.missed != Missed::Wait && (self.misses_all || self.chance.draw(1, 4) == 1);
            let mut has_played = !misses && self.order(seat)?;
            // PM-80: a seat whose order is incomplete misses the deadline, too.
            if misses || asked.len() > 1 {
                has_played |= self.miss(seat)?;
            }
            if has_played {
                end.played.push(seat);
            }
        }
        let between = self.game.between(living, &[], !asked.is_empty(), self.rules)?;
        end.ends_round = between.ends_round;
        let by_host = between.played.iter().filter(|record| !ScriptCommand::is_roll(&record.command)).count();
        let together = self.terms.together;
        let round = Round::after(self.round.as_ref(), living, false, &end, together, self.game.state());
        let state = self.game.state();
        if state.over() || state.result().is_some() {
            return Ok(false);
        }
        if round.seats.is_empty() {
            return self.end(living, by_host);
        }
        if self.misses_all && !asked.is_empty() && state.state_hash() == before {
            return Err(self.stalls(&asked));
        }
        self.round = Some(round);
        Ok(true)
    }

    fn order(&mut self, seat: Seat) -> Result<bool, MailError> {
        let mut count = 0;
        while count < ORDER_MAX && self.game.state().waits_for(seat) {
            let legal = self.game.state().legal_at_random(seat);
            let Some(last) = legal.len().checked_sub(1) else { break };
            let place = self.chance.draw(0, i32::try_from(last).unwrap_or(i32::MAX));
            let Some(command) = legal.get(usize::try_from(place).unwrap_or(0)) else { break };
            self.game.order(seat, [command.as_str()])?;
            count += 1;
        }
        Ok(count > 0)
    }

    fn miss(&mut self, seat: Seat) -> Result<bool, MailError> {
        let played = self.game.default(seat, self.rules)?;
        let own = played.iter().filter(|record| record.seat == Some(seat));
        let commands: Vec<&str> = own.map(|record| record.command.as_str()).collect();
        // With fewer than 20 commands, playing stopped because no command applied, and not because of the limit.
        if PlayedRules::left(commands.len()) > 0 || !self.game.state().waits_for(seat) {
            return Ok(!commands.is_empty());
        }
        let message = format!(
            "in turn {} of a trial {seat} missed the deadline, and {} commands did not end its turn: `{}` and so on; \
             list commands in the order in which they end a turn, or set `missed = \"wait\"`",
            self.turn,
            commands.len(),
            commands.iter().take(5).copied().collect::<Vec<_>>().join("`, `")
        );
        Err(SetupError::value("default", message).into())
    }

    fn end(&self, living: &[Seat], by_host: usize) -> Result<bool, MailError> {
        let state = self.game.state();
        if PlayedRules::left(by_host) == 0 {
            let message = format!(
                "in turn {} of a trial {by_host} commands of the host did not bring the game to the next player; list \
                 commands that do",
                self.turn
            );
            return Err(SetupError::value("between", message).into());
        }
        for seat in [&[Seat::Host][..], living].concat() {
            if let Some(command) = state.legal_at_random(seat).first() {
                let message = format!(
                    "after turn {} of a trial the game waits for no player, but is not over: {seat} may still give \
                     `{command}`; put the commands of the host that continue the game into `between`",
                    self.turn
                );
                return Err(SetupError::value("between", message).into());
            }
        }
        Ok(false)
    }

    fn stalls(&self, asked: &[Seat]) -> MailError {
        let state = self.game.state();
        let seat = asked.first().copied().unwrap_or(Seat::P1);
        let legal: Vec<String> = state.legal_at_random(seat).into_iter().take(5).collect();
        let message = format!(
            "the game stalls in turn {} of a trial: {seat} missed the deadline and no command of `default` applied; \
             {seat} may give `{}`; list commands that end the turn, or set `missed = \"wait\"`",
            self.turn,
            legal.join("`, `")
        );
        SetupError::value("default", message).into()
    }
}
