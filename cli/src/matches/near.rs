//! Matches in a store here, replay files, and histories that a service sent.

mod find;
mod log;
mod play;

use std::collections::BTreeSet;
use std::env;
use std::path::Path;
use std::slice;

use turnfold_core::AnyState;
use turnfold_history::{RangeName, Revision, SeatHistory, SourceName, Sources, Viewer};
use turnfold_mail::current_branch;
use turnfold_proof::bundle::BundledName;
use turnfold_proof::signing::Signers;
use turnfold_show::Page;
use turnfold_show::drawing::{Highlights, svg, target_spots};
use turnfold_show::page::frames::changed_by_last;
use turnfold_show::render::{
    self, LegalCommand, ListedBranch, ListedMatch, OriginDocument, WhoseTurn, legal_commands, standing,
};
use turnfold_store::{BranchName, MatchName, StoreReader};

use super::{Exported, MatchAccess};
use crate::commands::show::{self, AskArgs, LegalArgs};
use crate::commands::{self, export, matches};
use crate::context::{Workspace, build_identity};
use crate::corpus::Corpus;
use crate::failure::{Failure, Result};
use crate::files::is_standard;
use crate::histories::{load, load_unchecked, seek};
use crate::output::{Format, Output, named};
use crate::sources::Several;

pub(crate) use find::find_here;
pub(crate) use play::require_not_by_mail;

/// How many matches are read before they are printed, so that their columns align.
const PAGE: usize = 256;

pub(super) struct Near<'a>(pub(super) &'a Workspace);

impl MatchAccess for Near<'_> {
    fn require(&self) -> Result<()> {
        self.0.read_store()?;
        Ok(())
    }

    fn show(
        &self,
        args: &show::Args,
        source: &SourceName,
        name: Option<&str>,
        output: &mut Output,
    ) -> Result<()> {
        let format = output.format();
        let asked = args.viewer.unwrap_or(Viewer::HOST);
        let mut seat_history = None;
        let mut changed = BTreeSet::new();
        let (viewer, state) = if args.changed {
            let history = seat_history.insert(load(asked, source, self.0)?);
            changed = changed_by_last(history)?;
            (history.viewer(), history.state()?)
        } else {
            seek(asked, source, self.0)?
        };
        let stands = match (viewer.standing(state.as_ref()), &seat_history) {
            (Some(stands), _) => stands,
            (None, Some(seat_history)) => seat_history.standing()?,
            (None, None) => SeatHistory::load(asked, source, self.0)?.standing()?,
        };
        if format == Format::Json {
            return Ok(output.json(&named(viewer.view(state.as_ref()), name))?);
        }
        let picture = viewer.picture(state.as_ref());
        let mut highlights = Highlights { changed, ..Highlights::default() };
        if args.reach {
            let commands = legal_commands(args.viewer, viewer, state.as_ref());
            let targets = commands.iter().flat_map(|legal| &legal.targets);
            highlights.reach = target_spots(&picture, targets);
        }
        if format == Format::Svg {
            output.document(&svg::document(&picture, &highlights))?;
        } else {
            output.highlighted(&picture, &highlights)?;
            output.note(standing(&stands))?;
        }
        Ok(())
    }

    fn legal(&self, args: &LegalArgs, output: &mut Output) -> Result<()> {
        let (viewer, state) = seek(args.viewer.unwrap_or(Viewer::HOST), &args.source, self.0)?;
        require_legal(&*state)?;
        let commands = legal_commands(args.viewer, viewer, state.as_ref());
        Ok(output.list(&commands, |commands| commands.iter().map(LegalCommand::line).collect())?)
    }

    fn ask(&self, args: &AskArgs, output: &mut Output) -> Result<()> {
        let (viewer, state) = seek(args.viewer.unwrap_or(Viewer::HOST), &args.source, self.0)?;
        let answer = viewer
            .ask(state.as_ref(), &args.question.0)
            .map_err(|error| Failure::usage(error.to_string()))?;
        Ok(output.show(&answer.json, || vec![render::answer(&answer)])?)
    }

    fn log(&self, args: &commands::log::Args, range: &RangeName, output: &mut Output) -> Result<()> {
        log::log(args, range, self.0, output)
    }

    fn find(&self, args: &commands::find::Args, corpus: Corpus, output: &mut Output) -> Result<bool> {
        find_here(args, corpus, output)
    }

    fn list(&self, args: &matches::Args, output: &mut Output) -> Result<()> {
        let store = self.0.read_store()?;
        let mut left = args.limit.unwrap_or(usize::MAX);
        let mut matches = store.matches_after(args.after.as_ref())?;
        let mut page = Vec::new();
        while left > 0
            && let Some(info) = matches.next()
        {
            let info = info?;
            let origin = OriginDocument::of(&info.genesis);
            let mut listed = ListedMatch::read(info, &store)?;
            if args.long {
                listed.origin = origin;
            }
            if args.long || args.mine.is_some() {
                let turn = WhoseTurn::of(&listed.match_name, &store, &self.0.registry, build_identity())?;
                listed.turn = Some(turn);
            }
            if let Some(mine) = args.mine
                && !matches!(&listed.turn, Some(WhoseTurn::Of(seats, _)) if seats.contains(&mine))
            {
                continue;
            }
            page.push(listed);
            left -= 1;
            if page.len() == PAGE {
                output.list(&page, render::match_list::lines)?;
                page.clear();
            }
        }
        Ok(output.list(&page, render::match_list::lines)?)
    }

    fn play(&self, args: &commands::play::Args, output: &mut Output) -> Result<()> {
        play::play(args, self.0, output)
    }

    fn long_replay<'a>(&self, args: &export::Args, source: &'a SourceName) -> Result<Option<&'a Revision>> {
        let SourceName::Revision(revision) = source else { return Ok(None) };
        let matches = slice::from_ref(&revision.match_name);
        self.0.require_rules("`export`", &self.0.read_store()?, matches)?;
        Ok((!args.html && args.viewer.sees_all()).then_some(revision))
    }

    fn export(&self, args: &export::Args, source: &SourceName) -> Result<Exported> {
        if args.html {
            let Page { html, view, entries, state_hash } = Page::load(args.viewer, source, self.0)?;
            let view = view.map(|seat| seat.to_string());
            return Ok(Exported { view, entries, state_hash, text: html });
        }
        if let SourceName::File(file) = source
            && BundledName::of(&file.path).is_none()
        {
            if !is_standard(&file.path) && !file.path.exists() {
                return Err(missing_replay(&file.path));
            }
            return Err(
                Failure::usage(format!("`{file}` is a file already")).hint("`--html` makes a page of it")
            );
        }
        let seat_history = load_unchecked(args.viewer, source, self.0)?;
        let replay = seat_history.to_replay()?;
        Ok(Exported {
            view: replay.header.view.map(|view| view.perspective.to_string()),
            entries: seat_history.head(),
            state_hash: replay.closing.map(|closing| closing.state),
            text: replay.to_string(),
        })
    }

    fn current_branch(&self, match_name: &MatchName) -> Result<BranchName> {
        Ok(current_branch(&self.0.read_store()?, match_name)?)
    }

    fn branches(&self, match_name: &MatchName) -> Result<Vec<ListedBranch>> {
        let store = self.0.read_store()?;
        let current = current_branch(&store, match_name)?;
        let mut branches = Vec::new();
        for info in store.branches(match_name)? {
            branches.push(ListedBranch::of(info, &current));
        }
        Ok(branches)
    }

    fn all_branches(&self) -> Result<Several<SourceName>> {
        let mut all = Several { sources: Vec::new(), failures: Vec::new() };
        let store = self.0.read_store()?;
        for found in store.matches()? {
            match store.branches(&found.name) {
                Ok(branches) => {
                    for info in branches {
                        all.sources.push(SourceName::Revision(Revision {
                            match_name: found.name.clone(),
                            branch: info.name,
                            seq: None,
                        }));
                    }
                }
                Err(error) => all.failures.push(Failure::from(error).about(found.name.as_str())),
            }
        }
        Ok(all)
    }

    fn create_branch(&self, from: &Revision, name: &BranchName) -> Result<u64> {
        let Revision { match_name, branch, seq } = from;
        let store = self.0.open_store()?;
        let at = match seq {
            Some(seq) => *seq,
            None => store.head(match_name, branch)?,
        };
        store.create_branch(match_name, name, branch, at, Vec::new())?;
        Ok(at)
    }

    fn require_deletable(&self, revision: &Revision) -> Result<()> {
        let store = self.0.read_store()?;
        require_not_by_mail(&store, revision)?;
        require_unsigned(revision, &store)?;
        store.head(&revision.match_name, &revision.branch)?;
        Ok(())
    }

    fn delete_branch(&self, revision: &Revision) -> Result<()> {
        let store = self.0.open_store()?;
        require_not_by_mail(&store, revision)?;
        require_not_current(&store, revision)?;
        Ok(store.delete_branch(&revision.match_name, &revision.branch)?)
    }
}

pub(crate) fn require_legal(state: &dyn AnyState) -> Result<()> {
    if state.lists_legal() {
        return Ok(());
    }
    // RF-6: a referee need not list legal commands.
    Err(Failure::usage("nothing lists legal commands here")
        .hint("a referee offers `legal`, a recording has no rules; see `turnfold help referees`"))
}

/// Renames a branch of a store here. A service renames none, and that is the error even without a token for it.
pub(crate) fn rename_branch(revision: &Revision, name: &BranchName, workspace: &Workspace) -> Result<()> {
    let store = workspace.open_store()?;
    require_not_by_mail(&store, revision)?;
    require_not_current(&store, revision)?;
    Ok(store.rename_branch(&revision.match_name, &revision.branch, name)?)
}

/// SV-65: requires a branch on which the match does not go on. Of `main`, the store says more.
fn require_not_current(store: &StoreReader, revision: &Revision) -> Result<()> {
    if revision.branch.is_main() || current_branch(store, &revision.match_name)? != revision.branch {
        return Ok(());
    }
    let message = format!("`{}` continues on branch `{}`", revision.match_name, revision.branch);
    Err(Failure::usage(message)
        .hint("take back on the page or by the service first; then the match continues on another"))
}

/// Requires that the key in `$TURNFOLD_KEY`, if there is one, has not signed a branch that is to be deleted. The key
/// would not sign another branch of that name.
fn require_unsigned(revision: &Revision, store: &StoreReader) -> Result<()> {
    let Some(path) = env::var_os("TURNFOLD_KEY").filter(|path| !path.is_empty()) else { return Ok(()) };
    let signers = Signers::open(&[path.into()])?;
    if signers.remembered(&signers.origin(store, revision)?)?.is_empty() {
        return Ok(());
    }
    let message = format!("`{revision}` is signed, and the key will sign no other branch under its name");
    Err(Failure::usage(message).hint("`--force` deletes it"))
}

pub(crate) fn missing_replay(file: &Path) -> Failure {
    let file = file.display();
    Failure::usage(format!("cannot read replay `{file}`: there is no such file"))
        .hint(format!("`-o {file}` writes to it"))
}
