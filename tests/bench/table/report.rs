//! The report: tables in Markdown, with ratios and targets next to the results.

use std::fmt;
use std::time::Duration;

/// A table of the report.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) title: &'static str,
    /// The description of the work and of the columns.
    pub(crate) about: String,
    pub(crate) columns: &'static [&'static str],
    pub(crate) rows: Vec<Vec<String>>,
}

impl fmt::Display for Table {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "## {}\n\n{}\n", self.title, self.about)?;
        writeln!(out, "| {} |", self.columns.join(" | "))?;
        writeln!(out, "|{}", " --- |".repeat(self.columns.len()))?;
        self.rows.iter().try_for_each(|row| {
            assert_eq!(row.len(), self.columns.len(), "a row has a cell for each column: {row:?}");
            writeln!(out, "| {} |", row.join(" | "))
        })
    }
}

/// Returns a row of printable values.
#[macro_export]
macro_rules! row {
    ($($cell:expr),* $(,)?) => { vec![$($cell.to_string()),*] };
}

/// A number per second.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) struct Rate(pub(crate) f64);

impl Rate {
    pub(crate) fn of(count: u32, time: Duration) -> Self {
        Self(f64::from(count) / time.as_secs_f64())
    }

    /// Returns this rate as a multiple of another.
    pub(crate) fn times(self, other: Self) -> String {
        ratio(self.0, other.0)
    }

    /// Returns the minimum, and whether this rate meets it.
    pub(crate) fn at_least(self, target: f64) -> String {
        let shown = Self(target);
        if self.0 >= target {
            return format!("≥ {shown}: met");
        }
        format!("≥ {shown}: **missed by {:.0} %**", (1.0 - self.0 / target) * 100.0)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            rate if rate >= 1e6 => write!(out, "{:.2} M/s", rate / 1e6),
            rate if rate >= 1e4 => write!(out, "{:.0} k/s", rate / 1e3),
            rate if rate >= 1e3 => write!(out, "{:.1} k/s", rate / 1e3),
            rate => write!(out, "{rate:.0}/s"),
        }
    }
}

/// A time in a readable form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Time(pub(crate) Duration);

impl Time {
    /// Returns the maximum, and whether this time meets it.
    pub(crate) fn at_most(self, target: Duration) -> String {
        let shown = Self(target);
        if self.0 <= target {
            return format!("≤ {shown}: met");
        }
        let over = (self.0.as_secs_f64() / target.as_secs_f64() - 1.0) * 100.0;
        format!("≤ {shown}: **missed by {over:.0} %**")
    }
}

impl fmt::Display for Time {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_secs_f64() {
            seconds if seconds >= 1.0 => write!(out, "{seconds:.2} s"),
            seconds if seconds >= 1e-3 => write!(out, "{:.1} ms", seconds * 1e3),
            seconds if seconds >= 1e-6 => write!(out, "{:.1} µs", seconds * 1e6),
            seconds => write!(out, "{:.1} ns", seconds * 1e9),
        }
    }
}

/// Returns a value as a multiple of `base`.
pub(crate) fn ratio(value: f64, base: f64) -> String {
    let ratio = value / base;
    if ratio >= 10.0 { format!("{ratio:.0}×") } else { format!("{ratio:.2}×") }
}

/// Returns the ratio of the time for each of `count` items to the time for each of `base_count` items.
pub(crate) fn growth((base_count, base): (u32, Duration), (count, time): (u32, Duration)) -> String {
    let each = |count: u32, time: Duration| time.as_secs_f64() / f64::from(count);
    ratio(each(count, time), each(base_count, base))
}

/// Converts a count to 32 bits, which floats represent exactly.
pub(crate) fn count(number: usize) -> u32 {
    u32::try_from(number).expect("nothing here counts so far")
}
