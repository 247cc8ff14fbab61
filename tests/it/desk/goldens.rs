//! The golden logs of the desk are its scenes. `SNAPSHOTS=overwrite` and then `turnfold bless` rewrite them.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::{env, fs};

use super::scene::Scene;
use super::scenes;
use turnfold_tests::goldens::goldens;
use turnfold_tests::sandbox::workspace;

#[test]
fn every_scene_comes_out_as_written() {
    for scene in scenes() {
        scene.play();
    }
}

/// Returns the text of a replay file that is not blessed yet.
fn unblessed(scene: &Scene) -> String {
    let setup = scene.toml();
    let mut text = format!(
        "turnfold replay 2\n+++\nruleset = \"desk\"\nversion = 1\ndice = \"recorded\"\ntitle = \"{}\"\n[setup]\n{setup}+++\n",
        scene.title
    );
    let mut seq = 0;
    for given in scene.given() {
        let (seat, command) = (given.seat, &given.command);
        if let Some(code) = given.expected.strip_prefix("rejected ") {
            writeln!(text, "! {seat} {command} => rejected {code}").unwrap();
        } else {
            seq += 1;
            writeln!(text, "{seq} {seat} {command}").unwrap();
        }
    }
    text
}

/// Returns the commands of a replay file, including rejected ones.
fn commands(text: &str) -> Vec<&str> {
    let body = text.split("+++\n").nth(2).unwrap();
    let lines = body.lines().filter(|line| !line.starts_with(['=', '#']));
    lines.map(|line| line.split(" => ").next().unwrap()).collect()
}

#[test]
fn the_golden_logs_are_the_scenes() {
    let folder = workspace().join("replays/desk");
    let mut names = BTreeSet::new();
    for scene in scenes() {
        let path = folder.join(scene.name).with_extension("tfl");
        let expected = unblessed(&scene);
        let found = fs::read_to_string(&path).unwrap_or_default();
        let is_same = !found.is_empty() && commands(&found) == commands(&expected);
        if !is_same && env::var("SNAPSHOTS").is_ok_and(|how| how == "overwrite") {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&path, &expected).unwrap();
        } else {
            assert!(is_same, "{} is not its scene", path.display());
        }
        assert!(names.insert(path), "two scenes are called {}", scene.name);
    }
    let found: BTreeSet<_> = goldens().into_iter().filter(|path| path.starts_with(&folder)).collect();
    assert_eq!(found, names, "no golden log without its scene");
}
