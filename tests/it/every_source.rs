//! Every verb that reads a history does so on a replay file, a store, a bundle and a service, for the host and for a seat, or
//! names in one line why not.

use std::process::Output;

use turnfold_tests::sandbox::Sandbox;
use turnfold_tests::service::Running;
use turnfold_tests::transcript::without_recorded_times;

/// A call in which `FORD` stands for the history, and why the call is refused on a file, a bundle and a service.
struct Call {
    line: &'static str,
    /// Whether the verb has `--as`.
    has_view: bool,
    on_file: Option<&'static str>,
    on_bundle: Option<&'static str>,
    on_service: Option<&'static str>,
}

const fn everywhere(line: &'static str) -> Call {
    Call { line, has_view: true, on_file: None, on_bundle: None, on_service: None }
}

const CALLS: &[Call] = &[
    everywhere("show FORD"),
    everywhere("--format json show FORD:2"),
    everywhere("show FORD:2 --changed"),
    everywhere("show FORD --reach"),
    everywhere("legal FORD"),
    everywhere("ask FORD:1 suggest 0,0"),
    everywhere("log FORD"),
    everywhere("log FORD:2..3"),
    everywhere("log FORD --grep tap -n 1"),
    everywhere("--format json log FORD --seat p1"),
    everywhere("replay FORD"),
    everywhere("replay FORD --step"),
    everywhere("diff FORD:1 FORD"),
    everywhere("log FORD:4"),
    everywhere("replay FORD:3"),
    everywhere("blame FORD:3 /planning"),
    everywhere("--format json diff FORD:1 FORD"),
    everywhere("bisect FORD --when \"/tap/state != idle\""),
    everywhere("blame FORD /planning"),
    everywhere("find FORD --seat p1"),
    everywhere("find FORD:2 --command \"tap *\""),
    everywhere("table effects FORD"),
    everywhere("--format json table fields FORD --field /planning"),
    everywhere("table groups FORD"),
    Call { has_view: false, ..everywhere("find FORD --recorded --command \"tap *\"") },
    Call { has_view: false, ..everywhere("shrink FORD --when \"count(/orders/*) > 0\"") },
    Call { has_view: false, ..everywhere("amend FORD:1 back --output amended.tfl --force") },
    Call { on_file: Some("is a file already"), ..everywhere("export FORD") },
    Call {
        has_view: false,
        on_file: Some("a replay file has no links"),
        on_bundle: Some("a replay file has no links"),
        on_service: Some("`--links` needs the store itself"),
        ..everywhere("log FORD --links")
    },
];

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Compares what a call prints with what it prints on the store, where `name` stands for `ford`.
fn compare(call: &Call, expected: &Output, found: &Output, name: &str, refused: Option<&str>) {
    let (stdout, stderr) = (text(&found.stdout), text(&found.stderr));
    let line = call.line;
    if let Some(why) = refused {
        assert_eq!(found.status.code(), Some(2), "{line} on {name}: {stdout}{stderr}");
        assert!(stderr.contains(why) && stderr.lines().count() == 1, "{line} on {name}: {stderr}");
        return;
    }
    assert_eq!(found.status.code(), expected.status.code(), "{line} on {name}: {stderr}");
    assert_eq!(
        without_times(&stdout.replace(name, "ford")),
        without_times(&text(&expected.stdout)),
        "{line} on {name}"
    );
}

/// Leaves out times and a duration, because a replay file has no times.
fn without_times(text: &str) -> String {
    without_recorded_times(&text.replace("Duration: 0:00:00\n\n", ""))
}

/// SV-68, SV-40: a verb prints the same wherever the history is.
#[test]
fn sv_68_every_verb_reads_a_file_a_store_a_bundle_and_a_service() {
    let sandbox = Sandbox::new();
    let seed = "ab".repeat(32);
    sandbox.ok(&format!(
        "new ford --rules cycletap --setup fixtures/cycletap/ford.toml --dice seeded --seed {seed} --title Ford"
    ));
    // The last command reveals to p2 what p1 ordered before, so that p2 counts entries otherwise before and after it.
    sandbox.ok("play ford \"p1: tap 0,1\" \"p1: tap 0,0\" \"p1: switch\" \"p2: back\" \"p2: switch\" \"host: resolve\"");
    sandbox.ok("export ford -o file.tfl");
    sandbox.ok("bundle ford -o ford.bundle");
    // Of pages, only the board and the entries are the same: a page of a match names it in the commands that it shows.
    assert!(sandbox.ok("export ford.bundle/ford --html").contains("order_placed"));
    let service = Running::start(&sandbox);
    sandbox.write("host.token", service.grant("ford", r#"{"kind":"host"}"#)["token"].as_str().unwrap());
    let seat = service.grant("ford", r#"{"kind":"seat","seat":"p2"}"#);
    sandbox.write("p2.token", seat["token"].as_str().unwrap());
    for call in CALLS {
        let on =
            |name: &str, options: &str| sandbox.run(&format!("{options}{}", call.line.replace("FORD", name)));
        let host = format!("--store {} --token host.token ", service.origin());
        let expected = on("ford", "");
        assert!(expected.status.code() <= Some(1), "{}: {}", call.line, text(&expected.stderr));
        compare(call, &expected, &on("file.tfl", ""), "file.tfl", call.on_file);
        compare(call, &expected, &on("ford.bundle/ford", ""), "ford.bundle/ford", call.on_bundle);
        compare(call, &expected, &on("ford", &host), "ford", call.on_service);
        if !call.has_view {
            continue;
        }
        let by_store = sandbox.run(&format!("{} --as p2", call.line.replace("FORD", "ford")));
        let seat = format!("--store {} --token p2.token ", service.origin());
        compare(call, &by_store, &on("ford", &seat), "ford", call.on_service);
        let named = sandbox.run(&format!("{host}{} --as p2", call.line.replace("FORD", "ford")));
        compare(call, &by_store, &named, "ford", call.on_service);
    }
}

/// SV-68: what writes, or needs the records as they are stored, needs the store itself.
#[test]
fn sv_68_what_needs_the_store_itself_is_named() {
    let sandbox = Sandbox::new();
    sandbox.ok("new duel --rules initiative");
    sandbox.ok("export duel -o duel.tfl");
    let service = Running::start(&sandbox);
    sandbox.write("admin.token", service.admin());
    for line in [
        "new other --rules cycletap",
        "rename duel other",
        "delete duel --force",
        "branch --rename duel@main flank",
        "amend duel:1 back --branch flank",
        "import duel.tfl --name other",
        "migrate duel other",
        "bundle duel",
        "log duel --raw",
        "log duel --times",
        "play duel --dry-run",
        "game impact --matches",
        "verify",
        "store check",
        "store size",
        "store compact",
        "serve --listen 127.0.0.1:0",
    ] {
        let output = sandbox.run(&format!("--store {} --token admin.token {line}", service.origin()));
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}: {stderr}");
        assert!(stderr.contains("needs the store itself") && stderr.lines().count() == 1, "{line}: {stderr}");
    }
    // Files are read locally, and commands that need no store work as without a service.
    let missing = format!("--store {} --token missing.token", service.origin());
    assert!(sandbox.run(&format!("{missing} show duel.tfl")).status.success());
    assert!(sandbox.run(&format!("{missing} check duel.tfl")).status.success());
}
