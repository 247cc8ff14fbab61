//! Play by mail.

mod audit_verb;
mod authorship;
mod bundled;
mod by_files;
mod correspondence;
mod fair_dice;
mod false_desks;
mod forged;
mod games_by_unreliable_mail;
mod killed;
mod letters;
mod mailer_changes;
mod model;
mod post;
mod properties;
mod refusals;
pub(crate) mod reports;
mod rows_of_papers;
mod rows_of_turns;
mod script;
mod secrecy;
mod siege;
mod spelled_setup;
mod takeback_letters;
mod turns;
mod verbs;
mod writing;
