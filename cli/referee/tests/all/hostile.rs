//! MD-6 and MD-7: modules that do what no ruleset may do. Each ends in one line.

use std::panic::{AssertUnwindSafe, catch_unwind};

use turnfold_core::{CommandSource, DicePolicy, Digest, Fault, FoldError, Logged, Perspective, Seat};
use turnfold_referee::load;

use crate::toy::{APPLIED, Act, DESCRIBED, FOLDED, STARTED, fault, goes_on, module, start, toy};
use Act::{Runs, Says};

const WAIT: Logged<'static> = Logged { seq: 1, seat: Seat::P1, command: CommandSource::Text("wait") };

fn judged(act: Act<'_>) -> String {
    let state = start(&[("fold", act)]);
    fault(|| state.judge(Seat::P1, "wait"))
}

fn viewed(view: &str) -> String {
    let state = start(&[("see", Says(&format!(r#"{{"id":1,"ok":{{"host":{{"view":{view}}}}}}}"#)))]);
    fault(|| state.view(Perspective::HOST))
}

fn folded_by(answer: &str) -> String {
    let mut state = start(&[("fold", Says(answer))]);
    fault(|| state.fold(&[WAIT], &DicePolicy::Recorded, &mut |_| {}))
}

fn folded(from: &str, to: &str) -> String {
    assert!(FOLDED.contains(from), "{from}");
    folded_by(&FOLDED.replacen(from, to, 1))
}

fn started(from: &str, to: &str) -> String {
    assert!(STARTED.contains(from), "{from}");
    let rules = toy(&[("start", Says(&STARTED.replacen(from, to, 1)))]);
    fault(|| rules.start(&[]).err())
}

#[test]
fn md_6_what_passes_a_limit_stops() {
    let greedy = "(loop (drop (memory.grow (i32.const 16))) (br 0)) (unreachable)";
    let deep = "(i64.extend_i32_u (call $deeper (i32.const 0)))";
    let huge = "(drop (memory.grow (i32.const 1100))) (i64.const 68157440)";
    for (code, expected) in [
        (greedy, "out of memory"),
        (deep, "trapped: call stack exhausted"),
        ("(unreachable)", "trapped: wasm `unreachable` instruction executed"),
        ("(i64.div_u (i64.const 1) (i64.const 0))", "trapped: integer divide by zero"),
        ("(i64.load (i32.const -8))", "trapped: out of bounds memory access"),
        (huge, "an answer of 68157440 bytes is larger than 64 MiB"),
        ("(i64.const -4294967295)", "an answer is outside of the memory"),
        ("(i64.const 8589934592)", "its answer cannot be read: EOF while parsing a value at line 1 column 0"),
    ] {
        assert_eq!(judged(Runs(code)), expected, "{code}");
    }
}

#[test]
fn md_6_an_entry_that_is_recorded_may_burn_four_times_as_much() {
    let answer = (16_u64 << 32) | APPLIED.len() as u64; // where the first text is
    let turns = "(loop (br_if 0 (local.tee $op (i32.sub (local.get $op) (i32.const 1)))))";
    let code = format!("(local.set $op (i32.const 500000000)) {turns} (i64.const {answer})");
    let recording = start(&[("none", Says(APPLIED)), ("fold", Runs(&code))]);
    // On a machine that does much else it is the time that ends it, which is no longer for entries that are recorded.
    let narrow = fault(|| recording.judge(Seat::P1, "wait"));
    assert!(["out of fuel", "no answer within 10 s"].contains(&narrow.as_str()), "{narrow}");
    let recorded = recording.fork();
    let judged = catch_unwind(AssertUnwindSafe(|| recorded.judge(Seat::P1, "wait")));
    match judged.map_err(|fault| fault.downcast::<Fault>().unwrap().what) {
        Ok(judged) => assert!(judged.is_ok()),
        Err(what) => assert_eq!(what, "no answer within 10 s"),
    }
}

#[test]
fn md_6_a_description_may_burn_what_any_call_may() {
    let answer = (16_u64 << 32) | DESCRIBED.len() as u64; // where the first text is
    let turns = "(loop (br_if 0 (local.tee $op (i32.sub (local.get $op) (i32.const 1)))))";
    let code = format!("(local.set $op (i32.const 500000000)) {turns} (i64.const {answer})");
    // On a machine that does much else it is the time that ends it.
    match load(&module(&[("none", Says(DESCRIBED)), ("hello", Runs(&code))])) {
        Ok(rules) => assert_eq!((rules.name(), rules.version()), ("toy", 7)),
        Err(error) => assert_eq!(error.to_string(), "no module of a game: no answer within 10 s"),
    }
}

#[test]
fn md_7_what_is_no_answer_is_refused() {
    let byte = "(i32.store8 (i32.const 0) (i32.const 255)) (i64.const 1)";
    assert_eq!(judged(Runs(byte)), "its answer is not UTF-8");
    for (text, expected) in [
        ("hello", "its answer cannot be read: expected value at line 1 column 1"),
        ("[]", "its answer to request 1 has no id"),
        (r#"{"id":1}"#, "its answer has neither `ok` nor `no`"),
        (r#"{"id":1,"ok":{}} {}"#, "its answer cannot be read: trailing characters"),
        (r#"{"id":1,"ok":{}}"#, "its answer to `fold` has no `state`"),
        (r#"{"id":1,"no":"never"}"#, "it refuses to fold: \"never\""),
        (r#"{"id":1,"fault":"no\nidea"}"#, "no, idea"),
    ] {
        let found = judged(Says(text));
        assert!(found.starts_with(expected), "expected {expected}, found {found}");
    }
    let long = format!(r#"{{"id":1,"fault":"{}"}}"#, "x".repeat(100_000));
    assert_eq!(judged(Says(&long)).len(), 300);
}

#[test]
fn md_7_what_others_read_is_no_bomb() {
    let bomb = |open: &str, close: &str| open.repeat(100_000) + &close.repeat(100_000);
    assert!(viewed(&bomb("[", "]")).contains("it nests more than 60 levels"));
    assert!(
        viewed(&(r#"{"x":"#.repeat(70) + "1" + &"}".repeat(70))).contains("it nests more than 60 levels")
    );
    assert!(viewed(r#"{"x":"\ud800"}"#).contains("its answer cannot be read"));
    assert!(folded(r#"{"ignored":"idle"}"#, &bomb("[", "]")).contains("it nests more than 60 levels"));
    let open = start(&[(
        "see",
        Says("{\"id\":1,\"ok\":{\"host\":{\"view\":{\"ruleset\":\"chess\", \"x\":[1, 2]}}}}"),
    )]);
    let view = goes_on(|| open.view(Perspective::HOST));
    assert_eq!(
        &*view, r#"{"ruleset":"toy","view":{"ruleset":"chess","x":[1,2]}}"#,
        "on one line, as the toy's"
    );
    let hex = r#"{"id":1,"ok":{"host":{"picture":{"blocks":[{"hexes":{"board":{"radius":1},"cells":[{"at":[2,0],"label":"","mark":"","tint":"plain"}],"arrows":[]}}]}}}}"#;
    let state = start(&[("see", Says(hex))]);
    let found = fault(|| state.picture(Perspective::HOST));
    assert_eq!(found, "its picture cannot be drawn: a picture shows something off its board");
}

#[test]
fn md_7_a_broken_law_of_a_state_is_named() {
    for (from, to, expected) in [
        (r#"["p1","p2"]"#, r#"["p2","p2"]"#, "`players` of its status lists a seat twice"),
        (r#"["p1","p2"]"#, r#"["p1","host"]"#, "the players of its status are not p1 to p16"),
        (r#"["p1","p2"]"#, r#"["p99"]"#, "\"p99\" is no seat, such as `p1`"),
        (
            r#"["p1","p2"]"#,
            r#"["p1","p2"],"due":{"purpose":"aim","count":4000000000,"low":1,"high":6}"#,
            "a roll of 4000000000 values in 1..=6 is due",
        ),
        (
            r#"["p1","p2"]"#,
            r#"["p1","p2"],"due":{"purpose":"\u0007","count":1,"low":1,"high":6}"#,
            "the name \"\\u{7}\" is not in snake_case",
        ),
        (r#"["p1","p2"]"#, r#"["p1"]"#, "it cannot resume the state that it starts with"),
        ("AA==", "AQ==", "the state that it resumes is another one"),
        ("AA==", "AA", "expected bytes in base64"),
    ] {
        let found = started(from, to);
        assert!(found.starts_with(expected), "expected {expected}, found {found}");
    }
}

#[test]
fn md_7_a_broken_law_of_a_fold_is_named() {
    for (from, to, expected) in [
        (
            r#""state":"AA==""#,
            r#""state":"AQ==""#,
            "the state after all entries is not the state after the last one",
        ),
        (r#""idle""#, r#""other""#, "it does not declare the code `other`"),
        (r#"{"ignored":"idle"}"#, "{}", "a step that was applied has no `state`"),
        (r#"{"ignored":"idle"}"#, "7", "a step is 7, expected an object"),
        (
            r#"{"ignored":"idle"}"#,
            r#"{"texts":["\u001b[2J"],"state":"AA=="}"#,
            "`\\u{1b}[2J` is no text of an effect",
        ),
        (r#"{"ignored":"idle"}"#, r#"{"effects":[{}],"state":"AA=="}"#, "an effect has no name"),
        (r#"{"ignored":"idle"}"#, "", "it folded 0 of 1 entries"),
        (r"}],", r#"}],"stop":{"code":"no_way","message":""},"#, "it folded 1 of 1 entries"),
        (r#"{"ignored":"idle"}],"#, r#"],"stop":{"code":"idle"},"#, "it does not declare the code `idle`"),
    ] {
        let found = folded(from, to);
        assert!(found.starts_with(expected), "{to}: expected {expected}, found {found}");
    }
    // Text and bytes of a command are asked for when someone wants to know them.
    let stored = Logged { command: CommandSource::Bytes(&[1]), ..WAIT };
    for (command, expected) in [
        (r#"{"command":"wait","bytes":"AA=="}"#, "a command has other bytes than it was given with"),
        (r#"{"command":"wa\nit","bytes":"AQ=="}"#, "a command of more than one line"),
        (r#"{"command":"wait","bytes":"AQ"}"#, "a command: expected bytes in base64"),
        (r#"{"no":"never"}"#, "a command that it folded is none"),
        ("", "it answers with fewer commands than it was given"),
    ] {
        let answer = format!(r#"{{"id":1,"ok":[{command}]}}"#);
        let mut state = start(&[("command", Says(&answer))]);
        let found = fault(|| state.fold(&[stored], &DicePolicy::Recorded, &mut |step| drop(step.command())));
        assert_eq!(found, expected);
    }
}

/// A global that counts calls decides what is answered.
#[test]
fn md_7_what_a_module_remembers_is_found() {
    let other = APPLIED;
    let count = "(global.set $calls (i32.add (global.get $calls) (i32.const 1)))";
    let remembers = format!(
        "(block (result i64) {count} (if (i32.gt_u (global.get $calls) (i32.const 1)) (then (return REST))) ONE)"
    );
    // Both answers are placed by operations of their own, which nothing asks for.
    let place = |text: &str| (text.len(), text.to_owned());
    let ((one, first), (two, second)) = (place(FOLDED), place(other));
    let at_first = 16;
    let code = remembers
        .replace("ONE", &format!("(i64.const {})", (at_first << 32) | one))
        .replace("REST", &format!("(i64.const {})", ((at_first + one) << 32) | two));
    let acts = [("one", Says(first.as_str())), ("two", Says(second.as_str())), ("fold", Runs(&code))];
    let rules = toy(&acts);
    let mut trusted = rules.start(&[]).unwrap();
    for _ in 0..3 {
        goes_on(|| trusted.fold(&[WAIT], &DicePolicy::Recorded, &mut |_| {})).unwrap();
    }
    let mut checked = rules.distrusting().unwrap().start(&[]).unwrap();
    let found = fault(|| checked.fold(&[WAIT], &DicePolicy::Recorded, &mut |_| {}));
    assert!(found.starts_with("the answer depends on the run"), "{found}");
}

/// MD-7: many entries lead to another state than each of them alone; the same requests made twice would not show it.
#[test]
fn md_7_a_module_that_folds_many_entries_otherwise_than_one_is_found() {
    let step = r#"{"texts":["waited"],"state":"AA=="}"#;
    let both = APPLIED.replace(step, &format!("{step},{}", step.replace("AA==", "AQ==")));
    let both = both.replace(r#""state":"AA==","status""#, r#""state":"AQ==","status""#);
    let (one, two) = (APPLIED.len(), both.len());
    let code = format!(
        "(if (result i64) (i32.gt_u (local.get $bytes) (i32.const 120)) (then (i64.const {})) (else (i64.const {})))",
        ((16 + one) << 32) | two,
        (16 << 32) | one
    );
    let acts = [("one", Says(APPLIED)), ("two", Says(both.as_str())), ("fold", Runs(&code))];
    let log = [WAIT, Logged { seq: 2, ..WAIT }];
    let mut trusted = toy(&acts).start(&[]).unwrap();
    goes_on(|| trusted.fold(&log, &DicePolicy::Recorded, &mut |_| {})).unwrap();
    assert_eq!(trusted.state_bytes(), [1], "together");
    let mut alone = toy(&acts).start(&[]).unwrap();
    for entry in log {
        goes_on(|| alone.fold(&[entry], &DicePolicy::Recorded, &mut |_| {})).unwrap();
    }
    assert_eq!(alone.state_bytes(), [0], "one by one");
    let mut checked = toy(&acts).distrusting().unwrap().start(&[]).unwrap();
    let found = fault(|| checked.fold(&log, &DicePolicy::Recorded, &mut |_| {}));
    assert!(found.starts_with("the state loses something in its JSON"), "{found}");
}

/// No law tries a question that is not listed, so none is passed on.
#[test]
fn md_7_a_question_that_the_module_does_not_list_is_not_asked() {
    let secret = r#"{"id":1,"ok":{"text":"b2","json":"b2"}}"#;
    let state = start(&[("query", Says(secret))]);
    let ask = |question: &str| goes_on(|| state.query(Perspective::Seat(Seat::P2), question));
    assert_eq!(ask("reach 1").map(|answer| answer.text), Ok("b2".into()));
    let refused = ask("treasure").unwrap_err().to_string();
    assert!(refused.contains("`treasure`") && refused.contains("`reach N`"), "{refused}");
}

/// MD-6: a description may take what a call may, and what hangs ends after some seconds, also where a log is read.
#[test]
fn md_6_a_module_that_hangs_ends_a_fold_within_the_time_of_one_call() {
    let endless = "(loop (br 0)) (unreachable)";
    let mut recorded = goes_on(|| toy(&[("fold", Runs(endless))]).start(&[])).unwrap();
    let log = [WAIT, Logged { seq: 2, ..WAIT }];
    turnfold_referee::within(std::time::Duration::from_millis(50), || {
        let found = fault(|| recorded.fold(&log, &DicePolicy::Recorded, &mut |_| {}));
        assert_eq!(found, "the modules have used up their 0 s");
    });
}

#[test]
fn md_6_after_a_trap_a_fresh_instance_tries_once_more() {
    let answer = ((16_usize << 32) | APPLIED.len()).to_string();
    let once = format!(
        "(block (result i64) (if (global.get $calls) (then (unreachable))) (global.set $calls (i32.const 1)) (i64.const {answer}))"
    );
    let state = start(&[("none", Says(APPLIED)), ("fold", Runs(&once))]);
    for _ in 0..3 {
        assert!(goes_on(|| state.judge(Seat::P1, "wait")).is_ok());
    }
}

/// MD-3: NaNs have the bits that the deterministic profile of WebAssembly gives them, on every machine.
#[test]
fn md_3_nans_are_canonical() {
    let answer = ((16_usize << 32) | APPLIED.len()).to_string();
    let quiet = "(f64.reinterpret_i64 (i64.const 0xfff8000000000001))";
    let single = "(f32.reinterpret_i32 (i32.const 0xffc00001))";
    let computed = [
        "(f64.div (f64.const 0) (f64.const 0))".to_owned(),
        "(f64.sqrt (f64.const -1))".to_owned(),
        format!("(f64.add {quiet} (f64.const 1))"),
        format!("(f64.mul (f64.const 1) {quiet})"),
        format!("(f64.min {quiet} (f64.const 1))"),
        format!("(f64.ceil {quiet})"),
        format!("(f64.promote_f32 {single})"),
        format!("(f64.promote_f32 (f32.demote_f64 {quiet}))"),
        format!("(f64.promote_f32 (f32.sub {single} {single}))"),
    ];
    for nan in computed {
        let is_other = format!("(i64.ne (i64.reinterpret_f64 {nan}) (i64.const 0x7ff8000000000000))");
        let code = format!("(block (result i64) (if {is_other} (then (unreachable))) (i64.const {answer}))");
        let state = start(&[("none", Says(APPLIED)), ("fold", Runs(&code))]);
        assert!(goes_on(|| state.judge(Seat::P1, "wait")).is_ok(), "{nan}");
    }
}

/// RF-8: of fair dice a roll of one's own is refused if the module takes it, and rejected if the module rejects it.
#[test]
fn rf_8_fair_dice_refuse_an_own_roll_that_is_not_rejected() {
    let due = r#""due":{"purpose":"cup","count":1,"low":1,"high":6,"owner":"p2"}"#;
    let started = STARTED.replacen(r#"["p1","p2"]"#, &format!(r#"["p1","p2"],{due}"#), 1);
    let taken = FOLDED.replacen(r#""idle""#, r#""idle","rolled":[3]"#, 1);
    let rejected = r#"{"id":1,"ok":{"steps":[],"stop":{"code":"no_way"},"state":"AA==","status":{"players":["p1","p2"]}}}"#;
    let fold = |answer: &str| {
        let acts = [("start", Says(&started)), ("resume", Says(&started)), ("fold", Says(answer))];
        let mut state = start(&acts);
        state.fold(&[WAIT], &DicePolicy::Fair(Digest::new([7; 32])), &mut |_| {})
    };
    assert_eq!(fold(&taken), Err(FoldError::OwnedFairRoll { seq: 1, owner: Seat::P2 }));
    assert!(matches!(fold(rejected), Err(FoldError::Rejected { .. })));
}
