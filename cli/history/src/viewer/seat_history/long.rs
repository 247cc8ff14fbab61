//! Histories of any length as a viewer may know them: they are read and folded a run of entries at a time.

use std::sync::Arc;

use turnfold_core::{AnyRules, AnyState, DicePolicy, Digest, FoldError, Registry, Seat, Step};
use turnfold_store::{BranchName, MatchName, StoreReader};

use super::SeatHistory;
use crate::compare::divergence::Divergence;
use crate::error::ReplayError;
use crate::history::entry::{LogEntry, logged};
use crate::history::position::{Position, RUN, Tail};
use crate::history::revision::{Revision, SourceName};
use crate::history::{History, Sources, broken_entry, broken_setup, rules_of};
use crate::tfl::LongReplay;
use crate::viewer::Viewer;
use crate::viewer::viewed_entry::{ViewedEntry, may_know_recorded};

/// A history as one viewer knows it, like [`SeatHistory`], that holds few entries at a time. What is piped in is
/// held whole, as it can be read only once.
pub struct LongHistory {
    name: SourceName,
    form: Form,
}

enum Form {
    /// The host looks at a store, where snapshots help.
    Snapshots {
        revision: Revision,
        store: StoreReader,
        registry: Registry,
        build: Option<Digest>,
    },
    Runs(Runs),
    Held(SeatHistory),
}

/// A history that is read in every pass.
struct Runs {
    viewer: Viewer,
    /// How messages name the whole history.
    name: SourceName,
    rules: Arc<dyn AnyRules>,
    setup: Vec<u8>,
    dice: DicePolicy,
    /// The number of the last entry.
    head: u64,
    entries: StoredEntries,
}

enum StoredEntries {
    Store { store: StoreReader, match_name: MatchName, branch: BranchName },
    File(Box<LongReplay>),
}

/// Takes in a run of entries.
type TakeRun<'a> = dyn FnMut(&[LogEntry]) -> Result<(), ReplayError> + 'a;

impl LongHistory {
    /// Opens a revision or a replay file; the number of its last entry counts the entries of the viewer. A file for one
    /// seat is viewed as that seat.
    ///
    /// # Errors
    /// What is wrong with the source. What is wrong with its entries may show only once they are folded.
    pub fn open(viewer: Viewer, name: &SourceName, sources: &dyn Sources) -> Result<Self, ReplayError> {
        let form = match name {
            SourceName::Revision(revision) if viewer.see_all() => Form::Snapshots {
                revision: revision.clone(),
                store: sources.read_store()?,
                registry: sources.registry().clone(),
                build: sources.build(),
            },
            SourceName::Revision(revision) => Form::Runs(Runs::of_revision(viewer, revision, sources)?),
            SourceName::File(file) => match LongReplay::open(&file.path, sources.registry()) {
                Some(replay) => Form::Runs(Runs::of_file(viewer, name, replay)?),
                None => Form::Held(SeatHistory::load(viewer, name, sources)?),
            },
        };
        Ok(Self { name: name.clone(), form })
    }

    /// Returns the store that it is read from, for the host.
    #[must_use]
    pub fn store(&self) -> Option<&StoreReader> {
        if let Form::Snapshots { store, .. } = &self.form { Some(store) } else { None }
    }

    /// Returns `true` if the source contains only what the viewing seat may know.
    #[must_use]
    pub fn is_of_seat(&self) -> bool {
        match &self.form {
            Form::Snapshots { .. } => false,
            Form::Held(seat_history) => seat_history.is_of_seat(),
            Form::Runs(runs) => runs.is_own(),
        }
    }

    /// Returns the first entry that a file records otherwise than the rules compute it, as
    /// [`SeatHistory::contradiction`] does.
    #[must_use]
    pub fn contradiction(&self) -> Option<Divergence> {
        match &self.form {
            Form::Snapshots { .. } => None,
            Form::Held(seat_history) => seat_history.contradiction(),
            Form::Runs(runs) => runs.contradiction(),
        }
    }

    /// Returns the players of the match.
    ///
    /// # Errors
    /// What is wrong with its setup.
    pub fn players(&self) -> Result<Vec<Seat>, ReplayError> {
        let start = match &self.form {
            Form::Snapshots { revision, store, registry, .. } => {
                let beginning = store.read(&revision.match_name, &revision.branch, Some(0))?;
                History::of_log(revision, beginning, registry)?.start()?
            }
            Form::Runs(runs) => runs.start()?,
            Form::Held(seat_history) => seat_history.start()?,
        };
        Ok(start.players().to_vec())
    }

    /// Shows the last entries that the viewer may know of. It can be called again.
    ///
    /// # Errors
    /// What is wrong with the history; the host has been shown the entries before the error. A player learns no more than
    /// it may know.
    pub fn show_last(
        &self,
        tail: Tail,
        observe: &mut dyn FnMut(&mut ViewedEntry<'_>),
    ) -> Result<(), ReplayError> {
        match &self.form {
            Form::Snapshots { revision, store, registry, build } => {
                Position::show_last(tail, revision, registry, store, build.as_ref(), observe)
            }
            Form::Runs(runs) if runs.viewer.see_all() => runs.show_to_host(tail, &self.name, observe),
            Form::Runs(runs) => runs.show_to_player(tail, &self.name, observe),
            Form::Held(seat_history) => {
                let passed = tail.before(&self.name, seat_history.head())?;
                seat_history.fold(&mut |seen| {
                    if seen.seq > passed {
                        observe(seen);
                    }
                })?;
                Ok(())
            }
        }
    }
}

impl Runs {
    fn of_revision(viewer: Viewer, revision: &Revision, sources: &dyn Sources) -> Result<Self, ReplayError> {
        let store = sources.read_store()?;
        let Revision { match_name, branch, .. } = revision.clone();
        let beginning = store.read(&match_name, &branch, Some(0))?;
        Ok(Self {
            viewer,
            name: SourceName::Revision(revision.clone()).up_to(None),
            rules: rules_of(&beginning.genesis, revision, sources.registry())?,
            setup: beginning.genesis.setup,
            dice: beginning.genesis.dice,
            head: beginning.head,
            entries: StoredEntries::Store { store, match_name, branch },
        })
    }

    fn of_file(viewer: Viewer, name: &SourceName, long: LongReplay) -> Result<Self, ReplayError> {
        let header = &long.replay.header;
        Ok(Self {
            viewer: viewer.narrowed(header.view)?,
            name: name.up_to(None),
            rules: header.rules.clone(),
            setup: long.replay.setup()?,
            dice: header.dice,
            head: long.head,
            entries: StoredEntries::File(Box::new(long)),
        })
    }

    fn is_own(&self) -> bool {
        matches!(&self.entries, StoredEntries::File(long) if long.replay.header.view.is_some())
    }

    fn contradiction(&self) -> Option<Divergence> {
        if !matches!(self.entries, StoredEntries::File(_)) || !may_know_recorded(self.viewer, self.is_own()) {
            return None;
        }
        let mut found = None;
        let head = self.head;
        let compare = &mut |seen: &mut ViewedEntry<'_>| {
            if found.is_none() {
                found = seen.contradiction_of(seen.seq == head && seen.viewer.see_all());
            }
        };
        let tail = Tail { count: u64::MAX, first: 1 };
        // What cannot be folded is named by the verb that shows it.
        let _ = if self.viewer.see_all() {
            self.show_to_host(tail, &self.name, compare)
        } else {
            self.show_to_player(tail, &self.name, compare)
        };
        found
    }

    fn show_to_host(
        &self,
        tail: Tail,
        name: &SourceName,
        observe: &mut dyn FnMut(&mut ViewedEntry<'_>),
    ) -> Result<(), ReplayError> {
        let to = name.seq().unwrap_or(self.head);
        self.require(to, self.head)?;
        let passed = tail.before(name, to)?;
        let viewer = self.viewer;
        let mut state = self.start()?;
        self.each_run(to, &mut |run| {
            let mut rest = run.iter();
            let observe = &mut |step: &mut dyn Step| {
                let Some(entry) = rest.next().filter(|entry| entry.seq > passed) else { return };
                observe(&mut ViewedEntry { viewer, seq: entry.seq, step, entry, is_own: false });
            };
            state.fold(&logged(run), &self.dice, observe).map_err(|cause| self.broken(cause))
        })
    }

    /// Shows entries as a player may know of them. What it may know is decided at the end of the whole history first, and
    /// then at the position.
    fn show_to_player(
        &self,
        tail: Tail,
        name: &SourceName,
        observe: &mut dyn FnMut(&mut ViewedEntry<'_>),
    ) -> Result<(), ReplayError> {
        let mut to = self.head;
        let mut end = self.state_bytes(self.head)?;
        let mut known = Vec::new();
        self.fold_as_at(&end, to, &mut |entry, step| {
            if !step.concealed() {
                known.push(entry.seq);
            }
        })?;
        if let Some(seq) = name.seq() {
            self.require(seq, known.len() as u64)?;
            known.truncate(usize::try_from(seq).unwrap_or(usize::MAX));
            to = known.last().copied().unwrap_or(0);
            end = self.state_bytes(to)?;
        }
        let passed = tail.before(name, known.len() as u64)?;
        let mut known = (1..).zip(known).peekable();
        self.fold_as_at(&end, to, &mut |entry, step| {
            let Some((seq, _)) = known.next_if(|(_, known)| *known == entry.seq) else { return };
            if seq > passed && !step.concealed() {
                observe(&mut ViewedEntry { viewer: self.viewer, seq, step, entry, is_own: self.is_own() });
            }
        })
    }

    /// Folds entries and shows what the viewer may know of them once the match has come to a later state.
    fn fold_as_at(
        &self,
        later: &[u8],
        to: u64,
        observe: &mut dyn FnMut(&LogEntry, &mut dyn Step),
    ) -> Result<(), ReplayError> {
        let mut state = self.start()?;
        self.each_run(to, &mut |run| {
            let mut rest = run.iter();
            let observe = &mut |step: &mut dyn Step| {
                if let Some(entry) = rest.next() {
                    observe(entry, step);
                }
            };
            let viewer = self.viewer.perspective();
            let folded = state.fold_as_at(viewer, later, &logged(run), &self.dice, observe);
            folded.map_err(|cause| self.broken(cause))
        })
    }

    fn start(&self) -> Result<Box<dyn AnyState>, ReplayError> {
        self.rules.start(&self.setup).map_err(|cause| broken_setup(&self.name, cause))
    }

    /// Returns the bytes of the state after an entry.
    fn state_bytes(&self, to: u64) -> Result<Vec<u8>, ReplayError> {
        let mut state = self.start()?;
        self.each_run(to, &mut |run| {
            let folded = state.fold(&logged(run), &self.dice, &mut |_| {});
            folded.map_err(|cause| self.broken(cause))
        })?;
        Ok(state.state_bytes())
    }

    /// Reads the entries up to one, and passes them on in runs.
    fn each_run(&self, to: u64, take: &mut TakeRun<'_>) -> Result<(), ReplayError> {
        let mut run = Vec::new();
        let add = &mut |entry: LogEntry| {
            let is_wanted = entry.seq <= to;
            if is_wanted {
                run.push(entry);
            }
            if run.len() == RUN {
                take(&run)?;
                run.clear();
            }
            Ok(is_wanted)
        };
        match &self.entries {
            StoredEntries::Store { store, match_name, branch } => {
                for entry in store.entries(match_name, branch, 1..=to)? {
                    add(entry?.into())?;
                }
            }
            StoredEntries::File(replay) => {
                replay.pass(add)?;
            }
        }
        take(&run)
    }

    /// Requires that there is an entry, unless it is 0.
    fn require(&self, seq: u64, head: u64) -> Result<(), ReplayError> {
        if seq <= head { Ok(()) } else { Err(ReplayError::NoEntry { history: self.name.clone(), seq, head }) }
    }

    /// An entry that its own rules refuse. A player learns neither which nor why.
    fn broken(&self, cause: FoldError) -> ReplayError {
        if self.viewer.see_all() {
            return broken_entry(&self.name, cause);
        }
        ReplayError::ConcealedEntry { history: self.name.clone() }
    }
}
