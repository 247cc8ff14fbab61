//! The ruleset `initiative` as a module.

turnfold_guest::export!(turnfold_games::initiative::Initiative);
