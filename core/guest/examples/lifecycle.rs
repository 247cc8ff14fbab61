//! The ruleset `lifecycle` as a module.

turnfold_guest::export!(turnfold_core::rules::lifecycle::Lifecycle);
