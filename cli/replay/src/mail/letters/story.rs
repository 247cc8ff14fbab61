//! What happened at the desk, in sentences.

use turnfold_core::Seat;
use turnfold_core::rules::desk::{Command, Effect};

use super::prose::{seat, time};
use crate::mail::desk_history::AppliedEntry;

/// Returns what an entry did, in words for its reader. It mentions that orders came, never their content (PM-23).
pub(super) fn sentences(entry: &AppliedEntry, reader: Seat) -> Vec<String> {
    let mut told: Vec<String> = entry.effects.iter().filter_map(|effect| sentence(effect, reader)).collect();
    // PM-21: everybody reads why.
    if let Command::Extend { grounds, .. } | Command::Close { grounds, .. } = &entry.command {
        told.push(format!("The host says: {}", String::from(grounds.clone())));
    }
    told
}

fn sentence(effect: &Effect, reader: Seat) -> Option<String> {
    let who = |name: &Seat| {
        let name = seat(*name, reader);
        if name == "you" { "You".to_owned() } else { name }
    };
    let whose = |name: &Seat| if *name == reader { "Your".to_owned() } else { format!("{name}'s") };
    let have = |name: &Seat| if *name == reader { "have" } else { "has" };
    Some(match effect {
        Effect::Joined { seat, name } => format!("{seat} is taken, by {name}."),
        Effect::Complete => "All seats are taken.".into(),
        Effect::Stood { turn, until, .. } => format!("Turn {turn} began, to end by {}.", time(*until)),
        Effect::Ordered { seat, number } if *seat == reader => {
            format!("Your order came in (paper {number}).")
        }
        Effect::Ordered { seat, .. } => format!("{seat} sent an order."),
        Effect::Sealed { seat, .. } => format!("{} {} sealed an order.", who(seat), have(seat)),
        Effect::Offered { seat, offer, .. } => format!("{} offered: {offer}.", who(seat)),
        Effect::Agreed { seat, .. } => format!("{} agreed to an offer.", who(seat)),
        Effect::Declined { seat, .. } => format!("{} declined an offer.", who(seat)),
        Effect::Lapsed { seat, .. } => format!("{} offer is closed.", whose(seat)),
        Effect::Missed { seat, misses: 1 } => format!("{} missed the deadline.", who(seat)),
        Effect::Missed { seat, misses } => {
            format!("{} missed the deadline, for the {misses}. time in a row.", who(seat))
        }
        Effect::Gone { seat, number: Some(_) } => format!("{} {} resigned.", who(seat), have(seat)),
        Effect::Gone { seat, number: None } => format!("{} {} left the match.", who(seat), have(seat)),
        Effect::Carried { seat, .. } => format!("{} order was carried out.", whose(seat)),
        Effect::Refused { seat, code, .. } => {
            format!("The game refused {} order: {code}.", whose(seat).to_lowercase())
        }
        Effect::Extended { until } => format!("The deadline moved to {}.", time(*until)),
        Effect::Rekeyed { seat, name, .. } => format!("{} {} a new key: {name}.", who(seat), have(seat)),
        Effect::Replaced { seat, name } => format!("{name} has taken over {seat}."),
        Effect::Over { result } => format!("The match is over: {}.", ending(result)),
        Effect::Clocked { .. } | Effect::Ready { .. } | Effect::Rolled { .. } => return None,
    })
}

/// Says how a match ended.
pub(super) fn ending(result: &str) -> String {
    match result {
        "played" => "it was played to its end".into(),
        "draw" => "a draw".into(),
        "void" => "it does not count".into(),
        winner => format!("{winner} wins"),
    }
}
