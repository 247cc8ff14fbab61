//! The rulings of `desk`: scenes of signed papers, which are also its golden logs, and tests of what no scene can show.

use std::fs;

use turnfold_core::Seat;

mod api;
mod goldens;
mod scene;
mod secrecy;
mod setups;

use scene::Scene;

use turnfold_tests::sandbox::workspace;

/// Returns every scene of `tests/rulings/desk/`. Its golden log has the same name.
fn scenes() -> Vec<Scene> {
    let folder = fs::read_dir(workspace().join("tests/rulings/desk")).unwrap();
    let mut paths: Vec<_> = folder.map(|file| file.unwrap().path()).collect();
    paths.sort();
    let scenes = |path| Scene::read_all(fs::read_to_string(path).unwrap().leak());
    paths.into_iter().flat_map(scenes).collect()
}

fn seat(word: &str) -> Seat {
    word.parse().unwrap()
}
