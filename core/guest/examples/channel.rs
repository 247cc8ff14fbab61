//! The ruleset `channel` as a module.

turnfold_guest::export!(turnfold_core::rules::channel::Channel);
