//! An audit as on another machine: another user, another home, no store, no network, and the clock at 1970.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

use super::world::duel;
use turnfold_tests::parts::skipped;
use turnfold_tests::sandbox::{Sandbox, binary, words};

/// The programs under which a command is run, each if it is installed and permitted.
const ELSEWHERE: [(&str, &[&str]); 3] = [
    ("another network", &["unshare", "--net"]),
    ("another user", &["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]),
    ("another time", &["faketime", "-f", "1970-01-01 00:00:00"]), // Debian: `faketime`
];

/// A folder that every user can access, with a copy of the binary.
struct Elsewhere {
    sandbox: Sandbox,
    under: Vec<&'static str>,
    has_another_time: bool,
}

impl Elsewhere {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        fs::copy(binary(), sandbox.path("turnfold")).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            for name in [".", "turnfold"] {
                fs::set_permissions(sandbox.path(name), fs::Permissions::from_mode(0o777)).unwrap();
            }
        }
        let mut elsewhere = Self { sandbox, under: Vec::new(), has_another_time: false };
        for (what, prefix) in ELSEWHERE {
            let before = elsewhere.under.len();
            elsewhere.under.extend(prefix);
            let works = elsewhere.command("true", &[]).output().is_ok_and(|output| output.status.success());
            if works {
                elsewhere.has_another_time |= prefix[0] == "faketime";
            } else {
                elsewhere.under.truncate(before);
                skipped(what, format_args!("`{}` is not here or may not do it", prefix[0]));
            }
        }
        elsewhere
    }

    fn command(&self, program: &str, args: &[String]) -> Command {
        let mut line = self.under.iter().copied().chain([program]).map(PathBuf::from);
        let mut command = Command::new(line.next().unwrap());
        command.args(line).args(args).current_dir(self.sandbox.path(".")).env_clear();
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", "/nonexistent");
        command.env("TZ", "UTC").env("LANG", "C");
        command
    }

    fn run(&self, line: &str) -> Output {
        self.command("./turnfold", &words(line)).output().unwrap()
    }

    fn ok(&self, line: &str) -> String {
        let output = self.run(line);
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

#[test]
fn an_audit_reports_the_same_to_another_user_in_another_time() {
    let here = duel();
    here.ok("checkpoint sign duel:2 --key ann.key -o kept");
    here.ok("bundle duel --key ann.key -o duel.bundle");
    // A missing branch must also be reported in the same words.
    here.ok("new dusk --rules initiative");
    here.ok("checkpoint sign dusk --key ann.key -o gone");
    let there = Elsewhere::new();
    for name in ["duel.bundle", "policy", "kept", "gone"] {
        there.sandbox.write(name, here.read(name));
    }
    // The clock is at 1970, as a command that reads it shows.
    if there.has_another_time {
        there.ok("--store later new dusk --rules initiative");
        let found: Value = serde_json::from_str(&there.ok("--store later --format json matches")).unwrap();
        assert_eq!(found["created_at_ms"], 0, "{found}");
    }
    let honest =
        "audit duel.bundle --policy policy --held kept --require bytes,chain,signature,consistency,rules";
    let refused = "audit duel.bundle --policy policy --held gone --held kept";
    for (line, code) in [(honest, 0), (refused, 1)] {
        for line in [line.to_owned(), format!("--format json {line}")] {
            let (ours, theirs) = (here.run(&line), there.run(&line));
            let stderr = String::from_utf8_lossy(&theirs.stderr);
            assert_eq!((ours.status.code(), theirs.status.code()), (Some(code), Some(code)), "{stderr}");
            assert_eq!(String::from_utf8(ours.stdout), String::from_utf8(theirs.stdout));
        }
    }
    assert_eq!(here.ok(honest).lines().count(), 9);
    assert!(!there.sandbox.path(".turnfold").exists(), "an audit makes no store");
}
