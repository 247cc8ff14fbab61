//! Draws statistics as a picture, for a terminal and as SVG.

use turnfold_core::picture::{Bar, Block, Chip, Picture, TextLine, Tint};

use super::{Frequency, GroupStatistics, ScoreInterval, Spread};
use crate::text::counted;

/// The most commands or reasons that are drawn; the others are summed up.
const ROWS_MAX: usize = 12;

const TINTS: [Tint; 4] = [Tint::First, Tint::Second, Tint::Third, Tint::Fourth];

impl GroupStatistics {
    /// Draws the statistics.
    #[must_use]
    pub fn picture(&self) -> Picture {
        let mut blocks = vec![Block::Lines(vec![TextLine::plain(self.summary())])];
        if self.over > 0 {
            let mut bars = Vec::new();
            for (won, tint) in self.wins.iter().zip(TINTS.into_iter().cycle()) {
                let mut bar = bar(&won.seat.to_string(), won.wins, won.of, tint);
                if let Some(ScoreInterval { low, high, .. }) = won.share {
                    bar.chips.push(chip(format!("{:.0}–{:.0} %", low * 100.0, high * 100.0)));
                }
                bars.push(bar);
            }
            if self.draws > 0 {
                bars.push(bar("draw", self.draws, self.over, Tint::Faint));
            }
            section("Wins, with the 95 % interval", bars, &mut blocks);
        }
        let mut classes = Vec::new();
        for class in &self.histogram {
            let mut label = class.from.to_string();
            if class.from != class.to {
                label = format!("{label}–{}", class.to);
            }
            classes.push(bar(&label, class.matches, self.matches, Tint::Bright));
        }
        let lengths = spread(self.lengths, &|count| count.to_string());
        section(&format!("Entries in a match: {lengths}"), classes, &mut blocks);
        if let Some(durations) = self.durations_ms {
            let line = format!("Duration: {}", spread(durations, &duration));
            blocks.push(Block::Lines(vec![TextLine::plain(line)]));
        }
        section("Commands", frequency_bars(&self.commands, self.lengths.sum, Tint::First), &mut blocks);
        section("Outcomes", frequency_bars(&self.outcomes, self.lengths.sum, Tint::Third), &mut blocks);
        let ignored = total(&self.reasons);
        let reasons = frequency_bars(&self.reasons, ignored, Tint::Second);
        section("Why commands were ignored", reasons, &mut blocks);
        Picture { blocks }
    }

    fn summary(&self) -> String {
        let matches = counted(self.matches, "match", "matches");
        let entries = counted(self.lengths.sum, "entry", "entries");
        format!("{}: {matches}, {} over, {entries}", self.group, self.over)
    }
}

fn section(heading: &str, bars: Vec<Bar>, blocks: &mut Vec<Block>) {
    if !bars.is_empty() {
        blocks.extend([Block::Lines(vec![TextLine::plain(heading)]), Block::Bars(bars)]);
    }
}

fn bar(label: &str, value: u64, whole: u64, tint: Tint) -> Bar {
    let percent = (value * 200 + whole).checked_div(2 * whole).unwrap_or_default();
    let chips = vec![chip(format!("{percent} %"))];
    Bar { label: TextLine::plain(label), value, of: whole, tint, chips, target: String::new() }
}

fn chip(text: String) -> Chip {
    Chip { text, tint: Tint::Plain, target: String::new() }
}

fn total(found: &[Frequency]) -> u64 {
    found.iter().map(|found| found.count).sum()
}

fn frequency_bars(found: &[Frequency], whole: u64, tint: Tint) -> Vec<Bar> {
    let (shown, rest) = found.split_at(found.len().min(ROWS_MAX));
    let mut bars = Vec::new();
    for found in shown {
        bars.push(bar(&found.name, found.count, whole, tint));
    }
    if !rest.is_empty() {
        bars.push(bar(&format!("{} others", rest.len()), total(rest), whole, Tint::Faint));
    }
    bars
}

fn spread(spread: Spread, shown: &dyn Fn(u64) -> String) -> String {
    let Spread { least, median, most, .. } = spread;
    if least == most {
        return shown(least);
    }
    format!("{} to {}, median {}", shown(least), shown(most), shown(median))
}

/// Returns milliseconds as hours, minutes and seconds, such as `1:02:03`.
fn duration(ms: u64) -> String {
    let seconds = ms / 1000;
    format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_hours_minutes_and_seconds() {
        assert_eq!(duration(3_723_999), "1:02:03");
        assert_eq!(duration(0), "0:00:00");
    }
}
