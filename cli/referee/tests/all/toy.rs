//! Modules of a few answers, written as WebAssembly text.

use std::panic::{AssertUnwindSafe, catch_unwind};

use turnfold_core::any::Fault;
use turnfold_core::{AnyRules, AnyState};
use turnfold_referee::load;

/// What a module does when it is asked.
#[derive(Clone, Copy)]
pub(crate) enum Act<'a> {
    /// Answers this.
    Says(&'a str),
    /// Runs these instructions, which leave `ptr << 32 | len`. `$request` and `$bytes` are where the request is.
    Runs(&'a str),
}

pub(crate) const DESCRIBED: &str = r#"{"id":1,"ok":{"name":"toy","version":7,"summary":"a toy","example":"","rulebook":"","secrets":"none","encoding":"bytes","batches":true,"can":["see","choices","query","show"],"queries":["reach N"],"ignored":{"idle":["TY-1"]},"rejected":{"no_way":[]}}}"#;
pub(crate) const STARTED: &str =
    r#"{"id":1,"ok":{"state":"AA==","status":{"players":["p1","p2"]},"steps":[]}}"#;
/// One entry, which is ignored.
pub(crate) const FOLDED: &str =
    r#"{"id":1,"ok":{"steps":[{"ignored":"idle"}],"state":"AA==","status":{"players":["p1","p2"]}}}"#;
/// One entry, which has an effect and leaves the state as it was.
pub(crate) const APPLIED: &str = r#"{"id":1,"ok":{"steps":[{"texts":["waited"],"state":"AA=="}],"state":"AA==","status":{"players":["p1","p2"]}}}"#;

/// The bytes of a request before the letters of its operation.
const BEFORE_OP: usize = r#"{"id":1,"op":""#.len();

/// Answers of the text that stands at the start of the memory.
const REQUEST_AT: usize = 1 << 20;

/// The request to resume the state `AA==`, which is a fold without entries.
const RESUMES: &str = r#"{"id":1,"op":"fold","args":{"state":"AA==","entries":[],"want":"last"}}"#;

/// Writes a module that does this when it is asked; `resume` is a fold without entries. An operation that there is not only has its
/// text in the memory.
pub(crate) fn module(acts: &[(&str, Act<'_>)]) -> Vec<u8> {
    let usual = [
        ("resume", Act::Says(STARTED)),
        ("hello", Act::Says(DESCRIBED)),
        ("start", Act::Says(STARTED)),
        ("fold", Act::Says(FOLDED)),
    ];
    let mut texts = Vec::new();
    let mut cases = Vec::new();
    let mut resumes = Vec::new();
    let mut at = 16;
    for (op, act) in acts.iter().chain(&usual) {
        let body = match act {
            Act::Runs(code) => (*code).to_owned(),
            Act::Says(text) => {
                let bytes: Vec<String> = text.bytes().map(|byte| format!("\\{byte:02x}")).collect();
                texts.push(format!("(data (i32.const {at}) \"{}\")", bytes.concat()));
                let answer = (at << 32) | text.len();
                at += text.len();
                format!("(i64.const {answer})")
            }
        };
        if *op == "resume" {
            let is_asked = format!("(i32.eq (local.get $bytes) (i32.const {}))", RESUMES.len());
            resumes.push(format!("(if {is_asked} (then (return {body})))"));
            continue;
        }
        // The first four letters tell operations apart.
        let word: Vec<u8> = op.bytes().chain(*b"\"   ").take(4).collect();
        let word = u32::from_le_bytes(word.try_into().unwrap());
        let is_asked = format!("(i32.eq (local.get $op) (i32.const {word}))");
        cases.push(format!("(if {is_asked} (then (return {body})))"));
    }
    cases.splice(0..0, resumes);
    let [texts, cases] = [texts, cases].map(|lines| lines.join("\n"));
    let text = format!(
        r#"(module
            (memory (export "memory") 32)
            (global $calls (mut i32) (i32.const 0))
            {texts}
            (func (export "turnfold_abi") (result i32) (i32.const 2))
            (func (export "turnfold_alloc") (param i32) (result i32) (i32.const {REQUEST_AT}))
            (func $deeper (param i32) (result i32) (call $deeper (i32.add (local.get 0) (i32.const 1))))
            (func (export "turnfold_call") (param $request i32) (param $bytes i32) (result i64)
                (local $op i32)
                (local.set $op (i32.load offset={BEFORE_OP} (local.get $request)))
                {cases}
                unreachable))"#
    );
    wat::parse_str(text).unwrap()
}

/// Loads a module.
pub(crate) fn toy(acts: &[(&str, Act<'_>)]) -> std::sync::Arc<dyn AnyRules> {
    load(&module(acts)).unwrap()
}

/// Starts a match of new entries under a module.
pub(crate) fn start(acts: &[(&str, Act<'_>)]) -> Box<dyn AnyState> {
    let mut state = toy(acts).start(&[]).unwrap();
    state.begin_recording();
    state
}

/// Returns what is wrong with a module that stops in an operation.
pub(crate) fn fault<T>(operation: impl FnOnce() -> T) -> String {
    let unwound = catch_unwind(AssertUnwindSafe(operation));
    let fault = unwound.err().expect("it stops").downcast::<Fault>().expect("by a fault").to_string();
    assert!(!fault.contains('\n') && fault.len() < 400, "{fault}");
    let (module, what) = fault.split_once("): ").unwrap();
    assert!(module.starts_with("ruleset toy 7 (module "), "{fault}");
    what.to_owned()
}

/// Returns what an operation gives that a module does not stop in.
pub(crate) fn goes_on<T>(operation: impl FnOnce() -> T) -> T {
    let unwound = catch_unwind(AssertUnwindSafe(operation));
    unwound.unwrap_or_else(|fault| panic!("{}", fault.downcast::<Fault>().unwrap()))
}
