//! Every operation has a committed request and reply, and whatever the bytes of a request, there is a reply.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use turnfold_core::any::AnyRules;
use turnfold_core::dice::DiceStream;
use turnfold_core::{CommandSource, DicePolicy, Logged, Perspective, Seat};
use turnfold_guest::answer;
use turnfold_guest::message::{
    Bytes, Candidates, Canonical, Choices, CommandText, DefaultSeat, Describe, EntryCommand, Fold, FoldEntry,
    Folded, GivenState, Judge, Legal, Never, OpReply, Picture, Query, Read, ReadSetup, ReadSetupOf, Request,
    Resume, RollCommand, SetupSeen, Start, Targets, View, ViewedAt, WriteSetup,
};

fn rules() -> Arc<dyn AnyRules> {
    turnfold_games::find("initiative").unwrap()
}

fn samples() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("samples")
}

/// Folds commands of a match of two units natively and returns the state.
fn state_after(commands: &[(Seat, &str)]) -> GivenState {
    let rules = rules();
    let setup = rules.read_setup(rules.example()).unwrap();
    let mut state = rules.start(&setup).unwrap();
    for (seat, command) in commands {
        let entry = Logged { seq: 1, seat: *seat, command: CommandSource::Text(command) };
        state.fold(&[entry], &DicePolicy::Recorded, &mut |_| {}).unwrap();
    }
    GivenState { state: Bytes(state.state_bytes()), rolls: state.rolls() }
}

fn entry(seq: u64, seat: Seat, command: &str) -> FoldEntry {
    FoldEntry { seq, seat, command: EntryCommand::Text(command.into()) }
}

/// One request of each operation, in the order of `ABI.md`.
fn requests() -> Vec<Request> {
    let setup = || Bytes(rules().read_setup(rules().example()).unwrap());
    let first = || state_after(&[]);
    let at = || state_after(&[(Seat::Host, "roll 1 2 3 4"), (Seat::P1, "confirm")]);
    let (seat, viewer) = (Seat::P1, Perspective::Seat(Seat::P1));
    let entries = vec![
        entry(1, Seat::Host, "roll 1 2 3 4"),
        FoldEntry { seq: 2, seat, command: EntryCommand::Bytes(Bytes(vec![2])) },
        entry(3, seat, "move 9,9"),
        entry(4, Seat::P2, "stand"),
    ];
    vec![
        Describe {}.into(),
        ReadSetup { toml: "radius = 2\nblocked = 3".into() }.into(),
        ReadSetupOf { document: "[setup]\nradius = 2".into() }.into(),
        WriteSetup { setup: setup() }.into(),
        Canonical { command: "move 1,x".into() }.into(),
        CommandText { command: Bytes(vec![0, 4, 2, 4, 6, 8]) }.into(),
        Start { setup: setup() }.into(),
        Resume { at: at() }.into(),
        Read { at: at(), command: "stand".into() }.into(),
        Judge { at: at(), seat, command: "move 0,0".into() }.into(),
        Legal { at: at(), seat }.into(),
        Choices { at: at(), seat }.into(),
        Candidates { at: first(), seat: Seat::Host }.into(),
        Targets { at: at(), command: "move 1,1".into() }.into(),
        RollCommand { at: first(), values: vec![6, 5, 4, 3] }.into(),
        DefaultSeat { at: at(), command: "stand".into() }.into(),
        SetupSeen { at: at(), setup: setup(), viewer }.into(),
        View { at: at(), viewer }.into(),
        Query { at: at(), viewer, question: "order 3 5".into() }.into(),
        Picture { at: at(), viewer: Perspective::Spectator }.into(),
        Fold {
            at: first(),
            dice: DicePolicy::Recorded,
            entries,
            viewed: Some(ViewedAt { viewer, now: at().state }),
        }
        .into(),
    ]
}

/// A committed file: a request and its reply, each as it crosses the border.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sample {
    request: Box<RawValue>,
    reply: Box<RawValue>,
}

/// MD-4: a file that differs is written again with `SNAPSHOTS=overwrite`.
#[test]
fn md_4_every_operation_has_a_request_and_a_reply_that_do_not_change() {
    let rules = rules();
    let mut names = BTreeSet::new();
    for request in requests() {
        let request = serde_json::to_string(&request).unwrap();
        let name = request.split('"').nth(3).unwrap().to_owned();
        let reply = String::from_utf8(answer(&*rules, request.as_bytes())).unwrap();
        let path = samples().join(format!("{name}.json"));
        if option_env!("SNAPSHOTS") == Some("overwrite") {
            fs::write(&path, format!("{{\"request\":\n{request},\n\"reply\":\n{reply}}}\n")).unwrap();
        }
        let sample: Sample = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        assert_eq!(sample.request.get(), request, "{name}");
        assert_eq!(sample.reply.get(), reply, "{name}");
        names.insert(name);
    }
    assert_eq!(names, Request::NAMES.iter().map(|name| (*name).to_owned()).collect());
    assert_eq!(answer(&*rules, br#"{"op":"?","with":{}}"#), br#"{"refused":"unknown operation `?`"}"#);
}

/// MD-7: a request that is none is refused in words, and the module goes on.
#[test]
fn md_7_no_bytes_make_a_module_panic() {
    let rules = rules();
    let mut chance = DiceStream::new(&[7; 32], 0);
    let (mut replies, mut refusals) = (0, 0);
    for request in requests() {
        let request = serde_json::to_vec(&request).unwrap();
        for _ in 0..200 {
            let mut broken = request.clone();
            let place = |chance: &mut DiceStream| {
                usize::try_from(chance.draw(0, i32::try_from(request.len() - 1).unwrap())).unwrap()
            };
            match chance.draw(0, 2) {
                0 => broken.truncate(place(&mut chance)),
                1 => broken[place(&mut chance)] = u8::try_from(chance.draw(0, 255)).unwrap(),
                _ => broken[place(&mut chance)] = b"0aA\"}{]["[usize::try_from(chance.draw(0, 7)).unwrap()],
            }
            let reply: serde_json::Value = serde_json::from_slice(&answer(&*rules, &broken)).unwrap();
            let (kind, why) = reply.as_object().unwrap().iter().next().unwrap();
            assert!(["answer", "error", "refused"].contains(&kind.as_str()), "{reply}");
            replies += 1;
            refusals += usize::from(kind == "refused" && !why.as_str().unwrap().is_empty());
        }
    }
    assert!(refusals > replies / 2 && refusals < replies, "{refusals} of {replies}");
    for request in
        [&b""[..], b"[", &vec![b'['; 100_000], b"null", b"\xff", br#"{"op":"describe","with":{"x":1}}"#]
    {
        assert!(answer(&*rules, request).starts_with(br#"{"refused":"#));
    }
}

/// A long log is folded in several requests; each goes on where the last one ended.
#[test]
fn a_fold_ends_early_where_its_answer_grows_large() {
    let rules = rules();
    let mut toml = String::from("radius = 20\n");
    for number in 0..400 {
        let (q, r) = (number % 30 - 15, number / 30 - 10);
        if q + r >= -20 && q + r <= 20 {
            writeln!(
                toml,
                "[[units]]\nid = \"unit-of-a-long-name-{number}\"\nowner = \"p1\"\nat = [{q}, {r}]"
            )
            .unwrap();
        }
    }
    let mut state = rules.start(&rules.read_setup(&toml).unwrap()).unwrap();
    let mut at = GivenState { state: Bytes(state.state_bytes()), rolls: 0 };
    let roll = entry(1, Seat::Host, "roll 1 2 3 4");
    let mut entries = vec![roll];
    entries.extend((2..=1000).map(|seq| entry(seq, Seat::P1, "cycle")));
    let (mut requests, mut folded) = (0, 0);
    while folded < entries.len() {
        let rest = entries[folded..].to_vec();
        let fold = Fold { at: at.clone(), dice: DicePolicy::Recorded, entries: rest, viewed: None };
        let reply = answer(&*rules, &serde_json::to_vec(&Request::from(fold)).unwrap());
        assert!(reply.len() < 4 << 20, "{}", reply.len());
        let OpReply::Answer(Folded { steps, status, error }) =
            serde_json::from_slice::<OpReply<Folded, Never>>(&reply).unwrap()
        else {
            panic!("no answer");
        };
        assert_eq!(error, None);
        folded += steps.len();
        at = GivenState { state: steps.last().unwrap().state.clone(), rolls: status.rolls };
        requests += 1;
    }
    let log: Vec<Logged<'_>> = (1..)
        .zip(&entries)
        .map(|(seq, entry)| {
            let EntryCommand::Text(text) = &entry.command else { panic!("only texts") };
            Logged { seq, seat: entry.seat, command: CommandSource::Text(text) }
        })
        .collect();
    state.fold(&log, &DicePolicy::Recorded, &mut |_| {}).unwrap();
    assert!(requests > 5, "{requests}");
    assert_eq!(at, GivenState { state: Bytes(state.state_bytes()), rolls: 1 });
}
