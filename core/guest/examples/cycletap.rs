//! The ruleset `cycletap` as a module.

turnfold_guest::export!(turnfold_games::cycletap::Cycletap);
