//! `turnfold tour`.

use crate::sandbox::Sandbox;

#[test]
fn the_tour_shows_every_verb_it_promises() {
    let sandbox = Sandbox::new();
    let tour = sandbox.ok("tour");
    for verb in
        ["new", "play", "show", "ask", "branch", "diff", "export", "bless", "check", "import", "verify"]
    {
        let shown = tour
            .lines()
            .any(|line| line.starts_with("$ turnfold ") && line.split(' ').any(|word| word == verb));
        assert!(shown, "{verb}:\n{tour}");
    }
    assert!(!sandbox.path(".turnfold").exists(), "the tour leaves nothing behind");
}
