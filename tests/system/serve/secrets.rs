//! No response reveals a secret to a seat that may not know it: responses have the same bytes for every secret (SV-36,
//! SV-13, SV-21).
//!
//! `head`, `seq` and `next` count what the viewer sees, so they are equal, too. A service that shows the host's numbers
//! would fail here.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::http::{Answer, Call, Events, create, grant, main_of};
use super::times;
use turnfold_tests::fixture;
use turnfold_tests::secrets::{CASES, SecretCase};
use turnfold_tests::service::Running;

/// All responses to a viewer for one secret, each with its request.
struct Answers<'a> {
    service: &'a Running,
    case: &'a SecretCase,
    host: String,
    /// The viewer's token and how often it was used. The uses of a seat token are limited.
    token: (String, usize),
    given: Vec<(String, String)>,
}

impl Answers<'_> {
    fn send(&mut self, what: &str, call: impl FnOnce(&str) -> Call) -> Answer {
        if self.token.1.is_multiple_of(150) {
            let kind = match self.case.viewer {
                "p8" => json!({"kind": "spectator"}),
                seat => json!({"kind": "seat", "seat": seat}),
            };
            self.token.0 = grant(self.service, "secret", &kind);
        }
        self.token.1 += 1;
        // With the same id for each request, problems have equal bytes, too.
        let answer = call(&self.token.0).with("x-request-id", "same").to(self.service);
        assert!(answer.status != 429 && answer.status < 500, "{what}: {answer:?}");
        let mut shown = format!("{}\n", answer.status);
        for (name, value) in answer.headers.iter().filter(|(name, _)| name != "date") {
            shown.extend([name.as_str(), ": ", value, "\n"]);
        }
        self.given.push((what.to_owned(), shown + &without_times(&answer.body)));
        answer
    }

    fn get(&mut self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.send(&format!("GET {path} {headers:?}"), |token| {
            headers.iter().fold(Call::get(path, token), |call, (name, value)| call.with(name, value))
        })
    }

    fn post(&mut self, path: &str, body: &Value, headers: &[(&str, &str)]) -> Answer {
        self.send(&format!("POST {path} {body} {headers:?}"), |token| {
            headers.iter().fold(Call::post(path, token, body), |call, (name, value)| call.with(name, value))
        })
    }

    /// Reads everything that the viewer can read, at every entry and beyond the last.
    fn look(&mut self) {
        let ask = format!("ask?q={}", self.case.question);
        for at in ["", "0", "1", "2", "3", "7", "99"] {
            for rest in [
                "view",
                "legal",
                "picture.svg",
                "frames",
                "replay.html",
                "replay.tfl",
                "replay.tfl?view=true",
                &ask,
            ] {
                let joint = if rest.contains('?') { '&' } else { '?' };
                let at = if at.is_empty() { String::new() } else { format!("{joint}at={at}") };
                let path = main_of("secret", &format!("{rest}{at}"));
                let tag = self.get(&path, &[]).header("etag").map(ToOwned::to_owned);
                if ["view", "legal", &ask].contains(&rest) {
                    self.get(&path, &[("accept", "text/plain")]);
                }
                if let Some(tag) = tag {
                    self.get(&path, &[("if-none-match", &tag)]);
                }
            }
        }
        for rest in
            ["entries", "entries?limit=2", "entries?after=1&limit=1", "entries?after=99", "diff?with=main:1"]
        {
            self.get(&main_of("secret", rest), &[]);
            self.get(&main_of("secret", rest), &[("accept", "text/plain")]);
        }
        for rest in ["turn=true", "mine=p1", "mine=p2", "mine=host"] {
            self.get(&format!("/v1/matches?{rest}"), &[]);
            self.get(&format!("/v1/matches?{rest}"), &[("accept", "text/plain")]);
        }
        let paths = [
            "",
            "/secret",
            "/secret?branch=main",
            "/secret?branch=no",
            "/secret/branches",
            "/secret/grants",
            "/secret/call",
            "/secret/here",
            "/secret/branches/main/notes",
            "/secret/branches/no/notes",
            "/other",
            "/secret/branches/no/view",
            "/secret/branches/main/find?when=/turn%20%3E=%201",
            "/secret/branches/main/find?when=/turn%20%3E=%201&after=99",
            "/secret/branches/main/find?all=true&limit=2",
            "/secret/branches/main/find?all=true&seat=p2",
            "/secret/branches/main/find?all=true&command=*&at=2",
            "/secret/branches/main/find?all=true&effect=order_placed",
            "/secret/branches/main/find?all=true&reason=out_of_range&after=1",
        ];
        for path in paths {
            self.get(&format!("/v1/matches{path}"), &[]);
        }
        self.try_out();
        self.get(&main_of("secret", "events?after=99"), &[("accept", "text/event-stream")]);
        self.get(&main_of("secret", "events"), &[("last-event-id", "99")]);
    }

    /// VW-46: tries out commands of every seat. Commands that roll fresh dice would differ each time.
    fn try_out(&mut self) {
        let path = main_of("secret", "trial");
        for after in [0, 1, 2, 3, 7, 99] {
            self.post(&path, &json!({"after": after, "commands": [], "roll": false}), &[]);
        }
        let mut commands = Vec::<String>::new();
        for turn in 0..8 {
            let body = json!({"commands": commands, "roll": false});
            let trial = self.post(&path, &body, &[]).is(200).json();
            let legal = trial["legal"].as_array().unwrap();
            let Some(next) = legal.get(turn * 5 % legal.len().max(1)) else { break };
            commands.push(format!("{}: {}", next["seat"], next["command"]).replace('"', ""));
        }
        for refused in
            ["p1: no such command", "p2: tap 99,99", "host: resolve", "host: roll 1", "p9: refused"]
        {
            self.post(&path, &json!({"commands": [refused], "roll": false}), &[]);
        }
    }

    /// Sends everything that the viewer can send.
    fn act(&mut self) {
        let path = main_of("secret", "entries");
        let [first, second] = self.case.own;
        let one = json!({"commands": [first]});
        let refused = [
            json!({"commands": [first, second]}),
            json!({"commands": [format!("p3: {first}")]}),
            json!({"commands": ["host: resolve"]}),
            json!({"commands": ["no such command"]}),
            json!({"commands": ["tap 99,99"]}),
            json!({"commands": ["refused"], "roll": false}),
            json!({"commands": []}),
            json!({"commands": [], "roll": true, "more": 1}),
        ];
        for body in &refused {
            self.post(&path, body, &[]);
            self.post(&path, body, &[("idempotency-key", "secret"), ("accept", "text/plain")]);
        }
        for expect in ["0", "1", "99"] {
            self.post(&format!("{path}?expect={expect}"), &one, &[]);
        }
        self.post(&path, &one, &[("if-match", "\"00000000000000000000000000000000\"")]);
        self.post("/v1/join", &json!({}), &[]);
        self.post("/v1/matches/secret/terms", &json!({"terms": ""}), &[]);
        self.post("/v1/matches/secret/absence", &json!({"until": "9999-01-01T00:00:00Z"}), &[]);
        // SV-63: which takebacks are allowed depends on nothing concealed.
        for query in ["", "?after=0", "?after=1", "?after=99"] {
            self.post(&format!("/v1/matches/secret/takeback{query}"), &json!({}), &[]);
        }
        for agree in [true, false] {
            self.post("/v1/matches/secret/takeback/1", &json!({"agree": agree}), &[]);
        }
        self.post("/v1/matches/secret/rematch", &json!({"token": format!("tf_s_{}A", "a".repeat(42))}), &[]);
        self.post(&main_of("secret", "notes?entry=99"), &json!({"text": "x", "private": true}), &[]);
        self.post("/v1/matches/secret/branches", &json!({"name": "mine", "from": "main:1"}), &[]);
        self.post("/v1/matches/secret/grants", &json!({"kind": "host"}), &[]);
        // The tag from before the secret stays valid as long as the viewer sees nothing new.
        let tag = self.get(&main_of("secret", "view"), &[]).header("etag").unwrap().to_owned();
        let key = ("idempotency-key", "secret");
        self.post(&path, &one, &[("if-match", &tag), key]);
        self.look_briefly();
        self.post(&path, &one, &[("if-match", &tag), key]);
        self.post(&path, &one, &[("if-match", &tag)]);
        self.post(&path, &json!({"commands": [second]}), &[key]);
        self.post(&path, &json!({"commands": [second]}), &[("accept", "text/plain"), ("if-match", "*")]);
        self.look_briefly();
    }

    fn look_briefly(&mut self) {
        for rest in ["view", "legal", "entries", "frames"] {
            self.get(&main_of("secret", rest), &[]);
        }
    }

    /// Reads the streams that resume after each head.
    fn follow(&mut self) {
        let entries = self.get(&main_of("secret", "entries"), &[]).json();
        let head = entries["items"].as_array().unwrap().len();
        for after in 0..head {
            let call = Call::get(&main_of("secret", &format!("events?after={after}")), &self.token.0);
            let event = Events::open(self.service, &call).next().unwrap();
            let shown = without_times(&format!("{} {:?} {}", event.kind, event.id, event.data));
            self.given.push((format!("events after {after}"), shown));
        }
    }

    fn play(&self, commands: &[&str], key: Option<&str>) {
        if !commands.is_empty() {
            let call = Call::post(&main_of("secret", "entries"), &self.host, &json!({"commands": commands}));
            let call = key.iter().fold(call, |call, key| call.with("idempotency-key", key));
            call.to(self.service).is(201);
        }
    }
}

/// Blanks the times of entries, the ends of turns and the marks of events. Marks are digests of these times and of the
/// match id.
fn without_times(text: &str) -> String {
    let mut parts = text.split("\"recorded_at_ms\":");
    let first = parts.next().unwrap_or_default().to_owned();
    let text = parts.fold(first, |text, part| {
        text + "\"recorded_at_ms\":" + part.trim_start_matches(|c: char| c.is_ascii_digit())
    });
    let text = match text.split_once("\"deadlines\":{") {
        Some((before, rest)) => {
            let (deadlines, rest) = rest.split_once('}').unwrap();
            let seats: Vec<_> = deadlines.split(',').map(|one| one.split(':').next().unwrap()).collect();
            format!("{before}\"deadlines\":{{{}}}{rest}", seats.join(","))
        }
        None => text,
    };
    match text.split_once("\"event_id\":\"") {
        Some((before, id)) => {
            let (head, rest) = id.split_at(id.find('-').unwrap());
            format!("{before}\"event_id\":\"{head}{}", rest.trim_start_matches(|c: char| c != '"'))
        }
        None => text,
    }
}

fn shown(case: &SecretCase, secret: &[&str]) -> Vec<(String, String)> {
    let service = Running::alone();
    let setup = case.setup_with(secret).unwrap_or_else(|| fixture("cycletap", "ford"));
    let host = create(&service, "secret", case.ruleset, &setup);
    let mut shown = Answers { service: &service, case, host, token: (String::new(), 0), given: Vec::new() };
    shown.play(case.before, None);
    shown.play(if case.is_in_setup() { &[] } else { secret }, Some("secret"));
    shown.play(case.end, None);
    shown.play(case.after, None);
    // SV-47: everyone may see deadlines, too.
    let terms = Call::post("/v1/matches/secret/terms", &shown.host, &json!({"terms": "hours = 8760"}));
    terms.to(&service).is(200);
    // Everyone may see names, which reveal only that a player joined.
    let seat = if case.viewer == "p8" { "p1" } else { case.viewer };
    let invitation = grant(&service, "secret", &json!({"kind": "invitation", "seat": seat}));
    Call::post("/v1/join", &invitation, &json!({"name": "Ann"})).to(&service).is(201);
    // SV-61: others write private notes, any number of them.
    let other = if case.viewer == "p1" { "p2" } else { "p1" };
    let other = grant(&service, "secret", &json!({"kind": "seat", "seat": other}));
    for token in [&shown.host, &other] {
        let note = json!({"text": format!("the secret: {secret:?}"), "private": true});
        for path in vec!["notes", "notes?entry=1"].into_iter().cycle().take(2 + secret.len()) {
            let written = Call::post(&main_of("secret", path), token, &note).to(&service);
            assert!([201, 404].contains(&written.status), "{written:?}");
        }
    }
    shown.look();
    shown.act();
    shown.follow();
    shown.given
}

/// SV-36. Each secret is played on a separate service, where the viewer reads and sends everything. The short form uses
/// three secrets of each case.
#[test]
fn sv_36_whatever_the_secret_every_answer_has_the_same_bytes() {
    let mut statuses = BTreeSet::new();
    for case in CASES {
        let shown: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = case
                .secrets
                .iter()
                .take(times(3, 9))
                .map(|secret| scope.spawn(|| shown(case, secret)))
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let (first, others) = shown.split_first().unwrap();
        for other in others {
            assert_eq!(first.len(), other.len());
            for ((what, one), (_, two)) in first.iter().zip(other) {
                assert_eq!(one, two, "{} of {}: {what}", case.viewer, case.ruleset);
            }
        }
        assert!(first.iter().filter(|(_, shown)| shown.starts_with("200")).count() > 20);
        statuses.extend(first.iter().map(|(_, shown)| shown.split('\n').next().unwrap().to_owned()));
        for (what, shown) in first {
            let hashes =
                shown.split('"').any(|part| part.len() == 64 && part.bytes().all(|b| b.is_ascii_hexdigit()));
            assert!(!hashes, "{what} shows a hash: {shown}");
        }
    }
    // The responses cover every status that the requests can reach.
    for status in ["200", "201", "304", "403", "404", "409", "412", "422"] {
        assert!(statuses.contains(status), "{status} is not among {statuses:?}");
    }
}
