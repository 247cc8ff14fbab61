//! Matches, in a store here or at a service (SV-40). A verb asks them by one interface and does not know where they are. What
//! a service does not answer is answered here, from the history that it sends.

mod far;
mod near;

use turnfold_core::Digest;
use turnfold_history::{RangeName, Revision, SourceName};
use turnfold_show::render::ListedBranch;
use turnfold_store::{BranchName, MatchName};

use crate::commands::show::{self, AskArgs, LegalArgs};
use crate::commands::{export, find, log, matches, play};
use crate::context::Workspace;
use crate::corpus::Corpus;
use crate::failure::Result;
use crate::output::Output;
use crate::sources::Several;

use far::Far;
use near::Near;

pub(crate) use near::{find_here, missing_replay, rename_branch, require_legal, require_not_by_mail};

/// What verbs ask of matches. A long answer is printed part by part.
pub(crate) trait MatchAccess {
    /// Requires a store to be there, so that a missing one is one failure and not one for each source. No service is asked.
    fn require(&self) -> Result<()>;

    /// Prints a view. `name` is printed with it in JSON.
    fn show(
        &self,
        args: &show::Args,
        source: &SourceName,
        name: Option<&str>,
        output: &mut Output,
    ) -> Result<()>;

    fn legal(&self, args: &LegalArgs, output: &mut Output) -> Result<()>;

    fn ask(&self, args: &AskArgs, output: &mut Output) -> Result<()>;

    fn log(&self, args: &log::Args, range: &RangeName, output: &mut Output) -> Result<()>;

    /// Prints the entries of many logs that are wanted. Returns `true` if there is one.
    fn find(&self, args: &find::Args, corpus: Corpus, output: &mut Output) -> Result<bool>;

    fn list(&self, args: &matches::Args, output: &mut Output) -> Result<()>;

    /// Plays commands. The outcome of a rejected command is printed before the failure is returned.
    fn play(&self, args: &play::Args, output: &mut Output) -> Result<()>;

    /// Returns the revision if its replay file may be long and is written here, entry by entry. Requires the rules of a match
    /// in a store here, so a verb calls it before [`Self::export`].
    fn long_replay<'a>(&self, args: &export::Args, source: &'a SourceName) -> Result<Option<&'a Revision>>;

    fn export(&self, args: &export::Args, source: &SourceName) -> Result<Exported>;

    /// Returns the branch on which a match continues (SV-65).
    fn current_branch(&self, match_name: &MatchName) -> Result<BranchName>;

    /// Returns the branches of a match. A seat of a service has them in its own numbering, without links.
    fn branches(&self, match_name: &MatchName) -> Result<Vec<ListedBranch>>;

    fn all_branches(&self) -> Result<Several<SourceName>>;

    /// Creates a branch that begins after a revision, and returns the number of the entry there.
    fn create_branch(&self, from: &Revision, name: &BranchName) -> Result<u64>;

    /// Requires that a branch may be deleted, as far as that is known before the user is asked.
    fn require_deletable(&self, revision: &Revision) -> Result<()>;

    fn delete_branch(&self, revision: &Revision) -> Result<()>;
}

impl Workspace {
    pub(crate) fn matches(&self) -> Result<Box<dyn MatchAccess + '_>> {
        Ok(match self.service()? {
            Some(client) => Box::new(Far { client, workspace: self }),
            None => Box::new(Near(self)),
        })
    }

    /// Returns the matches that have a source. A replay file is read here, also if a service has the matches.
    pub(crate) fn matches_with(&self, source: &SourceName) -> Result<Box<dyn MatchAccess + '_>> {
        match source {
            SourceName::Revision(_) => self.matches(),
            SourceName::File(_) => Ok(Box::new(Near(self))),
        }
    }
}

/// A replay file or a page.
pub(crate) struct Exported {
    /// The seat whose knowledge the file is limited to; `None` if it holds everything.
    pub(crate) view: Option<String>,
    pub(crate) entries: u64,
    pub(crate) state_hash: Option<Digest>,
    pub(crate) text: String,
}
