//! `turnfold table groups`: statistics of matches, in groups.

use clap::ValueEnum;
use turnfold_core::picture::Picture;
use turnfold_history::corpus::statistics::{GroupStatistics, GroupedCounts, Grouping};
use turnfold_history::{SeatHistory, Viewer};
use turnfold_show::drawing::{Highlights, svg};

use crate::corpus::Corpus;
use crate::failure::Failure;
use crate::output::{Format, Line, Output};
use crate::render;

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum GroupBy {
    /// The ruleset and its version
    Ruleset,
    /// The ruleset and the setup
    Setup,
    /// The title
    Title,
}

impl From<GroupBy> for Grouping {
    fn from(by: GroupBy) -> Self {
        match by {
            GroupBy::Ruleset => Self::Ruleset,
            GroupBy::Setup => Self::Setup,
            GroupBy::Title => Self::Title,
        }
    }
}

pub(super) struct Groups {
    statistics: Vec<GroupStatistics>,
    pub(super) unread: Option<Failure>,
}

impl Groups {
    pub(super) fn count(corpus: Corpus, by: GroupBy, viewer: Viewer) -> Result<Self, Failure> {
        let mut groups = GroupedCounts::default();
        let look = |seat_history: SeatHistory| GroupedCounts::of(&seat_history, by.into());
        // Matches that were read are counted even if others could not be.
        let unread = corpus.each(viewer, look, |_, counted| {
            groups.add(counted);
            Ok(())
        })?;
        Ok(Self { statistics: groups.statistics(), unread })
    }

    pub(super) fn len(&self) -> u64 {
        self.statistics.len() as u64
    }

    pub(super) fn svg(&self) -> String {
        let mut blocks = Vec::new();
        for group in &self.statistics {
            blocks.extend(group.picture().blocks);
        }
        svg::document(&Picture { blocks }, &Highlights::default())
    }

    pub(super) fn json_lines(&self) -> Result<String, Failure> {
        let mut text = String::new();
        for group in &self.statistics {
            text += &serde_json::to_string(group).map_err(Failure::internal)?;
            text.push('\n');
        }
        Ok(text)
    }

    pub(super) fn print(&self, output: &mut Output) -> Result<(), Failure> {
        match output.format() {
            Format::Json => output.list(&self.statistics, |_| Vec::new())?,
            Format::Svg => output.document(&self.svg())?,
            Format::Text => {
                for (index, group) in self.statistics.iter().enumerate() {
                    if index > 0 {
                        output.line(Line::default())?;
                    }
                    render::print(&group.picture(), output)?;
                }
            }
        }
        Ok(())
    }
}
