//! What the audit proves of play by mail (PM-32, PM-33, FD-19): the game's log held against that of its desk.

mod authorship;
mod dice;
mod judge;
mod kept;
mod logs;
mod rows;
mod seen;
mod segment;
mod stands;
mod turns;

pub use dice::FairRoll;
pub(super) use logs::MailLogs;
pub(super) use rows::MailRows;
