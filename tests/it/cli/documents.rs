//! Compares `--format json` of every verb with `cli/JSON.md`.

mod contract;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Output;
use std::process::Stdio;

use serde_json::Value;
use turnfold_core::Seat;

use self::contract::Contract;
use turnfold_tests::mailbox::{Mailbox, open_line};
use turnfold_tests::sandbox::{Sandbox, store_match, workspace};
use turnfold_tests::service::Running;

/// Fields that only a broken build, several kinds of damage, or a database could show.
const UNSEEN: &[&str] = &[
    "verify#3.differs_at",
    "Change.written_as",
    "Finding.",
    "StoreFinding.",
    "AuditRow.seq",
    "store upgrade#0.",
    "store spread#0.",
    // Fields of games by others, such as `examples/liars` and `examples/chess`.
    "DueRoll.owner",
    "legal#0.irreversible",
    // Fields of modules, which `modules.rs` tests.
    "game list#",
    "game show#",
    "game check#",
    "game add#",
    "game guest#",
    "NeededModule.",
    "new#0.module",
    // Fields of referees and recordings, which `referees.rs` tests.
    "verify#0.referee",
    "diff#0.states_part",
    "StatesPart.",
    "import#0.has_end",
    "game impact#0.referee",
];

fn verb_of(line: &str, contract: &Contract) -> String {
    let words: Vec<_> = line.trim_start_matches("--store bad ").split_whitespace().collect();
    let two = words.get(..2).map(|two| two.join(" ")).unwrap_or_default();
    if contract.verbs.contains_key(&two) { two } else { words.first().copied().unwrap_or_default().into() }
}

/// Requires every document of a run to be as documented, including its error.
fn check_run(line: &str, expected_code: i32, output: &Output, contract: &mut Contract) -> String {
    let verb = verb_of(line, contract);
    let stdout = std::str::from_utf8(&output.stdout).unwrap();
    let stderr = std::str::from_utf8(&output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(expected_code), "{line}: {stderr}");
    for document in stdout.lines() {
        let document = serde_json::from_str(document).unwrap_or_else(|_| panic!("{line}: {document}"));
        contract.check(&verb, &document).unwrap_or_else(|wrong| panic!("{line}: {wrong}"));
    }
    let prints = &contract.verbs.get(&verb).unwrap_or_else(|| panic!("`{verb}` is not documented")).prints;
    let count = stdout.lines().count();
    match prints.as_str() {
        _ if !stderr.is_empty() => check_error(line, expected_code, stderr, contract),
        lines if lines.contains(", or a line for each") => assert!(count > 0, "{line}"),
        one if one.starts_with("Prints one document") => assert_eq!(count, 1, "{line}"),
        lines if lines.starts_with("Prints a line for each") => assert!(count > 0, "{line}"),
        other => panic!("{line}: `{other}`"),
    }
    verb
}

fn check_error(line: &str, code: i32, stderr: &str, contract: &mut Contract) {
    let mut lines = stderr.lines();
    let (Some(error), None) = (lines.next(), lines.next()) else { panic!("{line}: {stderr}") };
    let error: Value = serde_json::from_str(error).unwrap_or_else(|_| panic!("{line}: {error}"));
    contract.check_value("the error", "ErrorDocument", &error).unwrap();
    assert_eq!(error["error"]["exit_code"], code, "{line}: {error}");
    let kind = ["", "negative", "usage", "trouble"][usize::try_from(code).unwrap()];
    assert_eq!(error["error"]["kind"], kind, "{line}: {error}");
}

/// Runs every line of `runs.txt` and returns the verbs.
fn run_all(sandbox: &Sandbox, contract: &mut Contract) -> BTreeSet<String> {
    let runs = fs::read_to_string(workspace().join("tests/it/cli/documents/runs.txt")).unwrap();
    let mut verbs = BTreeSet::new();
    for line in runs.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.split_once(' ').unwrap() {
            ("!", "tamper") => tamper(sandbox),
            ("!", "old") => store_match(sandbox, "initiative", 99),
            ("w", line) => {
                let output = sandbox.run(&format!("--format json {line}"));
                let warned = String::from_utf8(output.stderr).unwrap();
                let warning: Value = serde_json::from_str(&warned).unwrap();
                assert!(warning["warning"]["message"].is_string(), "{line}: {warned}");
                verbs.insert(check_run(line, 0, &Output { stderr: Vec::new(), ..output }, contract));
            }
            (code, line) => {
                let line = with_vkey(sandbox, &with_link(sandbox, line));
                let output = sandbox.run(&format!("--format json {line}"));
                verbs.insert(check_run(&line, code.parse().unwrap(), &output, contract));
            }
        }
    }
    verbs
}

/// Replaces `LINK(REV)` with the link after the last entry of the revision.
fn with_link(sandbox: &Sandbox, line: &str) -> String {
    let Some((before, rest)) = line.split_once("LINK(") else { return line.into() };
    let (revision, after) = rest.split_once(')').unwrap();
    let log = sandbox.ok(&format!("log {revision} --links -n 1"));
    format!("{before}{}{after}", log.split(' ').next().unwrap())
}

/// Replaces `VKEY(FILE)` with the verifier key.
fn with_vkey(sandbox: &Sandbox, line: &str) -> String {
    let Some((before, rest)) = line.split_once("VKEY(") else { return line.into() };
    let (file, after) = rest.split_once(')').unwrap();
    format!("{before}{}{after}", sandbox.ok(&format!("key show {file}")).trim_end())
}

/// Lists the verbs that the help names; a subcommand is listed as `store check`.
pub(crate) fn verbs_of_help(sandbox: &Sandbox, above: &str) -> Vec<String> {
    let help = sandbox.ok(&format!("{above} --help"));
    let (list, _) = help.split_once("\nOptions:\n").unwrap_or((&help, ""));
    let (list, _) = list.split_once("\nGuides, ").unwrap_or((list, ""));
    let list = list.rsplit_once("\nPlay:\n").map_or(list, |(_, list)| list);
    let is_built = |line: &&str| !line.ends_with("Not a part of this build");
    let is_verb = |line: &&str| line.starts_with(|first: char| first.is_ascii_lowercase()) && is_built(line);
    let lines = list.lines().filter_map(|line| line.strip_prefix("  ")).filter(is_verb);
    let names: Vec<&str> = lines.filter_map(|line| line.split(' ').next()).collect();
    if names.is_empty() {
        return vec![above.trim().into()];
    }
    let names = names.into_iter().filter(|name| *name != "help");
    names.flat_map(|name| verbs_of_help(sandbox, &format!("{above} {name}"))).collect()
}

/// Writes copies of `duel.tfl` and `seeded.tfl` with false records.
fn tamper(sandbox: &Sandbox) {
    let golden = sandbox.read("duel.tfl");
    let with = |name: &str, old: &str, new: &str| {
        assert!(golden.contains(old), "{name}: {golden}");
        sandbox.write(name, golden.replacen(old, new, 1));
    };
    let hash = golden.lines().find_map(|line| line.strip_prefix("3 ")?.split_once(" #")).unwrap().1;
    with("hash.tfl", hash, "0123456789abcdef");
    let other_hash = |line: &str| match line.split_once(" => ").and_then(|_| line.rsplit_once(" #")) {
        Some((entry, _)) => format!("{entry} #0123456789abcdef\n"),
        None => format!("{line}\n"),
    };
    sandbox.write("other.tfl", golden.lines().map(other_hash).collect::<String>());
    with("outcome.tfl", "to=0,1;", "to=0,2;");
    let other_outcome = sandbox.read("outcome.tfl");
    sandbox.write("both.tfl", other_outcome.replacen(hash, "0123456789abcdef", 1));
    with("command.tfl", "p1 move 0,1 ", "p1  move  0,1 ");
    with("reason.tfl", "p2 cycle =>", "p1 cycle =>");
    with("ignored.tfl", "=> selected unit=atlas", "=> ignored no_unit");
    sandbox.write("junk.tfl", "junk");
    let version = golden.replacen("version = 1", "version = 99", 1);
    sandbox.write("version.tfl", version.replacen("p1 move 0,1 ", "p1 fly ", 1));
    let seeded = sandbox.read("seeded.tfl");
    sandbox.write("fair.tfl", seeded.replacen("dice = \"seeded\"\nseed", "dice = \"fair\"\nhead", 1));
    let roll = seeded.lines().find(|line| line.contains(" roll ")).unwrap();
    let (command, outcome) = roll.split_once(" =>").unwrap();
    let (before, value) = command.rsplit_once(' ').unwrap();
    let other = if value == "1" { "2" } else { "1" };
    sandbox.write("roll.tfl", seeded.replace(roll, &format!("{before} {other} =>{outcome}")));
    assert!(sandbox.harm_journal("bad", b"a-key-to-be-found") > 0);
}

/// Serves a match and joins it.
fn serve_and_join(contract: &mut Contract) -> [String; 2] {
    let sandbox = Sandbox::new();
    sandbox.ok("new ford --rules cycletap --setup fixtures/cycletap/ford.toml");
    let mut serve = sandbox.command(["--format", "json", "serve", "--listen", "127.0.0.1:0"]);
    let mut child = serve.stdout(Stdio::piped()).spawn().unwrap();
    let mut document = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut document).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    contract.check("serve", &serde_json::from_str(&document).unwrap()).unwrap();
    let service = Running::start(&sandbox);
    let invitation = service.grant("ford", r#"{"kind":"invitation","seat":"p1"}"#);
    let line = format!("join {} --name Ann -o p1.token", invitation["link"].as_str().unwrap());
    let output = sandbox.run(&format!("--format json {line}"));
    ["serve".into(), check_run(&line, 0, &output, contract)]
}

/// Plays a short match by mail.
fn by_mail(contract: &mut Contract) -> BTreeSet<String> {
    let mut mailbox = Mailbox::new("host_replaces = true\nplain = [\"p2\"]\n");
    let mut verbs = BTreeSet::new();
    let mut run = |mailbox: &Mailbox, code: i32, line: &str| {
        let output = mailbox.sandbox.run(&format!("--format json {line}"));
        verbs.insert(check_run(line, code, &output, contract));
    };
    run(&mailbox, 0, &open_line("initiative", "small-board.toml", ""));
    run(&mailbox, 0, "mail status duel");
    mailbox.sandbox.ok("key new ann.key --name ann.example");
    mailbox.save_bundle("00000001-p1.eml", "p1.bundle");
    run(&mailbox, 0, "mail write join p1 --from p1.bundle --key ann.key -o join.txt");
    run(&mailbox, 1, "mail write resign --from p1.bundle --key ann.key -o resign.txt");
    run(&mailbox, 2, "mail status plain");
    for seat in [Seat::P1, Seat::P2] {
        let paper = mailbox.players.join(&mailbox.known(), seat);
        mailbox.save("join.txt", &[paper]);
        run(&mailbox, 1, "mail take duel join.txt --key host.key");
        run(&mailbox, 0, &format!("mail take duel join.txt --admit {seat} --key host.key"));
    }
    run(&mailbox, 0, "mail run duel --key host.key --roll 1 1 2 2");
    run(&mailbox, 0, "mail broadcast Hello --match duel --key host.key");
    mailbox.save_orders("orders.txt", &[(Seat::P1, &["stand"]), (Seat::P2, &["stand"])]);
    run(&mailbox, 0, "mail replace duel p2 Cleo \"Ben has left\" --key host.key");
    run(&mailbox, 1, "mail take duel orders.txt --key host.key");
    run(&mailbox, 1, "mail take duel desk.toml --key host.key");
    run(&mailbox, 0, "audit");
    run(&mailbox, 0, "mail recover p1.bundle --key host.key");
    run(&mailbox, 2, "mail take duel.desk orders.txt --key host.key");
    run(&mailbox, 0, "delete --force duel");
    verbs
}

#[test]
fn every_verb_prints_exactly_the_documented_fields() {
    let sandbox = Sandbox::new();
    let mut contract = Contract::read();
    let mut verbs = run_all(&sandbox, &mut contract);
    verbs.extend(serve_and_join(&mut contract));
    verbs.extend(by_mail(&mut contract));
    let in_help: BTreeSet<_> = verbs_of_help(&sandbox, "").into_iter().collect();
    assert_eq!(in_help, contract.verbs.keys().cloned().collect(), "the verbs of the help are documented");
    assert_eq!(in_help, verbs, "every verb is run");
    let mut never_seen = contract.never_seen();
    never_seen.retain(|field| !UNSEEN.iter().any(|unseen| field.starts_with(unseen)));
    assert!(never_seen.is_empty(), "documented, but seen in no run: {never_seen:#?}");
}

#[test]
fn unusable_arguments_of_every_verb_are_one_json_line() {
    let sandbox = Sandbox::new();
    let mut contract = Contract::read();
    let verbs = verbs_of_help(&sandbox, "");
    let lines = verbs.iter().map(|verb| format!("{verb} --no-such-flag --format json"));
    for line in
        lines.chain(["--format=json dance".into(), "--format json".into(), "--format json store".into()])
    {
        let output = sandbox.run(&line);
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(output.stdout.is_empty(), "{line}");
        check_error(&line, 2, std::str::from_utf8(&output.stderr).unwrap(), &mut contract);
    }
}

#[test]
fn trouble_is_one_json_line() {
    let sandbox = Sandbox::new();
    sandbox.write("file", "no directory");
    let output = sandbox.run("--format json simulate --rules cycletap --seed 1 --steps 1 -o file/x.tfl");
    check_error("simulate", 3, std::str::from_utf8(&output.stderr).unwrap(), &mut Contract::read());
}
