//! The command line from a cold start: every verb in a separate process, on stores with many matches and with one long
//! match.

use std::path::Path;
use std::time::Duration;

use crate::input::{Play, fixture};
use crate::measure::{Clock, fastest_of, take_turns, time};
use crate::process::Turnfold;
use crate::report::{Table, Time, count};
use crate::stores::{write_many_matches, write_one_match};
use crate::{Scale, row};

/// How long every verb may take beyond the start of a process.
const TARGET: Duration = Duration::from_millis(50);

/// Verbs and their times.
type VerbTimes = [(&'static str, Duration); 4];

/// A store and a match in it.
struct Subject<'a> {
    turnfold: Turnfold<'a>,
    store: String,
    match_name: &'static str,
}

impl Subject<'_> {
    fn ok(&self, args: &[&str]) -> String {
        self.turnfold.ok(&[&["--store", &self.store], args].concat())
    }

    /// Makes the program keep the snapshots that it would have kept if it had recorded the match itself.
    fn keep_snapshots(&self) {
        self.ok(&["branch", self.match_name, "kept"]);
        let legal_now = self.ok(&["legal", self.match_name]);
        let command = legal_now.lines().next().expect("the match goes on");
        self.ok(&["play", &format!("{}@kept", self.match_name), command]);
    }

    /// Times each verb `runs` times. `play` uses a new branch each time.
    fn times(&self, runs: usize) -> VerbTimes {
        let (start, shown) = (["--version"], ["show", self.match_name]);
        let listed = ["log", self.match_name, "-n", "10"];
        let [start, show, log, legal] = take_turns(
            Clock::Wall,
            runs,
            [
                &mut || drop(self.turnfold.ok(&start)),
                &mut || assert!(self.ok(&shown).lines().count() > 5, "a board is shown"),
                &mut || assert_eq!(self.ok(&listed).lines().count(), 10),
                &mut || assert!(!self.ok(&["legal", self.match_name]).is_empty()),
            ],
        )
        .map(|times| times.median());
        let legal_now = self.ok(&["legal", self.match_name]);
        let command = legal_now.lines().next().expect("the match goes on");
        let play = |run: usize| {
            let branch = format!("play-{run}");
            self.ok(&["branch", self.match_name, &branch]);
            let revision = format!("{}@{branch}", self.match_name);
            time(|| assert!(self.ok(&["play", &revision, command]).contains(" => ")))
        };
        let mut plays: Vec<_> = (0..runs).map(play).collect();
        plays.sort_unstable();
        let play = plays.get(runs / 2).copied().expect("there is a run");
        [("play", play), ("show", show), ("log -n 10", log), ("legal", legal)]
            .map(|(verb, time)| (verb, time.saturating_sub(start)))
    }
}

pub(crate) fn table(dir: &Path, scale: Scale) -> Table {
    let start = fastest_of(Clock::Wall, 20, || drop(Turnfold { dir }.ok(&["--version"])));
    let mut rows = many_matches(dir, scale);
    rows.extend(one_match(dir, scale));
    Table {
        title: "The command line, cold",
        about: format!(
            "Each verb in a process of its own, the start of a process, {}, taken off; the median of {} runs. `play` \
             appends one command, so it holds an `fdatasync`. The stores of many matches hold 100 entries in each.",
            Time(start),
            scale.runs()
        ),
        columns: &["store", "verb", "1/100 of the size", "1/10", "full size", "target"],
        rows,
    }
}

/// Converts the times of the same verbs for three sizes to rows.
fn rows_of(store: &str, sizes: &[VerbTimes; 3]) -> Vec<Vec<String>> {
    let [small, medium, large] = sizes;
    let verbs = small.iter().zip(medium).zip(large);
    verbs
        .map(|((small, medium), large)| {
            let verdict = Time(large.1).at_most(TARGET);
            row![store, format!("`{}`", large.0), Time(small.1), Time(medium.1), Time(large.1), verdict]
        })
        .collect()
}

fn many_matches(dir: &Path, scale: Scale) -> Vec<Vec<String>> {
    let play = Play::simulate("initiative", &fixture("initiative", "small-board"), 1, 100);
    let sizes = [100, 10, 1].map(|part| {
        let store = format!("cold-many-{part}");
        write_many_matches(&dir.join(&store), &play, scale.cold_matches() / part, 100);
        Subject { turnfold: Turnfold { dir }, store, match_name: "match-00000" }.times(scale.runs())
    });
    rows_of(&format!("{} entries in {} matches", scale.cold_matches() * 100, scale.cold_matches()), &sizes)
}

fn one_match(dir: &Path, scale: Scale) -> Vec<Vec<String>> {
    let play = Play::simulate("initiative", &fixture("initiative", "small-board"), 1, scale.long_match());
    let entries = count(play.entries.len());
    let mut first = [Duration::ZERO; 3];
    let sizes: Vec<_> = [100, 10, 1]
        .into_iter()
        .zip(&mut first)
        .map(|(part, first)| {
            let mut play = play.clone();
            play.entries.truncate(play.entries.len() / part);
            let store = format!("cold-long-{part}");
            write_one_match(&dir.join(&store), &play, 10_000);
            let subject = Subject { turnfold: Turnfold { dir }, store, match_name: "match-00000" };
            *first = time(|| subject.ok(&["show", subject.match_name]));
            subject.keep_snapshots();
            subject.times(scale.runs())
        })
        .collect();
    let store = format!("{entries} entries in one match");
    let mut rows = rows_of(&store, &<[_; 3]>::try_from(sizes).expect("three sizes"));
    let [small, medium, large] = first.map(Time);
    rows.push(row![store, "`show` without snapshots, once", small, medium, large, "folds everything"]);
    rows
}
