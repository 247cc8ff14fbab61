//! MD-9: a match that pins no module is played by the only module of its name and version. The first entry that the
//! module judges records its digest in the store, and then no other module can play the match.
//!
//! The module is version 1 of Nim; `other.wasm` is the same game in different bytes.

use std::fs;

use snapbox::str;
use turnfold_tests::sandbox::{Sandbox, workspace};
use turnfold_tests::service::Running;
use turnfold_tests::transcript::check;

const PLAIN: &str = "turnfold replay 2\n+++\nruleset = \"nim\"\nversion = 1\ndice = \"recorded\"\ntitle = \"\"\n\
    [setup]\nheaps = [4, 5]\n+++\n";

/// Returns a sandbox with `one.wasm`, `other.wasm` and `plain.tfl`, the log of a match that pins no module.
fn prepared() -> Sandbox {
    let sandbox = Sandbox::new();
    let one = fs::read(workspace().join("fixtures/modules/nim-1.wasm")).unwrap();
    // A section that nothing reads.
    let other = [&one[..], &[0, 3, 2, b'v', b'2']].concat();
    sandbox.write("one.wasm", one);
    sandbox.write("other.wasm", other);
    sandbox.write("plain.tfl", PLAIN);
    fs::create_dir_all(sandbox.path("modules")).unwrap();
    sandbox
}

/// Blanks out the digests of modules, because they change whenever a module is packed from other sources.
fn without_digests(transcript: &str) -> String {
    let words = transcript.split_inclusive(|separator: char| !separator.is_ascii_alphanumeric());
    let shown = words.map(|word| {
        let digest = word.trim_end_matches(|separator: char| !separator.is_ascii_alphanumeric());
        let is_digest = digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_digest { word.replace(digest, "[MODULE]") } else { word.to_owned() }
    });
    shown.collect()
}

/// Makes this the only module that the store finds.
fn put(sandbox: &Sandbox, module: &str) {
    fs::copy(sandbox.path(module), sandbox.path("modules/nim.wasm")).unwrap();
}

#[test]
fn md_9_the_first_entry_by_a_module_records_it_and_another_module_is_refused() {
    let sandbox = prepared();
    put(&sandbox, "other.wasm");
    sandbox.ok("--modules modules import plain.tfl --name duel");
    // Nothing is recorded yet, so any module plays the match if it is the only one.
    sandbox.ok("--modules modules show duel");
    put(&sandbox, "one.wasm");
    sandbox.ok("--modules modules play duel \"take 1 1\"");
    sandbox.ok("--modules modules branch duel:1 line");
    sandbox.ok("--modules modules rename duel bout");
    sandbox.ok("store backup all.backup");
    sandbox.ok("store restore all.backup restored");
    sandbox.ok("store salvage .turnfold salvaged");
    put(&sandbox, "other.wasm");
    sandbox.ok("store compact");
    check(
        |lines| without_digests(&sandbox.transcript(lines)),
        str![[r#"
$ turnfold --modules modules show bout
exit 2| error: match `bout`: the module [MODULE] of `nim` version 1 is missing; put its file into `modules/` of the store, or name its folder with `--modules`
$ turnfold --modules modules play bout "take 2 2"
exit 2| error: match `bout`: the module [MODULE] of `nim` version 1 is missing; put its file into `modules/` of the store, or name its folder with `--modules`
$ turnfold --modules modules play bout@line "take 2 2"
exit 2| error: match `bout`: the module [MODULE] of `nim` version 1 is missing; put its file into `modules/` of the store, or name its folder with `--modules`
$ turnfold --modules modules amend bout:1 "take 2 2" --branch other
exit 2| error: match `bout`: the module [MODULE] of `nim` version 1 is missing; put its file into `modules/` of the store, or name its folder with `--modules`
$ turnfold --modules modules export bout -o bout.tfl
exit 2| error: match `bout`: the module [MODULE] of `nim` version 1 is missing; put its file into `modules/` of the store, or name its folder with `--modules`
$ turnfold --modules modules verify bout
unknown_rules bout: the module [MODULE] of `nim` version 1 is missing
exit 1
$ turnfold --store restored --modules modules log bout
exit 2| error: match `bout`: the module [MODULE] of `nim` version 1 is missing; put its file into `modules/` of the store, or name its folder with `--modules`
$ turnfold --store salvaged --modules modules log bout
exit 2| error: match `bout`: the module [MODULE] of `nim` version 1 is missing; put its file into `modules/` of the store, or name its folder with `--modules`
$ turnfold --modules modules log bout --raw
1 p1 0x0101 [TIME] link [LINK]
not checked: commands and outcomes; this build does not have `nim` version 1
$ turnfold --modules modules import plain.tfl --name again
imported match again from `plain.tfl`: 0 entries #6faf6c825f0172d2
its id, times and links are new, because a replay file does not record them
$ turnfold --modules modules --modules . log bout
1 p1 take 1 1 => taken count=1 heap=1 #c93989d4f650c5e5
$ turnfold --modules modules --modules . play bout@line "take 2 2"
2 p2 take 2 2 => taken count=2 heap=2 #c95c4dfe7e7368bc
$ turnfold --modules modules --modules . verify bout
ok bout@main: 1 entry state c93989d4f650c5e5 link [LINK]
ok bout@line: 2 entries state c95c4dfe7e7368bc link [LINK]
$ turnfold --modules modules --modules . show again
exit 2| error: match `again`: two modules are `nim` version 1: [MODULE] and [MODULE]; keep one of them, or name one by its digest with `--module`

"#]],
    );
}

/// If a recorded module is missing, the answer is 503. An imported bundle or file records its own module.
#[test]
fn md_9_the_service_and_imports_keep_to_the_recorded_module() {
    let sandbox = prepared();
    put(&sandbox, "one.wasm");
    sandbox.ok("--modules modules import plain.tfl --name duel");
    sandbox.ok("--modules modules play duel \"take 1 1\"");
    sandbox.ok("--modules modules export duel -o played.tfl");
    sandbox.ok("bundle duel -o duel.bundle");
    sandbox.ok("--modules modules --store bundled import duel.bundle");
    sandbox.ok("--modules modules --store filed import played.tfl --name duel");
    put(&sandbox, "other.wasm");
    let digest = blake3::hash(&fs::read(sandbox.path("one.wasm")).unwrap()).to_hex().to_string();
    for store in [".turnfold", "bundled", "filed"] {
        let output = sandbox.run(&format!("--modules modules --store {store} show duel"));
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(&format!("the module {digest} of `nim` version 1 is missing")), "{error}");
    }
    let service =
        Running::start_by(sandbox.command(["--modules", "modules", "serve", "--listen", "127.0.0.1:0"]));
    let entries = "/v1/matches/duel/branches/main/entries";
    for (method, path, body) in [
        ("GET", "/v1/matches/duel/branches/main/view", ""),
        ("POST", entries, r#"{"commands":["take 2 2"]}"#),
    ] {
        let reply = service.send(method, path, service.admin(), body);
        assert!(reply.status == 503 && reply.body.contains(&digest), "{} {}", reply.status, reply.body);
    }
}

/// Reading a match records nothing. A version that is built in later does not play a match that a module played.
#[test]
fn md_9_the_recorded_module_counts_also_where_the_version_is_built_in_again() {
    Sandbox::of_toys().check(str![[r#"
$ turnfold 1 new bout --rules heaps
created match bout in `.turnfold` (heaps version 1, recorded dice) #3fe21ae87b74de08
the setup is the example of heaps; `turnfold rules heaps` explains how to write another for `--setup`
$ turnfold m1 show bout
1: 4
2: 5
$ turnfold 1 play bout "take 1 1"
1 p1 take 1 1 => taken count=1 heap=1 #000858b0da4147f5
$ turnfold m1 play bout "take 3 2"
2 p2 take 3 2 => taken count=3 heap=2 #316784fdcb34988b
$ turnfold 1 show bout
exit 2| error: match `bout`: the module a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5 of `heaps` version 1 is missing; put its file into `modules/` of the store, or name its folder with `--modules`
$ turnfold 1 play bout stand
exit 2| error: match `bout`: the module a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5 of `heaps` version 1 is missing; put its file into `modules/` of the store, or name its folder with `--modules`
$ turnfold 1 log bout --raw
1 p1 0x000101 [TIME] link [LINK]
2 p2 0x000302 [TIME] link [LINK]
not checked: commands and outcomes; this build does not have `heaps` version 1
$ turnfold m1 verify bout
ok bout@main: 2 entries state 316784fdcb34988b link [LINK]

"#]]);
}
