//! Help, versions, completions and manual pages.

use std::collections::BTreeSet;

use snapbox::str;

use super::documents::verbs_of_help;
use turnfold_tests::sandbox::{Sandbox, workspace};
#[cfg(unix)]
use turnfold_tests::sandbox::{binary, without_links};

/// The help lists the verbs of a full build.
#[test]
fn help_and_errors_of_usage_have_their_exit_codes() {
    Sandbox::new().check(str![[r#"
$ turnfold --help
Replay, branch, diff and check board-game matches

Every tap, move, tick and roll is a command in an append-only log. A deterministic rules core folds
the log into state, and hashed golden logs prove that it still does.

Usage: turnfold [OPTIONS] <COMMAND>

Which one do I want?
  Something broke, and there is a log of it   bisect, blame, shrink
  Do the golden logs still come true?         check
  What would a changed rule change?           game impact
  Is the store sound?                         verify, store check, store doctor
  Prove to others what happened               checkpoint, bundle, audit

Play:
  new          Create a match
  play         Append commands to a match and print their outcomes
  simulate     Play without a store, at random or by a script
  show         Show what a seat sees: the board, the JSON view or a picture
  legal        List the commands that would be applied
  ask          Ask the ruleset a question
  rules        Teach a game: its commands, reasons, questions, view and rules
  game         List, check and add games, count and compare what their rules do

Matches in the store:
  matches      List the matches of the store
  log          Print the entries of a revision with their outcomes
  replay       Fold a revision or file again from the start, showing each entry
  rename       Give a match another name
  migrate      Continue a match under another version of its ruleset
  delete       Delete a match with all its branches

Branch and compare:
  branch       Begin a new history from any point, list, rename or delete them
  amend        Change one entry and play the rest again, as a branch or file
  diff         Show where two histories part and how their states differ
  bisect       Find an entry at which a condition becomes true
  blame        Show which entry last changed a field of the view
  shrink       Find the smallest log that still shows something

Many matches:
  find         Find entries in many matches
  table        Write many matches as a table, or count them in groups

Files and golden logs:
  export       Write a revision as a replay file, or as a page that shows it
  import       Import a match from a replay file, or matches from a bundle
  bless        Write outcomes and hashes into replay files
  check        Verify golden logs

Prove and maintain:
  verify       Audit matches of the store: chain, decoding, rules, dice
  store        Check, back up, restore, salvage, compact and measure a store

Sign and audit:
  key          Make signing keys and print their verifier keys
  checkpoint   Sign which entries a branch has, prove one, cosign as a witness
  bundle       Write matches to one file that others can check
  audit        Check a bundle or the store, and print what is proven

Play over a network and by mail:
  serve        Serve the store over HTTP, for players at their own computers
  join         Take a seat in a served match, by an invitation link
  mail         Host and play matches by mail: papers, deadlines and letters

Get to know turnfold:
  tour         Hunt down a bug in a minute, step by step
  completions  Print a completion script for a shell
  man          Write manual pages
  help         Print the help of a verb, or a guide

Guides, for `turnfold help GUIDE`:
  playing        Play, branch and compare matches at a terminal
  debugging      Find a bug, keep it fixed, run golden logs in CI
  analysis       Ask, count and tabulate many matches
  referees       Use your engine in JavaScript, Python or any language
  your-own-game  Write the rules of a game of your own
  auditing       Sign, witness and audit matches
  mail-host      Host a match by mail
  mail-player    Take part in a match by mail
  serving        Play over a network
  operate        Run a service: backups, monitoring, PostgreSQL
  growing        From one process to many: PostgreSQL, standby, splitting
  cli            Revisions, output, pager, exit codes, environment
  versions       What stays and what may change between versions
  limits         Every limit

Options:
      --store <DIR|URL>
          Directory of the store, or the URL of a database or service
          
          [env: TURNFOLD_STORE=]
          [default: .turnfold]

      --modules <DIR>
          Folder with games as modules [default: `modules/` in the directory of the store]
          
          [env: TURNFOLD_MODULES=]

      --referee <COMMAND>
          Program that knows the rules of a game, as `COMMAND` or `NAME=COMMAND` (see `help
          referees`)

      --referees <FILE>
          File that names such programs [default: `turnfold/referees.toml` in the configuration
          folder]
          
          [env: TURNFOLD_REFEREES=]

      --referee-seconds <SECONDS>
          How long each answer of such a program may take at least

      --token <FILE>
          File with the token for a service

      --format <FORMAT>
          How to print the answer; `svg` is for `show` and `table groups`

          Possible values:
          - text: For people
          - json: One JSON document, or JSON Lines for sequences
          - svg:  A picture
          
          [default: text]

  -v, --verbose...
          Print more on stderr; twice for even more (see also the variable `TURNFOLD_LOG`)

      --color <WHEN>
          When to use colors

          Possible values:
          - auto:   On a terminal, unless a variable such as `NO_COLOR` forbids them
          - always: Always
          - never:  Never
          
          [default: auto]

      --no-pager
          Print long answers straight to the terminal (see also the variable `TURNFOLD_PAGER`)

  -h, --help
          Print help (see a summary with '-h')

  -V, --version
          Print version

Revisions are written MATCH[@BRANCH][:SEQ]: `duel`, `duel@flank`, `duel:12`; `:0` is the setup.
Where a revision is read, a replay file will do: `duel.tfl`, `duel.tfl:12`, or `-` for standard
input.
Exit codes: 0 done or equal, 1 a negative answer, 2 unusable arguments or input, 3 store or I/O
trouble.
Examples:
  turnfold tour
  turnfold rules initiative
  turnfold new duel --rules initiative
$ turnfold play --help
Append commands to a match and print their outcomes

Records all commands of a call or, if one is rejected, none of them. In a seeded match, due rolls
are made at once, also before the first command; without a command, only they are made. With
`--dry-run` nothing is recorded. `play` refuses a history that is played by mail: only `mail take`
and `mail run` append to it.

Usage: turnfold play [OPTIONS] <REV> [COMMAND]...

Arguments:
  <REV>
          The history, MATCH[@BRANCH]

  [COMMAND]...
          Commands, each `[SEAT:] command`, such as `p1: move 2,3`

Options:
      --seat <SEAT>
          Give all commands as this seat, and print only what it may know [default: the seat of each
          command]

      --script <FILE>
          Read the commands from a file, one a line; `-` is standard input

      --dry-run
...
Example: turnfold play duel 'p1: click 0,2' 'p1: move 0,1'
$ turnfold --version
turnfold 0.1.0
$ turnfold dance
exit 2| error: unrecognized subcommand 'dance'; tip: a similar subcommand exists: 'branch'; see `--help`
$ turnfold play
exit 2| error: the following required arguments were not provided: <REV>; see `--help`
$ turnfold play duel:x confirm
exit 2| error: invalid value 'duel:x' for '<REV>': expected a number, found `x` in revision `duel:x`, which is written MATCH[@BRANCH][:SEQ]; see `--help`

"#]]);
}

#[test]
fn completions_are_made_for_every_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(Sandbox::new().ok(&format!("completions {shell}")).contains("turnfold"), "{shell}");
    }
}

#[test]
fn every_manual_page_has_the_sections_that_readers_look_for() {
    let sandbox = Sandbox::new();
    sandbox.ok("man pages");
    let mut pages = 0;
    for file in std::fs::read_dir(sandbox.path("pages")).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let page = sandbox.read(&format!("pages/{name}"));
        if page.contains("Not a part of this build") && name != "turnfold.1" {
            continue;
        }
        let sections = "NAME,SYNOPSIS,DESCRIPTION,OPTIONS,ENVIRONMENT,\"EXIT STATUS\",EXAMPLES,\"SEE ALSO\"";
        for section in sections.split(',') {
            assert_eq!(page.matches(&format!("\n.SH {section}\n")).count(), 1, "{name}: {section}");
        }
        for variable in ["TURNFOLD_STORE", "TURNFOLD_LOG", "NO_COLOR"] {
            assert!(page.contains(variable), "{name}: {variable}");
        }
        let (_, examples) = page.split_once(".SH EXAMPLES").unwrap();
        assert!(examples.contains("turnfold "), "{name}");
        pages += 1;
    }
    assert!(pages > 30, "{pages} pages");
    assert!(sandbox.read("pages/turnfold.1").contains("turnfold"));
    assert!(sandbox.read("pages/turnfold-play.1").contains("expect"));
    let page = sandbox.read("pages/turnfold-branch.1");
    assert!(page.contains("turnfold branch duel:6 caution"), "{page}");
    assert!(page.contains("turnfold\\-diff(1)"), "{page}");
}

/// The help of each verb ends with the options that all verbs have, in the form that `play --help` shows, and an example.
/// `store upgrade` and `store spread` have a store of their own in place of `--store`, which is the first of these options.
#[test]
fn help_of_every_verb_has_the_global_options_and_examples() {
    let sandbox = Sandbox::new();
    assert!(!sandbox.ok("--help").contains("\nCommands:"));
    let second = "\n      --token <FILE>\n";
    let play = sandbox.ok("play --help");
    let (_, global) = play.split_once(second).unwrap();
    let (global, _) = global.split_once("\nExample").unwrap();
    for verb in verbs_of_help(&sandbox, "").iter().map(|verb| verb.trim()) {
        let help = sandbox.ok(&format!("{verb} --help"));
        let (before, end) = help.split_once(second).unwrap();
        assert!(before.contains("\nGlobal options:"), "{help}");
        let examples = end.strip_prefix(global).unwrap();
        assert!(examples.contains(&format!("turnfold {verb}")), "{help}");
    }
}

/// Completes a command line in bash as on a terminal, split into words as bash splits it.
#[cfg(unix)]
fn completed(sandbox: &Sandbox, line: &str) -> Vec<String> {
    sandbox.write("complete.bash", sandbox.ok("completions bash"));
    let line = format!("turnfold {line}");
    let apart = line.replace('@', " @ ");
    let words: Vec<&str> = apart.split_whitespace().collect();
    let last = words.last().copied().unwrap_or_default();
    let current = if last == "@" { "" } else { last };
    let script = format!(
        "cat > asked.bash <<'END'\nturnfold() {{ '{}' \"$@\"; }}\nsource ./complete.bash\n\
         COMP_WORDBREAKS=$' \\t\\n\"\\'@><=;|&(:'\nCOMP_LINE='{line}'\nCOMP_POINT={}\nCOMP_WORDS=('{}')\nCOMP_CWORD={}\n\
         _turnfold turnfold '{current}' ''\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\nEND\nbash asked.bash",
        binary().display(),
        line.len(),
        words.join("' '"),
        words.len() - 1,
    );
    let output = sandbox.shell(&script);
    assert!(output.stderr.is_empty(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter(|line| !line.is_empty()).map(String::from).collect()
}

#[cfg(unix)]
#[test]
fn bash_completes_rulesets_seats_matches_and_branches() {
    let sandbox = super::duel();
    sandbox.ok("branch duel:1 flank");
    sandbox.ok("new dusk --rules initiative");
    let before = without_links(&sandbox.ok("log duel"));
    for (line, expected) in [
        ("pl", "play"),
        ("rules in", "initiative"),
        ("new x --rules cy", "cycletap"),
        ("new x --rules initiative --setup lan", "lance-against-star"),
        ("new x --setup fo", ""),
        ("rules cycletap --setup fo", "ford"),
        ("show duel --as h", "host"),
        ("log du", "duel dusk"),
        ("log duel@f", "flank"),
        ("log duel@", "main flank"),
        ("new du", ""),
        ("audit --require ch", "chain"),
        ("--store none log du", ""),
    ] {
        assert_eq!(completed(&sandbox, line).join(" "), expected, "{line}");
    }
    assert!(!sandbox.path("none").exists());
    // Files are offered only to verbs that read files.
    sandbox.write("dust.tfl", "");
    for (verb, is_offered) in [("show", true), ("verify", true), ("play", false), ("delete", false)] {
        let offered = completed(&sandbox, &format!("{verb} du"));
        assert_eq!(offered.contains(&"dust.tfl".into()), is_offered, "{verb}: {offered:?}");
        assert!(offered.contains(&"dusk".into()), "{verb}: {offered:?}");
    }
    assert_eq!(without_links(&sandbox.ok("log duel")), before);
}

#[cfg(unix)]
#[test]
fn bash_completes_rulesets_that_are_added_as_modules_and_finds_the_store_above() {
    let sandbox = super::duel();
    std::fs::create_dir_all(sandbox.path(".turnfold/modules")).unwrap();
    // The packed game has the name of a built-in game, which is offered only once.
    let module = workspace().join("fixtures/modules/initiative.wasm");
    std::fs::copy(module, sandbox.path(".turnfold/modules/a.wasm")).unwrap();
    let module = workspace().join("fixtures/modules/tictactoe.wasm");
    std::fs::copy(module, sandbox.path(".turnfold/modules/b.wasm")).unwrap();
    assert_eq!(completed(&sandbox, "new x --rules in"), ["initiative"]);
    assert_eq!(completed(&sandbox, "new x --rules ti"), ["tictactoe"]);
    assert_eq!(completed(&sandbox, "rules ti"), ["tictactoe"]);
    let nim = workspace().join("fixtures/modules/nim-1.wasm");
    std::fs::create_dir(sandbox.path("games")).unwrap();
    std::fs::copy(nim, sandbox.path("games/nim.wasm")).unwrap();
    assert_eq!(completed(&sandbox, "--modules games new x --rules ni"), ["nim"]);
}

/// Returns the completions of the last word, for a shell that passes words unchanged.
fn offered(sandbox: &Sandbox, words: &[&str]) -> Vec<String> {
    let words = ["--", "turnfold"].iter().chain(words).copied();
    let output = sandbox.command(words).env("TURNFOLD_COMPLETE", "fish").output().unwrap();
    assert!(output.stderr.is_empty() && output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let values = text.lines().map(|line| line.split('\t').next().unwrap().to_owned());
    values.filter(|value| !value.starts_with('-')).collect()
}

#[test]
fn the_commands_that_are_offered_are_those_that_the_same_viewer_may_know() {
    let mut count = 0;
    for ruleset in ["initiative", "cycletap", "lifecycle", "channel"] {
        let sandbox = Sandbox::new();
        sandbox.ok(&format!("simulate --rules {ruleset} --seed 4 --steps 40 --into duel"));
        let before = without_links(&sandbox.ok("log duel"));
        for seat in ["", "p1", "p2", "host", "spectator"] {
            let (legal, asked) = match seat {
                "" => ("legal duel".to_owned(), vec!["play", "duel", ""]),
                seat => (format!("legal duel --as {seat}"), vec!["play", "--seat", seat, "duel", ""]),
            };
            let legal = sandbox.ok(&legal);
            let mut expected: Vec<&str> = legal.lines().collect();
            if !seat.is_empty() {
                expected = expected.iter().map(|line| line.split_once(": ").unwrap().1).collect();
            }
            expected.sort_unstable();
            expected.dedup();
            let found = offered(&sandbox, &asked);
            assert_eq!(found, expected, "{ruleset} {seat}");
            count += found.len();
        }
        assert_eq!(without_links(&sandbox.ok("log duel")), before);
    }
    assert!(count > 20, "{count}");
}

#[test]
fn commands_are_offered_as_they_are_typed_and_nothing_where_anything_is_wrong() {
    let sandbox = super::duel();
    let all = offered(&sandbox, &["play", "duel", ""]);
    assert!(all.len() > 2 && all.iter().all(|command| command.contains(": ")), "{all:?}");
    let seat = all[0].split(':').next().unwrap();
    for typed in [seat, &format!("\"{seat}: "), &format!("{seat}:\\ ")] {
        let of_seat: Vec<_> = all.iter().filter(|command| command.starts_with(seat)).cloned().collect();
        assert_eq!(offered(&sandbox, &["play", "duel", typed]), of_seat, "{typed}");
    }
    // Without a seat, as in a command.
    let command = all[0].split_once(": ").unwrap().1;
    assert_eq!(offered(&sandbox, &["play", "duel", command]), [command]);
    assert!(offered(&sandbox, &["play", "duel", "--seat", "p1", ""]).iter().all(|text| !text.contains(": ")));
    sandbox.ok("branch duel:0 flank");
    let of_branch = offered(&sandbox, &["play", "duel@flank", ""]);
    assert!(!of_branch.is_empty() && of_branch != all);
    for words in [
        &["play", "none", ""][..],
        &["play", "duel@none", ""],
        &["--store", "none", "play", "duel", ""],
        &["play", "duel", "--seat", "p9", ""],
        &["play", "duel", "--seat", "nobody", ""],
        &["play", "duel", "--seat=", ""],
        // The legal commands after a command are not known until it is played.
        &["play", "duel", command, ""],
        &["play", "duel", "dance"],
    ] {
        assert_eq!(offered(&sandbox, words), Vec::<String>::new(), "{words:?}");
    }
    assert!(!sandbox.path("none").exists());
    // A damaged store, or one that this build cannot read.
    let journal = std::fs::read_dir(sandbox.path(".turnfold/journal")).unwrap();
    for file in journal {
        std::fs::write(file.unwrap().path(), "dust").unwrap();
    }
    assert_eq!(offered(&sandbox, &["play", "duel", ""]), Vec::<String>::new());
}

#[test]
fn help_of_a_verb_is_json_where_that_is_asked_for() {
    let sandbox = Sandbox::new();
    for line in ["help mail write --format json", "--format json help mail write"] {
        let document: serde_json::Value = serde_json::from_str(&sandbox.ok(line)).unwrap();
        assert_eq!(document["verb"], "mail write");
        assert!(sandbox.ok("help mail write").starts_with(document["about"].as_str().unwrap()));
        assert_eq!(document["text"].as_str().unwrap().trim_end(), sandbox.ok("help mail write").trim_end());
    }
    let all: serde_json::Value = serde_json::from_str(&sandbox.ok("help --format json")).unwrap();
    assert_eq!(
        (&all["verb"], all["text"].as_str().unwrap().trim_end()),
        (&"".into(), sandbox.ok("help").trim_end())
    );
    // With text output, options after the verb are accepted too.
    assert_eq!(sandbox.ok("help bisect --no-pager --color never"), sandbox.ok("help bisect"));
    assert_eq!(sandbox.ok("help bisect --format text"), sandbox.ok("help bisect"));
    assert!(!sandbox.shell("turnfold help nothing --format json").status.success());
}

/// Lists all verbs, including those that only have subcommands.
fn all_verbs(sandbox: &Sandbox) -> BTreeSet<String> {
    let mut verbs = BTreeSet::new();
    for verb in verbs_of_help(sandbox, "") {
        let verb = verb.trim().to_owned();
        verbs.extend(verb.split_once(' ').map(|(above, _)| above.to_owned()));
        verbs.insert(verb);
    }
    verbs
}

#[test]
fn the_help_of_every_verb_is_json_too() {
    let sandbox = Sandbox::new();
    for verb in all_verbs(&sandbox) {
        let document: serde_json::Value =
            serde_json::from_str(&sandbox.ok(&format!("help {verb} --format json"))).unwrap();
        let members: Vec<&String> = document.as_object().unwrap().keys().collect();
        assert_eq!(members, ["verb", "about", "text"], "{verb}");
        assert_eq!(document["verb"], *verb);
        let text = sandbox.ok(&format!("help {verb}"));
        assert_eq!(document["text"].as_str().unwrap().trim_end(), text.trim_end(), "{verb}");
        assert!(text.starts_with(document["about"].as_str().unwrap()), "{verb}");
    }
}

/// Returns the options of a verb from its help: the name, the value and the first line of the description.
fn options_of(help: &str) -> Vec<[String; 3]> {
    let (of_verb, _) = help.split_once("\nGlobal options:").unwrap();
    let mut options = Vec::new();
    let mut lines = of_verb.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((_, option)) = line.split_once("--").filter(|(before, _)| before.len() < 7) else {
            continue;
        };
        if !line.starts_with("  ") {
            continue;
        }
        let (name, value) = option.split_once(' ').unwrap_or((option, ""));
        let says = lines.peek().copied().unwrap_or_default();
        options.push([name, value, says].map(|text| text.trim().to_owned()));
    }
    options
}

#[test]
fn verbs_are_few_and_an_option_has_one_name_for_one_thing() {
    let sandbox = Sandbox::new();
    let verbs = all_verbs(&sandbox);
    let top: Vec<_> = verbs.iter().filter(|verb| !verb.contains(' ')).collect();
    assert!(top.len() <= 38, "{} verbs besides `help`: {top:?}", top.len());
    let (mut patterns, mut expressions) = (BTreeSet::new(), BTreeSet::new());
    let (mut written, mut rules) = (0, 0);
    for verb in &verbs {
        for [name, value, says] in options_of(&sandbox.ok(&format!("help {verb}"))) {
            match value.as_str() {
                "<PATTERN>" => drop(patterns.insert(name.clone())),
                "<REGEX>" => drop(expressions.insert(name.clone())),
                _ => {}
            }
            let words = ["Write", "The file to write", "File for", "The folder with `outbox`"];
            let is_place = ["<FILE>", "<DIR>"].contains(&value.as_str());
            // A report is written in addition to the answer.
            if is_place && words.iter().any(|word| says.starts_with(word)) {
                assert_eq!(name, "output", "{verb}: {says}");
                written += 1;
            }
            assert!(name == "output" || !name.starts_with("out"), "{verb}: --{name}");
            if name == "rules" {
                assert_eq!(value, "<NAME>", "{verb}");
                assert!(says.contains("referee:NAME"), "{verb}: {says}");
                rules += 1;
            }
        }
    }
    assert!(written > 10 && rules > 3, "{written} {rules}");
    assert!(!patterns.is_empty() && !expressions.is_empty());
    assert!(patterns.is_disjoint(&expressions), "{patterns:?} {expressions:?}");
}

#[test]
fn help_prints_every_guide_that_it_lists() {
    let sandbox = Sandbox::new();
    let help = sandbox.ok("help");
    let (_, guides) = help.split_once("Guides, for `turnfold help GUIDE`:\n").unwrap();
    let names: Vec<&str> = guides
        .lines()
        .take_while(|line| !line.is_empty())
        .map(|line| line.split_whitespace().next().unwrap())
        .collect();
    assert_eq!(names.len(), std::fs::read_dir(workspace().join("docs/guide")).unwrap().count() - 1);
    for name in names {
        let printed = sandbox.ok(&format!("help {name}"));
        assert!(!printed.contains("```") && !printed.contains('\u{1b}'), "{printed}");
        let document: serde_json::Value =
            serde_json::from_str(&sandbox.ok(&format!("--format json help {name}"))).unwrap();
        assert_eq!(document["guide"], name);
        let title = document["title"].as_str().unwrap();
        assert_eq!(printed.lines().next(), Some(title.to_uppercase().as_str()));
        assert!(document["text"].as_str().unwrap().starts_with(&format!("# {title}\n")));
        let completed =
            sandbox.command(["--", "turnfold", "help", &name[..2]]).env("TURNFOLD_COMPLETE", "fish").output();
        let completed = String::from_utf8(completed.unwrap().stdout).unwrap();
        assert!(completed.lines().any(|line| line.starts_with(name)), "{name}: {completed}");
    }
}

/// No guide has the name of a verb, so the help of a verb is unchanged. A build without a feature refuses its verbs and
/// URLs in one line that names the feature.
#[cfg(not(all(feature = "postgres", feature = "stepper")))]
#[test]
fn a_part_that_was_left_out_is_named() {
    let sandbox = Sandbox::new();
    sandbox.ok("new duel --rules initiative");
    let url = "postgres://ann@localhost/games";
    let lines = [
        (cfg!(feature = "postgres"), "postgres", format!("--store {url} show duel")),
        (cfg!(feature = "postgres"), "postgres", format!("store upgrade {url}")),
        (cfg!(feature = "postgres"), "postgres", format!("store spread {url}")),
        (cfg!(feature = "postgres"), "postgres", format!("store restore matches.tfb {url}")),
    ];
    for (_, feature, line) in lines.iter().filter(|(is_built, ..)| !is_built) {
        let output = sandbox.run(line);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), stderr.lines().count()), (Some(2), 1), "{line}: {stderr}");
        let named = format!("this build was made without its feature `{feature}`");
        assert!(stderr.contains(&named), "{line}: {stderr}");
    }
    // Without a terminal there is no stepper, and the boards are printed.
    sandbox.ok("replay duel --step");
}

#[test]
fn help_of_a_verb_is_no_guide() {
    let sandbox = Sandbox::new();
    for verb in ["play", "audit", "log", "store check"] {
        assert_eq!(sandbox.ok(&format!("help {verb}")), sandbox.ok(&format!("{verb} --help")));
    }
    assert_eq!(sandbox.ok("store help check"), sandbox.ok("store check --help"));
    let unknown = sandbox.run("help nonsense");
    assert_eq!(unknown.status.code(), Some(2));
}
