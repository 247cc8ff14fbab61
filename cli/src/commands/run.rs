//! `turnfold run`: play a script in memory.

use std::path::PathBuf;

use turnfold_core::Seat;

use super::new::GameArgs;
use super::play::{before_colon, lines_of};
use crate::context::Context;
use crate::failure::{Answer, Failure};
use crate::record::Detail;
use crate::table::{Roller, Table};

/// Play a script in memory, without a store
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold run --rules lifecycle advance move end")]
#[expect(clippy::struct_excessive_bools, reason = "independent flags of a command line")]
pub(crate) struct Args {
    #[command(flatten)]
    game: GameArgs,

    /// Commands, each `[SEAT:] command`, such as `p1: move 2,3`
    #[arg(value_name = "COMMAND", conflicts_with = "script")]
    commands: Vec<String>,

    /// Read the commands from a file, one a line; `-` is standard input
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,

    /// Seat of commands that name none [default: whose command it is]
    #[arg(long = "as", value_name = "SEAT")]
    seat: Option<Seat>,

    /// Add the host's view after each command to the JSON lines
    #[arg(long)]
    state: bool,

    /// Add each player's view after each command to the JSON lines
    #[arg(long)]
    views: bool,

    /// Go on past rejected commands
    #[arg(long)]
    keep_going: bool,

    /// Leave due rolls of a seeded match due
    #[arg(long)]
    no_auto_roll: bool,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<Answer, Failure> {
    let lines = lines_of(&args.commands, args.script.as_ref())?;
    let game = args.game.read()?;
    let state = game.rules.start(&game.setup).map_err(|error| Failure::usage(error.to_string()))?;
    let roller = Roller::choose(&game.dice, args.no_auto_roll, false)?;
    let json = context.output.is_json();
    let views = if args.views && json { state.players() } else { &[] };
    let detail = Detail { state: args.state && json, views, hide_hashes: false };
    let mut table = Table::new(state, game.dice, roller, 1, detail);
    let mut answer = Answer::Yes;
    let mut played = Vec::new();
    if lines.is_empty() {
        table.roll_due(&mut played)?;
    }
    for line in &lines {
        let result = table.submit(line, args.seat, &mut played)?;
        for entry in played.drain(..) {
            entry.record.print(&mut context.output)?;
        }
        if let Err(mut record) = result {
            let place = line.place(args.script.as_ref());
            record.place = place.clone().filter(|_| args.keep_going);
            record.print(&mut context.output)?;
            answer = Answer::No;
            if !args.keep_going {
                context.output.flush()?;
                let place = before_colon(place);
                return Err(Failure::negative(format!(
                    "{place}the command was rejected; the script stops here"
                ))
                .hint("`--keep-going` goes on past rejections"));
            }
        }
    }
    for entry in played {
        entry.record.print(&mut context.output)?;
    }
    Ok(answer)
}
