//! The second child or instance of a check: whether a referee answers the same in another run (MD-7, RF-15).

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use turnfold_core::Seat;
use turnfold_core::text::in_one_line;

use crate::answers::{Became, ShownTo, Status, Stopped};
use crate::command::LoggedCommand;
use crate::fold::{FoldedEntries, FoldedEntry, ask_to_fold};
use crate::held::Held;
use crate::json::Node;
use crate::referee::{Referee, Reply};
use crate::rules::started_of;

/// How much later the first answers are asked for again: fields with a clock of seconds agree by luck otherwise.
const LATER: Duration = Duration::from_secs(2);

/// How many requests are asked for again later.
const SAMPLES_MAX: usize = 4;

/// What is asked for again later.
enum Sample {
    Start { args: String, answer: Reply },
    Fold(Box<FoldSample>),
}

/// Entries that were folded, from where, and what that came to.
struct FoldSample {
    state: Held,
    status: Status,
    entries: Vec<(Seat, LoggedCommand)>,
    folded: FoldedEntries,
    seq: u64,
}

/// The second child of a referee, started when it is first needed.
pub(crate) struct SecondChild {
    first: Arc<Referee>,
    child: OnceLock<Referee>,
    samples: Mutex<Vec<(Sample, Instant)>>,
}

impl SecondChild {
    pub(crate) fn of(first: Arc<Referee>) -> Self {
        Self { first, child: OnceLock::new(), samples: Mutex::default() }
    }

    fn child(&self) -> &Referee {
        self.child.get_or_init(|| self.first.second())
    }

    /// Starts the match in the second child too; returns the state in its own text.
    pub(crate) fn start(&self, args: &str, reply: &Reply) -> Option<Held> {
        let again = self.child().ask("start", args);
        self.compare("the answer to `start`", reply, &again);
        self.keep(Sample::Start { args: args.into(), answer: reply.clone() });
        again.ok().and_then(|started| started_of(&started, &self.first.hello).ok()).map(|(state, _)| state)
    }

    /// Folds entries in the second child from its own state, with other borders, and goes on to what they lead to.
    pub(crate) fn fold(
        &self,
        state: &mut Held,
        status: &Status,
        entries: &[(Seat, LoggedCommand)],
        first: &FoldedEntries,
        seq: u64,
    ) {
        // A module may remember, so each time it is another instance in which nothing was called yet (MD-7).
        let fresh = self.first.is_module().then(|| self.first.second());
        let child = fresh.as_ref().unwrap_or_else(|| self.child());
        let before = state.clone();
        let folded = self.fold_in_parts(child, state, status, entries);
        let Some((index, path, here, there)) = difference(first, &folded) else {
            // A module has no clock.
            if fresh.is_some() {
                return;
            }
            let (state, status, entries) = (before, status.clone(), entries.to_vec());
            let sample = FoldSample { state, status, entries, folded, seq };
            return self.keep(Sample::Fold(Box::new(sample)));
        };
        let number = seq + index as u64;
        let again = self.first.is_module().then(|| self.first.second());
        let whole = ask_to_fold(again.as_ref().unwrap_or(child), &before, status, entries, false);
        let whole = whole.unwrap_or_else(|stop| self.first.stop(&stop));
        let what = if difference(first, &whole).is_none() {
            format!(
                "the state loses something in its JSON: {path} is {here} when entries are folded together and {there} \
                 when they are folded one by one, at entry {number}"
            )
        } else {
            depends(&path, &here, &there, number)
        };
        self.first.broke(what)
    }

    fn fold_in_parts(
        &self,
        child: &Referee,
        state: &mut Held,
        status: &Status,
        entries: &[(Seat, LoggedCommand)],
    ) -> FoldedEntries {
        let mut folded = FoldedEntries { entries: Vec::new(), stop: None };
        let mut status = status.clone();
        // Half of a batch never ends where the batch does; two entries are folded one by one.
        let size = if self.first.is_module() { 1 } else { (entries.len() / 2).max(1) };
        while folded.stop.is_none()
            && let Some(rest) = entries.get(folded.entries.len()..)
            && !rest.is_empty()
        {
            let part = rest.get(..size.min(rest.len())).unwrap_or_default();
            let more =
                ask_to_fold(child, state, &status, part, false).unwrap_or_else(|stop| self.first.stop(&stop));
            if let Some(last) = more.entries.last() {
                (*state, status) = (last.state.clone(), last.status.clone());
            }
            folded.entries.extend(more.entries);
            folded.stop = more.stop;
        }
        folded
    }

    fn compare(&self, what: &str, first: &Reply, again: &Reply) {
        let node = |reply: &Reply| match reply {
            Ok(node) => Node::Object(vec![("ok".into(), node.clone())]),
            Err(node) => Node::Object(vec![("no".into(), node.clone())]),
        };
        if let Some((path, here, there)) = node(first).difference(&node(again)) {
            let path = path.trim_start_matches("/ok");
            self.first.broke(format!(
                "{what} depends on the run (chance, time, zone or an order of iteration): {path} is {here} and in \
                 another run {there}"
            ));
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "how much later a request is repeated, which no answer depends on"
    )]
    fn keep(&self, sample: Sample) {
        let mut samples = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
        if samples.len() < SAMPLES_MAX {
            samples.push((sample, Instant::now()));
        }
    }

    /// Asks for the first answers again, as soon as enough time has passed.
    pub(crate) fn settle(&self) {
        let samples = std::mem::take(&mut *self.samples.lock().unwrap_or_else(PoisonError::into_inner));
        for (sample, since) in samples {
            thread::sleep(LATER.saturating_sub(since.elapsed()));
            match sample {
                Sample::Start { args, answer } => {
                    self.compare("the answer to `start`", &answer, &self.child().ask("start", &args));
                }
                Sample::Fold(sample) => {
                    let FoldSample { state, status, entries, folded, seq } = *sample;
                    let again = ask_to_fold(self.child(), &state, &status, &entries, false);
                    let again = again.unwrap_or_else(|stop| self.first.stop(&stop));
                    if let Some((index, path, here, there)) = difference(&folded, &again) {
                        self.first.broke(depends(&path, &here, &there, seq + index as u64));
                    }
                }
            }
        }
    }
}

/// Describes an answer that is another one in another run.
fn depends(path: &str, here: &str, there: &str, number: u64) -> String {
    format!(
        "the answer depends on the run (chance, time, zone or an order of iteration): {path} is {here} and in another run \
         {there}, at entry {number}"
    )
}

/// Returns the first entry that differs, by its index, with the place and what stands there in each.
fn difference(first: &FoldedEntries, again: &FoldedEntries) -> Option<(usize, String, String, String)> {
    for (index, here) in first.entries.iter().enumerate() {
        let Some(there) = again.entries.get(index) else {
            return Some((
                index,
                "what became of it".into(),
                "accepted".into(),
                code_of_stop(again.stop.as_ref()),
            ));
        };
        if let Some((path, here, there)) = here.state.difference(&there.state) {
            let path = if path.is_empty() { "the state".into() } else { path };
            return Some((index, path, here, there));
        }
        if shown(here) != shown(there) {
            return Some((index, "what became of it".into(), shown(here), shown(there)));
        }
    }
    let (here, there) = (code_of_stop(first.stop.as_ref()), code_of_stop(again.stop.as_ref()));
    let is_same = first.entries.len() == again.entries.len() && here == there;
    (!is_same).then(|| (first.entries.len(), "what became of it".into(), here, there))
}

/// Writes what became of the entry behind those that were folded.
fn code_of_stop(stop: Option<&Stopped>) -> String {
    match stop {
        None => "accepted".into(),
        Some(Stopped::Rejected(code, _)) => format!("rejected {code}"),
        Some(Stopped::Malformed(_) | Stopped::Undecodable(_)) => "malformed".into(),
    }
}

/// Writes what became of an entry but for the state, so that all of it can be compared and shown.
fn shown(entry: &FoldedEntry) -> String {
    let became = match &entry.became {
        Became::Applied(effects) if effects.is_empty() => "applied".into(),
        Became::Applied(effects) => {
            let effects = effects.iter().map(|effect| format!("{}{}", effect.text, shown_to(&effect.to)));
            effects.collect::<Vec<_>>().join("; ")
        }
        Became::Ignored(code, text) => format!("ignored {code} {}", text.as_deref().unwrap_or_default()),
    };
    in_one_line(&format!("{became}{} with the status {}", shown_to(&entry.to), entry.status.as_sent()))
}

fn shown_to(to: &ShownTo) -> String {
    match to {
        ShownTo::GiverAlone => String::new(),
        ShownTo::All => " (to all)".into(),
        ShownTo::Seats(seats) => {
            let seats: Vec<String> = seats.iter().map(ToString::to_string).collect();
            format!(" (to {})", seats.join(", "))
        }
    }
}
