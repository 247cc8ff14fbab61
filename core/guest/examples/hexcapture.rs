//! The ruleset `hexcapture` as a module.

turnfold_guest::export!(turnfold_games::hexcapture::Hexcapture);
