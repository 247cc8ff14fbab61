//! The game's entries turn by turn: from where a turn goes on to the stand that ends it.

use std::collections::BTreeMap;

use turnfold_core::{AnyRules, AnyState, DicePolicy, Digest, Registry};
use turnfold_store::Entry;

use super::kept::{CollectedMatch, Tie, WholeLine};
use super::turns::{DeskTurn, DeskTurns};
use crate::bundle::BundledMatch;
use crate::bundle::sizes::{LineFinder, revision};
use crate::entry::stored;
use crate::revision::Revision;

/// A match by mail of which everything has gone by.
pub(super) struct MailMatch<'a> {
    pub(super) lines: &'a LineFinder<'a>,
    pub(super) registry: &'a Registry,
    pub(super) tie: &'a Tie,
    pub(super) game: &'a CollectedMatch,
    pub(super) desk: &'a CollectedMatch,
}

/// What the game's log has of a turn.
pub(super) struct Segment<'a> {
    pub(super) turn: &'a DeskTurn,
    /// Which line it is.
    pub(super) at: Revision,
    /// All of it.
    pub(super) line: &'a WholeLine<'a>,
    /// The game at its beginning.
    pub(super) beginning: &'a dyn AnyState,
    pub(super) rules: &'a dyn AnyRules,
    /// The link after the last of the entries.
    pub(super) link: Option<Digest>,
    /// Whether the line begins where the turn goes on from, as it has to after a takeback.
    pub(super) begins_there: bool,
    /// The game where the turn goes on from.
    pub(super) start: Box<dyn AnyState>,
    /// The entries that follow, up to the next stand.
    pub(super) entries: &'a [&'a Entry],
    pub(super) end: SegmentEnd,
}

/// Why a turn has no more entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SegmentEnd {
    /// A stand is there.
    Stand,
    /// There is none yet, and the host may still be at work.
    Unfinished,
    /// There is none, and there may be no entries: nothing is to be carried out.
    Idle,
    /// The line is shorter than the stand says.
    Short,
    /// The others cannot be used.
    Unusable(&'static str),
}

/// Where nothing more can be told: a line, and why.
pub(super) type Stuck = (Option<Revision>, String);

impl MailMatch<'_> {
    /// Passes the turns with their entries one after another, as far as they can be told. Returns how far each line was
    /// played.
    pub(super) fn each_segment(
        &self,
        game: &BundledMatch,
        desk: &DeskTurns,
        take: &mut dyn FnMut(&Segment<'_>),
    ) -> Result<Vec<(Revision, u64, u64)>, Stuck> {
        let place = |line| revision(self.lines.outline, (self.tie.game, line));
        let stuck = |line, reason: &str| (place(line), String::from(reason));
        let rules = self.registry.find(&game.genesis.ruleset);
        let rules = rules.filter(|rules| rules.version() == game.genesis.ruleset_version);
        let rules = rules.ok_or_else(|| stuck(0, "this build does not have the rules of the game"))?;
        let beginning = rules.start(&game.genesis.setup);
        let beginning = beginning.map_err(|_| stuck(0, "the rules reject the setup"))?;
        let mut lines: BTreeMap<usize, WholeLine<'_>> = BTreeMap::new();
        let mut played: BTreeMap<usize, u64> = BTreeMap::new();
        let mut stands: Option<(usize, u64, Box<dyn AnyState>)> = None;
        for turn in &desk.turns {
            // Where a turn goes on that nothing was played in yet, nobody can tell after a takeback.
            let Some(name) = turn.line() else { break };
            let found = self.lines.line(self.tie.game, name.as_str());
            let found = found.ok_or_else(|| stuck(0, &format!("there is no line `{name}`")))?;
            let line = &*lines.entry(found).or_insert_with(|| self.whole_line(found).linked(&game.genesis));
            let rejected = || stuck(found, "the rules reject an entry");
            let state = match stands.take() {
                Some((on, seq, state)) if (on, seq) == (found, turn.from.1) => state,
                _ => {
                    let mut state = beginning.fork();
                    if line.head() < turn.from.1 {
                        return Err(stuck(found, line.unusable.unwrap_or("the line is too short")));
                    }
                    fold(state.as_mut(), line.between(0, turn.from.1)).ok_or_else(rejected)?;
                    state
                }
            };
            let to = turn.stand.as_ref().map_or(line.head(), |stand| stand.game_seq);
            let end = match (&turn.stand, line.unusable) {
                (Some(_), _) if line.head() >= to => SegmentEnd::Stand,
                (_, Some(reason)) => SegmentEnd::Unusable(reason),
                (Some(_), None) => SegmentEnd::Short,
                (None, None) if turn.plan.is_some() => SegmentEnd::Unfinished,
                (None, None) => SegmentEnd::Idle,
            };
            let entries = line.between(turn.from.1, to);
            let Some(at) = place(found) else { break };
            take(&Segment {
                turn,
                at,
                line,
                beginning: beginning.as_ref(),
                rules,
                link: line.link_after(to),
                begins_there: self.begins_there(game, found, turn),
                start: state.fork(),
                entries,
                end,
            });
            played.insert(found, to);
            match end {
                SegmentEnd::Stand => {}
                SegmentEnd::Unfinished | SegmentEnd::Idle => break,
                SegmentEnd::Short => return Err(stuck(found, "the line is too short")),
                SegmentEnd::Unusable(reason) => return Err(stuck(found, reason)),
            }
            let mut state = state;
            fold(state.as_mut(), entries).ok_or_else(rejected)?;
            stands = Some((found, to, state));
        }
        let ends =
            played.into_iter().filter_map(|(line, to)| Some((place(line)?, to, lines.get(&line)?.head())));
        Ok(ends.collect())
    }

    fn whole_line(&self, line: usize) -> WholeLine<'_> {
        self.game.line(self.lines, (self.tie.game, line))
    }

    /// Whether a line begins at the entry where a turn goes on from.
    fn begins_there(&self, game: &BundledMatch, line: usize, turn: &DeskTurn) -> bool {
        let (from, seq) = &turn.from;
        let found = game.lines.get(line).filter(|found| found.first.checked_sub(1) == Some(*seq));
        let parent = found.and_then(|found| found.parent);
        let lines = parent.zip(self.lines.line(self.tie.game, from.as_str()));
        let holder = |line| self.lines.holder((self.tie.game, line), *seq);
        lines.is_some_and(|(parent, from)| holder(parent) == holder(from))
    }
}

fn fold(state: &mut dyn AnyState, entries: &[&Entry]) -> Option<()> {
    state.fold(&stored(entries.iter().copied()), &DicePolicy::Recorded, &mut |_| {}).ok()
}
