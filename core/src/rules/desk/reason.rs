//! Why a paper or command changes nothing or is not recorded (PM-9).

use crate::outcome::{Ruling, reasons};

reasons! {
    /// Why a paper is ignored: it is authentic, recorded as evidence, and changes nothing.
    pub enum Reason {
        /// PM-10: the seat has left the match.
        Gone = Ruling::of("gone", &["PM-10"]).says("the seat has left the match"),
        /// PM-10: a paper with this number or a higher one already counted.
        Outdated = Ruling::of("outdated", &["PM-10"]).says("a newer paper of this seat counts"),
        /// PM-15, PM-16, PM-20, PM-42: the turn is over.
        Late = Ruling::of("late", &["PM-15", "PM-16", "PM-20", "PM-42"]).says("the turn is over"),
        /// PM-15, PM-16: the paper names another history of the game.
        StaleLink = Ruling::of("stale_link", &["PM-15", "PM-16"]).says("the paper names another history"),
        /// PM-11, PM-15: the element of fair dice is not the seat's for this turn, is missing, or there are no such dice.
        WrongDice = Ruling::of("wrong_dice", &["PM-11", "PM-15"]).says("the element is not the one of this turn"),
        /// PM-15, PM-16: the seat is not asked, or not any more.
        NotDue = Ruling::of("not_due", &["PM-15", "PM-16"]).says("the seat is not asked for this"),
        /// PM-16: the seat must send a seal before its order.
        SealFirst = Ruling::of("seal_first", &["PM-16"]).says("the seat must seal its order first"),
        /// PM-16: the seal names another order.
        NotAsSealed = Ruling::of("not_as_sealed", &["PM-16"]).says("the seat sealed another order"),
        /// PM-11, PM-20, PM-22, PM-60: a seat or the host has or had the name or the key.
        KeyInUse = Ruling::of("key_in_use", &["PM-11", "PM-20", "PM-22", "PM-60"]).says("the name or key is or was in use"),
        /// PM-20: no open offer that this seat may answer has this digest.
        NoSuchOffer = Ruling::of("no_such_offer", &["PM-20"]).says("no such offer is open"),
        /// PM-20: no earlier turn began there.
        NoSuchStand = Ruling::of("no_such_stand", &["PM-20"]).says("no earlier turn began there"),
        /// PM-20, PM-21, PM-39: the time is not later.
        NotLater = Ruling::of("not_later", &["PM-20", "PM-21", "PM-39"]).says("the time is not later"),
        /// PM-39: the seat would be absent for more days than the terms allow.
        TooLong = Ruling::of("too_long", &["PM-39"]).says("the terms allow no absence that long"),
        /// PM-20, PM-21, PM-41, PM-60: the match has no such seat.
        NoSuchSeat = Ruling::of("no_such_seat", &["PM-20", "PM-21", "PM-41", "PM-60"]).says("the match has no such seat"),
    }
}

reasons! {
    /// Why a paper or command is not recorded, besides the reasons that all rulesets share.
    pub enum Rejection {
        /// PM-8, PM-60: the phase takes other commands.
        WrongPhase = Ruling::of("wrong_phase", &["PM-8", "PM-60"]).says("the phase takes other commands"),
        /// PM-10: the paper is for another match.
        OtherMatch = Ruling::of("other_match", &["PM-10"]).says("the paper is for another match"),
        /// PM-10: the signature is not one of this paper by the seat's key.
        BadSignature = Ruling::of("bad_signature", &["PM-10"]).says("the seat's key did not sign this paper"),
        /// PM-10, PM-15, PM-16, PM-20: the paper may be taken later.
        NotYet = Ruling::of("not_yet", &["PM-10", "PM-15", "PM-16", "PM-20"]).says("it may be taken later"),
        /// PM-11, PM-13: the seat is taken, gone or not in the match.
        NotAsked = Ruling::of("not_asked", &["PM-11", "PM-13"]).says("the seat is taken, gone or not in the match"),
        /// PM-11, PM-20, PM-22, PM-60: a seat or the host has or had the name or the key.
        KeyInUse = Ruling::of("key_in_use", &["PM-11", "PM-20", "PM-22", "PM-60"]).says("the name or key is or was in use"),
        /// PM-11: a seat that the host plays is still free.
        HostedFirst = Ruling::of("hosted_first", &["PM-11"]).says("the seats that the host plays join first"),
        /// PM-12: the clock would not move forward.
        ClockBack = Ruling::of("clock_back", &["PM-12"]).says("the clock only moves forward"),
        /// PM-13: the turn is not ready, or has an order that is not settled.
        Unsettled = Ruling::of("unsettled", &["PM-13"]).says("the turn is not settled"),
        /// PM-13: no clock was given yet.
        NoClock = Ruling::of("no_clock", &["PM-13"]).says("a clock comes before the first stand"),
        /// PM-13: the branch differs or the entry is earlier, without a takeback.
        LineChange = Ruling::of("line_change", &["PM-13"]).says("the game stands on another branch or entry"),
        /// PM-16: another seat has to seal first; the order can be taken afterwards.
        WaitForSeals = Ruling::of("wait_for_seals", &["PM-16"]).says("another seat has to seal first"),
        /// PM-19: it is not the order to settle next, or has fewer commands.
        UnknownOrder = Ruling::of("unknown_order", &["PM-19"]).says("this is not the order to be settled next"),
        /// PM-8: the roll does not have the next number, or the element is not the host's for it.
        WrongRoll = Ruling::of("wrong_roll", &["PM-8"]).says("this is not the next roll of the host's chain"),
        /// PM-38, PM-39, PM-41, PM-42, PM-60, PM-83: the terms of play do not allow it.
        NotInTerms = Ruling::of("not_in_terms", &["PM-38", "PM-39", "PM-41", "PM-42", "PM-60", "PM-83"]).says("the terms do not allow it"),
        /// PM-40: no reminder of these hours is due.
        NoReminder = Ruling::of("no_reminder", &["PM-40"]).says("no reminder of these hours is due"),
        /// PM-8, PM-15: fair dice have no turn or roll with such a high number.
        DiceExhausted = Ruling::of("dice_exhausted", &["PM-8", "PM-15"]).says("the dice chain is at its end"),
    }
}
