//! Finds entries in logs that are folded here.

use std::collections::BTreeSet;
use std::io;
use std::ops::ControlFlow;

use turnfold_core::Seat;
use turnfold_history::search::{FoundEntry, Survey, Wanted, find, name_like};
use turnfold_history::{ReplayError, SeatHistory, Viewer};
use turnfold_show::render::recorded_mark;

use crate::commands::find::Args;
use crate::corpus::Corpus;
use crate::failure::{Failure, Result};
use crate::histories::listed;
use crate::output::{Line, Output, Sourced, dim, plain, printable, warning};

/// The most found entries of a log that are held in memory until the logs before it are printed. A log with more of
/// them is folded again when it is printed.
const HITS_MAX: usize = 1000;

pub(crate) fn find_here(args: &Args, corpus: Corpus, output: &mut Output) -> Result<bool> {
    let wanted = Wanted::from(&args.wanted);
    let look = |seat_history: SeatHistory| Looked::at(seat_history, &wanted, args.first);
    let mut survey = Survey::default();
    let mut is_found = false;
    let mut known = KnownNames::default();
    let unread = corpus.each(args.viewer.unwrap_or(Viewer::HOST), look, |name, looked| {
        survey.merge(looked.survey);
        known.merge(looked.names);
        let source = name.up_to(None).to_string();
        let mut after = None;
        for hit in looked.hits {
            is_found = true;
            print(&source, &hit, output)?;
            after = Some(hit.seq);
        }
        let Some(seat_history) = looked.rest else { return Ok(()) };
        let rest = Wanted { after, ..wanted.clone() };
        let mut printed = Ok(());
        find(&seat_history, &rest, &mut Survey::default(), &mut |hit| {
            printed = print(&source, &hit, output);
            if printed.is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(printed?)
    })?;
    if let Some(failure) = unread {
        return Err(failure);
    }
    if !is_found {
        known.require(&wanted)?;
        survey.check().map_err(ReplayError::from)?;
    }
    Ok(is_found)
}

struct Looked {
    hits: Vec<FoundEntry>,
    survey: Survey,
    /// The names that the log has, if nothing was found, because only then are they needed.
    names: KnownNames,
    /// The log to fold again, if more was found in it than is held.
    rest: Option<SeatHistory>,
}

impl Looked {
    fn at(seat_history: SeatHistory, wanted: &Wanted, is_first: bool) -> Result<Self, ReplayError> {
        let mut hits = Vec::new();
        let mut survey = Survey::default();
        let mut is_more = false;
        find(&seat_history, wanted, &mut survey, &mut |hit| {
            if hits.len() == HITS_MAX {
                is_more = true;
                return ControlFlow::Break(());
            }
            hits.push(hit);
            if is_first { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        let mut names = KnownNames::default();
        if hits.is_empty() {
            names = KnownNames::of(&seat_history, wanted)?;
        }
        Ok(Self { hits, survey, names, rest: is_more.then_some(seat_history) })
    }
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
    fn of(seat_history: &SeatHistory, wanted: &Wanted) -> Result<Self, ReplayError> {
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
    fn require(&self, wanted: &Wanted) -> Result<()> {
        if self.players.is_empty() {
            return Ok(());
        }
        if let Some(seat) = wanted.seat.filter(|seat| *seat != Seat::Host && !self.players.contains(seat)) {
            let seats = listed(&self.players);
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
