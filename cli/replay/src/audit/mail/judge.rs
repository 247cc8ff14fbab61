//! A game held against its desk, row by row.

use std::collections::BTreeSet;

use turnfold_core::paper::LineName;

use super::authorship::Authorship;
use super::dice::{FairDice, FairRoll};
use super::kept::Tie;
use super::rows::MailRows;
use super::seen::check_seen;
use super::segment::MailMatch;
use super::turns::{DeskTurn, DeskTurns};
use crate::audit::rows::PlayerKey;
use crate::bundle::BundledMatch;
use crate::bundle::sizes::revision;
use crate::mail::DeskOf;

impl MailMatch<'_> {
    /// Holds the game against its desk, and tells each roll that is as it has to be (FD-20).
    pub(super) fn judge(&self, rows: &mut MailRows, on_roll: &mut dyn FnMut(&FairRoll)) {
        let Self { lines, tie, .. } = self;
        let outline = lines.outline;
        let (Some(game), Some(desk_of)) = (outline.matches.get(tie.game), outline.matches.get(tie.desk))
        else {
            return;
        };
        let Some(at_desk) = revision(outline, (tie.desk, 0)) else { return };
        let log = self.desk.line(lines, (tie.desk, 0));
        let desk = DeskTurns::read(&tie.setup, &desk_of.genesis, &log);
        if let Some(reason) = self.other_desk(game, desk_of) {
            rows.authorship.fail(Some(at_desk.at(0)), reason);
        }
        for (seat, key) in &desk.keys {
            let (match_name, key) = (game.name.clone(), key.verifier().clone());
            rows.authorship.key(PlayerKey { match_name, seat: *seat, key });
        }
        let mut dice = FairDice::of(&game.genesis, &tie.setup, &at_desk, rows);
        let mut authorship = Authorship::of(&tie.setup, &at_desk);
        let walked = self.each_segment(game, &desk, &mut |segment| {
            dice.check(segment, &at_desk, rows, on_roll);
            authorship.check(segment, rows);
        });
        let mut stuck = desk.stuck.as_ref().map(|reason| (Some(at_desk.clone()), reason.clone()));
        match walked {
            Ok(lines) if stuck.is_none() => authorship.finish(&lines, rows),
            Ok(_) => {}
            Err(in_game) => stuck = Some(in_game),
        }
        if let Some((at, reason)) = stuck {
            dice.not_checked(at.clone(), reason.clone(), rows);
            rows.authorship.not_checked(at, reason);
        }
        check_seen(&desk, &at_desk, rows);
        let unplayed = unplayed(game, &desk);
        dice.finish(game.name.as_str(), &desk, &unplayed, rows);
        rows.unplayed.extend(unplayed);
    }

    /// Why the desk is not that of the game (PM-1, PM-3).
    fn other_desk(&self, game: &BundledMatch, desk: &BundledMatch) -> Option<String> {
        let Tie { setup, .. } = self.tie;
        let id = DeskOf::game(&game.name, &game.genesis.match_id).map(|desk| desk.match_id);
        if id != Ok(desk.genesis.match_id) {
            return Some(format!("its match id is not that of the desk of `{}`", game.name));
        }
        if setup.game != game.genesis.link().to_string() {
            return Some(format!("it is the desk of another match than `{}`", game.name));
        }
        let rules = self.registry.find(&game.genesis.ruleset);
        let players =
            rules.and_then(|rules| rules.start(&game.genesis.setup).ok()).map(|game| game.players().len());
        let differs = players.filter(|players| *players != usize::from(setup.seats));
        differs.map(|players| format!("it has {} seats, and the game {players} players", setup.seats))
    }
}

/// The lines of a game that its desk does not name.
fn unplayed(game: &BundledMatch, desk: &DeskTurns) -> BTreeSet<String> {
    let played: BTreeSet<&str> =
        desk.turns.iter().filter_map(DeskTurn::line).map(LineName::as_str).chain(["main"]).collect();
    let lines = game.lines.iter().map(|line| line.branch.as_str());
    lines.filter(|line| !played.contains(line)).map(|line| format!("{}@{line}", game.name)).collect()
}
