//! Keys that move: to entries, matches of a search, another viewer and other branches.

use turnfold_history::{SearchDirection, SeatHistory, SourceName, Stepper};

use super::app::{Over, StepperScreen};
use crate::failure::Failure;

impl StepperScreen<'_> {
    /// Opens another branch with the same viewer, at the current entry if the branch has it.
    pub(super) fn open(&mut self, name: &SourceName) -> Result<(), Failure> {
        let at = self.stepper().at();
        let viewer = self.stepper().viewer();
        let owner = self.stepper().all_viewers().first().copied().unwrap_or(viewer);
        let stepper = Stepper::new(SeatHistory::load(owner, name, self.sources)?)?;
        self.stepper = Some(stepper.through(viewer)?);
        self.go(at)
    }

    pub(super) fn by(&mut self, count: i64) -> Result<(), Failure> {
        let to = self.stepper().at().saturating_add_signed(count);
        self.go(to)
    }

    pub(super) fn go(&mut self, to: u64) -> Result<(), Failure> {
        self.stepper().go(to)?;
        self.fields = self.stepper().changes();
        // The field that was chosen last stays chosen where it changes again.
        let path = self.path.as_ref();
        self.field = self.fields.iter().position(|field| Some(&field.path) == path).unwrap_or(0);
        self.moved = (0, 0);
        Ok(())
    }

    pub(super) fn search(&mut self, direction: SearchDirection) -> Result<(), Failure> {
        let Some(text) = self.searched.clone() else { return self.report("type / and a text first".into()) };
        let Some(hit) = self.stepper().search(&text, direction)? else {
            return self.report(format!("nothing has `{text}` in it"));
        };
        self.go(hit.seq)?;
        if hit.wrapped {
            let end = if direction == SearchDirection::Forward { "start" } else { "end" };
            return self.report(format!("the search went on from the {end}"));
        }
        Ok(())
    }

    pub(super) fn go_to_change(&mut self, direction: SearchDirection) -> Result<(), Failure> {
        let chosen = self.fields.get(self.field).map(|field| field.path.clone());
        let Some(path) = self.path.clone().or(chosen) else {
            return self.report("choose a field that changed first, with ↑ and ↓".into());
        };
        self.path = Some(path.clone());
        let which = if direction == SearchDirection::Back { "earlier" } else { "later" };
        match self.stepper().change_of(&path, direction)? {
            Some(seq) => self.go(seq),
            None => self.report(format!("no {which} entry changes {path}")),
        }
    }

    pub(super) fn next_viewer(&mut self) -> Result<(), Failure> {
        let all = self.stepper().all_viewers();
        if all.len() < 2 {
            return self.report("only this viewer is available here".into());
        }
        let viewer = self.stepper().viewer();
        let next = match all.iter().position(|each| *each == viewer) {
            Some(index) => (index + 1) % all.len(),
            None => 0,
        };
        if let (Some(stepper), Some(viewer)) = (self.stepper.take(), all.get(next)) {
            self.stepper = Some(stepper.through(*viewer)?);
        }
        let at = self.stepper().at();
        self.fields = self.stepper().changes();
        self.field = self.field.min(self.fields.len().saturating_sub(1));
        let viewer = self.stepper().viewer();
        self.report(format!("as {viewer} sees it, after entry {at}"))
    }

    pub(super) fn list_branches(&mut self) -> Result<(), Failure> {
        let SourceName::Revision(revision) = self.stepper().name().clone() else {
            return self.report("a replay file has no branches".into());
        };
        if !self.stepper().all_viewers().first().is_some_and(|viewer| viewer.sees_all()) {
            return self.report("only the host sees the branches".into());
        }
        let store = match self.sources.read_store() {
            Ok(store) => store,
            Err(error) => return self.report(error.to_string()),
        };
        let branches = store.branches(&revision.match_name)?;
        let here = branches.iter().position(|branch| branch.name == revision.branch).unwrap_or(0);
        self.over = Some(Over::Branches(branches, here));
        Ok(())
    }
}
