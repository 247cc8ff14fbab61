//! Play by mail.

mod form;
mod letters;
mod properties;
mod siege;
mod turns;
