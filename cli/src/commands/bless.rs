//! `turnfold bless`: write outcomes and hashes into replay files.

use std::path::PathBuf;

use serde::Serialize;

use crate::context::Context;
use crate::failure::{Answer, Failure};
use crate::output::{Tone, paint};
use crate::source::read_replay;
use crate::{files, limits, tfl};

/// Write outcomes and hashes into replay files
///
/// Folds each file again and writes what becomes of every entry, the state hashes and the closing line. Comments and
/// order stay. Blessing a blessed file changes nothing.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The replay files
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

#[derive(Serialize)]
struct BlessJson {
    file: String,
    changed: bool,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<Answer, Failure> {
    for file in &args.files {
        let text = tfl::bless(&read_replay(file)?)?.to_string();
        let old = files::read_input(file, &limits::REPLAY)?;
        let changed = old != text.as_bytes();
        if changed {
            files::write_whole(file, text.as_bytes())?;
        }
        let output = &mut context.output;
        let name = file.display().to_string();
        if output.is_json() {
            output.json(&BlessJson { file: name, changed })?;
        } else if changed {
            output.line(format_args!("{} {name}", paint(Tone::New, "blessed")))?;
        } else {
            output.line(format_args!("{} {name}", paint(Tone::Faint, "unchanged")))?;
        }
    }
    Ok(Answer::Yes)
}
