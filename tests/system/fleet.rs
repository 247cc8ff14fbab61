//! The verbs on a store in a database.

#[path = "../../store/tests/it/postgres.rs"]
#[expect(dead_code, reason = "the tests of the store use all of it")]
pub(crate) mod postgres;

use std::process::Output;

use self::postgres::{Server, shared};
use turnfold_tests::sandbox::{Sandbox, workspace};

/// Returns the URL of a schema that no other test uses.
pub(crate) fn url(server: &Server, schema: &str) -> String {
    let host = server.dir.display().to_string().replace('/', "%2F");
    format!("postgres://tests:hidden@{host}/postgres?schema={schema}")
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

/// Runs commands on a store, and returns their output without the parts that differ between stores.
fn printed(sandbox: &Sandbox, store: &str, lines: &[&str]) -> String {
    lines.iter().map(|line| sandbox.ok(&format!("--store {store} {line}"))).collect()
}

const LINES: [&str; 17] = [
    "new duel --rules initiative --setup fixtures/initiative/small-board.toml --dice recorded",
    "play duel \"roll 6 6 1 1\" cycle --once first",
    "play duel \"roll 6 6 1 1\" cycle --once first",
    "branch duel:1 line",
    "play duel@line cycle",
    "branch duel@line twig",
    "show duel",
    "legal duel --as p1",
    "log duel",
    "diff duel@line duel@twig",
    "matches",
    "branch duel",
    "rename duel maya",
    "verify",
    "export maya@line",
    "branch --delete --force maya@twig",
    "store check",
];

#[test]
fn every_verb_answers_from_a_database_as_it_does_from_a_directory() {
    let Some(server) = shared() else { return };
    let (sandbox, url) = (Sandbox::new(), url(server, "verbs"));
    let disk = printed(&sandbox, "disk", &LINES[..6]);
    let fleet = printed(&sandbox, &url, &LINES[..6]);
    // The id of a match is random. A backup copies the match, so that both stores have the same id.
    assert_eq!(fleet.lines().count(), disk.lines().count());
    sandbox.ok("--store disk store backup disk.tfb");
    let restored = self::url(server, "moved");
    let text = sandbox.ok(&format!("store restore disk.tfb {restored}"));
    assert!(text.starts_with("restored store postgres://tests@/") && !text.contains("hidden"), "{text}");
    sandbox.ok(&format!("--store {restored} store backup fleet.tfb"));
    assert_eq!(
        std::fs::read(sandbox.path("fleet.tfb")).unwrap(),
        std::fs::read(sandbox.path("disk.tfb")).unwrap()
    );
    sandbox.ok("store restore fleet.tfb back");
    for line in &LINES[6..] {
        let [disk, fleet, back] =
            ["disk", &restored, "back"].map(|store| sandbox.ok(&format!("--store {store} {line}")));
        assert_eq!(fleet, disk, "{line}");
        assert_eq!(back, disk, "{line}");
    }
    let stats = sandbox.ok(&format!("--store {restored} --format json store size"));
    assert!(stats.contains("\"bytes_on_disk\":null"), "{stats}");
}

/// A match continues unchanged in any store, including its links.
#[test]
fn a_match_is_migrated_in_a_database_as_in_a_directory() {
    let Some(server) = shared() else { return };
    let (sandbox, url) = (Sandbox::of_toys(), url(server, "migrated"));
    for line in [
        "1 --store disk new same --rules heaps",
        "1 --store disk play same \"take 2 1\" --once k",
        "1 --store disk play same \"take 1 2\"",
        "1 --store disk branch same:1 flank",
        "1 --store disk play same@flank stand --once k",
        "1 --store disk store backup all.tfb",
    ] {
        sandbox.ok(line);
    }
    sandbox.ok(&format!("1 store restore all.tfb {url}"));
    for (versions, line) in [
        ("1,2", "migrate same same-2"),
        ("1,2", "migrate same same-2"),
        ("2", "branch same-2"),
        ("2", "verify same-2"),
        ("-", "verify --chain"),
        ("-", "log same-2@flank --raw"),
        ("2", "matches --long"),
        ("2", "play same-2@flank \"take 2 1\""),
        ("2", "store check"),
    ] {
        let [disk, fleet] =
            ["disk", &url].map(|store| sandbox.ok(&format!("{versions} --store {store} {line}")));
        assert_eq!(fleet, disk, "{line}");
    }
}

/// MD-10: a database has no folder for modules, so importing a bundle with a module requires a folder.
#[test]
fn md_10_a_bundle_with_a_module_needs_a_folder_to_be_imported_into_a_database() {
    let Some(server) = shared() else { return };
    let (sandbox, url) = (Sandbox::new(), url(server, "modules"));
    let module = workspace().join("fixtures/modules/tictactoe.wasm");
    sandbox.ok(&format!("new duel --module {}", module.display()));
    sandbox.ok("bundle duel -o duel.bundle");
    let refused = sandbox.run(&format!("--store {url} import duel.bundle"));
    assert_eq!(refused.status.code(), Some(2));
    let reason = "there is no folder for modules; name one with `--modules DIR`";
    assert!(stderr(&refused).contains(reason), "{}", stderr(&refused));
    assert_eq!(sandbox.ok(&format!("--store {url} matches")), "");
    let imported = sandbox.ok(&format!("--store {url} --modules added import duel.bundle"));
    assert!(imported.starts_with("added tictactoe 1 (module 7d7e68dac64fd2ea)"), "{imported}");
    let shown = sandbox.ok(&format!("--store {url} --modules added show duel"));
    assert_eq!(shown, sandbox.ok("show duel"));
}

#[test]
fn what_a_database_does_itself_is_refused_by_name_with_code_2() {
    let Some(server) = shared() else { return };
    let (sandbox, url) = (Sandbox::new(), url(server, "refused"));
    for (line, reason) in [
        (format!("--store {url} store compact"), "the database server does that"),
        (format!("--store {url} store salvage a b"), "the database server does that"),
        (format!("store salvage {url} b"), "the database server does that"),
        (format!("--store {url} serve --listen 127.0.0.1:0"), "add `--admin-token FILE`"),
        ("store upgrade disk".to_owned(), "a store in a directory needs no upgrade"),
        ("store spread disk".to_owned(), "a store in a directory stays on one machine"),
        ("--store disk store check --sweep".to_owned(), "`--sweep` is for a store in a database"),
        (format!("--store {url}&sslmode=prefer matches"), "it is `verify-full` or `disable`"),
    ] {
        let output = sandbox.run(&line);
        assert_eq!(output.status.code(), Some(2), "{line}: {}", stderr(&output));
        assert!(stderr(&output).contains(reason), "{line}: {}", stderr(&output));
        assert!(!stderr(&output).contains("hidden"), "{}", stderr(&output));
    }
    let output = sandbox.run(&format!("--store {url} matches"));
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("there is no store in its schema"), "{}", stderr(&output));
    let output = sandbox.run("--store postgres://u:hidden@%2Fnowhere/d matches");
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(!stderr(&output).contains("hidden"), "{}", stderr(&output));
}

/// FL-10: tests of the store cover the upgrade from format 1.
#[test]
fn a_store_of_another_format_is_refused_and_one_of_this_needs_no_migration() {
    let Some(server) = shared() else { return };
    let (sandbox, url) = (Sandbox::new(), url(server, "formats"));
    let migrate = |options: &str| sandbox.run(&format!("{options} store upgrade {url}"));
    let output = migrate("");
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("there is no store in its schema"), "{}", stderr(&output));
    sandbox.ok(&format!("--store {url} new duel --rules initiative"));
    let text = sandbox.ok(&format!("store upgrade {url}"));
    assert!(text.starts_with("nothing to do in store postgres://tests@/"), "{text}");
    assert!(text.ends_with("schema=formats: its format is 2\n") && !text.contains("hidden"), "{text}");
    let document: serde_json::Value = serde_json::from_slice(&migrate("--format json").stdout).unwrap();
    let fields: Vec<_> = document.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        (fields, &document["from"], &document["to"]),
        (vec!["store", "from", "to"], &2.into(), &2.into())
    );
    for (format, reason) in [
        (1, "stop all services of older builds, then run `turnfold store upgrade` with its URL"),
        (9, "its tables have the format 9, this build knows 2"),
    ] {
        server.sql(&format!("UPDATE formats.meta SET format = {format}"));
        let output = sandbox.run(&format!("--store {url} matches"));
        assert_eq!(output.status.code(), Some(3));
        assert!(stderr(&output).contains(reason), "{}", stderr(&output));
    }
}

/// `store salvage` cannot repair a database, so the hints name other steps.
#[test]
fn what_to_do_about_damage_is_printed_for_a_database() {
    let Some(server) = shared() else { return };
    let (sandbox, url) = (Sandbox::new(), url(server, "damaged"));
    sandbox.ok(&format!("--store {url} new duel --rules initiative"));
    server.sql("UPDATE damaged.match SET genesis = genesis || '\\x00'");
    for line in ["show duel", "verify", "store check", "--format json log duel"] {
        let output = sandbox.run(&format!("--store {url} {line}"));
        assert_eq!(output.status.code(), Some(3), "{line}: {}", stderr(&output));
        let text = stderr(&output);
        assert!(text.contains("restore it from the database's archive or a backup"), "{line}: {text}");
        assert!(!text.contains("salvage"), "{line}: {text}");
    }
}

/// FL-24: the file of heads does what the watermark does for a store on disk.
#[test]
fn heads_that_were_written_down_show_what_a_store_has_lost() {
    let sandbox = Sandbox::new();
    let stores = [Some("disk".to_owned()), shared().map(|server| url(server, "heads"))];
    for (number, store) in stores.into_iter().flatten().enumerate() {
        printed(&sandbox, &store, &LINES[..6]);
        let file = format!("heads{number}.jsonl");
        sandbox.ok(&format!("--store {store} store heads -o {file}"));
        sandbox.ok(&format!("--store {store} store check --against {file}"));
        sandbox.ok(&format!("--store {store} branch --delete --force duel@twig"));
        sandbox.ok(&format!("--store {store} play duel cycle"));
        let output = sandbox.run(&format!("--store {store} store check --against {file}"));
        assert_eq!(output.status.code(), Some(3));
        assert!(
            stderr(&output).contains("restore") && !stderr(&output).contains("salvage"),
            "{}",
            stderr(&output)
        );
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("duel@twig:2: match `duel` has no branch `twig`"), "{text}");
        assert!(!text.contains("duel@main") && !text.contains("duel@line"), "{text}");
    }
    let output = sandbox.run("--store disk store check --against fixtures/initiative/small-board.toml");
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}
