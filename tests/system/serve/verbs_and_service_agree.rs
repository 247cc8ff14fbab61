//! The service responds with the same bytes as the verbs print (SV-35).

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use turnfold_history::text::json_line;
use turnfold_history::{LoggedRecord, Viewer};
use turnfold_show::drawing::{Highlights, svg};
use turnfold_show::render::{self, LegalCommand};

use super::http::{Call, import, main_of};
use super::times;
use turnfold_tests::goldens::goldens;
use turnfold_tests::goldens::{seat_history, viewers};
use turnfold_tests::service::Running;
use turnfold_tests::transcript::without_recorded_times;

/// A golden log as a viewer sees it over HTTP.
struct Seen<'a> {
    service: &'a Running,
    path: &'a Path,
    text: &'a str,
    match_name: &'a str,
    token: &'a str,
    viewer: &'a str,
}

impl Seen<'_> {
    fn get(&self, rest: &str, accept: &str) -> String {
        let mut path = main_of(self.match_name, rest);
        if self.viewer != "host" {
            path.extend([if rest.contains('?') { "&as=" } else { "?as=" }, self.viewer]);
        }
        Call::get(&path, self.token).with("accept", accept).to(self.service).is(200).body
    }

    #[track_caller]
    fn check(&self, rest: &str, accept: &str, expected: &str) {
        let found = self.get(rest, accept);
        let (found, expected) = (without_recorded_times(&found), without_recorded_times(expected));
        assert_eq!(found, expected, "{} as {}: {rest} {accept}", self.path.display(), self.viewer);
    }

    fn check_position(&self, at: u64) {
        let viewer: Viewer = self.viewer.parse().unwrap();
        let seat_history = seat_history(self.path, self.text, self.viewer).up_to(at).unwrap();
        let state = seat_history.state().unwrap();
        let picture = viewer.picture(state.as_ref());
        let none = Highlights::default();
        let view = json_line(&viewer.view_json(state.as_ref())).unwrap() + "\n";
        self.check(&format!("view?at={at}"), "application/json", &view);
        let standing = render::standing(&seat_history.standing().unwrap());
        let drawn = render::text(render::picture(&picture, &none)) + &render::text(standing);
        self.check(&format!("view?at={at}"), "text/plain", &drawn);
        self.check(&format!("picture.svg?at={at}"), "image/svg+xml", &svg::document(&picture, &none));
        let asked = (self.viewer != "host").then_some(viewer);
        let legal = render::legal_commands(asked, viewer, state.as_ref());
        let lines = render::text(legal.iter().map(LegalCommand::line));
        self.check(&format!("legal?at={at}"), "text/plain", &lines);
        let items: Vec<_> = legal.iter().map(|command| json_line(command).unwrap()).collect();
        let items = format!("{{\"items\":[{}],\"next\":null}}\n", items.join(","));
        self.check(&format!("legal?at={at}"), "application/json", &items);
    }

    /// Checks the list of entries, read in parts.
    fn check_entries(&self, limit: usize) {
        let mut records: Vec<LoggedRecord> = Vec::new();
        let seat_history = seat_history(self.path, self.text, self.viewer);
        seat_history.fold(&mut |seen| records.push(seen.logged_record())).unwrap();
        let mut after = 0;
        loop {
            let items = &records[after..records.len().min(after + limit)];
            let next = (records.len() > after + limit).then_some(after + limit);
            let rest = format!("entries?after={after}&limit={limit}");
            let lines = render::text(items.iter().map(|record| render::logged(record, false)));
            self.check(&rest, "text/plain", &lines);
            let items: Vec<_> = items.iter().map(|record| json_line(record).unwrap()).collect();
            let next_json = next.map_or("null".to_owned(), |next| next.to_string());
            let items = format!("{{\"items\":[{}],\"next\":{next_json}}}\n", items.join(","));
            self.check(&rest, "application/json", &items);
            let Some(next) = next else { break };
            after = next;
        }
    }
}

fn check_golden(service: &Running, path: &Path, place: usize) {
    let text = fs::read_to_string(path).unwrap();
    let match_name = format!("golden-{place}");
    let token = import(service, &match_name, &text);
    for (index, viewer) in viewers(path, &text).iter().enumerate() {
        let seen = Seen { service, path, text: &text, match_name: &match_name, token: &token, viewer };
        let head = seat_history(path, &text, viewer).head();
        let one = [(place + index) as u64 * 7 % (head + 1)];
        let all: Vec<u64> = (0..=head).collect();
        for at in if times(0, 1) == 1 { all.as_slice() } else { one.as_slice() } {
            seen.check_position(*at);
        }
        seen.check_entries(if index == 0 { 7 } else { 1000 });
    }
}

/// SV-35. The long form checks every entry of every golden log, the short form an entry of each log for each viewer.
#[test]
fn sv_35_every_golden_log_is_answered_as_the_verbs_print_it() {
    let service = Running::alone();
    let goldens: Vec<(usize, PathBuf)> = goldens().into_iter().enumerate().collect();
    assert!(goldens.len() > 50);
    thread::scope(|scope| {
        for part in goldens.chunks(goldens.len().div_ceil(4)) {
            let service = &service;
            scope.spawn(move || {
                for (place, path) in part {
                    check_golden(service, path, *place);
                }
            });
        }
    });
}
