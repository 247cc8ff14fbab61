//! Play by mail.

mod form;
mod letters;
mod post;
mod properties;
mod reports;
mod secrecy;
mod siege;
mod table;
mod turns;
mod whole_games;
