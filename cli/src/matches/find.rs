//! Entries that a search finds in many logs, near or far.

use std::collections::BTreeSet;
use std::io;
use std::ops::ControlFlow;

use turnfold_core::Seat;
use turnfold_history::search::{FoundEntry, Survey, Wanted, find, name_like};
use turnfold_history::{ReplayError, SeatHistory, SourceName, Viewer};
use turnfold_show::render::recorded_mark;
use ureq::http::StatusCode;

use super::Sourced;
use crate::client::{Client, NotAnswered, path_of};
use crate::commands::find::{Args, WantedArgs};
use crate::corpus::Corpus;
use crate::failure::{ExitStatus, Failure};
use crate::histories::listed;
use crate::output::{Line, Output, dim, plain, printable, warning};
use crate::remote::{ListPart, print_pages, seen_at};

/// The most found entries of a log that are held in memory until the logs before it are printed. A log with more of
/// them is folded again when it is printed.
const HITS_MAX: usize = 1000;

impl Corpus<'_> {
    /// Prints the entries that a search finds, and returns `true` if there are any.
    pub(crate) fn find(self, args: &Args, output: &mut Output) -> Result<bool, Failure> {
        // The service searches what it can, because then no log is sent.
        if let Ok(Some(client)) = self.workspace.service()
            && self.is_searched_far(args, client)
        {
            return self.find_far(args, client, output);
        }
        let wanted = Wanted::from(&args.wanted);
        let viewer = args.viewer.unwrap_or(Viewer::HOST);
        let look = |seat_history: SeatHistory| Looked::at(seat_history, &wanted, args);
        let mut survey = Survey::default();
        let mut is_found = false;
        let mut known = KnownNames::default();
        let unread = self.each(viewer, look, |name, looked| {
            survey.merge(looked.survey);
            known.merge(looked.names.unwrap_or_default());
            let source = name.up_to(None).to_string();
            for hit in looked.hits {
                is_found = true;
                print(&source, &hit, output)?;
            }
            match looked.rest {
                Some(seat_history) => print_after(HITS_MAX, &source, &seat_history, &wanted, output),
                None => Ok(()),
            }
        })?;
        if let Some(failure) = unread {
            return Err(failure);
        }
        if !is_found {
            known.require(&args.wanted)?;
            if let Some(when) = &args.wanted.when {
                when.check(&survey).map_err(ReplayError::from)?;
            }
        }
        Ok(is_found)
    }

    /// Returns `true` if a service searches all logs. If the viewer is a seat and names an entry, they are searched here,
    /// because the service searches only what the seat knows now.
    fn is_searched_far(&self, args: &Args, client: &Client) -> bool {
        let sees_all = args.viewer.is_none_or(Viewer::sees_all) && client.sees_all();
        for log in &self.logs.sources {
            match log {
                SourceName::Revision(revision) if revision.seq.is_none() || sees_all => {}
                _ => return false,
            }
        }
        !args.wanted.recorded
    }

    /// Searches one match after another. If the condition is unusable for every match, returns the first failure.
    fn find_far(self, args: &Args, client: &Client, output: &mut Output) -> Result<bool, Failure> {
        let mut count = 0_u64;
        let mut makes_sense = false;
        let mut senseless = None;
        let mut workspace = self.workspace;
        self.logs.answer_each(SourceName::to_string, &mut workspace, |source, _| {
            let SourceName::Revision(revision) = source else { return Ok(ExitStatus::Yes) };
            let mut query = query_of(&args.wanted);
            query.extend(seen_at(revision.seq, args.viewer));
            let part = ListPart {
                path: path_of(revision, "find"),
                query,
                after: None,
                count: args.first.then_some(1),
                source: Some(source.up_to(None).to_string()),
            };
            match print_pages(client, part, output) {
                Ok(found) => {
                    count += found;
                    makes_sense = true;
                }
                Err(NotAnswered::ApiError(error))
                    if args.wanted.when.is_some() && error.status == StatusCode::UNPROCESSABLE_ENTITY =>
                {
                    senseless.get_or_insert(error.failure);
                }
                Err(error) => return Err(error.into()),
            }
            Ok(ExitStatus::Yes)
        })?;
        match senseless {
            Some(failure) if !makes_sense => Err(failure),
            _ => Ok(count > 0),
        }
    }
}

fn query_of(wanted: &WantedArgs) -> Vec<(&'static str, String)> {
    let WantedArgs { when, command, effect, reason, seat, recorded: _ } = wanted;
    let mut query = vec![("all", "true".into())];
    let options = [
        ("when", when.as_ref().map(ToString::to_string)),
        ("command", command.as_ref().map(ToString::to_string)),
        ("effect", effect.clone()),
        ("reason", reason.clone()),
        ("seat", seat.map(|seat| seat.to_string())),
    ];
    for (name, value) in options {
        if let Some(value) = value {
            query.push((name, value));
        }
    }
    query
}

struct Looked {
    hits: Vec<FoundEntry>,
    survey: Survey,
    /// The names that the log has; present only if nothing was found, because only then are they needed.
    names: Option<KnownNames>,
    /// The log to fold again, if more was found in it than is held.
    rest: Option<SeatHistory>,
}

impl Looked {
    fn at(seat_history: SeatHistory, wanted: &Wanted, args: &Args) -> Result<Self, ReplayError> {
        let mut hits = Vec::new();
        let mut survey = Survey::default();
        let mut is_more = false;
        find(&seat_history, wanted, &mut survey, &mut |hit| {
            if hits.len() == HITS_MAX {
                is_more = true;
                return ControlFlow::Break(());
            }
            hits.push(hit);
            if args.first { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        let names = if hits.is_empty() { Some(KnownNames::of(&seat_history, &args.wanted)?) } else { None };
        Ok(Self { hits, survey, names, rest: is_more.then_some(seat_history) })
    }
}

/// Prints the entries found in a log, without the first `passed` of them.
fn print_after(
    passed: usize,
    source: &str,
    seat_history: &SeatHistory,
    wanted: &Wanted,
    output: &mut Output,
) -> Result<(), Failure> {
    let mut count = 0;
    let mut printed = Ok(());
    find(seat_history, wanted, &mut Survey::default(), &mut |hit| {
        count += 1;
        if count > passed {
            printed = print(source, &hit, output);
        }
        if printed.is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(printed?)
}

/// The seats, reasons and effects of the searched logs, for errors about unknown names.
#[derive(Default)]
struct KnownNames {
    players: BTreeSet<Seat>,
    /// All reasons that the rules may give; read only if a reason is searched for.
    reasons: BTreeSet<String>,
    /// The names of all effects; read only if an effect is searched for.
    effects: BTreeSet<String>,
}

impl KnownNames {
    fn of(seat_history: &SeatHistory, wanted: &WantedArgs) -> Result<Self, ReplayError> {
        let mut known =
            Self { players: seat_history.start()?.players().iter().copied().collect(), ..Self::default() };
        if wanted.reason.is_some() {
            known.reasons = seat_history.rules().ignored_codes().into_iter().map(String::from).collect();
        }
        if wanted.effect.is_none() {
            return Ok(known);
        }
        seat_history.fold(&mut |seen| {
            for outcome in [Some(&seen.outcome()), seen.recorded_outcome()].into_iter().flatten() {
                let names = outcome.effects().filter_map(|effect| effect.split(' ').next());
                known.effects.extend(names.map(String::from));
            }
        })?;
        Ok(known)
    }

    fn merge(&mut self, more: Self) {
        self.players.extend(more.players);
        self.reasons.extend(more.reasons);
        self.effects.extend(more.effects);
    }

    /// Requires every name that is searched for to occur in at least one of the logs.
    fn require(&self, wanted: &WantedArgs) -> Result<(), Failure> {
        let players: Vec<_> = self.players.iter().copied().collect();
        if players.is_empty() {
            return Ok(());
        }
        if let Some(seat) = wanted.seat.filter(|seat| *seat != Seat::Host && !players.contains(seat)) {
            let seats = listed(&players);
            return Err(Failure::usage(format!("no log has a seat `{seat}`; there are {seats} and host")));
        }
        if let Some(reason) = wanted.reason.as_ref().filter(|reason| !self.reasons.contains(*reason)) {
            return Err(unknown("there is no reason", reason, &self.reasons));
        }
        match &wanted.effect {
            Some(effect) if !self.effects.contains(effect) => {
                Err(unknown("no entry has an effect", effect, &self.effects))
            }
            _ => Ok(()),
        }
    }
}

fn unknown(what: &str, name: &str, names: &BTreeSet<String>) -> Failure {
    let like = name_like(names.iter().map(String::as_str), name);
    let like = like.map(|like| format!(", did you mean `{like}`?")).unwrap_or_default();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let listed_names = if names.is_empty() { "none".into() } else { names.join(", ") };
    Failure::usage(format!("{what} `{}`{like}; there are: {listed_names}", printable(name)))
}

fn print(source: &str, found: &FoundEntry, output: &mut Output) -> io::Result<()> {
    let FoundEntry { seq, entry } = found;
    output.show(&Sourced { source, item: found }, || {
        let mut text = "setup".to_string();
        let mut mark = String::new();
        if let Some(entry) = entry {
            text = entry.text();
            if let Some(recorded) = &entry.recorded {
                mark = format!(" {}", recorded_mark(recorded));
            }
        }
        vec![Line::from([dim(format!("{source}:{seq}")), plain(" "), plain(text), warning(mark)])]
    })
}
