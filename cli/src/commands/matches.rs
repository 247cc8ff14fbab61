//! `turnfold matches`: lists the matches of the store.

use turnfold_core::{Registry, Seat};
use turnfold_history::Sources;
use turnfold_show::render::match_list::lines;
use turnfold_show::render::{ListedMatch, OriginDocument, WhoseTurn};
use turnfold_store::{MatchInfo, MatchName, StoreReader};

use crate::context::{Context, build_identity};
use crate::failure::{ExitStatus, Failure};
use crate::remote::look;

/// List the matches of the store
///
/// Lists matches by name, each with its entries, its branches and the time of its last entry, or of its creation if it has
/// none. `--long` also shows the result of each match, or its turn: the number, where the game counts turns, and which seats
/// have a command that the rules would apply. This folds every match from its last snapshot, so a list of thousands takes
/// longer. It also shows from which version of its ruleset a match was migrated. Use `--after` and `--limit` to read a long
/// list page by page: continue after the last name of a page.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  turnfold matches --after duel --limit 20\n  turnfold matches --mine p1")]
pub(crate) struct Args {
    /// Begin after this name, even if no match has it
    #[arg(long, value_name = "MATCH")]
    after: Option<MatchName>,

    /// List at most N matches
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Also show whose turn it is, or that the match is over, and where it was migrated from
    #[arg(short, long)]
    long: bool,

    /// List only the matches in which this seat has a command to give, with whose turn it is
    #[arg(long, value_name = "SEAT")]
    mine: Option<Seat>,
}

/// How many matches are read before they are printed, so that their columns align.
const PAGE: usize = 256;

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    if let Some(client) = context.workspace.service()? {
        // SV-69: the service looks at the turns itself.
        let mut query = Vec::new();
        if args.long {
            query.push(("turn", "true".into()));
        }
        if let Some(mine) = args.mine {
            query.push(("mine", mine.to_string()));
        }
        let after = args.after.as_ref().map(ToString::to_string);
        let count = args.limit.map(|limit| limit as u64);
        let part =
            look::ListPart { path: "/v1/matches".into(), query, after, count, viewer: None, source: None };
        look::print_list(client, part, &mut context.output)?;
        return Ok(ExitStatus::Yes);
    }
    let store = context.read_store()?;
    let matches = store.matches_after(args.after.as_ref())?;
    let listed = matches.map(|info| read(info?, args, &store, &context.workspace.registry));
    let wanted = listed.filter(|listed| listed.as_ref().map_or(true, |listed| is_wanted(listed, args)));
    let mut wanted = wanted.take(args.limit.unwrap_or(usize::MAX));
    loop {
        let page: Vec<_> = wanted.by_ref().take(PAGE).collect::<Result<_, _>>()?;
        context.output.list(&page, lines)?;
        if page.len() < PAGE {
            return Ok(ExitStatus::Yes);
        }
    }
}

fn read(
    info: MatchInfo,
    args: &Args,
    store: &StoreReader,
    registry: &Registry,
) -> Result<ListedMatch, Failure> {
    let origin = OriginDocument::of(&info.genesis).filter(|_| args.long);
    let mut listed = ListedMatch { origin, ..ListedMatch::read(info, store)? };
    if args.long || args.mine.is_some() {
        let build = build_identity();
        listed.turn = Some(WhoseTurn::of(&listed.match_name, store, registry, build)?);
    }
    Ok(listed)
}

fn is_wanted(listed: &ListedMatch, args: &Args) -> bool {
    match (&args.mine, &listed.turn) {
        (None, _) => true,
        (Some(mine), Some(WhoseTurn::Of(seats, _))) => seats.contains(mine),
        (Some(_), _) => false,
    }
}
