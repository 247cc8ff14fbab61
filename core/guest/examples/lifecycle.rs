//! The ruleset `lifecycle` as a module.

turnfold_guest::export!(turnfold_games::lifecycle::Lifecycle);
