//! Two folded lines of play compared.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, json};
use similar::udiff::UnifiedHunkHeader;
use similar::{Change, ChangeTag, DiffOp, TextDiff};

use crate::render::printable;
use turnfold_replay::difference::{Difference, differences};
use turnfold_replay::revision::SourceName;

/// A line of play folded and written out.
pub(super) struct Folded {
    pub(super) side: Side,
    pub(super) game: Game,
    pub(super) played: Vec<Played>,
    pub(super) view: Value,
}

impl Folded {
    fn played_at(&self, place: Option<usize>) -> Option<&Played> {
        self.played.get(place?)
    }
}

/// What is played, and with which dice.
#[derive(PartialEq, Eq)]
pub(super) struct Game {
    pub(super) ruleset: &'static str,
    pub(super) version: u32,
    pub(super) dice: String,
    /// As TOML; what a player sees of it, as JSON.
    pub(super) setup: String,
}

impl Game {
    fn text(&self) -> String {
        let Self { ruleset, version, dice, setup } = self;
        format!("ruleset {ruleset} version {version}\ndice {dice}\n{setup}")
    }

    fn to_json(&self) -> Value {
        let Self { ruleset, version, dice, setup } = self;
        let setup: Option<Value> = toml::from_str(setup).ok().or_else(|| serde_json::from_str(setup).ok());
        json!({ "ruleset": ruleset, "version": version, "dice": dice, "setup": setup })
    }
}

/// An entry and what became of it.
pub(super) struct Played {
    pub(super) seq: u64,
    /// With the seat before it.
    pub(super) command: String,
    pub(super) outcome: String,
}

/// How two lines of play compare.
pub(super) struct Comparison {
    pub(super) stat: Stat,
    pub(super) a: Side,
    pub(super) b: Side,
    games: [Game; 2],
    /// The games (ruleset, dice, setup) as a unified diff; empty when they are the same.
    pub(super) game_diff: String,
    /// The commands as a unified diff; empty when they are the same.
    pub(super) commands: String,
    /// The numbers of the entries that only one has or of which something else became, aligned.
    pub(super) pairs: Vec<(Option<u64>, Option<u64>)>,
    /// What became of the same commands, where it differs.
    pub(super) outcomes: Vec<OutcomeDifference>,
    pub(super) state: Vec<Difference>,
}

/// What differs, counted.
#[derive(Serialize)]
pub(super) struct Stat {
    pub(super) equal: bool,
    /// Whether both play the same game from the same setup with the same dice.
    pub(super) same_game: bool,
    /// The first entry that is not the same in both.
    pub(super) parts_at: Option<u64>,
    /// How many commands only the first line of play has.
    pub(super) only_in_a: u64,
    pub(super) only_in_b: u64,
    pub(super) outcomes_differ: u64,
    pub(super) fields_differ: u64,
}

#[derive(Serialize)]
pub(super) struct Side {
    #[serde(skip)]
    pub(super) source: SourceName,
    pub(super) name: String,
    pub(super) entries: u64,
    /// Null when looking as a player.
    pub(super) state_hash: Option<String>,
    /// The first entry of which the source tells something else than this build's rules make of it.
    pub(super) recorded_differs_at: Option<u64>,
}

/// The same command with two outcomes.
pub(super) struct OutcomeDifference {
    pub(super) seq_in_a: u64,
    pub(super) seq_in_b: u64,
    /// With the seat before it.
    pub(super) command: String,
    pub(super) a: String,
    pub(super) b: String,
}

impl Side {
    /// Gives the name as a terminal may show it.
    pub(super) fn shown(&self) -> Cow<'_, str> {
        printable(&self.name)
    }
}

impl Comparison {
    /// Lists the fields in which the games differ.
    pub(super) fn game_differences(&self) -> Vec<Difference> {
        let [a, b] = &self.games;
        differences(&a.to_json(), &b.to_json())
    }
}

/// Aligns the commands of two lines of play, whatever their numbers, and compares what became of them.
pub(super) fn compare(a: Folded, b: Folded, context: usize) -> Comparison {
    let (commands_a, commands_b) = (commands(&a), commands(&b));
    let diff = TextDiff::from_slices(&commands_a, &commands_b);
    let alignment = Alignment { a: &a, b: &b, diff: &diff };
    let outcomes = alignment.outcomes();
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    let (only_in_a, only_in_b) = (count(ChangeTag::Delete), count(ChangeTag::Insert));
    let parts = only_in_a + only_in_b > 0;
    let commands = if parts { alignment.unified(context) } else { String::new() };
    let parts_at = if parts { alignment.parts_at() } else { None };
    let pairs = alignment.pairs();
    let same_game = a.game == b.game;
    let game_diff = if same_game { String::new() } else { unified_text(&a, &b, context) };
    let state = differences(&a.view, &b.view);
    let equal = same_game
        && !parts
        && a.side.state_hash == b.side.state_hash
        && outcomes.is_empty()
        && state.is_empty();
    let counted = |length: usize| u64::try_from(length).unwrap_or(u64::MAX);
    let stat = Stat {
        equal,
        same_game,
        parts_at,
        only_in_a: counted(only_in_a),
        only_in_b: counted(only_in_b),
        outcomes_differ: counted(outcomes.len()),
        fields_differ: counted(state.len()),
    };
    let games = [a.game, b.game];
    Comparison { stat, a: a.side, b: b.side, games, game_diff, commands, pairs, outcomes, state }
}

fn commands(folded: &Folded) -> Vec<&str> {
    folded.played.iter().map(|played| played.command.as_str()).collect()
}

fn unified_text(a: &Folded, b: &Folded, context: usize) -> String {
    let (game_a, game_b) = (a.game.text(), b.game.text());
    let diff = TextDiff::from_lines(&game_a, &game_b);
    diff.unified_diff().context_radius(context).header(&a.side.shown(), &b.side.shown()).to_string()
}

/// Two lines of play with their commands aligned.
struct Alignment<'a> {
    a: &'a Folded,
    b: &'a Folded,
    diff: &'a TextDiff<'a, 'a, str>,
}

impl Alignment<'_> {
    /// Finds where the lines of play part: the number of the first entry that differs, in whichever has one.
    fn parts_at(&self) -> Option<u64> {
        let (a, b) = (&self.a.played, &self.b.played);
        let same = a.iter().zip(b).take_while(|(a, b)| a.command == b.command && a.seq == b.seq).count();
        let seqs = [a.get(same), b.get(same)].into_iter().flatten().map(|played| played.seq);
        seqs.min()
    }

    /// Lists the commands that both have and of which something else became.
    fn outcomes(&self) -> Vec<OutcomeDifference> {
        let equal = self.diff.ops().iter().filter_map(|op| match *op {
            DiffOp::Equal { old_index, new_index, len } => Some((old_index, new_index, len)),
            _ => None,
        });
        let pairs = equal.flat_map(|(old, new, len)| {
            let a = self.a.played.iter().skip(old).take(len);
            a.zip(self.b.played.iter().skip(new))
        });
        let differ = pairs.filter(|(a, b)| a.outcome != b.outcome);
        differ
            .map(|(a, b)| OutcomeDifference {
                seq_in_a: a.seq,
                seq_in_b: b.seq,
                command: a.command.clone(),
                a: a.outcome.clone(),
                b: b.outcome.clone(),
            })
            .collect()
    }

    /// Lists the numbers of the entries that only one has, and those of the same command with two outcomes.
    fn pairs(&self) -> Vec<(Option<u64>, Option<u64>)> {
        let sides = |change: Change<&str>| {
            (self.a.played_at(change.old_index()), self.b.played_at(change.new_index()))
        };
        let is_same = |(a, b): &(Option<&Played>, Option<&Played>)| match (a, b) {
            (Some(a), Some(b)) => a.outcome == b.outcome,
            _ => false,
        };
        let differ = self.diff.iter_all_changes().map(sides).filter(|sides| !is_same(sides));
        let seq = |side: Option<&Played>| side.map(|played| played.seq);
        differ.map(|(a, b)| (seq(a), seq(b))).collect()
    }

    /// Writes the commands as a unified diff, each with its number in its own line of play.
    fn unified(&self, context: usize) -> String {
        let mut text = format!("--- {}\n+++ {}\n", self.a.side.shown(), self.b.side.shown());
        for group in self.diff.grouped_ops(context) {
            text.extend([UnifiedHunkHeader::new(&group).to_string().as_str(), "\n"]);
            for change in group.iter().flat_map(|op| self.diff.iter_changes(op)) {
                let (sign, place, side) = match change.tag() {
                    ChangeTag::Equal => (' ', change.old_index(), self.a),
                    ChangeTag::Delete => ('-', change.old_index(), self.a),
                    ChangeTag::Insert => ('+', change.new_index(), self.b),
                };
                let played = place.and_then(|place| side.played.get(place));
                text.extend(played.map(|played| format!("{sign}{} {}\n", played.seq, played.command)));
            }
        }
        text
    }
}
