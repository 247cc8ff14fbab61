//! Help, versions, completions and manual pages.

use snapbox::str;

use super::check;
use crate::sandbox::Sandbox;

#[test]
fn help_and_errors_of_usage_have_their_exit_codes() {
    check(
        &Sandbox::new(),
        "--help
         play --help
         --version
         dance
         play
         play duel:x confirm",
        str![[""]],
    );
}

#[test]
fn completions_and_manual_pages_are_made() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(sandbox.ok(&format!("completions {shell}")).contains("turnfold"), "{shell}");
    }
    sandbox.ok("man pages");
    assert!(sandbox.read("pages/turnfold.1").contains("turnfold"));
    assert!(sandbox.read("pages/turnfold-play.1").contains("expect"));
}
