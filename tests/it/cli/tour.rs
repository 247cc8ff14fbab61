//! `turnfold tour`.

use crate::sandbox::Sandbox;

#[test]
fn the_tour_shows_every_verb_it_promises() {
    let sandbox = Sandbox::new();
    let tour = sandbox.ok("tour");
    for verb in ["new", "play", "show", "ask", "branch", "diff", "export", "bless", "check", "import", "verify"] {
        assert!(tour.contains(&format!("$ turnfold {verb} ")), "{verb}:\n{tour}");
    }
    assert!(!sandbox.path(".turnfold").exists(), "the tour leaves nothing behind");
}
