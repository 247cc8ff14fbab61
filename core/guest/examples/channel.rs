//! The ruleset `channel` as a module.

turnfold_guest::export!(turnfold_games::channel::Channel);
