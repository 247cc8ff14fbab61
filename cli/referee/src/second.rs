//! The second child or instance of a check, which shows whether a referee answers the same in another run (MD-7,
//! RF-15).

use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use turnfold_core::Seat;
use turnfold_core::text::in_one_line;

use crate::answers::{Became, RefereeStatus, ShownTo, Stopped};
use crate::command::LoggedCommand;
use crate::fold::{FoldedEntries, FoldedEntry, ask_to_fold};
use crate::held::{HeldState, Reached};
use crate::json::{JsonDifference, JsonNode};
use crate::locked;
use crate::referee::{Referee, RefereeReply};

/// How much later the first requests are repeated. Otherwise fields with a clock in seconds could agree by luck.
const LATER: Duration = Duration::from_secs(2);

const SAMPLES_MAX: usize = 4;

const VARIES: &str = "chance, time, zone or an order of iteration";

enum Sample {
    Start { args: String, answer: RefereeReply },
    Fold(Box<FoldSample>),
}

struct FoldSample {
    before: Reached,
    entries: Vec<(Seat, LoggedCommand)>,
    folded: FoldedEntries,
    seq: u64,
}

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

    pub(crate) fn start(&self, args: &str, reply: &RefereeReply) -> Option<HeldState> {
        let again = self.child().ask("start", args);
        self.compare(reply, &again);
        self.keep(Sample::Start { args: args.into(), answer: reply.clone() });
        Some(Reached::read(again.ok()?, &self.first.hello).ok()?.state)
    }

    /// Folds entries in the second child from its own state, in other batches, and replaces that state by the last one.
    pub(crate) fn fold(
        &self,
        state: &mut HeldState,
        status: &RefereeStatus,
        entries: &[(Seat, LoggedCommand)],
        first: &FoldedEntries,
        seq: u64,
    ) {
        // A module may remember earlier calls, so each check uses a fresh instance (MD-7).
        let is_module = self.first.is_module();
        let fresh = if is_module { Some(self.first.second()) } else { None };
        let child = fresh.as_ref().unwrap_or_else(|| self.child());
        let before = Reached { state: state.clone(), status: status.clone() };
        let folded = self.fold_in_parts(child, before.clone(), entries);
        if let Some(last) = folded.entries.last() {
            *state = last.after.state.clone();
        }
        let Some(found) = difference(first, &folded) else {
            // Repeating a request later finds a clock. A module has none.
            if fresh.is_none() {
                let sample = FoldSample { before, entries: entries.to_vec(), folded, seq };
                self.keep(Sample::Fold(Box::new(sample)));
            }
            return;
        };
        let again = if is_module { Some(self.first.second()) } else { None };
        let whole = self.ask_to_fold(again.as_ref().unwrap_or(child), &before, entries);
        if difference(first, &whole).is_some() {
            self.first.broke(found.in_another_run(seq));
        }
        let EntryDifference { index, found: JsonDifference { path, here, there } } = found;
        let number = seq + index as u64;
        self.first.broke(format!(
            "the state loses something in its JSON: {path} is {here} when entries are folded together and {there} when \
             they are folded one by one, at entry {number}"
        ))
    }

    fn fold_in_parts(
        &self,
        child: &Referee,
        mut now: Reached,
        entries: &[(Seat, LoggedCommand)],
    ) -> FoldedEntries {
        let mut folded = FoldedEntries { entries: Vec::new(), stop: None };
        // Halves have other borders than the first child's batch. Two entries are folded one by one.
        let size = if self.first.is_module() { 1 } else { (entries.len() / 2).max(1) };
        while folded.stop.is_none()
            && let Some(rest) = entries.get(folded.entries.len()..)
            && !rest.is_empty()
        {
            let part = rest.get(..size.min(rest.len())).unwrap_or_default();
            let more = self.ask_to_fold(child, &now, part);
            if let Some(last) = more.entries.last() {
                now = last.after.clone();
            }
            folded.entries.extend(more.entries);
            folded.stop = more.stop;
        }
        folded
    }

    fn ask_to_fold(
        &self,
        child: &Referee,
        before: &Reached,
        entries: &[(Seat, LoggedCommand)],
    ) -> FoldedEntries {
        ask_to_fold(child, before, entries, false).unwrap_or_else(|stop| self.first.stop(&stop))
    }

    fn compare(&self, first: &RefereeReply, again: &RefereeReply) {
        if let Some(JsonDifference { path, here, there }) = answered(first).difference(&answered(again)) {
            let path = path.trim_start_matches("/ok");
            self.first.broke(format!(
                "the answer to `start` depends on the run ({VARIES}): {path} is {here} and in another run {there}"
            ));
        }
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "how much later a request is repeated, which no answer depends on"
    )]
    fn keep(&self, sample: Sample) {
        let mut samples = locked(&self.samples);
        if samples.len() < SAMPLES_MAX {
            samples.push((sample, Instant::now()));
        }
    }

    pub(crate) fn settle(&self) {
        let samples = std::mem::take(&mut *locked(&self.samples));
        for (sample, since) in samples {
            thread::sleep(LATER.saturating_sub(since.elapsed()));
            match sample {
                Sample::Start { args, answer } => {
                    self.compare(&answer, &self.child().ask("start", &args));
                }
                Sample::Fold(sample) => {
                    let again = self.ask_to_fold(self.child(), &sample.before, &sample.entries);
                    if let Some(found) = difference(&sample.folded, &again) {
                        self.first.broke(found.in_another_run(sample.seq));
                    }
                }
            }
        }
    }
}

fn answered(reply: &RefereeReply) -> JsonNode {
    match reply {
        Ok(node) => JsonNode::Object(vec![("ok".into(), node.clone())]),
        Err(node) => JsonNode::Object(vec![("no".into(), node.clone())]),
    }
}

struct EntryDifference {
    index: usize,
    found: JsonDifference,
}

impl EntryDifference {
    fn of_outcome(index: usize, here: String, there: String) -> Self {
        Self { index, found: JsonDifference { path: "what became of it".into(), here, there } }
    }

    fn in_another_run(&self, first_seq: u64) -> String {
        let JsonDifference { path, here, there } = &self.found;
        let number = first_seq + self.index as u64;
        format!(
            "the answer depends on the run ({VARIES}): {path} is {here} and in another run {there}, at entry {number}"
        )
    }
}

fn difference(first: &FoldedEntries, again: &FoldedEntries) -> Option<EntryDifference> {
    for (index, here) in first.entries.iter().enumerate() {
        let Some(there) = again.entries.get(index) else {
            let stop = code_of_stop(again.stop.as_ref());
            return Some(EntryDifference::of_outcome(index, "accepted".into(), stop));
        };
        if let Some(mut found) = here.after.state.difference(&there.after.state) {
            if found.path.is_empty() {
                found.path = "the state".into();
            }
            return Some(EntryDifference { index, found });
        }
        if shown(here) != shown(there) {
            return Some(EntryDifference::of_outcome(index, shown(here), shown(there)));
        }
    }
    let here = code_of_stop(first.stop.as_ref());
    let there = code_of_stop(again.stop.as_ref());
    if first.entries.len() == again.entries.len() && here == there {
        return None;
    }
    Some(EntryDifference::of_outcome(first.entries.len(), here, there))
}

fn code_of_stop(stop: Option<&Stopped>) -> String {
    match stop {
        None => "accepted".into(),
        Some(Stopped::Rejected(code, _)) => format!("rejected {code}"),
        Some(Stopped::Malformed(_) | Stopped::Undecodable(_)) => "malformed".into(),
    }
}

fn shown(entry: &FoldedEntry) -> String {
    let became = match &entry.became {
        Became::Applied(effects) if effects.is_empty() => "applied".into(),
        Became::Applied(effects) => {
            let effects: Vec<String> =
                effects.iter().map(|effect| format!("{}{}", effect.text, shown_to(&effect.to))).collect();
            effects.join("; ")
        }
        Became::Ignored(code, text) => format!("ignored {code} {}", text.as_deref().unwrap_or_default()),
    };
    in_one_line(&format!("{became}{} with the status {}", shown_to(&entry.to), entry.after.status.as_sent()))
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
