//! Play by mail.

mod form;
mod properties;
mod siege;
mod turns;
