//! A setup that players see in another spelling conceals nothing, so its game can be played by mail.

use turnfold_tests::mailbox::opened;
use turnfold_tests::sandbox::Sandbox;

/// The game `heaps` of `src/toys` shows its heaps in sorted order; the setup has another order.
#[test]
fn a_setup_that_is_shown_in_another_spelling_goes_by_mail() {
    let sandbox = Sandbox::of_toys();
    sandbox.write("heaps.toml", "heaps = [5, 4, 7]\n");
    sandbox.write("desk.toml", "hosted = []\n");
    sandbox.ok("1 key new host.key --name host.example");
    sandbox.ok("1 new table --rules heaps --setup heaps.toml");
    let [all, seen] = ["", " --as p1"].map(|option| sandbox.ok(&format!("1 export table{option}")));
    assert!(all.contains("heaps = [5, 4, 7]") && seen.contains("heaps = [4, 5, 7]"), "{all}{seen}");
    sandbox.ok("1 mail open duel --rules heaps --setup heaps.toml --desk desk.toml --key host.key");
    for seat in ["p1", "p2"] {
        let letter = sandbox.read(&format!(".turnfold/outbox/00000001-{seat}.eml"));
        let (_, bundle) = opened(&letter);
        sandbox.write("letter.bundle", bundle);
        let audit = sandbox.ok("1 audit letter.bundle");
        for row in ["bytes", "chain", "rules"] {
            assert!(audit.contains(&format!("{row:12} PASS")), "{seat}: {audit}");
        }
    }
    sandbox.ok("1 mail status duel");
}
