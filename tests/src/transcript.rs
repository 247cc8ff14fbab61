//! Transcripts: commands with what a terminal shows, which are run again and compared.

use std::fmt::Write as _;

use snapbox::assert_data_eq;
use snapbox::data::Data;

use crate::sandbox::{Sandbox, without_links};

impl Sandbox {
    /// Runs the commands of a transcript, and requires a terminal to show the same. To add a command, write it into the
    /// transcript as `$ turnfold …`; `SNAPSHOTS=overwrite` adds its output. A line `...` stands for lines that are
    /// shown elsewhere, such as a board.
    pub fn check(&self, transcript: impl Into<Data>) {
        check(|lines| self.transcript(lines), transcript);
    }

    /// Runs the command in each line, and returns what a terminal would show. Lines of stderr are marked. An exit code
    /// other than 0 is on the last line.
    pub fn transcript(&self, lines: &str) -> String {
        let mut transcript = String::new();
        for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let output = self.run(line);
            writeln!(transcript, "$ turnfold {line}").unwrap();
            transcript.push_str(&String::from_utf8(output.stdout).unwrap());
            let exit = match output.status.code() {
                Some(0) => None,
                Some(code) => Some(format!("exit {code}")),
                None => Some("killed".into()),
            };
            let stderr = String::from_utf8(output.stderr).unwrap();
            let mut marked: Vec<_> = stderr.lines().map(|line| format!("stderr| {line}")).collect();
            match (exit, marked.last_mut()) {
                (Some(exit), Some(last)) => last.replace_range(.."stderr".len(), &exit),
                (exit, _) => marked.extend(exit),
            }
            transcript.extend(marked.iter().map(|line| format!("{line}\n")));
        }
        without_times(&without_rulesets(&without_links(&transcript)))
    }
}

/// Like [`Sandbox::check`], but `run` runs the commands, one on each line, and returns what is shown.
pub fn check(run: impl Fn(&str) -> String, transcript: impl Into<Data>) {
    let transcript = transcript.into();
    let shown = transcript.render().unwrap();
    let lines: Vec<_> = shown.lines().filter_map(|line| line.strip_prefix("$ turnfold ")).collect();
    assert!(!lines.is_empty(), "a transcript has commands");
    let found = shortened(&run(&lines.join("\n")), &shown);
    // Raw, because boards are drawn with backslashes, which are not path separators here.
    assert_data_eq!(found, transcript.raw());
}

/// Removes the lines that `...` stands for in the transcript, but no exit code.
fn shortened(found: &str, transcript: &str) -> String {
    let mut kept = Vec::new();
    let mut found = found.lines();
    let mut shown = transcript.lines().peekable();
    while let Some(line) = shown.next() {
        if line != "..." {
            kept.extend(found.next());
            continue;
        }
        let count = found.clone().skip(1).take_while(|line| Some(line) != shown.peek()).count() + 1;
        let last = found.by_ref().take(count).last();
        kept.push("...");
        kept.extend(last.filter(|line| line.starts_with("exit ")));
    }
    kept.into_iter().chain(found).flat_map(|line| [line, "\n"]).collect()
}

/// Blanks out lists of all rulesets in messages, so that a new game changes no snapshot.
fn without_rulesets(text: &str) -> String {
    let names: Vec<_> =
        turnfold_games::standard().iter().map(|rules| format!("`{}`", rules.name())).collect();
    let names = names.join(", ");
    text.replace(&format!("known: {names}"), "known: [RULESETS]")
        .replace(&format!("({names})"), "([RULESETS])")
}

/// Blanks out times in the form for people.
fn without_times(text: &str) -> String {
    let is_time = |text: &str| {
        text.chars().zip("0000-00-00 00:00:00Z".chars()).all(|(found, pattern)| match pattern {
            '0' => found.is_ascii_digit(),
            other => found == other,
        })
    };
    let mut blanked = String::new();
    let mut rest = text;
    while let Some(place) = rest.find('Z') {
        let (before, after) = rest.split_at(place + 1);
        let time = before.len().checked_sub(20).and_then(|from| before.split_at_checked(from));
        match time.filter(|(_, time)| is_time(time)) {
            Some((before, _)) => blanked.extend([before, "[TIME]"]),
            None => blanked.push_str(before),
        }
        rest = after;
    }
    blanked + rest
}

/// Blanks the times of entries in JSON. A replay file has none, and an import sets them.
pub fn without_recorded_times(text: &str) -> String {
    let mut parts = text.split("\"recorded_at_ms\":");
    let mut blanked = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        blanked.push_str("\"recorded_at_ms\":");
        blanked.push_str(
            part.trim_start_matches(|letter: char| letter.is_ascii_digit() || "nul".contains(letter)),
        );
    }
    blanked
}
