//! The ruleset `cycletap` as a module.

turnfold_guest::export!(turnfold_core::rules::cycletap::Cycletap);
