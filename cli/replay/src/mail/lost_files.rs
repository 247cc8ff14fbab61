//! What a player reads whose key or memory is on another device or lost (PM-56).

use turnfold_core::paper::SeatKey;

use super::received_bundle::ReceivedBundle;
use crate::signing::KeyMemory;

/// Returns why no order is written for a turn that is long after the last one (PM-28). The memory of the last one may be on
/// another device.
pub(super) fn too_long_after(turn: u32, last: u32, memory: &KeyMemory) -> String {
    let why = match last {
        0 => {
            let folder = memory.folder().display();
            format!("`{folder}`, the folder next to your key, has no order of this match")
        }
        last => format!("your last order was of turn {last}, long before turn {turn}"),
    };
    format!(
        "{why}; copy that folder from the device on which you played before, or add `--turn {turn}` if the host confirms \
         that turn"
    )
}

/// Returns why a key without a seat writes nothing, and how a player with a lost key continues.
pub(super) fn no_seat(received: &ReceivedBundle, has_begun: bool, key: &SeatKey) -> String {
    let name = key.name();
    if !has_begun {
        return format!("`{name}` has no seat in the bundle; write a `join`");
    }
    let taken = received.taken_seats();
    let taken: Vec<_> = taken.iter().map(|(seat, name)| format!("{seat} is of {name}")).collect();
    // PM-60
    let ask = if received.terms.host_replaces {
        "ask the host to `replace SEAT NAME KEY REASON`"
    } else {
        "ask another player to write `offer replace SEAT NAME KEY`"
    };
    format!(
        "`{name}` has no seat in this match ({}). If you lost the key of a seat, {ask} with the name and key that `key \
         show` prints for the new one",
        taken.join(", ")
    )
}
