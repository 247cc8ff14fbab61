//! The desk's times: seconds of UTC, written `2026-12-01T18:00:00Z`.

use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};

use crate::text::Malformed;

const DAY: u64 = 24 * 60 * 60;
/// The days of 400 years.
const ERA: u64 = 146_097;
/// The days from 0000-03-01 to 1970-01-01.
const BEFORE_1970: u64 = 719_468;

/// A time from 1970 to 9999, to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "u64")]
pub struct DeskTime(u64);

impl DeskTime {
    /// 9999-12-31T23:59:59Z.
    pub const MAX: Self = Self(253_402_300_799);

    /// Returns the time `seconds` after 1970-01-01T00:00:00Z; `None` after the year 9999.
    #[must_use]
    pub fn of_unix_seconds(seconds: u64) -> Option<Self> {
        if seconds <= Self::MAX.0 { Some(Self(seconds)) } else { None }
    }

    /// Returns the second of a time in Unix milliseconds; `None` before 1970 and after the year 9999.
    #[must_use]
    pub fn of_unix_ms(time_ms: i64) -> Option<Self> {
        Self::of_unix_seconds(u64::try_from(time_ms / 1000).ok()?)
    }

    /// Returns the seconds since 1970-01-01T00:00:00Z.
    #[must_use]
    pub const fn unix_seconds(self) -> u64 {
        self.0
    }

    /// Returns the time `hours` later, at most [`DeskTime::MAX`].
    #[must_use]
    pub fn after_hours(self, hours: u16) -> Self {
        Self((self.0 + u64::from(hours) * 3600).min(Self::MAX.0))
    }

    /// Returns year, month and day.
    fn date(self) -> (u64, u64, u64) {
        // Years that begin in March have their leap day at their end.
        let days = self.0 / DAY + BEFORE_1970;
        let era = days / ERA;
        let day_of_era = days % ERA;
        let leap_days = day_of_era / 1460 + day_of_era / (ERA - 1) - day_of_era / 36_524;
        let year_of_era = (day_of_era - leap_days) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        (era * 400 + year_of_era + u64::from(month <= 2), month, day)
    }

    /// Returns the midnight of a day. A day after the end of a shorter month is one of the next month.
    fn midnight(year: u64, month: u64, day: u64) -> Option<Self> {
        if year < 1970 || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
            return None;
        }
        let year = year - u64::from(month <= 2);
        let era = year / 400;
        let year_of_era = year % 400;
        let month_from_march = (month + 9) % 12;
        let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
        let days = era * ERA + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        Self::of_unix_seconds((days - BEFORE_1970) * DAY)
    }
}

impl fmt::Display for DeskTime {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.date();
        let seconds = self.0 % DAY;
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        write!(out, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

impl FromStr for DeskTime {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let expected = || Malformed::expected("a time such as `2026-12-01T18:00:00Z`", text);
        let shape = text.bytes().map(|byte| if byte.is_ascii_digit() { b'0' } else { byte });
        if !shape.eq(*b"0000-00-00T00:00:00Z") {
            return Err(expected());
        }
        let part =
            |range| text.get(range).and_then(|digits: &str| digits.parse::<u64>().ok()).ok_or_else(expected);
        let date = (part(0..4)?, part(5..7)?, part(8..10)?);
        let hour = part(11..13)?;
        let minute = part(14..16)?;
        let second = part(17..19)?;
        let midnight = Self::midnight(date.0, date.1, date.2).ok_or_else(expected)?;
        // The 30th of February has a midnight, too, but on another date.
        if midnight.date() != date || hour >= 24 || minute >= 60 || second >= 60 {
            return Err(expected());
        }
        Ok(Self(midnight.0 + hour * 3600 + minute * 60 + second))
    }
}

impl TryFrom<u64> for DeskTime {
    type Error = Malformed;

    fn try_from(seconds: u64) -> Result<Self, Malformed> {
        Self::of_unix_seconds(seconds).ok_or_else(|| Malformed("expected a time up to the year 9999".into()))
    }
}

/// Writes the time into text formats such as JSON, which are not read back, and the seconds into the log.
impl Serialize for DeskTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            self.0.serialize(serializer)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn check(seconds: u64, text: &str) {
        let time = DeskTime::of_unix_seconds(seconds).unwrap();
        assert_eq!(time.to_string(), text);
        assert_eq!(text.parse(), Ok(time));
    }

    #[test]
    fn times_are_those_of_the_calendar() {
        check(0, "1970-01-01T00:00:00Z");
        check(951_782_399, "2000-02-28T23:59:59Z");
        check(951_782_400, "2000-02-29T00:00:00Z");
        check(951_868_800, "2000-03-01T00:00:00Z");
        check(1_796_148_000, "2026-12-01T18:00:00Z");
        check(4_107_542_400, "2100-03-01T00:00:00Z");
        check(253_402_300_799, "9999-12-31T23:59:59Z");
    }

    #[test]
    fn every_day_reads_back() {
        for day in (0..2_932_897).step_by(7) {
            let time = DeskTime::of_unix_seconds(day * DAY).unwrap();
            assert_eq!(time.to_string().parse(), Ok(time), "{time}");
        }
    }

    #[test]
    fn other_text_is_no_time() {
        for text in [
            "",
            "2026-12-01",
            "2026-12-01 18:00:00Z",
            "2026-12-01T18:00:00",
            "2026-12-01t18:00:00z",
            "2026-12-01T18:00:00.0Z",
            "2026-12-01T18:00:00+00:00",
            "2026-02-29T00:00:00Z",
            "2100-02-29T00:00:00Z",
            "2026-04-31T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-01-00T00:00:00Z",
            "2026-12-01T24:00:00Z",
            "2026-12-01T18:60:00Z",
            "2026-12-01T18:00:60Z",
            "1969-12-31T23:59:59Z",
            "0000-01-01T00:00:00Z",
            "10000-01-01T00:00:00Z",
        ] {
            assert!(text.parse::<DeskTime>().is_err(), "{text}");
        }
    }

    #[test]
    fn hours_end_with_the_year_9999() {
        let time: DeskTime = "2026-12-01T18:00:00Z".parse().unwrap();
        assert_eq!(time.after_hours(72).to_string(), "2026-12-04T18:00:00Z");
        assert_eq!(DeskTime::MAX.after_hours(1), DeskTime::MAX);
        assert_eq!(DeskTime::of_unix_seconds(253_402_300_800), None);
    }
}
