//! Play by mail.

mod form;
mod letters;
mod post;
mod properties;
mod siege;
mod turns;
mod whole_games;
