//! Reads histories for verbs that show what the rules compute, and warns if a file records something else.

use turnfold_core::{AnyState, Seat};
use turnfold_history::compare::{Divergence, DivergenceKind};
use turnfold_history::text::shortened;
use turnfold_history::{FileName, History, ReplayError, Revision, SeatHistory, SourceName, Viewer};
use turnfold_store::BranchName;

use crate::context::Workspace;
use crate::failure::{Failure, Result};
use crate::output::warn;

const OUTCOME_CHARACTERS_MAX: usize = 160;

/// Reads a revision or a replay file as a viewer knows it, and warns if the file records something else.
pub(crate) fn load(viewer: Viewer, source: &SourceName, workspace: &Workspace) -> Result<SeatHistory> {
    checked(SeatHistory::load(viewer, &checked_name(source), workspace)?, viewer, source)
}

/// Does what [`load`] does, but the entries are read in every pass, so that a long history takes little memory.
pub(crate) fn open(viewer: Viewer, source: &SourceName, workspace: &Workspace) -> Result<SeatHistory> {
    checked(SeatHistory::open(viewer, &checked_name(source), workspace)?, viewer, source)
}

fn checked_name(source: &SourceName) -> SourceName {
    // All of a file is checked before a part of it is shown.
    if matches!(source, SourceName::File(_)) { source.up_to(None) } else { source.clone() }
}

/// Reads a history as a viewer knows it, without a warning if its file records something else.
pub(crate) fn load_unchecked(
    viewer: Viewer,
    source: &SourceName,
    workspace: &Workspace,
) -> Result<SeatHistory> {
    let history = SeatHistory::load(viewer, source, workspace)?;
    require_seat(viewer, history.start()?.players(), source)?;
    Ok(history)
}

fn checked(history: SeatHistory, viewer: Viewer, source: &SourceName) -> Result<SeatHistory> {
    require_seat(viewer, history.start()?.players(), source)?;
    if let Some(found) = history.contradiction() {
        warn(&record_warning(source, &found, history.is_of_seat()));
    }
    match source {
        SourceName::File(FileName { seq: Some(seq), .. }) => Ok(history.up_to(*seq)?),
        _ => Ok(history),
    }
}

/// Warns of `main` where the match continues on another branch (SV-65), as a revision without a branch means `main`.
pub(crate) fn warn_unless_current(
    shown: &Revision,
    find_current: impl FnOnce() -> Result<BranchName>,
) -> Result<()> {
    let Revision { match_name, branch, .. } = shown;
    if !branch.is_main() {
        return Ok(());
    }
    let current = find_current()?;
    if current != *branch {
        warn(&format!("{match_name} continues on branch {current}; write `{match_name}@{current}` for it"));
    }
    Ok(())
}

pub(crate) fn require_seat(viewer: Viewer, players: &[Seat], source: &SourceName) -> Result<()> {
    if viewer.is_of_match(players) { Ok(()) } else { Err(no_seat(&viewer.to_string(), players, source)) }
}

pub(crate) fn no_seat(seat: &str, players: &[Seat], source: &SourceName) -> Failure {
    let name = source.up_to(None);
    Failure::usage(format!("`{name}` has no seat `{seat}`; its seats are {} and host", listed(players)))
}

pub(crate) fn listed<'a>(players: impl IntoIterator<Item = &'a Seat>) -> String {
    players.into_iter().map(|seat| seat.name()).collect::<Vec<_>>().join(", ")
}

/// Reads a revision, or a replay file that conceals nothing. Warns if the file records something else, and returns what.
pub(crate) fn load_whole(
    source: &SourceName,
    workspace: &Workspace,
) -> Result<(History, Option<Divergence>), ReplayError> {
    let seat_history = SeatHistory::of(Viewer::HOST, History::load(&checked_name(source), workspace)?)?;
    let contradiction = seat_history.contradiction();
    if let Some(found) = &contradiction {
        warn(&record_warning(source, found, false));
    }
    let mut history = seat_history.into_history()?;
    if let SourceName::File(FileName { seq: Some(seq), .. }) = source {
        history.cut_after(*seq)?;
    }
    Ok((history, contradiction))
}

/// Returns the state of a revision or replay file, and the viewer. For a file that was made for one seat, the viewer is
/// that seat.
pub(crate) fn seek(
    viewer: Viewer,
    source: &SourceName,
    workspace: &Workspace,
) -> Result<(Viewer, Box<dyn AnyState>)> {
    if let SourceName::Revision(revision) = source {
        let found = SeatHistory::seek(viewer, revision, workspace)?;
        require_seat(viewer, found.1.players(), source)?;
        return Ok(found);
    }
    let seat_history = load(viewer, source, workspace)?;
    Ok((seat_history.viewer(), seat_history.state()?))
}

/// Returns the warning of the first entry for which a file records something else than this build computes. For a file
/// made for one seat (`is_of_seat`), it does not name `check`, which cannot check such a file.
pub(crate) fn record_warning(source: &SourceName, contradiction: &Divergence, is_of_seat: bool) -> String {
    let file = source.up_to(None);
    let mut next = String::new();
    if matches!(source, SourceName::File(_)) && !file.is_standard_input() && !is_of_seat {
        next = crate::program::in_hint(format!("; `turnfold check {file}` shows it"));
    }
    format!("{file}: {}{next}", in_words(contradiction))
}

pub(crate) fn in_words(Divergence { subject, kind, recorded, computed, .. }: &Divergence) -> String {
    let sign = if *kind == DivergenceKind::StateHash { "state hash #" } else { "" };
    let recorded = recorded.as_ref().map(ToString::to_string).unwrap_or_default();
    let [recorded, computed] =
        [recorded, computed.to_string()].map(|claim| shortened(&claim, OUTCOME_CHARACTERS_MAX).to_string());
    format!("{subject} recorded `{sign}{recorded}`, this build computes `{sign}{computed}`")
}
