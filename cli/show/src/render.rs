//! The output of verbs, as values: lines of text, and documents that [`json_line`](turnfold_history::text::json_line) writes as
//! one line.
//!
//! Other failures are a [`ReplayError`](turnfold_history::ReplayError) or a `QueryError`, whose `Display` is the message.
//!
//! The command line and the service share this module, so that they print the same. The command line colors the lines on a
//! terminal and folds them to its width. Without a terminal a verb prints exactly the `Display` of each line and a line break;
//! [`text`](text()) joins lines like that.
//!
//! | verb | text | JSON |
//! | --- | --- | --- |
//! | `play` | [`record`] of each entry; where there is none, [`NothingPlayed::line`] | the [`Record`](turnfold_history::Record)s; [`NothingPlayed`] |
//! | `play`, rejected | [`record`] of the command; the error is a [`NotPlayed`](turnfold_history::session::NotPlayed) | its `Record` |
//! | `play --once`, again | the same for the records of the [`RepeatedCall`](turnfold_history::session::RepeatedCall) | |
//! | `play --expect` | the error is a [`NotPlayed`](turnfold_history::session::NotPlayed) | |
//! | `log` | [`logged`] | [`LoggedRecord`](turnfold_history::LoggedRecord) |
//! | `show` | [`picture`], then [`standing`](standing()) | [`Viewer::view_json`](turnfold_history::Viewer::view_json) |
//! | `legal` | [`LegalCommand::line`] of each of [`legal_commands`] | [`LegalCommand`] |
//! | `ask` | [`answer`] | the `json` of the [`Answer`](turnfold_core::Answer) |
//! | `diff` | [`diff::lines`] | [`diff::DiffDocument`] |
//! | `diff --stat` | [`diff::stat_lines`] | [`DiffStat`](turnfold_history::compare::DiffStat) |
//! | `matches` | [`match_list::lines`] | [`ListedMatch`] |
//! | `branch MATCH` | [`branches::lines`] | [`ListedBranch`] |
//!
//! ```
//! use turnfold_core::{DicePolicy, Registry};
//! use turnfold_history::session::{NotPlayed, Roller, ScriptCommand, Session};
//! use turnfold_history::text::json_line;
//! use turnfold_history::{Detail, Viewer};
//! use turnfold_show::render::{self, LegalCommand, legal_commands};
//!
//! let registry = turnfold_games::standard();
//! let rules = registry.find("initiative").expect("it is one of ours");
//! let state = rules.start(&rules.read_setup("radius = 2")?)?;
//! let mut session =
//!     Session::new(state, DicePolicy::Recorded, Roller::Absent, 1, Detail::new(Viewer::HOST));
//!
//! // What `play` prints, as text and as JSON.
//! let mut records = Vec::new();
//! session.submit(&ScriptCommand::parse("host: roll 1 2 3 4"), None, &mut records)?.expect("it is accepted");
//! let printed = render::text(records.iter().map(render::record));
//! assert!(printed.starts_with("1 host roll 1 2 3 4 => rolled p1=3 p2=7; ") && printed.ends_with('\n'));
//! assert!(json_line(&records[0])?.starts_with(r#"{"seq":1,"seat":"host","command":"roll 1 2 3 4","#));
//!
//! // What it prints when a command is rejected.
//! let jump = ScriptCommand::parse("p1: jump");
//! let rejected = session.submit(&jump, None, &mut records)?.expect_err("there is no such command");
//! assert!(render::rejection(&rejected, None).to_string().starts_with("! p1 jump => rejected malformed ("));
//! let reason = NotPlayed::rejected(&rejected, 1, &*rules);
//! assert_eq!(reason.to_string(), "the command was rejected; nothing was recorded");
//!
//! // What `legal` prints.
//! let legal = legal_commands(None, Viewer::HOST, session.state.as_ref());
//! let printed = render::text(legal.iter().map(LegalCommand::line));
//! assert_eq!(printed, "host: next-turn\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod branches;
pub mod diff;
pub mod entries;
pub mod match_list;
pub mod position;

use std::fmt::{Display, Write as _};

pub use branches::{Fork, ListedBranch};
pub use entries::{NothingPlayed, logged, record, recorded_mark, rejected_line, rejection};
pub use match_list::{ListedMatch, OriginDocument, WhoseTurn};
pub use position::{LegalCommand, answer, legal_commands, picture, standing};

/// Joins lines, such as [`Line`](turnfold_history::text::Line)s, each with its line break, as a verb prints them.
#[must_use]
pub fn text(lines: impl IntoIterator<Item = impl Display>) -> String {
    let mut text = String::new();
    for line in lines {
        writeln!(text, "{line}").expect("writing to a string cannot fail");
    }
    text
}
