//! Setups that come with a game, selected by name.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;
use snapbox::str;
use turnfold_games::standard;
use turnfold_tests::sandbox::{Sandbox, workspace};

/// The program contains the files of `fixtures/GAME` unchanged.
#[test]
fn every_setup_of_the_games_comes_with_the_program() {
    let sandbox = Sandbox::installed();
    for rules in standard().iter() {
        let game = rules.name();
        let mut files = BTreeSet::new();
        for file in fs::read_dir(workspace().join("fixtures").join(game)).unwrap() {
            let path = file.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            assert_eq!(
                sandbox.ok(&format!("rules {game} --setup {name}")),
                fs::read_to_string(&path).unwrap()
            );
            files.insert(name);
        }
        let book: Value = serde_json::from_str(&sandbox.ok(&format!("rules {game} --format json"))).unwrap();
        let mut listed = BTreeSet::new();
        for setup in book["setups"].as_array().unwrap() {
            let (name, text) = (setup["name"].as_str().unwrap(), setup["text"].as_str().unwrap());
            assert!(!text.is_empty() && !text.contains('#'), "{name}: {text}");
            listed.insert(name.to_owned());
        }
        assert!(listed.remove("example"), "{game} lists its example");
        assert_eq!(listed, files, "{game}");
    }
}

#[test]
fn a_setup_is_named_wherever_a_file_with_one_is() {
    let sandbox = Sandbox::installed();
    sandbox.ok("key new ann.key --name ann.example");
    sandbox.write("own.toml", sandbox.ok("rules initiative --setup no-units"));
    sandbox.check(str![[r##"
$ turnfold rules cycletap setups
cycletap version 1

SETUPS
  example
      The setup of a match that names none.
  close-quarters
      Radius 2, both sides within reach of each other at once: attacks, defences
      and advances come soon.
  ford
      A river with one ford in the middle. Short paths, a strong defence, and
      units of every kind.
  small-board
      Seven hexes, one of them water, and an officer a side. Small enough to try
      every command at every moment.
  without-officers
      p1 has no officer and no captain: its pool is empty and all it can do is
      defend.
$ turnfold rules initiative --setup no-units
# Nobody has units: a decisive roll leads straight to the end of the turn.
radius = 1
$ turnfold rules initiative --setup no-units --format json
{"ruleset":"initiative","version":1,"setup":"no-units","toml":"# Nobody has units: a decisive roll leads straight to the end of the turn.\nradius = 1\n"}
$ turnfold new named --rules initiative --setup no-units
created match named in `.turnfold` (initiative version 1, recorded dice) #1003444186ac4428
a roll is due: 4 values in 1..=6 for initiative; record it with `turnfold play named "roll …"`
$ turnfold new filed --rules initiative --setup own.toml
created match filed in `.turnfold` (initiative version 1, recorded dice) #1003444186ac4428
a roll is due: 4 values in 1..=6 for initiative; record it with `turnfold play filed "roll …"`
$ turnfold game perft --rules cycletap --setup small-board --depth 1
depth 1 sequences 2 states 2
$ turnfold simulate --rules hexcapture --setup small-world --seed 1 --steps 5 -o game.tfl
played 5 entries at random into `game.tfl` #a8f6d4511ddc32ee
$ turnfold new other --rules initiative --setup no-unit
exit 2| error: no setup `no-unit` comes with `initiative`; did you mean `no-units`? `turnfold rules initiative setups` lists them; a file is given with its ending or folder, as in `./no-unit`
$ turnfold rules initiative --setup ford
exit 2| error: no setup `ford` comes with `initiative`; `turnfold rules initiative setups` lists them; a file is given with its ending or folder, as in `./ford`
$ turnfold new other --rules initiative --setup ./ford
exit 2| error: cannot read setup `./ford`: No such file or directory (os error 2)

"##]]);
    let opened = sandbox.ok("mail open letters --rules cycletap --setup ford --key ann.key");
    assert!(opened.contains("opened letters"), "{opened}");
}
