//! What a viewer is shown of entries is never taken back, and a spectator is shown no more than any player.

use turnfold_core::{AnyRules, Perspective};

use super::law_report::{Law, LawReport};
use super::not_hosts;
use super::random_matches::{PlayedMatch, log_of};

/// The maximum number of heads of a match that are compared, each with the previous one. It is limited because each
/// head folds all entries before it for each viewer. Other seeds choose other heads.
const HEADS_MAX: usize = 20;

struct Shown {
    /// Whether the whole command is shown.
    command: bool,
    effects: Vec<serde_json::Value>,
}

impl Shown {
    /// Describes something that is shown here but not in `other`.
    fn beyond(&self, other: &Self) -> Option<String> {
        if self.command && !other.command {
            return Some("its command".into());
        }
        let mut others = other.effects.iter();
        // Effects are shown in order.
        let missing = self.effects.iter().find(|effect| !others.any(|other| other == *effect))?;
        Some(format!("its effect {missing}"))
    }
}

/// Compares what is shown at each head with the next head, and what a spectator is shown with what players are shown.
pub(super) fn check_whole(report: &mut LawReport<'_>, rules: &dyn AnyRules, played: &PlayedMatch) {
    let Ok(start) = rules.start(&played.setup) else { return };
    let viewers: Vec<_> = not_hosts(&*start).collect();
    let count = played.entries.len();
    let stride = count / HEADS_MAX + 1;
    let heads = (usize::from(played.seed) % stride..count).step_by(stride).chain([count]);
    let mut before: Vec<Vec<Shown>> = Vec::new();
    for head in heads {
        report.step(head);
        let mut now = Vec::new();
        for viewer in &viewers {
            now.push(shown(rules, played, head, *viewer));
        }
        for ((viewer, before), now) in viewers.iter().zip(&before).zip(&now) {
            compare(report, Law::ShownStays, before, now, |what| format!("{viewer} is shown {what} no more"));
        }
        if let Some((to_spectator, to_players)) = now.split_last() {
            for (player, to_player) in viewers.iter().zip(to_players) {
                compare(report, Law::Spectators, to_spectator, to_player, |what| {
                    format!("a spectator is shown {what}, {player} is not")
                });
            }
        }
        before = now;
    }
}

fn compare(
    report: &mut LawReport<'_>,
    law: Law,
    one: &[Shown],
    other: &[Shown],
    explain: impl Fn(String) -> String,
) {
    for (seq, (one, other)) in (1..).zip(one.iter().zip(other)) {
        if let Some(what) = one.beyond(other) {
            report.doing(format_args!("entry {seq}"));
            report.broke(law, explain(what));
        }
    }
}

/// Returns what a viewer is shown of the first `head` entries when the match ends there. The list is empty if they
/// cannot be folded, because that breaks another law.
fn shown(rules: &dyn AnyRules, played: &PlayedMatch, head: usize, viewer: Perspective) -> Vec<Shown> {
    let log = log_of(&played.entries[..head]);
    let mut shown = Vec::new();
    let Ok(mut state) = rules.start(&played.setup) else { return shown };
    let folded = state.fold_as(viewer, &log, &played.dice, &mut |step| {
        let effects = serde_json::from_str(&step.effects_json()).unwrap_or_default();
        shown.push(Shown { command: !step.concealed() && step.command() == step.stand_in(), effects });
    });
    if folded.is_err() {
        shown.clear();
    }
    shown
}
