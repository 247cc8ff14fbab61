//! Matches, in a store here or at a service. A verb asks the [`Workspace`] and does not know which; a verb that needs
//! more than a service answers folds the history here, which the service sends. A long answer is printed part by part.

mod branches;
mod export;
mod find;
mod log;
mod play;

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;
use turnfold_core::{AnyState, Seat};
use turnfold_history::{SeatHistory, SourceName, Sources, Viewer};
use turnfold_show::drawing::{Highlights, svg, target_spots};
use turnfold_show::page::frames::changed_by_last;
use turnfold_show::render::match_list::lines;
use turnfold_show::render::{
    self, LegalCommand, ListedMatch, OriginDocument, WhoseTurn, legal_commands, standing,
};
use turnfold_store::{MatchInfo, StoreReader};

use crate::commands::{matches, show};
use crate::context::{Workspace, build_identity};
use crate::failure::Failure;
use crate::histories::{load, seek};
use crate::output::{Answer, Format, Output};
use crate::remote::look::{ListPart, answer_of, ask, document, page_of, print_pages, seen_at};

pub(crate) use export::{Exported, missing_replay};
pub(crate) use log::push_latest;
pub(crate) use play::require_not_by_mail;

/// How many matches are read before they are printed, so that their columns align.
const PAGE: usize = 256;

/// The view of one of several sources; the JSON form is stable.
#[derive(Serialize)]
struct SourcedView<'a> {
    source: &'a str,
    view: Value,
}

/// An entry with the match or file that it is from; the JSON form is stable.
#[derive(Serialize)]
struct Sourced<'a, T> {
    source: &'a str,
    #[serde(flatten)]
    item: &'a T,
}

impl Workspace {
    /// Returns what a viewer sees of a source. JSON has `name` with it, if there is one.
    pub(crate) fn view(
        &self,
        args: &show::Args,
        source: &SourceName,
        name: Option<&str>,
        format: Format,
    ) -> Result<Answer, Failure> {
        // The service marks nothing in its pictures.
        if let Some((client, revision)) = self.service_with(source)?
            && !args.changed
            && !args.reach
        {
            let resource = if format == Format::Svg { "picture.svg" } else { "view" };
            let reply = ask(client, revision, resource, seen_at(revision.seq, args.viewer), format)?;
            return match name {
                Some(source) if format == Format::Json => {
                    Ok(Answer::json(&SourcedView { source, view: document(&reply)? })?)
                }
                _ => answer_of(reply, format),
            };
        }
        let asked = args.viewer.unwrap_or(Viewer::HOST);
        let mut seat_history = None;
        let mut changed = BTreeSet::new();
        let (viewer, state) = if args.changed {
            let history = seat_history.insert(load(asked, source, self)?);
            changed = changed_by_last(history)?;
            (history.viewer(), history.state()?)
        } else {
            seek(asked, source, self)?
        };
        let stands = match (viewer.standing(state.as_ref()), &seat_history) {
            (Some(stands), _) => stands,
            (None, Some(seat_history)) => seat_history.standing()?,
            (None, None) => SeatHistory::load(asked, source, self)?.standing()?,
        };
        if format == Format::Json {
            let view = viewer.view(state.as_ref());
            return Ok(match name {
                Some(source) => Answer::json(&SourcedView { source, view })?,
                None => Answer::json(&view)?,
            });
        }
        let picture = viewer.picture(state.as_ref());
        let mut highlights = Highlights { changed, ..Highlights::default() };
        if args.reach {
            let commands = legal_commands(args.viewer, viewer, state.as_ref());
            let targets = commands.iter().flat_map(|legal| &legal.targets);
            highlights.reach = target_spots(&picture, targets);
        }
        if format == Format::Svg {
            return Ok(Answer::Document(svg::document(&picture, &highlights)));
        }
        Ok(Answer::Board { picture, highlights, below: standing(&stands) })
    }

    pub(crate) fn legal(
        &self,
        source: &SourceName,
        asked: Option<Viewer>,
        format: Format,
    ) -> Result<Answer, Failure> {
        if let Some((client, revision)) = self.service_with(source)? {
            let reply = ask(client, revision, "legal", seen_at(revision.seq, asked), format)?;
            return Ok(page_of(reply, &["items"], None, format)?.answer);
        }
        let (viewer, state) = seek(asked.unwrap_or(Viewer::HOST), source, self)?;
        require_legal(&*state)?;
        let commands = legal_commands(asked, viewer, state.as_ref());
        Ok(Answer::list(format, &commands, |commands| commands.iter().map(LegalCommand::line).collect())?)
    }

    pub(crate) fn ask(
        &self,
        source: &SourceName,
        question: &str,
        asked: Option<Viewer>,
        format: Format,
    ) -> Result<Answer, Failure> {
        if let Some((client, revision)) = self.service_with(source)? {
            let mut query = seen_at(revision.seq, asked);
            query.push(("q", question.into()));
            return answer_of(ask(client, revision, "ask", query, format)?, format);
        }
        let (viewer, state) = seek(asked.unwrap_or(Viewer::HOST), source, self)?;
        match viewer.ask(state.as_ref(), question) {
            Ok(answer) if format == Format::Json => Ok(Answer::json(&answer.json)?),
            Ok(answer) => Ok(Answer::Lines(vec![render::answer(&answer)])),
            Err(error) => Err(Failure::usage(error.to_string())),
        }
    }

    pub(crate) fn list_matches(&self, args: &matches::Args, output: &mut Output) -> Result<(), Failure> {
        if let Some(client) = self.service()? {
            // SV-69: the service looks at the turns itself.
            let mut query = Vec::new();
            if args.long {
                query.push(("turn", "true".into()));
            }
            if let Some(mine) = args.mine {
                query.push(("mine", mine.to_string()));
            }
            let after = args.after.as_ref().map(ToString::to_string);
            let count = args.limit.map(|limit| limit as u64);
            let part = ListPart { path: "/v1/matches".into(), query, after, count, source: None };
            print_pages(client, part, output)?;
            return Ok(());
        }
        let store = self.read_store()?;
        let mut left = args.limit.unwrap_or(usize::MAX);
        let mut matches = store.matches_after(args.after.as_ref())?;
        let mut page = Vec::new();
        while left > 0
            && let Some(info) = matches.next()
        {
            let listed = self.listed(info?, args, &store)?;
            if args.mine.is_none_or(|mine| waits_for(&listed, mine)) {
                page.push(listed);
                left -= 1;
            }
            if page.len() == PAGE {
                output.list(&page, lines)?;
                page.clear();
            }
        }
        output.list(&page, lines)
    }

    /// Opens the store, or the client of the service, so that a missing one is one failure and not one of each source.
    pub(crate) fn require_store(&self) -> Result<(), Failure> {
        if self.service()?.is_none() {
            self.read_store()?;
        }
        Ok(())
    }

    fn listed(
        &self,
        info: MatchInfo,
        args: &matches::Args,
        store: &StoreReader,
    ) -> Result<ListedMatch, Failure> {
        let origin = OriginDocument::of(&info.genesis);
        let mut listed = ListedMatch::read(info, store)?;
        if args.long {
            listed.origin = origin;
        }
        if args.long || args.mine.is_some() {
            let build = build_identity();
            listed.turn = Some(WhoseTurn::of(&listed.match_name, store, &self.registry, build)?);
        }
        Ok(listed)
    }
}

fn waits_for(listed: &ListedMatch, seat: Seat) -> bool {
    matches!(&listed.turn, Some(WhoseTurn::Of(seats, _)) if seats.contains(&seat))
}

pub(crate) fn require_legal(state: &dyn AnyState) -> Result<(), Failure> {
    if state.lists_legal() {
        return Ok(());
    }
    // RF-6: a referee need not list legal commands.
    Err(Failure::usage("nothing lists legal commands here")
        .hint("a referee offers `legal`, a recording has no rules; see `turnfold help referees`"))
}
