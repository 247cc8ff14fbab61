//! MD-3: files that have not the form of a module.

use turnfold_referee::load;

use crate::toy::{Act, STARTED, module};

fn refusal(file: &[u8]) -> String {
    load(file).expect_err("it is refused").to_string()
}

/// What every module has, but for what is replaced.
fn with(from: &str, to: &str) -> Vec<u8> {
    let text = r#"(module
        (memory (export "memory") 1)
        (func (export "turnfold_abi") (result i32) (i32.const 2))
        (func (export "turnfold_alloc") (param i32) (result i32) (i32.const 0))
        (func (export "turnfold_call") (param i32 i32) (result i64) (i64.const 0))
    )"#;
    assert!(text.contains(from));
    wat::parse_str(text.replace(from, to)).unwrap()
}

#[test]
fn md_3_other_files_are_refused_in_one_line() {
    let memory = r#"(memory (export "memory") 1)"#;
    let too_large = [b"\0asm\x01\0\0\0".as_slice(), &vec![0; 16 << 20]].concat();
    let cases = [
        (b"[header]".to_vec(), "no WebAssembly of a module: it does not begin as WebAssembly does"),
        (Vec::new(), "no WebAssembly of a module: it does not begin as WebAssembly does"),
        (b"\0asm\x01\0\0\0garbage".to_vec(), "no WebAssembly of a module: "),
        (too_large, "no module of a game: 16777224 bytes are more than 16 MiB"),
        (
            with(memory, r#"(import "env" "now" (func)) (memory (export "memory") 1)"#),
            r#"no module of a game: it imports "now" from "env", and a module imports nothing"#,
        ),
        (
            with(memory, r#"(import "" "t" (table 1 externref)) (memory (export "memory") 1)"#),
            "no module of a game: it imports",
        ),
        (
            with(memory, r#"(func $begin) (start $begin) (memory (export "memory") 1)"#),
            "no WebAssembly of a module: ",
        ),
        (with(memory, "(memory 1)"), "no module of a game: it exports no memory"),
        (
            with(memory, r#"(memory (export "memory") 4097)"#),
            "no module of a game: its memory begins with 268500992 bytes, which is more than 256 MiB",
        ),
        (with(memory, r#"(memory (export "memory") 1) (memory 1)"#), "no WebAssembly of a module: "),
        (with(memory, r#"(memory (export "memory") i64 1)"#), "no WebAssembly of a module: "),
        (with(memory, r#"(memory (export "memory") 1 2 shared)"#), "no WebAssembly of a module: "),
        (
            with(memory, r#"(memory (export "memory") 1) (table 2000000 funcref)"#),
            "no module of a game: out of memory",
        ),
        (
            with(memory, r#"(memory (export "memory") 1) (data (i32.const 65535) "ab")"#),
            "no module of a game: trapped: ",
        ),
        (
            with(memory, r#"(memory (export "memory") 1) (func (result v128) (v128.const i64x2 0 0))"#),
            "no WebAssembly of a module: ",
        ),
        (with("turnfold_abi", "abi"), "no module of a game: it exports no `turnfold_abi`"),
        (
            with("(param i32 i32) (result i64) (i64.const 0)", "(param i32 i32) (result i32) (i32.const 0)"),
            "no module of a game: its export `turnfold_call` has another type",
        ),
        (
            with("(result i32) (i32.const 2)", "(result i32) (i32.const 1)"),
            "no module of a game: it has version 1 of the exports, this build knows 2",
        ),
        (
            with("(result i32) (i32.const 2)", "(result i32) (loop (br 0)) (unreachable)"),
            "no module of a game: out of fuel",
        ),
        (
            with("(i64.const 0)", "(i64.const 0)"),
            "no module of a game: its answer cannot be read: EOF while parsing a value at line 1 column 0",
        ),
        (
            module(&[("hello", Act::Says(STARTED))]),
            "no module of a game: its answer to `hello` has no `name`",
        ),
    ];
    for (file, expected) in cases {
        let found = refusal(&file);
        assert!(found.starts_with(expected) && !found.contains('\n'), "expected {expected}, found {found}");
    }
}

#[test]
fn md_7_a_description_has_names_of_the_allowed_form() {
    let cases = [
        (r#""toy""#, r#""Toy""#, r#"its name is "Toy""#),
        (r#""toy""#, r#""""#, r#"its name is """#),
        (r#""idle""#, r#""not idle""#, r#"the name "not idle" is not in snake_case"#),
        (r#""TY-1""#, r#""\u001b[2J""#, r#""\u{1b}[2J" is no id of a rule"#),
        (r#""rulebook":"""#, r#""rulebook":"\u001b[2J""#, "a text with the control character"),
        (r#""version":7"#, r#""version":7.5"#, "its answer to `hello` has no `version`"),
        (r#""bytes""#, r#""letters""#, "its encoding is \"letters\", expected \"bytes\""),
        (r#","choices""#, "", "its states are bytes, and it does not offer `choices`"),
        (r#"{"id":1"#, r#"{"id":2"#, "its answer to request 1 has the id 2"),
        (r#""id":1,"#, "", "its answer to request 1 has no id"),
    ];
    for (from, to, expected) in cases {
        let described = crate::toy::DESCRIBED.replacen(from, to, 1);
        let found = refusal(&module(&[("hello", Act::Says(&described))]));
        let expected = format!("no module of a game: {expected}");
        assert!(found.starts_with(&expected), "expected {expected}, found {found}");
    }
}
