//! The execution of a turn in the game, one append after another (PM-13, PM-19, PM-27).
//!
//! The host that executes a turn and the audit that checks it walk the same steps. Only their rolls have different
//! sources.

use turnfold_core::paper::{OrdersAhead, PaperLine, Reply};
use turnfold_core::rules::desk::Setup;
use turnfold_core::text::Malformed;
use turnfold_core::{AnyState, DicePolicy, DueRoll, FoldError, Logged, Outcome, Rejected, Seat, Verdict};
use turnfold_store::Entry;

use std::collections::BTreeMap;
use std::io;

use turnfold_history::session::{Roller, ScriptCommand, Session};
use turnfold_history::{Detail, LogEntry, Record, ReplayError, Viewer};

/// The terms for what is played without an order (PM-37).
#[derive(Clone, Copy, Debug)]
pub struct PlayedRules<'a> {
    /// The commands for a seat that missed a deadline.
    pub default: &'a [String],
    /// The commands of the host after the orders.
    pub between: &'a [String],
}

impl<'a> PlayedRules<'a> {
    /// Returns the terms of a desk.
    #[must_use]
    pub fn of(terms: &'a Setup) -> Self {
        Self { default: &terms.default, between: &terms.between }
    }

    pub(super) fn left(count: usize) -> usize {
        20_usize.saturating_sub(count)
    }
}

/// A source of values for a due roll.
pub type RollDice<'a> = dyn FnMut(&DueRoll) -> Result<Vec<i32>, ReplayError> + 'a;

/// The game during the execution of a turn. Each step returns the entries of one append, in order.
pub struct GameTurn<'a> {
    state: Box<dyn AnyState>,
    head: u64,
    dice: DicePolicy,
    roll: Box<RollDice<'a>>,
}

/// The result of an order.
#[derive(Clone, Debug)]
pub enum OrderEnd {
    /// Some of its commands were played, with the rolls that they made due.
    Carried {
        /// How many commands were played: all, or those before one that the game rejects after a roll (FD-11a) or
        /// because the game is over (PM-121).
        count: usize,
        /// The entries.
        played: Vec<Record>,
    },
    /// The game rejects a command for this reason, so no command was played.
    Refused(Rejected),
}

/// What was played after the orders of a turn.
#[derive(Clone, Debug, Default)]
pub struct PlayedBetween {
    /// The entries.
    pub played: Vec<Record>,
    /// Whether a command of `between` is among them, so that a round has ended (PM-14).
    pub ends_round: bool,
}

impl<'a> GameTurn<'a> {
    /// Continues from a state of the game, which has `head` entries.
    #[must_use]
    pub fn new(state: Box<dyn AnyState>, head: u64, roll: Box<RollDice<'a>>) -> Self {
        Self { state, head, dice: DicePolicy::Recorded, roll }
    }

    /// Takes rolls from the dice of the match, if these give values by themselves.
    #[must_use]
    pub fn with_dice(self, dice: DicePolicy) -> Self {
        Self { dice, ..self }
    }

    /// Continues from a state of the game and fails at a due roll, to try commands of a seat that knows no future
    /// rolls.
    pub(super) fn without_dice(state: Box<dyn AnyState>, head: u64) -> Self {
        let unknown = "the roll is not known yet";
        Self::new(state, head, Box::new(move |_| Err(ReplayError::Chance(io::Error::other(unknown)))))
    }

    /// Returns the state of the game.
    #[must_use]
    pub fn state(&self) -> &dyn AnyState {
        self.state.as_ref()
    }

    /// Returns how many entries the game has.
    #[must_use]
    pub const fn head(&self) -> u64 {
        self.head
    }

    /// Folds entries that the game already has, such as the entries of a completed step.
    ///
    /// # Errors
    /// [`ReplayError::BadEntry`] for an entry that the rules do not accept.
    pub fn take(&mut self, entries: &[Entry]) -> Result<(), ReplayError> {
        self.state.fold(&LogEntry::stored(entries), &DicePolicy::Recorded, &mut |_| {})?;
        self.head += entries.len() as u64;
        Ok(())
    }

    /// Makes every roll that is due already.
    ///
    /// # Errors
    /// Errors of the dice, such as rolls without an end.
    pub fn roll_due(&mut self) -> Result<Vec<Record>, ReplayError> {
        self.step(|turn, session, played| {
            turn.roll_in(session, played)?;
            Ok(())
        })
    }

    /// Carries out the order of a seat.
    ///
    /// # Errors
    /// Errors of the dice, such as rolls without an end.
    pub fn order<'p>(
        &mut self,
        seat: Seat,
        plays: impl IntoIterator<Item = &'p str>,
    ) -> Result<OrderEnd, ReplayError> {
        let mut session = self.session();
        let mut played = Vec::new();
        let mut count = 0;
        let mut has_rolled = false;
        for play in plays {
            match give(&mut session, seat, play) {
                Ok(record) => played.push(record),
                // FD-11a. PM-121: commands after the winning one do no harm.
                Err(_) if has_rolled || count > 0 && session.state.over() => break,
                Err(rejected) => return Ok(OrderEnd::Refused(rejected)),
            }
            count += 1;
            has_rolled |= self.roll_in(&mut session, &mut played)?;
        }
        self.keep(session, &played);
        Ok(OrderEnd::Carried { count, played })
    }

    /// Builds the orders ahead of a seat: for `turns`, and from `lines` of replies (PM-123) such as
    /// `e5 then Nf3, if Nc6 then Bb5`. Each line is tried from `state` on, because its commands must be legal when they
    /// are played. If the game waits for the seat, the lines begin after its order, `plays`. Of a command's
    /// `spellings`, the first that the game takes counts. The error is a sentence about what cannot be read or played.
    pub(super) fn ahead(
        state: &dyn AnyState,
        (seat, plays): (Seat, &[PaperLine]),
        turns: BTreeMap<u32, Vec<PaperLine>>,
        lines: &[String],
        spellings: impl Fn(&str) -> Vec<String>,
    ) -> Result<OrdersAhead, String> {
        let is_first = state.waits_for(seat);
        let mut read = Vec::new();
        for line in lines {
            let mut turn = GameTurn::without_dice(state.fork(), 0);
            let own = plays.iter().map(PaperLine::as_str);
            if is_first && !matches!(turn.order(seat, own), Ok(OrderEnd::Carried { count: 1.., .. })) {
                return Err(format!("`if {line}` begins after your own move, so send both together."));
            }
            read.push(turn.replies(seat, line, &spellings)?);
        }
        let malformed = |error: Malformed| error.0;
        let mut after = None;
        if is_first && !read.is_empty() {
            after = Some(PaperLine::joined(plays).parse().map_err(malformed)?);
        }
        OrdersAhead::new(turns).and_then(|ahead| ahead.with_lines(after, read)).map_err(malformed)
    }

    fn replies(
        &mut self,
        seat: Seat,
        line: &str,
        spellings: impl Fn(&str) -> Vec<String>,
    ) -> Result<Vec<Reply>, String> {
        let mut replies = Vec::new();
        let Some(pairs) = pairs(line) else {
            return Err(format!(
                "`if {line}` was not understood: write `if COMMAND then COMMAND`, and `, if COMMAND then COMMAND` behind it"
            ));
        };
        for (on, answer) in pairs {
            let mut others = self.state().players().to_vec();
            others.retain(|by| *by != seat && self.state().waits_for(*by));
            let [other] = others[..] else {
                return Err(format!("In `if {line}`, no other player is to move before `{on}`."));
            };
            let on = self.reply(line, other, &on, &spellings)?;
            let play = self.reply(line, seat, &answer, &spellings)?;
            replies.push(Reply { on, play });
        }
        Ok(replies)
    }

    fn reply(
        &mut self,
        line: &str,
        by: Seat,
        text: &str,
        spellings: impl Fn(&str) -> Vec<String>,
    ) -> Result<PaperLine, String> {
        for spelling in spellings(text) {
            if let Ok(OrderEnd::Carried { played, .. }) = self.order(by, [spelling.as_str()])
                && let [Record { command, outcome: Outcome::Applied(_), .. }] = played.as_slice()
            {
                return command.parse().map_err(|error: Malformed| error.0);
            }
        }
        Err(format!("In `if {line}`, {by} cannot play `{text}`. The line begins after your own move."))
    }

    /// Plays for a seat that missed, until the game no longer waits for the seat (PM-14, PM-37).
    ///
    /// # Errors
    /// Errors of the dice, such as rolls without an end.
    pub fn default(&mut self, seat: Seat, rules: PlayedRules<'_>) -> Result<Vec<Record>, ReplayError> {
        self.step(|turn, session, played| {
            let mut count = 0;
            while session.state.waits_for(seat) {
                match turn.play(session, seat, rules.default, PlayedRules::left(count), played)? {
                    0 => break,
                    more => count += more,
                }
            }
            Ok(())
        })
    }

    /// Plays what comes after the orders: `between` once if there were orders; then, while the game waits for no living
    /// seat (PM-14), `default` for a gone seat that it waits for, else `between` (PM-37).
    ///
    /// # Errors
    /// Errors of the dice, such as rolls without an end.
    pub fn between(
        &mut self,
        living: &[Seat],
        gone: &[Seat],
        had_orders: bool,
        rules: PlayedRules<'_>,
    ) -> Result<PlayedBetween, ReplayError> {
        let mut defaults = 0;
        let mut betweens = 0;
        let played = self.step(|turn, session, played| {
            if had_orders {
                betweens = turn.play(session, Seat::Host, rules.between, PlayedRules::left(0), played)?;
            }
            while !living.iter().any(|seat| session.state.waits_for(*seat)) {
                let mut for_gone = 0;
                let left = PlayedRules::left(defaults);
                for seat in gone {
                    if left > 0 && for_gone == 0 && session.state.waits_for(*seat) {
                        for_gone = turn.play(session, *seat, rules.default, left, played)?;
                    }
                }
                defaults += for_gone;
                if for_gone == 0 {
                    let left = PlayedRules::left(betweens);
                    match turn.play(session, Seat::Host, rules.between, left, played)? {
                        0 => break,
                        more => betweens += more,
                    }
                }
            }
            Ok(())
        })?;
        Ok(PlayedBetween { played, ends_round: betweens > 0 })
    }

    fn play(
        &mut self,
        session: &mut Session,
        seat: Seat,
        commands: &[String],
        left: usize,
        played: &mut Vec<Record>,
    ) -> Result<usize, ReplayError> {
        let mut count = 0;
        for command in commands {
            let is_done = seat != Seat::Host && count > 0 && !session.state.waits_for(seat);
            if count == left || is_done {
                break;
            }
            count += usize::from(self.play_one(session, seat, command, played)?);
        }
        Ok(count)
    }

    /// Plays a step on a copy of the state, which replaces the state once the whole step is played.
    fn step(
        &mut self,
        play: impl FnOnce(&mut Self, &mut Session, &mut Vec<Record>) -> Result<(), ReplayError>,
    ) -> Result<Vec<Record>, ReplayError> {
        let mut session = self.session();
        let mut played = Vec::new();
        play(self, &mut session, &mut played)?;
        self.keep(session, &played);
        Ok(played)
    }

    fn session(&self) -> Session {
        let detail = Detail::new(Viewer::HOST);
        Session::new(self.state.fork(), self.dice, Roller::Absent, self.head + 1, detail)
    }

    fn keep(&mut self, session: Session, played: &[Record]) {
        self.state = session.state;
        self.head += played.len() as u64;
    }

    fn play_one(
        &mut self,
        session: &mut Session,
        seat: Seat,
        command: &str,
        played: &mut Vec<Record>,
    ) -> Result<bool, ReplayError> {
        if !matches!(session.state.judge(seat, command), Ok(Verdict::Applied(()))) {
            return Ok(false);
        }
        let Ok(record) = give(session, seat, command) else { return Ok(false) };
        played.push(record);
        self.roll_in(session, played)?;
        Ok(true)
    }

    fn roll_in(&mut self, session: &mut Session, played: &mut Vec<Record>) -> Result<bool, ReplayError> {
        for count in 0..Session::ROLLS_IN_A_ROW_MAX {
            let Some(due) = session.state.due_roll() else { return Ok(count > 0) };
            let values = match session.state.seeded_roll(&self.dice) {
                Some(values) => values,
                None => (self.roll)(&due)?,
            };
            let Some(command) = session.state.roll_command(values) else { return Ok(count > 0) };
            played.push(give(session, Seat::Host, &command).map_err(ReplayError::OwnDice)?);
        }
        Err(ReplayError::EndlessRolls(Session::ROLLS_IN_A_ROW_MAX))
    }
}

/// Splits `e5 then Nf3, if Nc6 then Bb5` into pairs of a foreseen command and its answer; `None` if it has another
/// form.
pub(super) fn pairs(line: &str) -> Option<Vec<(String, String)>> {
    let mut pairs = Vec::new();
    let mut on = Vec::new();
    let mut answer = Vec::new();
    let mut is_answer = false;
    for word in line.split(' ').chain(["if"]) {
        match (word.to_lowercase().as_str(), is_answer) {
            ("then", false) => is_answer = true,
            ("if", true) => {
                let played: String = std::mem::take(&mut answer).join(" ");
                let played = played.trim_end_matches([',', ';', '.']).to_owned();
                if on.is_empty() || played.is_empty() {
                    return None;
                }
                pairs.push((std::mem::take(&mut on).join(" "), played));
                is_answer = false;
            }
            ("then", true) | ("if", false) => return None,
            (_, true) => answer.push(word),
            (_, false) => on.push(word),
        }
    }
    Some(pairs)
}

fn give(session: &mut Session, seat: Seat, command: &str) -> Result<Record, Rejected> {
    let command = session.state.read(command).map_err(|cause| Rejected::new("malformed", cause.0))?;
    session.state.judge(seat, &command)?;
    let line = ScriptCommand { seat: Some(seat), command, malformed: None, number: None };
    Ok(session
        .submit_without_rolls(&line, None)
        .expect("what judging accepts folds, with any values in range"))
}

/// Returns `true` if all players may know every part of these entries. Otherwise a player could guess a part from a
/// hash of the state (PM-13).
pub(crate) fn is_shown_to_all(
    start: &dyn AnyState,
    log: &[Logged<'_>],
    dice: &DicePolicy,
) -> Result<bool, FoldError> {
    for seat in start.players() {
        let mut is_shown = true;
        start.fork().fold_as((*seat).into(), log, dice, &mut |step| is_shown &= step.wholly_shown())?;
        if !is_shown {
            return Ok(false);
        }
    }
    Ok(true)
}
