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

pub(crate) const DESCRIBED: &str = r#"{"answer":{"name":"toy","version":7,"summary":"a toy","example":"","rulebook":"","mail_terms":"","secrets":"none","ignored":[{"code":"idle","rules":["TY-1"]}],"rejected":[{"code":"no_way","rules":[]}]}}"#;
pub(crate) const STARTED: &str = r#"{"answer":{"state":"AA==","status":{"players":["p1","p2"],"over":false,"result":null,"turn":null,"due":null,"rolls":0}}}"#;
pub(crate) const APPLIED: &str = r#"{"answer":{"applied":null}}"#;
/// One entry, which is ignored.
pub(crate) const FOLDED: &str = r#"{"answer":{"steps":[{"command":"wait","stand_in":null,"command_bytes":"AA==","concealed":false,"wholly_shown":true,"verdict":{"ignored":{"code":"idle","text":null}},"effects":"","effects_json":[],"state":"AA==","players":["p1","p2"],"result":null,"turn":null}],"status":{"players":["p1","p2"],"over":false,"result":null,"turn":null,"due":null,"rolls":0},"error":null}}"#;

/// Answers of the text that stands at the start of the memory.
const REQUEST_AT: usize = 1 << 20;

/// Writes a module that knows operations by their names' first letters.
pub(crate) fn module(acts: &[(char, Act<'_>)]) -> Vec<u8> {
    let usual = [
        ('d', Act::Says(DESCRIBED)),
        ('s', Act::Says(STARTED)),
        ('r', Act::Says(STARTED)),
        ('f', Act::Says(FOLDED)),
    ];
    let mut texts = Vec::new();
    let mut cases = Vec::new();
    let mut at = 16;
    for (letter, act) in acts.iter().chain(&usual) {
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
        let is_asked = format!("(i32.eq (local.get $op) (i32.const {}))", u32::from(*letter));
        cases.push(format!("(if {is_asked} (then (return {body})))"));
    }
    let [texts, cases] = [texts, cases].map(|lines| lines.join("\n"));
    let text = format!(
        r#"(module
            (memory (export "memory") 32)
            (global $calls (mut i32) (i32.const 0))
            {texts}
            (func (export "turnfold_abi") (result i32) (i32.const 1))
            (func (export "turnfold_alloc") (param i32) (result i32) (i32.const {REQUEST_AT}))
            (func $deeper (param i32) (result i32) (call $deeper (i32.add (local.get 0) (i32.const 1))))
            (func (export "turnfold_call") (param $request i32) (param $bytes i32) (result i64)
                (local $op i32)
                (local.set $op (i32.load8_u offset=7 (local.get $request)))
                {cases}
                unreachable))"#
    );
    wat::parse_str(text).unwrap()
}

/// Loads a module.
pub(crate) fn toy(acts: &[(char, Act<'_>)]) -> std::sync::Arc<dyn AnyRules> {
    load(&module(acts)).unwrap()
}

/// Starts a match of new entries under a module.
pub(crate) fn start(acts: &[(char, Act<'_>)]) -> Box<dyn AnyState> {
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
