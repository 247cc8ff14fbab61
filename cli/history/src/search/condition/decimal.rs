//! Compares JSON numbers as decimals, exactly and without floats.

use std::cmp::Reverse;

use serde_json::Number;

/// A number. Zero is positive.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Decimal {
    Negative(Reverse<Size>),
    Positive(Size),
}

/// A number without its sign: 0.`digits` times ten to the power of `exponent`. No digits begin or end with a zero, so
/// equal numbers have equal fields, and a larger exponent means a larger number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Size {
    /// The least of all for zero.
    exponent: i64,
    /// ASCII digits; empty for zero.
    digits: Vec<u8>,
}

impl Decimal {
    /// Returns the decimal of a number as it is written. A float in a view is written as the shortest decimal that
    /// means it, on every machine.
    pub(super) fn of(number: &Number) -> Self {
        Self::read(&number.to_string()).expect("JSON writes every number so that it can be read")
    }

    pub(super) fn read(text: &str) -> Option<Self> {
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        let is_negative = unsigned.len() < text.len();
        let mut mantissa = unsigned;
        let mut power = 0;
        if let Some((before, after)) = unsigned.split_once(['e', 'E']) {
            mantissa = before;
            power = after.parse::<i32>().ok()?;
        }
        if mantissa.ends_with('.') {
            return None;
        }
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits = [whole, fraction].concat().into_bytes();
        let is_whole = whole == "0" || !whole.is_empty() && !whole.starts_with('0');
        if !is_whole || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let zeros = digits.iter().take_while(|digit| **digit == b'0').count();
        digits.drain(..zeros);
        while digits.last() == Some(&b'0') {
            digits.pop();
        }
        if digits.is_empty() {
            return Some(Self::Positive(Size { exponent: i64::MIN, digits }));
        }
        let before_point = i64::try_from(whole.len()).ok()? - i64::try_from(zeros).ok()?;
        let size = Size { exponent: before_point + i64::from(power), digits };
        Some(if is_negative { Self::Negative(Reverse(size)) } else { Self::Positive(size) })
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::*;

    #[test]
    fn decimals_are_compared_digit_by_digit() {
        let ascending = [
            "-1e300",
            "-12.5",
            "-12",
            "-0.125",
            "-0.12",
            "-1e-300",
            "0",
            "1e-300",
            "0.099999999999999999",
            "0.1",
            "0.10000000000000000000000001",
            "0.5",
            "1",
            "1.5",
            "9",
            "10",
            "9007199254740993",
            "18446744073709551615",
            "1e20",
            "1.5e20",
        ];
        for (index, less) in ascending.iter().enumerate() {
            for more in &ascending[index + 1..] {
                let (less, more) = (Decimal::read(less).unwrap(), Decimal::read(more).unwrap());
                assert!(less < more, "{less:?} {more:?}");
                assert!(more > less, "{less:?} {more:?}");
            }
        }
    }

    #[test]
    fn the_same_number_may_be_written_in_several_ways() {
        for texts in [["0", "-0.0"], ["1", "1.0"], ["100", "1e2"], ["0.05", "5E-2"], ["12.50", "1.25e+1"]] {
            let [one, other] = texts.map(|text| Decimal::read(text).unwrap());
            assert_eq!((&one, one.cmp(&other)), (&other, Ordering::Equal));
        }
        for text in ["", "-", ".", ".5", "5.", "007", "x", "1x", "1e", "0x1", "1e99999999999"] {
            assert_eq!(Decimal::read(text), None, "{text}");
        }
    }
}
