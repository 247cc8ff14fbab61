//! Compares `store/FORMAT.md` and `cli/history/TFL.md` with what the program writes and reads.

mod schema;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::thread;
use std::time::Duration;

use schema::Schema;
use turnfold_core::{Digest, Seat};
use turnfold_history::input::Limits;
use turnfold_store::{Genesis, GrantKind, NewEntry, NewGrant, Note, NoteId, NotedEntry, StoreOptions};

use turnfold_tests::sandbox::{Sandbox, workspace};

/// Returns the cells of each row in the tables whose header begins with the word `first`.
fn rows(page: &str, first: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| -> Vec<String> {
        let inner = line.trim().trim_start_matches("| ").trim_end_matches('|');
        inner.split(" | ").map(|cell| cell.trim().trim_matches('`').to_owned()).collect()
    };
    let mut found = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if line.starts_with(&format!("| {first} |")) {
            found.extend(lines.by_ref().skip(1).take_while(|line| line.starts_with('|')).map(cells));
        }
    }
    assert!(!found.is_empty(), "no table `{first}`");
    found
}

fn page(path: &str) -> String {
    fs::read_to_string(workspace().join(path)).unwrap()
}

/// Returns the types that the page describes.
fn schema_of(page: &str) -> Schema {
    let mut schema = Schema::default();
    for row in rows(page, "type") {
        schema.add(&row[0], &row[1]);
    }
    schema
}

/// Hashes in derive-key mode, as the page states.
fn hash(context: &str, bytes: &[u8]) -> [u8; 32] {
    blake3::derive_key(context, bytes)
}

/// Creates a store with records in every table.
fn every_record() -> Sandbox {
    let sandbox = Sandbox::new();
    let seed = "12".repeat(32);
    sandbox.ok("simulate --rules initiative --setup fixtures/initiative/small-board.toml --seed 1 --steps 100 --into long");
    sandbox.ok(&format!(
        "new short --rules initiative --setup fixtures/initiative/small-board.toml --dice seeded --seed {seed}"
    ));
    sandbox.ok("play short --once first");
    sandbox.ok("branch long:70 line");
    sandbox.ok("branch long:3 other");
    sandbox.ok("branch --delete --force long@other");
    // A setup longer than the limit of a value.
    let board = "[[boards]]\ntokens = \"b1b2b3b4b5\"\nknown = []\n";
    let plenitude =
        "plenitude = { purple = 1, darkblue = 1, blue = 1, green = 1, yellow = 1, orange = 1, red = 1 }";
    let bag = (1..=1000).map(|id| format!("[[energies]]\nid = {id}\ncolor = \"red\"\nat = \"bag\"\n"));
    sandbox.write("many.toml", format!("players = 1\n{plenitude}\n{board}{}", bag.collect::<String>()));
    sandbox.ok("new many --rules channel --setup many.toml");
    // Only a service creates grants. The heads are too small for a commit, so all commits go directly into the index.
    let store = StoreOptions::new().create().head_bytes(1).open(&sandbox.path(".turnfold")).unwrap();
    let kinds = [
        GrantKind::Host,
        GrantKind::Seat(Seat::P1),
        GrantKind::Spectator { reserved: 0 },
        GrantKind::Player(Seat::P3),
    ];
    let [invitation, token] = [8, 9].map(|number| Digest::new([number; 32]));
    for (number, kind) in (0..).zip(kinds).chain([(8, GrantKind::Invitation(Seat::P2))]) {
        let (match_name, label) = ("short".parse().unwrap(), "x".parse().unwrap());
        let new = NewGrant { kind, match_name, label, expires_at_ms: Some(1_000) };
        store.grant(&Digest::new([number; 32]), new, 0).unwrap();
    }
    store.join(&invitation, &token, None, 0).unwrap();
    // Only a service writes notes.
    let about = NotedEntry { branch: "main".parse().unwrap(), seq: 1 };
    let note = Note {
        id: NoteId::of(7),
        about: Some(about),
        by: Some(Seat::P2),
        name: Some("x".parse().unwrap()),
        token: Some(token),
        is_private: false,
        text: "a note".parse().unwrap(),
        written_at_ms: 1,
    };
    store.write_note(&"long".parse().unwrap(), note).unwrap();
    // A module is recorded only for a match that pins none.
    let short = store.genesis(&"short".parse().unwrap()).unwrap();
    let played = Genesis { match_id: [5; 16], played_by: Some(Digest::new([6; 32])), ..short };
    let entry = NewEntry { seat: Seat::P1, command: vec![0], recorded_at_ms: 0 };
    store.create_match(&"played".parse().unwrap(), &played, vec![entry]).unwrap();
    store.close().unwrap();
    sandbox
}

/// Reads the records from sled.
fn records(sandbox: &Sandbox) -> BTreeMap<Vec<u8>, Vec<u8>> {
    // A process that another test forks at this moment keeps closed files open until it executes its program.
    let open = || sled::open(sandbox.path(".turnfold/sled/1"));
    let is_held = |error: &sled::Error| error.to_string().contains("could not acquire lock");
    let mut db = open();
    for _ in 0..600 {
        if !db.as_ref().is_err_and(is_held) {
            break;
        }
        thread::sleep(Duration::from_millis(100));
        db = open();
    }
    let db = db.unwrap();
    db.iter().map(|found| found.map(|(key, value)| (key.to_vec(), value.to_vec())).unwrap()).collect()
}

#[test]
fn every_record_of_a_store_is_as_the_format_page_states() {
    let page = page("store/FORMAT.md");
    let schema = schema_of(&page);
    let tables: BTreeMap<u8, Vec<String>> = rows(&page, "table")
        .into_iter()
        .map(|row| (row[1].trim_start_matches('`').as_bytes()[0], row))
        .collect();
    let sandbox = every_record();
    let format = fs::read_to_string(sandbox.path(".turnfold/FORMAT")).unwrap();
    assert!(page.contains(&format!("exactly `{}\\n`", format.trim_end())), "{format}");
    let records = records(&sandbox);
    let mut seen = BTreeSet::new();
    for (key, value) in &records {
        let row = &tables[&key[0]];
        seen.insert(key[0]);
        let (body, check) = value.split_at(value.len() - 8);
        let length = u64::try_from(key.len()).unwrap().to_le_bytes();
        let expected = hash("turnfold v1 record", &[key, body, &length].concat());
        assert_eq!(check, &expected[..8], "{}", row[0]);
        schema.read_all(&row[2], body).unwrap_or_else(|wrong| panic!("{}: {wrong}", row[0]));
    }
    assert_eq!(seen, tables.keys().copied().collect(), "a table has no record here, or no row");
}

#[test]
fn a_commit_in_the_journal_is_as_the_format_page_states() {
    let sandbox = Sandbox::new();
    sandbox.ok("new duel --rules initiative --setup fixtures/initiative/small-board.toml");
    sandbox.ok("play duel --once first \"roll 1 2 3 4\"");
    let head = fs::read(sandbox.path(".turnfold/journal/head.b")).unwrap();
    assert_eq!(head.len(), 262_144);
    let salt = &head[32..48];
    assert_eq!(&head[..32], b"turnfold journal 1             \n");
    assert_eq!(head[48..64], hash("turnfold v2 header", &[salt, &head[..32]].concat())[..16]);
    let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
    let mut digest = hash("turnfold v2 journal", salt);
    let mut frames = Vec::new();
    let mut at = 512;
    for (kind, commits) in [(1, 0), (0, 0), (0, 1), (2, 2)] {
        let length = u32::from_le_bytes(head[at + 16..at + 20].try_into().unwrap()) as usize;
        let frame = &head[at..at + 73 + length];
        assert_eq!(frame[..16], hash("turnfold v2 frame", &[salt, &frame[16..]].concat())[..16]);
        assert_eq!((number(&frame[20..28]), frame[40]), (commits, kind));
        assert_eq!(frame[41..73], digest);
        let body = &frame[73..];
        if kind == 0 {
            digest = hash("turnfold v2 commit", &[&digest, body].concat());
            assert_eq!(body[0], 1, "the version");
        }
        frames.push((number(&frame[28..36]), body));
        at += frame.len().next_multiple_of(512);
    }
    assert!(frames.windows(2).all(|pair| pair[0].0 + 1 == pair[1].0), "turns");
    assert_eq!((frames[1].1[1], frames[2].1[1]), (0, 2), "a match is made, entries are appended");
}

#[test]
fn what_is_stored_is_chained_as_the_format_page_states() {
    let page = page("store/FORMAT.md");
    let schema = schema_of(&page);
    let sandbox = every_record();
    let records = records(&sandbox);
    let of_match = &records[&b"mshort".to_vec()];
    let bytes = schema
        .read_all("`id: u64`, `branches: u64`, `genesis: bytes`", &of_match[..of_match.len() - 8])
        .unwrap();
    let genesis = &bytes["genesis"];
    let fields = schema.read_all("`genesis: Genesis`", genesis).unwrap();
    assert_eq!(fields["genesis"], *genesis);
    assert!(page.contains(&format!("`format: u16` ({})", genesis[0])));
    let link = hash("turnfold v1 genesis", genesis);
    let pages = records.iter().filter(|(key, _)| key[0] == b'p' && key.ends_with(&1_u64.to_be_bytes()));
    // A page consists of its version, the link after it, and its entries, each after its length.
    let chained = |page: &[u8]| {
        let number = |at: &mut usize| {
            let (mut value, mut shift) = (0, 0);
            loop {
                let byte = usize::from(page[*at]);
                *at += 1;
                value |= (byte & 0x7f) << shift;
                shift += 7;
                if byte < 0x80 {
                    return value;
                }
            }
        };
        let mut at = 33;
        (0..number(&mut at)).fold(link, |link, _| {
            let length = number(&mut at);
            at += length;
            hash("turnfold v1 entry", &[&link, &page[at - length..at]].concat())
        })
    };
    let link = pages.map(|(_, page)| (chained(page), &page[1..33])).find(|(link, stored)| link == stored);
    let (link, _) = link.expect("a page that begins at the genesis of `short`");
    let link = Digest::new(link).to_string();
    let printed = sandbox.ok("--format json log short --links");
    assert!(printed.contains(&link), "{link} is not in {printed}");
}

#[test]
fn every_part_of_a_backup_is_as_the_format_page_states() {
    let page = page("store/FORMAT.md");
    let schema = schema_of(&page);
    let variants = rows(&page, "variant");
    let sandbox = every_record();
    sandbox.ok("store backup all.tfb");
    let bytes = fs::read(sandbox.path("all.tfb")).unwrap();
    let first = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let line = std::str::from_utf8(&bytes[..first]).unwrap();
    assert!(page.contains(&format!("{}\\n ", line.trim_end())), "{line}");
    let of = |check: &[u8], body: &[u8]| {
        let length = u64::try_from(body.len()).unwrap().to_le_bytes();
        hash("turnfold v1 backup", &[check, &length, body].concat())
    };
    let mut check = of(&[0; 32], line.as_bytes());
    let mut rest = &bytes[first..];
    let mut seen = BTreeSet::new();
    while !rest.is_empty() {
        let (length, after) = rest.split_at(4);
        let length = usize::try_from(u32::from_le_bytes(length.try_into().unwrap())).unwrap();
        let (body, after) = after.split_at(length);
        check = of(&check, body);
        assert_eq!(after[..32], check);
        rest = &after[32..];
        let row = variants.iter().find(|row| row[0].starts_with(&format!("{} ", body[0]))).unwrap();
        let fields = if row[1].starts_with("list of") { "`entries: list of bytes`" } else { &row[1] };
        schema.read_all(fields, &body[1..]).unwrap_or_else(|wrong| panic!("{}: {wrong}", row[0]));
        seen.insert(body[0]);
    }
    assert_eq!(seen.len(), variants.len());
}

const SCRIPT: &str = "turnfold replay 2\n+++\nruleset = \"initiative\"\nversion = 1\ndice = \"seeded\"\n\
    seed = \"1212121212121212121212121212121212121212121212121212121212121212\"\ntitle = \"x\"\nview = \"p1\"\n\
    [setup]\nradius = 2\n+++\n";

#[test]
fn the_keys_of_a_replays_header_match_its_page() {
    let sandbox = Sandbox::new();
    let refused = |text: String| {
        sandbox.write("x.tfl", text);
        let output = sandbox.run("log x.tfl");
        (output.status.code() == Some(0), String::from_utf8(output.stderr).unwrap())
    };
    let whole = |without: &str| {
        let lines =
            SCRIPT.split_inclusive('\n').filter(|line| !line.starts_with(without)).collect::<String>();
        if without == "[setup]" { lines.replace("radius = 2\n", "") } else { lines }
    };
    let rows = rows(&page("cli/history/TFL.md"), "key");
    let (_, stderr) = refused(whole("view").replace("title", "titel"));
    let keys = stderr.split("the header's keys are ").nth(1).unwrap();
    let known: Vec<_> = keys.split('`').skip(1).step_by(2).collect();
    assert_eq!(known, rows.iter().map(|row| row[0].as_str()).collect::<Vec<_>>());
    assert_eq!(refused(whole("view")), (true, String::new()));
    assert_eq!(refused(whole("seed")), (true, String::new()));
    for row in &rows {
        let (key, value) = (row[0].as_str(), row[1].as_str());
        let line = if key == "setup" { "[setup]" } else { key };
        // Seed and view exclude each other.
        let without = if key == "view" { "seed" } else { "view" };
        let text: String =
            whole(line).split_inclusive('\n').filter(|line| !line.starts_with(without)).collect();
        if row[2] == "yes" {
            let (is_read, stderr) = refused(text.clone());
            assert!(!is_read && stderr.contains("expected ") && stderr.contains(key), "{key}: {stderr}");
        }
        let wrong = if value == "integer" { "\"1\"" } else { "1" };
        let (is_read, stderr) = refused(text.replacen("+++\n", &format!("+++\n{key} = {wrong}\n"), 1));
        assert!(!is_read && stderr.contains(&format!("{value} as `{key}`")), "{key}: {stderr}");
    }
}

/// Requires the words of a line to match its form. Words in capitals stand for anything, and hashes must have the right
/// number of digits.
fn check_line(line: &str, form: &str, digits: &BTreeMap<String, usize>) {
    let (mut words, mut forms) = (line.split(' '), form.split(' '));
    for form in forms.by_ref() {
        let name = form.trim_start_matches('#');
        if name == "COMMAND" || name == "OUTCOME" || name == "#TEXT" || name == "TEXT" {
            return;
        }
        let word = words.next().unwrap_or_else(|| panic!("`{line}` ends before {form}"));
        match digits.get(name) {
            Some(count) => {
                assert!(word.len() == *count && word.bytes().all(|byte| byte.is_ascii_hexdigit()), "{line}");
            }
            None if name.bytes().all(|byte| byte.is_ascii_uppercase()) => assert!(!word.is_empty()),
            None => assert_eq!(word, form, "{line}"),
        }
    }
    assert_eq!((words.next(), forms.next()), (None, None), "{line}");
}

#[test]
fn the_lines_of_every_golden_log_match_the_page() {
    let page = page("cli/history/TFL.md");
    let digits: BTreeMap<String, usize> =
        rows(&page, "word").into_iter().map(|row| (row[0].clone(), row[1].parse().unwrap())).collect();
    let forms = rows(&page, "begins with");
    let mut seen = BTreeSet::new();
    let files = turnfold_history::golden::FoundFiles::replays(&[workspace().join("replays")]).files;
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for line in text.splitn(3, "+++\n").nth(2).unwrap().lines() {
            let kind = match line.chars().next() {
                None => "nothing".into(),
                Some('0'..='9') => "a digit".into(),
                Some(sign) => sign.to_string(),
            };
            let row = forms.iter().find(|row| row[0] == kind).unwrap_or_else(|| panic!("{line}"));
            if kind != "nothing" && kind != "#" {
                check_line(line, &row[1], &digits);
            }
            if kind == "a digit" {
                let hash = line.rsplit(" #").next().unwrap();
                let is_hex = hash.bytes().all(|byte| byte.is_ascii_hexdigit());
                assert!(is_hex && hash.len() == digits["HASH"], "{line}");
            }
            seen.insert(kind);
        }
    }
    // No golden log has a blank line.
    let all = forms.iter().map(|row| row[0].clone());
    assert_eq!(seen, all.filter(|kind| kind != "nothing").collect());
}

#[test]
fn the_limits_of_replay_files_match_the_page() {
    let limits = rows(&page("cli/history/TFL.md"), "what");
    let limits: Vec<usize> = limits.iter().map(|row| row[1].parse().unwrap()).collect();
    assert_eq!(limits, [Limits::HEADER_BYTES_MAX, Limits::COMMAND_BYTES_MAX, Limits::REPLAY_ENTRIES_MAX]);
}

#[test]
fn the_log_digest_is_plain_blake3_over_what_the_page_states() {
    let sandbox = Sandbox::new();
    let seed = "12".repeat(32);
    sandbox.ok(&format!(
        "new duel --rules initiative --setup fixtures/initiative/small-board.toml --dice seeded --seed {seed}"
    ));
    sandbox.ok("play duel");
    sandbox.ok("export duel -o duel.tfl");
    let text = sandbox.read("duel.tfl");
    let mut canonical = vec![
        format!("dice [\"seeded\",\"{seed}\"]\n"),
        "ruleset \"initiative\"\n".into(),
        "title \"\"\n".into(),
        "version 1\n".into(),
    ];
    let table: toml::Table = text.split("+++\n").nth(1).unwrap().parse().unwrap();
    for (key, value) in table["setup"].as_table().unwrap() {
        let compact = |value: &toml::Value| serde_json::to_string(value).unwrap();
        match value.as_array().filter(|values| values.iter().any(toml::Value::is_table)) {
            Some(tables) => {
                for (place, table) in tables.iter().enumerate() {
                    for (inner, value) in table.as_table().unwrap() {
                        canonical.push(format!("setup.{key}[{place}].{inner} {}\n", compact(value)));
                    }
                }
            }
            None => canonical.push(format!("setup.{key} {}\n", compact(value))),
        }
    }
    canonical.sort();
    let entries =
        text.split_inclusive('\n').filter(|line| line.starts_with(|first: char| first.is_ascii_digit()));
    let all = canonical.concat() + &entries.collect::<String>();
    let log = blake3::hash(all.as_bytes());
    assert!(text.contains(&format!(" log {log} header ")), "{all}");
}
