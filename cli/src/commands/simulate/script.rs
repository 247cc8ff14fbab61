//! `turnfold simulate --script`: plays given commands in memory.

use std::path::PathBuf;

use turnfold_history::{Detail, Record, Session, Viewer};
use turnfold_show::render;

use crate::commands::new::Game;
use crate::commands::play::{before_colon, lines_of};
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::{files, random};

const SCRIPT: &str = "Options for given commands";

/// The commands that are played, and what is printed of them.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "independent flags of a command line")]
pub(super) struct ScriptArgs {
    /// Commands to play instead, each `[SEAT:] command`, such as `p1: move 2,3`
    #[arg(value_name = "COMMAND", conflicts_with = "script")]
    commands: Vec<String>,

    /// Read the commands from a file, one a line; `-` is standard input
    #[arg(long, value_name = "FILE", help_heading = SCRIPT)]
    script: Option<PathBuf>,

    /// Give all commands as this seat, and print only what it may know [default: the seat of each command]
    #[arg(long = "seat", value_name = "SEAT", help_heading = SCRIPT)]
    viewer: Option<Viewer>,

    /// Add the view of `--seat`, or else of the host, after each command to the JSON lines
    #[arg(long, conflicts_with = "steps", help_heading = SCRIPT)]
    state: bool,

    /// Add each player's view after each command to the JSON lines; with `--seat` a player, only that player's
    #[arg(long, conflicts_with = "steps", help_heading = SCRIPT)]
    views: bool,

    /// Continue after rejected commands
    #[arg(long, conflicts_with = "steps", help_heading = SCRIPT)]
    keep_going: bool,

    /// Do not make due rolls of a seeded match
    #[arg(long, conflicts_with = "steps", help_heading = SCRIPT)]
    no_auto_roll: bool,
}

pub(super) fn play_script(
    args: &ScriptArgs,
    game: &Game,
    context: &mut Context,
) -> Result<ExitStatus, Failure> {
    let lines = lines_of(&args.commands, args.script.as_ref(), args.viewer)?;
    let state = game.start()?;
    let roller = random::roller(&game.dice, args.no_auto_roll, false)?;
    let viewer = args.viewer.unwrap_or(Viewer::HOST);
    let detail = Detail { viewer, state: args.state, views: args.views };
    let mut session = Session::new(state, game.dice, roller, 1, detail);
    let mut answer = ExitStatus::Yes;
    let mut played = Vec::new();
    if lines.is_empty() {
        session.roll_due(&mut played)?;
    }
    for line in &lines {
        let result = session.submit(line, None, &mut played)?;
        print(played.drain(..), context)?;
        if let Err(record) = result {
            let place = files::place_in_script(line, args.script.as_ref());
            let shown = if args.keep_going { place.as_deref() } else { None };
            context.output.show(&record, || vec![render::rejection(&record, shown)])?;
            answer = ExitStatus::No;
            if !args.keep_going {
                context.output.flush()?;
                let place = before_colon(place);
                let message = format!("{place}the command was rejected; the script stops here");
                return Err(Failure::negative(message).hint("`--keep-going` continues after rejections"));
            }
        }
    }
    print(played, context)?;
    Ok(answer)
}

fn print(played: impl IntoIterator<Item = Record>, context: &mut Context) -> Result<(), Failure> {
    for record in played {
        if !record.is_concealed {
            context.output.record(&record)?;
        }
    }
    Ok(())
}
