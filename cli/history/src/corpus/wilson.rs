//! The confidence interval of a share.

use serde::Serialize;

/// The 97.5 % quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// A share of a number of trials, with its 95 % interval. It serializes as `table groups --format json` prints it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct ScoreInterval {
    pub(crate) share: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl ScoreInterval {
    /// Computes the score interval of E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical
    /// Inference", Journal of the American Statistical Association 22 (1927), 209–212. Returns `None` without trials.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a count past 2^53 needs no exact share")]
    pub(crate) fn of(successes: u64, trials: u64) -> Option<Self> {
        if trials == 0 {
            return None;
        }
        let share = successes as f64 / trials as f64;
        let trials = trials as f64;
        let scale = 1.0 + Z * Z / trials;
        let middle = (share + Z * Z / (2.0 * trials)) / scale;
        let half = Z / scale * (share * (1.0 - share) / trials + Z * Z / (4.0 * trials * trials)).sqrt();
        Some(Self { share, low: (middle - half).max(0.0), high: (middle + half).min(1.0) })
    }

    pub(super) fn interval(&self) -> String {
        format!("{:.0}–{:.0} %", self.low * 100.0, self.high * 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(successes: u64, trials: u64, low: f64, high: f64) {
        let found = ScoreInterval::of(successes, trials).unwrap();
        let is_near = |one: f64, other: f64| (one - other).abs() < 0.0001;
        assert!(is_near(found.low, low) && is_near(found.high, high), "{successes} of {trials}: {found:?}");
    }

    /// The values that R gives: `prop.test(x, n, correct = FALSE)$conf.int`.
    #[test]
    fn the_interval_is_that_of_published_values() {
        check(5, 10, 0.2366, 0.7634);
        check(81, 263, 0.2553, 0.3662);
        check(15, 148, 0.0624, 0.1605);
        check(0, 20, 0.0, 0.1611);
        check(29, 29, 0.8830, 1.0);
        assert_eq!(ScoreInterval::of(0, 0), None);
    }
}
