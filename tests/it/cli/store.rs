//! `turnfold store`.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use snapbox::str;

use super::duel;
use turnfold_tests::sandbox::Sandbox;
use turnfold_tests::transcript;

/// Returns a store with branches, one of which begins on another, and a second match.
fn store() -> Sandbox {
    let sandbox = duel();
    sandbox.ok("branch duel:2 flank");
    sandbox.ok("play duel@flank --once a-key cancel confirm");
    sandbox.ok("branch duel@flank:3 twig");
    sandbox.ok("new other --rules initiative --setup fixtures/initiative/no-units.toml");
    sandbox
}

/// Blanks out the sizes of files, because they depend on sled.
fn without_sizes(transcript: &str) -> String {
    let mut blanked = String::new();
    for line in transcript.lines() {
        let mut words: Vec<_> = line.split(' ').map(ToString::to_string).collect();
        for place in 0..words.len() {
            let follows = words.get(place + 1).map(|word| word.trim_end_matches(',').to_owned());
            if follows.is_some_and(|word| ["bytes", "→", "an"].contains(&word.as_str())) {
                words[place] = String::from("[N]");
            }
        }
        blanked.push_str(&words.join(" "));
        blanked.push('\n');
    }
    blanked
}

/// Returns every branch of a store as a replay file.
fn exports(sandbox: &Sandbox, dir: &str) -> String {
    let mut all = String::new();
    for line in sandbox.ok(&format!("--store {dir} --format json matches")).lines() {
        let found: serde_json::Value = serde_json::from_str(line).unwrap();
        let name = found["match"].as_str().unwrap();
        for line in sandbox.ok(&format!("--store {dir} --format json branch {name}")).lines() {
            let found: serde_json::Value = serde_json::from_str(line).unwrap();
            all.push_str(line);
            all.push('\n');
            let branch = found["branch"].as_str().unwrap();
            all += &sandbox.ok(&format!("--store {dir} export {name}@{branch}"));
            all += &sandbox.ok(&format!("--store {dir} --format json log {name}@{branch} --times"));
        }
    }
    all
}

#[test]
fn a_store_is_checked_without_rules() {
    let sandbox = store();
    sandbox.check(str![[r#"
$ turnfold store check
sound 2 matches, 4 branches, 5 entries
$ turnfold --format json store check
{"ok":true,"matches":2,"branches":4,"entries":5,"findings":[]}
$ turnfold --store nowhere store check
exit 3| error: no store at `nowhere`; create a match first, or name the right directory
$ turnfold store
stderr| Check, back up, restore, salvage, compact and measure a store
stderr| 
stderr| Usage: turnfold store [OPTIONS] <COMMAND>
stderr| 
stderr| Commands:
stderr|   check    Audit the store itself: records, chains, counts; without rules
stderr|   backup   Write everything in the store to one file
stderr|   restore  Make a store from a backup
stderr|   salvage  Save what is readable of a damaged store to a new one
stderr|   compact  Rewrite the store without what was deleted
stderr|   upgrade  Convert a store in a database to the format of this build
stderr|   spread   Spread a store in a database over the servers of a Citus cluster
stderr|   size     Show how much the store holds
stderr|   heads    List the last entry of every branch and the link after it
stderr|   doctor   Find what keeps a store or a service from working well
stderr|   help     Print this message or the help of the given subcommand(s)
...
exit 2| Example: turnfold store check
$ turnfold store dance
exit 2| error: unrecognized subcommand 'dance'; see `--help`

"#]]);
}

#[test]
fn a_damaged_store_fails_its_check_with_3() {
    let sandbox = store();
    let db = sandbox.path(".turnfold/journal/head.b");
    let sound = fs::read(&db).unwrap();
    let key = b"a-key";
    let places = sound.windows(key.len()).enumerate().filter(|(_, window)| window == key);
    let mut found = 0;
    for (at, _) in places {
        let mut damaged = sound.clone();
        damaged[at] ^= 1;
        fs::write(&db, damaged).unwrap();
        let output = sandbox.run("store check");
        let stderr = String::from_utf8(output.stderr).unwrap();
        match output.status.code() {
            Some(3) => {
                found += 1;
                assert!(stderr.starts_with("error: ") && stderr.lines().count() == 1, "{stderr}");
            }
            code => panic!("{code:?}: {stderr}"),
        }
        // Everything damaged is either saved or reported as lost.
        let salvaged = sandbox.run("store salvage .turnfold salvaged");
        assert!(matches!(salvaged.status.code(), Some(0 | 1)), "{salvaged:?}");
        sandbox.ok("--store salvaged store check");
        sandbox.ok("--store salvaged verify");
        fs::remove_dir_all(sandbox.path("salvaged")).unwrap();
    }
    assert!(found > 0);
}

#[test]
fn a_backup_restores_to_the_same_store() {
    let sandbox = store();
    transcript::check(
        |lines| without_sizes(&sandbox.transcript(lines)),
        str![[r#"
$ turnfold store backup all.tfb
backed up to all.tfb: 2 matches, 4 branches, 5 entries, [N] bytes
$ turnfold store backup all.tfb
exit 2| error: `all.tfb` exists; `--force` overwrites it
$ turnfold store backup all.tfb --force
backed up to all.tfb: 2 matches, 4 branches, 5 entries, [N] bytes
$ turnfold store backup --compress small.tfb
backed up to small.tfb: 2 matches, 4 branches, 5 entries, [N] bytes
$ turnfold --format json store backup nowhere/all.tfb
exit 2| {"error":{"kind":"usage","message":"cannot write `nowhere/all.tfb`: there is no directory `nowhere`","hint":null,"exit_code":2}}
$ turnfold store restore all.tfb restored
restored store restored: 2 matches, 4 branches, 5 entries
$ turnfold store restore all.tfb restored
exit 2| error: `restored` exists and is not empty; name a new directory
$ turnfold --format json store restore small.tfb again
{"store":"again","matches":2,"branches":4,"entries":5,"missing_modules":[]}
$ turnfold --store restored store check
sound 2 matches, 4 branches, 5 entries
$ turnfold --store restored verify
ok duel@main: 3 entries state 8bc3cdd5a21478a4 link [LINK]
ok duel@flank: 4 entries state 01c8c4ec6ad17e5a link [LINK]
ok duel@twig: 3 entries state e67f02be3627678a link [LINK]
ok other@main: 0 entries state 1003444186ac4428 link [LINK]
$ turnfold store restore missing.tfb other
exit 2| error: cannot read backup `missing.tfb`: No such file or directory (os error 2)
$ turnfold store restore fixtures/initiative/no-units.toml other
exit 2| error: `fixtures/initiative/no-units.toml` is not a turnfold backup: unrecognized header; name a file that `store backup` wrote
$ turnfold --store nowhere store backup none.tfb
exit 3| error: no store at `nowhere`; create a match first, or name the right directory

"#]],
    );
    assert!(!sandbox.path("none.tfb").exists() && !sandbox.path("other").exists());
    let original = exports(&sandbox, ".turnfold");
    assert_eq!(exports(&sandbox, "restored"), original);
    assert_eq!(exports(&sandbox, "again"), original);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(sandbox.path("all.tfb")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "a backup holds seeds");
    }
    let json = sandbox.ok("--format json store backup again.tfb");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["entries"], 5);
    assert_eq!(json["bytes"].as_u64(), Some(fs::metadata(sandbox.path("again.tfb")).unwrap().len()));
    // The restored store also knows a key that was used before.
    let repeated = sandbox.run("--store restored play duel@flank --once a-key cancel confirm");
    assert!(repeated.status.success());
    assert_eq!(exports(&sandbox, "restored"), original);
}

#[test]
fn a_backup_goes_through_pipes() {
    let sandbox = store();
    let backup = sandbox.run("store backup -");
    assert!(backup.status.success() && backup.stderr.is_empty());
    sandbox.ok("store backup all.tfb");
    assert!(fs::read(sandbox.path("all.tfb")).unwrap() == backup.stdout);
    let mut command = sandbox.command(["store", "restore", "-", "restored"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&backup.stdout).unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
    assert_eq!(exports(&sandbox, "restored"), exports(&sandbox, ".turnfold"));
}

#[test]
fn a_damaged_backup_is_named_and_leaves_nothing() {
    let sandbox = store();
    sandbox.ok("store backup all.tfb");
    let sound = fs::read(sandbox.path("all.tfb")).unwrap();
    let key = b"a-key";
    let at = sound.windows(key.len()).position(|window| window == key).unwrap();
    let mut flipped = sound.clone();
    flipped[at] ^= 1;
    sandbox.write("flipped.tfb", flipped);
    sandbox.write("cut.tfb", &sound[..at]);
    sandbox.write("longer.tfb", [sound.as_slice(), b"more"].concat());
    sandbox.write("older.tfb", String::from_utf8_lossy(&sound).replacen("backup 2", "backup 1", 1));
    sandbox.check(str![[r#"
$ turnfold store restore flipped.tfb restored
exit 3| error: the backup is damaged: match `duel`, branch `flank`, entry 3: its bytes do not match their check; nothing was restored; use another backup
$ turnfold store restore cut.tfb restored
exit 3| error: the backup is damaged: match `duel`, branch `flank`, entry 3: it ends too early; nothing was restored; use another backup
$ turnfold store restore longer.tfb restored
exit 3| error: the backup is damaged: something follows its end; nothing was restored; use another backup
$ turnfold store restore older.tfb restored
exit 3| error: the backup has the format `turnfold backup 1`, this build knows `turnfold backup 2`; use the build that wrote it

"#]]);
    let names = fs::read_dir(sandbox.path(".")).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(names.into_iter().all(|name| !name.to_string_lossy().contains("restored")));
}

#[test]
fn salvage_lists_what_it_cannot_save() {
    let sandbox = store();
    sandbox.check(str![[r#"
$ turnfold store salvage .turnfold sound
saved everything in store sound: 2 matches, 4 branches, 5 entries
$ turnfold store salvage .turnfold sound
exit 2| error: `sound` exists and is not empty; name a new directory
$ turnfold store salvage nowhere other
exit 3| error: no store at `nowhere`; create a match first, or name the right directory

"#]]);
    assert_eq!(exports(&sandbox, "sound"), exports(&sandbox, ".turnfold"));
    fs::remove_file(sandbox.path(".turnfold/journal/head.a")).unwrap();
    sandbox.check(str![[r#"
$ turnfold store salvage .turnfold second
lost: `.turnfold/journal/head.a` is missing
saved in store second: 2 matches, 4 branches, 5 entries
exit 1
$ turnfold --format json store salvage .turnfold third
{"store":"third","matches":2,"branches":4,"entries":5,"lost":[{"match":null,"branch":null,"from":null,"to":null,"reason":"`.turnfold/journal/head.a` is missing"}]}
exit 1

"#]]);
    assert_eq!(exports(&sandbox, "second"), exports(&sandbox, "sound"));
    fs::write(sandbox.path(".turnfold/journal/head.b"), "").unwrap();
    sandbox.check(str![[r#"
$ turnfold store salvage .turnfold fifth
exit 3| error: nothing could be read from `.turnfold`: `.turnfold/journal/head.a` is missing; restore a backup

"#]]);
    assert!(!sandbox.path("fifth").exists());
}

#[test]
fn a_compacted_store_gives_the_same_exports() {
    let sandbox = store();
    let original = exports(&sandbox, ".turnfold");
    transcript::check(
        |lines| without_sizes(&sandbox.transcript(lines)),
        str![[r#"
$ turnfold store compact
compacted 2 matches, 4 branches, 5 entries: [N] → [N] bytes
$ turnfold store check
sound 2 matches, 4 branches, 5 entries
$ turnfold --store nowhere store compact
exit 3| error: no store at `nowhere`; create a match first, or name the right directory

"#]],
    );
    assert_eq!(exports(&sandbox, ".turnfold"), original);
    let json: serde_json::Value = serde_json::from_str(&sandbox.ok("--format json store compact")).unwrap();
    assert_eq!(json["entries"], 5);
    assert!(json["bytes_before"].is_u64() && json["bytes_after"].is_u64());
    sandbox.ok("play duel@flank cancel");
    sandbox.ok("verify");
}

#[test]
fn statistics_show_how_much_there_is() {
    let sandbox = store();
    transcript::check(
        |lines| without_sizes(&sandbox.transcript(lines)),
        str![[r#"
$ turnfold store size
2 matches, 4 branches, 5 entries
[N] bytes of entries on 2 pages, [N] an entry
[N] bytes on disk, [N] an entry
[N] bytes journal, [N] bytes index
duel   5 entries, 3 branches, [N] bytes
other  0 entries, 1 branch, [N] bytes
$ turnfold store size --top 1
2 matches, 4 branches, 5 entries
[N] bytes of entries on 2 pages, [N] an entry
[N] bytes on disk, [N] an entry
[N] bytes journal, [N] bytes index
duel  5 entries, 3 branches, [N] bytes
$ turnfold store size --top 0
2 matches, 4 branches, 5 entries
[N] bytes of entries on 2 pages, [N] an entry
[N] bytes on disk, [N] an entry
[N] bytes journal, [N] bytes index
$ turnfold store size --top many
exit 2| error: invalid value 'many' for '--top <N>': invalid digit found in string; see `--help`
$ turnfold --store nowhere store size
exit 3| error: no store at `nowhere`; create a match first, or name the right directory

"#]],
    );
    let json: serde_json::Value =
        serde_json::from_str(&sandbox.ok("--format json store size --top 1")).unwrap();
    assert_eq!((&json["matches"], &json["branches"], &json["entries"]), (&2.into(), &4.into(), &5.into()));
    assert_eq!((&json["entries_on_pages"], &json["tails"]), (&5.into(), &0.into()));
    assert!(json["journal_bytes"].is_u64() && json["index_bytes"].is_u64());
    assert_eq!(json["largest"].as_array().unwrap().len(), 1);
    assert_eq!(json["largest"][0]["match"], "duel");
}

#[test]
fn a_deleted_branch_is_not_lost_and_does_not_come_back() {
    let sandbox = duel();
    sandbox.ok("branch duel:2 flank");
    sandbox.ok("play duel@flank cancel confirm");
    sandbox.ok("branch --delete --force duel@flank");
    sandbox.check(str![[r#"
$ turnfold store salvage .turnfold saved
saved everything in store saved: 1 match, 1 branch, 3 entries
$ turnfold --store saved branch duel
main  3 entries  link [LINK]
$ turnfold --store saved store check
sound 1 match, 1 branch, 3 entries

"#]]);
}
