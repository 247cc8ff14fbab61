//! `turnfold mail status`: whom a match by mail waits for (PM-24, PM-28).

use turnfold_core::rules::desk::Desk;
use turnfold_core::{Rules, Seat};
use turnfold_replay::Sources;
use turnfold_replay::mail::{DeskHistory, MailMatch};
use turnfold_store::MatchName;

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::render;

/// Show which seats a match by mail waits for, since when and until when
///
/// Shows the turn, the seats and what each has sent, and the open offers, but never the content of an order. Every letter
/// shows the same.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold mail status duel")]
pub(crate) struct Args {
    /// The match
    #[arg(value_name = "MATCH")]
    match_name: MatchName,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let name = &args.match_name;
    let store = context.read_store()?;
    let of = MailMatch::find(&store, name, &context.registry)?;
    let desk = DeskHistory::read(&store, &of)?;
    let state = desk.state();
    let who = Desk::query(state, Seat::Host, "who");
    let who = who.ok().flatten().ok_or_else(|| Failure::internal("the desk does not answer `who`"))?;
    let output = &mut context.output;
    if output.is_json() {
        output.json(&serde_json::json!({
            "match": name.as_str(),
            "desk": of.desk.as_str(),
            "view": Desk::view(state, Seat::Host),
            "who": who.json,
        }))?;
        return Ok(ExitStatus::Yes);
    }
    output.line(format_args!("{name} waits for {}", who.text))?;
    render::print(&Desk::picture(state, Seat::Host), output)?;
    Ok(ExitStatus::Yes)
}
