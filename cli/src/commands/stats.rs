//! `turnfold stats`: what many matches have in common.

use clap::ValueEnum;
use turnfold_core::picture::Picture;
use turnfold_replay::corpus::statistics::{GroupStatistics, GroupedCounts, Grouping, MatchCounts};
use turnfold_replay::drawing::{Highlights, svg};
use turnfold_replay::{SeatHistory, Viewer};

use crate::context::Context;
use crate::corpus::CorpusArgs;
use crate::failure::{ExitStatus, Failure};
use crate::output::{Format, Line, Output};
use crate::render;

/// Count wins, lengths, commands and reasons of many matches
///
/// Shows for each group of matches how often each seat won, with the 95 % score interval of Wilson; how many entries the
/// matches have and how long they took; which commands were given; and why commands were ignored. With `--format svg` it is
/// a picture. With `--as p1`, only what p1 may know is counted.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  turnfold stats games\n  turnfold --format svg stats games --by setup > games.svg"
)]
pub(crate) struct Args {
    #[command(flatten)]
    corpus: CorpusArgs,

    /// By what to group the matches
    #[arg(long, value_enum, default_value_t = By::Ruleset)]
    by: By,

    /// Whose view to count
    #[arg(long = "as", value_name = "SEAT", default_value_t = Viewer::HOST)]
    viewer: Viewer,
}

/// By what matches are grouped.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum By {
    /// The ruleset and its version
    Ruleset,
    /// The ruleset and the setup
    Setup,
    /// The title
    Title,
}

impl From<By> for Grouping {
    fn from(by: By) -> Self {
        match by {
            By::Ruleset => Self::Ruleset,
            By::Setup => Self::Setup,
            By::Title => Self::Title,
        }
    }
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let corpus = args.corpus.corpus(context)?;
    let mut groups = GroupedCounts::default();
    let look = |seat_history: SeatHistory| MatchCounts::of(&seat_history, args.by.into());
    let read = corpus.each(args.viewer, look, |_, counted| {
        groups.add(counted);
        Ok(())
    });
    // What could be read is shown, whatever could not.
    print(&groups.statistics(), &mut context.output)?;
    read?.map_or(Ok(ExitStatus::Yes), Err)
}

fn print(groups: &[GroupStatistics], output: &mut Output) -> Result<(), Failure> {
    match output.format() {
        Format::Json => groups.iter().try_for_each(|group| output.json(group))?,
        Format::Text => {
            for (index, group) in groups.iter().enumerate() {
                if index > 0 {
                    output.line(Line::default())?;
                }
                render::print(&group.picture(), output)?;
            }
        }
        Format::Svg => {
            let blocks = groups.iter().flat_map(|group| group.picture().blocks).collect();
            output.document(&svg::document(&Picture { blocks }, &Highlights::default()))?;
        }
    }
    Ok(())
}
