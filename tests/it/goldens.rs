//! The golden logs in `replays/` are blessed and pass `check`.

use std::fs;

use turnfold_games::rulesets;

use turnfold_tests::goldens::replays_of;
use turnfold_tests::sandbox::Sandbox;

#[test]
fn every_golden_log_checks_and_is_blessed() {
    let sandbox = Sandbox::new();
    for rules in rulesets() {
        let files = replays_of(rules.name());
        assert!(!files.is_empty(), "`{}` has no replays", rules.name());
        let names = files.iter().map(|file| {
            let name = file.file_name().unwrap().to_str().unwrap();
            sandbox.write(name, fs::read(file).unwrap());
            name
        });
        let names = names.collect::<Vec<_>>().join(" ");
        sandbox.ok(&format!("check {names}"));
        let blessed = sandbox.ok(&format!("bless {names}"));
        assert_eq!(blessed, format!("{} files unchanged\n", files.len()));
    }
}
