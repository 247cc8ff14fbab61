//! `turnfold matches`: lists the matches of the store or service.

use turnfold_core::Seat;
use turnfold_history::Sources;
use turnfold_show::render::match_list::lines;
use turnfold_show::render::{ListedMatch, OriginDocument, WhoseTurn};
use turnfold_store::{MatchInfo, MatchName, StoreReader};

use crate::context::{Context, Workspace, build_identity};
use crate::failure::{ExitStatus, Failure};
use crate::remote::{ListPart, print_pages};

/// How many matches are read before they are printed, so that their columns align.
const PAGE: usize = 256;

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

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let Context { workspace, output, .. } = context;
    if let Some(client) = workspace.service()? {
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
        let part = ListPart { path: "/v1/matches".into(), query, after, count, source: None };
        print_pages(client, part, output)?;
        return Ok(ExitStatus::Yes);
    }
    let store = workspace.read_store()?;
    let mut left = args.limit.unwrap_or(usize::MAX);
    let mut matches = store.matches_after(args.after.as_ref())?;
    let mut page = Vec::new();
    while left > 0
        && let Some(info) = matches.next()
    {
        let listed = listed(info?, args, &store, workspace)?;
        if args.mine.is_none_or(|mine| waits_for(&listed, mine)) {
            page.push(listed);
            left -= 1;
        }
        if page.len() == PAGE {
            output.list(&page, lines)?;
            page.clear();
        }
    }
    output.list(&page, lines)?;
    Ok(ExitStatus::Yes)
}

fn listed(
    info: MatchInfo,
    args: &Args,
    store: &StoreReader,
    workspace: &Workspace,
) -> Result<ListedMatch, Failure> {
    let origin = OriginDocument::of(&info.genesis);
    let mut listed = ListedMatch::read(info, store)?;
    if args.long {
        listed.origin = origin;
    }
    if args.long || args.mine.is_some() {
        let turn = WhoseTurn::of(&listed.match_name, store, &workspace.registry, build_identity())?;
        listed.turn = Some(turn);
    }
    Ok(listed)
}

fn waits_for(listed: &ListedMatch, seat: Seat) -> bool {
    matches!(&listed.turn, Some(WhoseTurn::Of(seats, _)) if seats.contains(&seat))
}
