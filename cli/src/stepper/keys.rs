//! What is said of the keys (VW-7), and how fast a history plays by itself.

use std::time::Duration;

/// Entries a second, and how long each is shown, while the history plays by itself (VW-7).
pub(super) const BEATS: [(u16, Duration); 5] = [
    (1, Duration::from_secs(1)),
    (2, Duration::from_millis(500)),
    (4, Duration::from_millis(250)),
    (8, Duration::from_millis(125)),
    (16, Duration::from_micros(62_500)),
];

/// What the help says.
pub(super) const HELP: &[(&str, &str)] = &[
    ("→ l Enter   ← h", "one entry on · back"),
    ("PgDn   PgUp", "ten entries on · back"),
    ("End G   Home g", "last entry · setup"),
    (": N Enter", "go to entry N"),
    ("/ TEXT Enter", "search command and outcome; n next, N previous"),
    ("w CONDITION Enter", "first entry from here that makes it true"),
    ("↑ ↓   ] [", "choose a changed field · its next, previous change"),
    ("s   v", "next seat's seat · view as JSON instead of board"),
    ("Space   + -", "play by itself · faster, slower"),
    ("H J K L", "move the board or the view in its panel"),
    ("b   y", "branches of the match · print the revision on leaving"),
    ("?   q Ctrl-C", "these keys · leave"),
];

/// What the last line says.
pub(super) const LINE: &str =
    "← → step  : go to  / search  w when  [ ] field  s seat  v view  ? keys  q leave";
