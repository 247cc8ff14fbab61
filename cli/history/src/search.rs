//! Searches a history: for an entry, for the smallest log that still shows something, or step by step.

pub mod bisect;
pub mod blame;
pub mod condition;
pub mod find;
pub mod path;
pub mod shrink;
pub mod stepper;
