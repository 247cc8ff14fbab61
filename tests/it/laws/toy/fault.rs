//! What can be wrong with the toy game, by the number that it is made with.

pub(super) const HONEST: u8 = 0;
pub(super) const LISTS_IGNORED: u8 = 1;
pub(super) const LEAVES_OUT_APPLIED: u8 = 2;
pub(super) const LISTS_TWICE: u8 = 3;
pub(super) const WRITES_OTHER_TEXT: u8 = 4;
pub(super) const FORGETS_IN_STATE: u8 = 5;
pub(super) const FORGETS_IN_BYTES: u8 = 6;
pub(super) const SILENT: u8 = 7;
pub(super) const PLAYS_ON_UNROLLED: u8 = 8;
pub(super) const ROLLS_SEVEN: u8 = 9;
pub(super) const LEAKS_IN_VIEW: u8 = 10;
pub(super) const LEAKS_IN_ANSWER: u8 = 11;
pub(super) const EFFECT_FORMS_DIFFER: u8 = 12;
pub(super) const EFFECT_VALUES_DIFFER: u8 = 13;
pub(super) const ADMITS_GUEST: u8 = 14;
pub(super) const HOST_PLAYS: u8 = 15;
pub(super) const COUNTS_VIEWS: u8 = 16;
pub(super) const READS_LOOSELY: u8 = 17;
pub(super) const PANICS_ON_COMMAND: u8 = 18;
pub(super) const PANICS_ON_SETUP: u8 = 19;
pub(super) const LOSES_SETUP: u8 = 20;
pub(super) const JUDGES_WITH_SIDE_EFFECT: u8 = 21;
pub(super) const PLAYS_ON_AFTER_END: u8 = 22;
pub(super) const NAMES_VIEW_TWICE: u8 = 23;
pub(super) const READS_OTHER_VALUE: u8 = 24;
pub(super) const NAMES_EFFECT_APPLIED: u8 = 25;
