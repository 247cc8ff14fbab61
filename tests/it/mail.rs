//! Play by mail.

mod audit_verb;
mod audited;
mod authorship;
mod bundled;
mod by_files;
mod correspondence;
mod fair_dice;
mod form;
mod killed;
mod letters;
pub(crate) mod mailbox;
mod model;
pub(crate) mod players;
mod post;
mod properties;
mod refusals;
mod reports;
mod rows_of_papers;
mod rows_of_turns;
mod secrecy;
mod seen;
mod siege;
mod table;
mod turns;
mod verbs;
mod whole_games;
mod writing;
