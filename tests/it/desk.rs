//! The ruling of `desk`, rule by rule, through the public API: scenes of signed papers, which are its golden logs too.

use turnfold_core::Seat;

mod api;
mod goldens;
mod papers;
mod scene;
mod scenes;
mod secrecy;
mod setups;
mod turns;

use scene::Scene;

/// Every scene: a golden log has its name.
fn scenes() -> Vec<Scene> {
    [papers::scenes(), turns::scenes(), scenes::scenes()].concat()
}

fn seat(word: &str) -> Seat {
    word.parse().unwrap()
}
