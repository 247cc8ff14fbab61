//! MD-6 and MD-7: modules that do what no ruleset may do. Each ends in one line.

use std::panic::{AssertUnwindSafe, catch_unwind};

use turnfold_core::{CommandSource, DicePolicy, Fault, Logged, Perspective, Seat};
use turnfold_referee::load;

use crate::toy::{APPLIED, Act, DESCRIBED, FOLDED, STARTED, fault, goes_on, module, start, toy};
use Act::{Runs, Says};

const WAIT: Logged<'static> = Logged { seq: 1, seat: Seat::P1, command: CommandSource::Text("wait") };

fn judged(act: Act<'_>) -> String {
    let state = start(&[('j', act)]);
    fault(|| state.judge(Seat::P1, "wait"))
}

fn viewed(view: &str) -> String {
    let state = start(&[('v', Says(view))]);
    fault(|| state.view(Perspective::HOST))
}

fn folded(from: &str, to: &str) -> String {
    assert!(FOLDED.contains(from), "{from}");
    let mut state = start(&[('f', Says(&FOLDED.replacen(from, to, 1)))]);
    fault(|| state.fold(&[WAIT], &DicePolicy::Recorded, &mut |_| {}))
}

fn started(from: &str, to: &str) -> String {
    assert!(STARTED.contains(from), "{from}");
    let rules = toy(&[('s', Says(&STARTED.replacen(from, to, 1)))]);
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
    let recording = start(&[('x', Says(APPLIED)), ('j', Runs(&code))]);
    assert_eq!(fault(|| recording.judge(Seat::P1, "wait")), "out of fuel");
    let recorded = recording.fork();
    // On a machine that does much else it is the time that ends it, which is no longer for entries that are recorded.
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
    match load(&module(&[('x', Says(DESCRIBED)), ('d', Runs(&code))])) {
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
        (STARTED, "its answer cannot be read: unknown variant `state`, expected `applied` or `ignored`"),
        (r#"{"answer":{"applied":null}} {}"#, "its answer cannot be read: trailing characters"),
        (r#"{"answer":{"ignored":{"code":"other","text":null}}}"#, "it does not declare the code `other`"),
        (r#"{"error":{"code":"idle","message":""}}"#, "it does not declare the code `idle`"),
        (r#"{"refused":"no\nidea"}"#, "it refused a request: no, idea"),
    ] {
        let found = judged(Says(text));
        assert!(found.starts_with(expected), "expected {expected}, found {found}");
    }
    let long = format!(r#"{{"refused":"{}"}}"#, "x".repeat(100_000));
    assert_eq!(judged(Says(&long)).len(), 200);
}

#[test]
fn md_7_what_others_read_is_no_bomb() {
    let bomb = |open: &str, close: &str| open.repeat(100_000) + &close.repeat(100_000);
    let view = |inner: &str| format!(r#"{{"answer":{{"ruleset":"toy","x":{inner}}}}}"#);
    assert!(viewed(&view(&bomb("[", "]"))).contains("recursion limit exceeded"));
    assert!(viewed(&view(r#""\ud800""#)).contains("a document that cannot be read"));
    assert_eq!(viewed(&view("[1, 2]")), "a document with white space between its parts");
    assert_eq!(viewed(r#"{"answer":{}}"#), "a view does not begin with the name of the ruleset");
    assert!(folded("[]", &bomb("[", "]")).contains("recursion limit exceeded"));
    let hex = r#"{"answer":{"blocks":[{"hexes":{"board":{"radius":1},"cells":[{"at":[2,0],"label":"","mark":"","tint":"plain"}],"arrows":[]}}]}}"#;
    let state = start(&[('p', Says(hex))]);
    assert_eq!(fault(|| state.picture(Perspective::HOST)), "a picture shows something off its board");
}

#[test]
fn md_7_a_broken_law_of_a_state_is_named() {
    for (from, to, expected) in [
        (r#"["p1","p2"]"#, r#"["p2","p1"]"#, "players are listed out of order, twice, or with the host"),
        (r#"["p1","p2"]"#, r#"["p1","host"]"#, "players are listed out of order, twice, or with the host"),
        (r#"["p1","p2"]"#, r#"["p99"]"#, "its answer cannot be read: "),
        (
            r#""due":null"#,
            r#""due":{"purpose":"aim","count":4000000000,"low":1,"high":6}"#,
            "a roll of 4000000000 values in 1..=6 is due",
        ),
        (
            r#""due":null"#,
            r#""due":{"purpose":"\u0007","count":1,"low":1,"high":6}"#,
            "the name \"\\u{7}\" is not in snake_case",
        ),
        (r#""rolls":0"#, r#""rolls":1"#, "a match that starts has rolls behind it"),
        ("AA==", "AQ==", "the state that it resumes is another one"),
        ("AA==", "AA", "its answer cannot be read: expected base64"),
    ] {
        let found = started(from, to);
        assert!(found.starts_with(expected), "expected {expected}, found {found}");
    }
}

#[test]
fn md_7_a_broken_law_of_a_fold_is_named() {
    let moved = r#""state":"AQ==""#;
    for (from, to, expected) in [
        (r#""state":"AA==""#, moved, "an ignored command changed the state"),
        (r#""effects":"""#, r#""effects":"moved""#, "an ignored command had effects"),
        (r#""effects":"""#, r#""effects":"\u001b[2J""#, "its answer cannot be read: expected effects"),
        (r#""command":"wait""#, r#""command":"wa\nit""#, "a text with the control character \\u{a}"),
        (
            r#""turn":null}],"#,
            r#""turn":3}],"#,
            "the state after all entries is not the state after the last one",
        ),
        (r#""rolls":0"#, r#""rolls":2"#, "it counted rolls that were not made"),
        (
            r#""error":null"#,
            r#""error":{"kind":"malformed","message":{"seq":1,"message":""}}"#,
            "it folded other entries than those that it was given",
        ),
    ] {
        let found = folded(from, to);
        assert!(found.starts_with(expected), "{to}: expected {expected}, found {found}");
    }
    let none = r#"{"answer":{"steps":[],"status":{"players":["p1","p2"],"over":false,"result":null,"turn":null,"due":null,"rolls":0},"error":null}}"#;
    let mut state = start(&[('f', Says(none))]);
    let found = fault(|| state.fold(&[WAIT], &DicePolicy::Recorded, &mut |_| {}));
    assert_eq!(found, "it folded other entries than those that it was given");
    let mut state = start(&[]);
    let stored = Logged { command: CommandSource::Bytes(&[1]), ..WAIT };
    let found = fault(|| state.fold(&[stored], &DicePolicy::Recorded, &mut |_| {}));
    assert_eq!(found, "a command has other bytes than it was given with");
}

/// A global that counts calls decides what is answered.
#[test]
fn md_7_what_a_module_remembers_is_found() {
    let other = FOLDED
        .replace("\"idle\"", "\"other\"")
        .replace("\"effects_json\":[]", "\"effects_json\":[1]")
        .replace("other", "idle");
    let count = "(global.set $calls (i32.add (global.get $calls) (i32.const 1)))";
    let remembers = format!(
        "(block (result i64) {count} (if (i32.gt_u (global.get $calls) (i32.const 1)) (then (return REST))) ONE)"
    );
    // Both answers are placed by operations of their own, which nothing asks for.
    let place = |text: &str| (text.len(), text.to_owned());
    let ((one, first), (two, second)) = (place(FOLDED), place(&other));
    let at_first = 16;
    let code = remembers
        .replace("ONE", &format!("(i64.const {})", (at_first << 32) | one))
        .replace("REST", &format!("(i64.const {})", ((at_first + one) << 32) | two));
    let acts = [('1', Says(first.as_str())), ('2', Says(second.as_str())), ('f', Runs(&code))];
    let rules = toy(&acts);
    let mut trusted = rules.start(&[]).unwrap();
    for _ in 0..3 {
        goes_on(|| trusted.fold(&[WAIT], &DicePolicy::Recorded, &mut |_| {})).unwrap();
    }
    let mut checked = rules.distrusting().unwrap().start(&[]).unwrap();
    let found = fault(|| checked.fold(&[WAIT], &DicePolicy::Recorded, &mut |_| {}));
    assert_eq!(found, "folding again one by one from the bytes before entry 1 gives something else");
}

/// MD-7: many entries lead to another state than each of them alone; the same requests made twice would not show it.
#[test]
fn md_7_a_module_that_folds_many_entries_otherwise_than_one_is_found() {
    let applied =
        FOLDED.replace(r#"{"ignored":{"code":"idle","text":null}}"#, r#"{"applied":null}"#).replace(
            r#""effects":"","effects_json":[]"#,
            r#""effects":"waited","effects_json":[{"effect":"waited"}]"#,
        );
    let step = applied.split_once(r#""steps":["#).unwrap().1.split_once("],\"status\"").unwrap().0;
    let second = step.replace(r#""state":"AA==""#, r#""state":"AQ==""#);
    let both = applied.replace(step, &format!("{step},{second}"));
    let (one, two) = (applied.len(), both.len());
    let code = format!(
        "(if (result i64) (i32.gt_u (local.get $bytes) (i32.const 160)) (then (i64.const {})) (else (i64.const {})))",
        ((16 + one) << 32) | two,
        (16 << 32) | one
    );
    let acts = [('1', Says(applied.as_str())), ('2', Says(both.as_str())), ('f', Runs(&code))];
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
    assert_eq!(found, "folding again one by one from the bytes before entry 1 gives something else");
}

/// No law tries a question that is not listed, so none is passed on.
#[test]
fn md_7_a_question_that_the_module_does_not_list_is_not_asked() {
    let listed = r#"{"error":{"kind":"unknown","message":{"ruleset":"toy","found":"?","known":"`reach`"}}}"#;
    let secret = r#"{"answer":{"text":"b2","json":"b2"}}"#;
    // The question `?` makes the shortest request.
    let code = format!(
        "(if (result i64) (i32.gt_u (local.get $bytes) (i32.const {})) (then (i64.const {})) (else (i64.const {})))",
        r#"{"op":"query","with":{"at":{"state":"AA==","rolls":0},"viewer":"p2","question":"?"}}"#.len(),
        ((16 + listed.len()) << 32) | secret.len(),
        (16 << 32) | listed.len()
    );
    let state = start(&[('1', Says(listed)), ('2', Says(secret)), ('q', Runs(&code))]);
    let ask = |question: &str| goes_on(|| state.query(Perspective::Seat(Seat::P2), question));
    assert_eq!(ask("reach 1").map(|answer| answer.text), Ok("b2".into()));
    let refused = ask("treasure").unwrap_err().to_string();
    assert!(refused.contains("`treasure`") && refused.contains("`reach`"), "{refused}");
    let answers = start(&[('q', Says(secret))]);
    assert_eq!(fault(|| answers.query(Perspective::HOST, "reach")), "it answers the question `?`");
}

/// MD-6: a description may take what a call may, and what hangs ends after some seconds, also where a log is read.
#[test]
fn md_6_a_module_that_hangs_ends_a_fold_within_the_time_of_one_call() {
    let endless = "(loop (br 0)) (unreachable)";
    let mut recorded = goes_on(|| toy(&[('f', Runs(endless))]).start(&[])).unwrap();
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
    let state = start(&[('1', Says(APPLIED)), ('j', Runs(&once))]);
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
        let state = start(&[('1', Says(APPLIED)), ('j', Runs(&code))]);
        assert!(goes_on(|| state.judge(Seat::P1, "wait")).is_ok(), "{nan}");
    }
}
