//! Setups of a desk: the error for an invalid value names the field (PM-3).

use super::scene::Scene;

/// Starts a desk with these additional keys, and returns the reason if it is refused.
fn refused(setup: &'static str) -> Option<String> {
    let toml = Scene { name: "", title: "", setup, script: "" }.toml();
    start(&toml)
}

fn start(toml: &str) -> Option<String> {
    let rules = turnfold_games::find("desk").unwrap();
    rules.read_setup(toml).and_then(|setup| rules.start(&setup)).err().map(|error| error.to_string())
}

#[test]
fn pm_3_what_a_setup_may_contain() {
    for setup in [
        "",
        "seats = 1",
        "seats = 16\nhosted = [\"p16\", \"p1\"]",
        "hours = 1",
        "hours = 8760",
        "default = []",
        "patience = 0",
        "secret = \"no\"\nmissed = \"wait\"\nspectators = 9",
    ] {
        assert_eq!(refused(setup), None, "{setup}");
    }
    for (setup, field) in [
        ("seats = 0", "seats"),
        ("seats = 17", "seats"),
        ("hours = 0", "hours"),
        ("hours = 8761", "hours"),
        ("hosted = [\"p3\"]", "hosted[0]"),
        ("hosted = [\"p1\", \"host\"]", "hosted[1]"),
        ("hosted = [\"p1\", \"p1\"]", "hosted[1]"),
        ("default = [\"\"]", "default[0]"),
        ("between = [\"resolve\", \"a\\nb\"]", "between[1]"),
        ("head = \"00\"", "head"),
        ("secret = \"never\"", "turn"),
        ("missed = \"never\"", "wait"),
        ("hour = 3", "hours"),
    ] {
        let message = refused(setup).unwrap_or_else(|| panic!("{setup} is accepted"));
        assert!(message.contains(field), "{setup}: {message}");
    }
    let whole = Scene { name: "", title: "", setup: "", script: "" }.toml();
    let default = format!("default = [{}]", "\"stand\", ".repeat(21));
    assert!(start(&format!("{whole}{default}")).unwrap().contains("default"));
    for (key, other) in [("match", "\"00\""), ("game", "\"zz\""), ("host", "\"ann\"")] {
        let lines = whole.lines().map(|line| match line.split_once(" = ") {
            Some((found, _)) if found == key => format!("{key} = {other}\n"),
            _ => format!("{line}\n"),
        });
        let message = start(&lines.collect::<String>()).unwrap();
        assert!(message.contains(key), "{message}");
    }
}
