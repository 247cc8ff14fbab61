//! `turnfold store`: checks, measures, rewrites, backs up and restores a store.

mod backup;
mod doctor;
mod restore;

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::{OsStringValueParser, TypedValueParser};
use serde::{Deserialize, Serialize};
use serde_json::json;
use turnfold_core::Digest;
use turnfold_history::{Sources, input};
use turnfold_store::{
    BranchName, Compacted, Damage, MatchName, MatchStats, Seq, Store, StoreError, StoreReader, StoreStats,
    Totals,
};

use super::verify::place;
use crate::context::{Context, StoreAddress};
use crate::failure::{ExitStatus, Failure, Result};
use crate::output::{Line, added, counted, plain, removed, strong, warning};
use crate::{files, stderr};

verbs! {
    /// Check, back up, restore, salvage, compact and measure a store
    #[command(after_help = "Example: turnfold store check")]
    StoreCommand {
        Check(StoreCheckArgs) => check,
        Backup(backup::Args) => backup::run,
        Restore(restore::Args) => restore::run,
        Salvage(restore::SalvageArgs) => restore::salvage,
        Compact(CompactArgs) => compact,
        Upgrade(UpgradeArgs) => upgrade,
        Spread(SpreadArgs) => spread,
        Size(SizeArgs) => size,
        Heads(HeadsArgs) => heads,
        Doctor(doctor::Args) => doctor::run,
    }
}

/// Shows a progress line on stderr until the returned function is dropped. The store calls the function with what is
/// done so far.
fn progress(doing: &'static str) -> impl FnMut(Totals) {
    let bar = stderr::progress(0, "{spinner} {prefix}: {msg} ({elapsed})").with_prefix(doing);
    if !bar.is_hidden() {
        bar.enable_steady_tick(Duration::from_millis(200));
    }
    move |totals| {
        if !bar.is_hidden() {
            bar.set_message(in_words(totals));
        }
    }
}

fn in_words(totals: Totals) -> String {
    let Totals { matches, branches, entries } = totals;
    let matches = counted(matches, "match", "matches");
    let branches = counted(branches, "branch", "branches");
    format!("{matches}, {branches}, {}", counted(entries, "entry", "entries"))
}

/// Audit the store itself: records, chains, counts; without rules
///
/// Reads every commit of the journal and every record of its index, and compares them. Recomputes the link of every entry,
/// counts matches and branches, and looks for records that belong to no match. `turnfold verify` also folds every command by the rules. Exits with 3 if something is wrong.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold store check --format json")]
pub(crate) struct StoreCheckArgs {
    /// Also require the branches in a file of `turnfold store heads` to reach the entries listed there
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,

    /// In a database, remove first what deletions left behind
    #[arg(long)]
    sweep: bool,
}

fn check(args: &StoreCheckArgs, context: &mut Context) -> Result<ExitStatus> {
    if args.sweep {
        let Some(address) = context.fleet() else {
            return Err(Failure::usage("`--sweep` is for a store in a database")
                .hint("in a directory a deletion leaves nothing behind"));
        };
        #[cfg(feature = "postgres")]
        Store::sweep_fleet(address)?;
        #[cfg(not(feature = "postgres"))]
        match *address {}
    }
    let store = context.read_store()?;
    let mut check = store.check(&mut progress("checking"))?;
    let is_sound = check.damage.is_empty();
    if let Some(path) = &args.against {
        check.damage.extend(missing(path, &store)?);
    }
    let ok = check.damage.is_empty();
    let Totals { matches, branches, entries } = check.sound;
    let checked = json!({
        "ok": ok, "matches": matches, "branches": branches, "entries": entries, "findings": check.damage,
    });
    context.output.show(&checked, || {
        let mut lines = Vec::new();
        for Damage { match_name, branch, seq, reason } in &check.damage {
            let match_name = match_name.as_ref().map_or("the store", MatchName::as_str);
            let place = place(match_name, branch.as_ref(), *seq);
            lines.push(Line::from([removed("damaged"), plain(format_args!(" {place}: {reason}"))]));
        }
        let sound = if ok { added("sound") } else { warning("sound") };
        lines.push(Line::from([sound, plain(format_args!(" {}", in_words(check.sound)))]));
        lines
    })?;
    if ok {
        return Ok(ExitStatus::Yes);
    }
    context.output.flush()?;
    let findings = counted(check.damage.len() as u64, "finding", "findings");
    let mut next_step = context.damaged_store().next_step();
    if is_sound && context.fleet().is_none() {
        // Salvage cannot bring back entries that the store does not have.
        next_step = "restore a backup that has what is missing".into();
    }
    Err(Failure::trouble(format!("the store is damaged: {findings}")).hint(next_step))
}

/// List the last entry of every branch and the link after it
///
/// Writes a line of JSON for each branch. Keep the file elsewhere: with it, `turnfold store check --against FILE` finds
/// what a store has lost by a rollback, even if the store itself is sound.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold store heads -o heads.jsonl")]
pub(crate) struct HeadsArgs {
    /// The file to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Overwrite the file if it exists
    #[arg(long)]
    force: bool,
}

/// The end of a branch: its last entry and the link after it. The JSON form is stable.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BranchHead {
    #[serde(rename = "match")]
    match_name: MatchName,
    branch: BranchName,
    head: Seq,
    link: String,
}

fn heads(args: &HeadsArgs, context: &mut Context) -> Result<ExitStatus> {
    if let Some(path) = &args.output {
        files::check_new(path, args.force)?;
    }
    let store = context.read_store()?;
    let mut heads = Vec::new();
    for info in store.matches_after(None)? {
        let match_name = info?.name;
        let branches = match store.branches(&match_name) {
            // The match was deleted after the list was read.
            Err(StoreError::NoSuchMatch { .. }) => continue,
            branches => branches?,
        };
        for found in branches {
            let link = found.head_link.to_string();
            heads.push(BranchHead {
                match_name: match_name.clone(),
                branch: found.name,
                head: found.head,
                link,
            });
        }
    }
    let Some(path) = &args.output else {
        for head in &heads {
            context.output.json(head)?;
        }
        return Ok(ExitStatus::Yes);
    };
    files::write_private(path, args.force, |file| {
        for head in &heads {
            writeln!(file, "{}", serde_json::to_string(head).map_err(io::Error::other)?)?;
        }
        Ok(())
    })?;
    let count = counted(heads.len() as u64, "branch", "branches");
    let written = json!({ "branches": heads.len() });
    context.output.answer(&written, || vec![format!("listed the ends of {count}").into()])
}

fn not_a_list(path: &Path, reason: &str) -> Failure {
    Failure::usage(format!("`{}` is not a list of heads: {reason}", path.display()))
        .hint("`turnfold store heads -o FILE` writes one")
}

/// Returns the entries of a file of `store heads` that the store lacks, as damage.
fn missing(path: &Path, store: &StoreReader) -> Result<Vec<Damage>> {
    let text = io::read_to_string(input::open(path, "list of heads")?);
    let text = text.map_err(|error| not_a_list(path, &error.to_string()))?;
    let mut damage = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let malformed = |error: &dyn fmt::Display| not_a_list(path, &format!("line {}: {error}", index + 1));
        let BranchHead { match_name, branch, head, link } =
            serde_json::from_str(line).map_err(|error| malformed(&error))?;
        let link: Digest = link.parse().map_err(|error| malformed(&error))?;
        let reason = match store.links(&match_name, &branch, head..=head) {
            Ok(links) if links.last() == Some(&link) => continue,
            Ok(_) => "it differs from the one in the list".to_owned(),
            Err(StoreError::NoSuchSeq { head, .. }) => format!("it is missing: the branch ends at {head}"),
            Err(error @ (StoreError::NoSuchMatch { .. } | StoreError::NoSuchBranch { .. })) => {
                error.to_string()
            }
            Err(error) => return Err(error.into()),
        };
        damage.push(Damage { match_name: Some(match_name), branch: Some(branch), seq: Some(head), reason });
    }
    Ok(damage)
}

/// Show how much the store holds
///
/// An entry that several branches share is counted once, on the branch where it was recorded.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold store size --top 20")]
pub(crate) struct SizeArgs {
    /// How many of the largest matches to list
    #[arg(long, value_name = "N", default_value_t = 5)]
    top: usize,
}

fn size(args: &SizeArgs, context: &mut Context) -> Result<ExitStatus> {
    let store = context.read_store()?;
    let stats = store.stats(args.top, &mut progress("counting"))?;
    let StoreStats { totals, pages, entries_on_pages, tails, entry_bytes, largest } = &stats;
    let Totals { matches, branches, entries } = *totals;
    // These three stay null for a database, which has no files.
    let mut on_disk = None;
    let mut journal = None;
    let mut index = None;
    let mut lines = vec![
        Line::from(in_words(*totals)),
        format!(
            "{entry_bytes} bytes of entries on {}{}",
            counted(*pages, "page", "pages"),
            each(*entry_bytes, entries)
        )
        .into(),
    ];
    if context.fleet().is_none() {
        let dir = context.store_dir()?;
        let taken = Store::bytes_on_disk(dir)?;
        let (in_journal, in_index) = Store::journal_and_index_bytes(dir)?;
        lines.push(format!("{taken} bytes on disk{}", each(taken, entries)).into());
        lines.push(format!("{in_journal} bytes journal, {in_index} bytes index").into());
        on_disk = Some(taken);
        journal = Some(in_journal);
        index = Some(in_index);
    }
    let width = largest.iter().map(|found| found.name.as_str().len()).max().unwrap_or(0);
    for MatchStats { name, branches, entries, entry_bytes } in largest {
        let entries = counted(*entries, "entry", "entries");
        let branches = counted(*branches, "branch", "branches");
        let name = strong(format_args!("{name:width$}"));
        lines.push([name, plain(format_args!("  {entries}, {branches}, {entry_bytes} bytes"))].into());
    }
    let measured = json!({
        "matches": matches, "branches": branches, "entries": entries,
        "pages": pages, "entries_on_pages": entries_on_pages, "tails": tails, "entry_bytes": entry_bytes,
        "bytes_on_disk": on_disk, "journal_bytes": journal, "index_bytes": index,
        "largest": largest,
    });
    context.output.answer(&measured, || lines)
}

fn each(bytes: u64, entries: u64) -> String {
    if entries == 0 { String::new() } else { format!(", {} an entry", bytes.div_ceil(entries)) }
}

/// Rewrite the store without what was deleted
///
/// No match changes, and no byte of what was deleted remains. Needs room for the old and the new store at once. After a crash, the next command completes or rolls back the compaction.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold store compact --store archive")]
pub(crate) struct CompactArgs {}

fn compact(_: &CompactArgs, context: &mut Context) -> Result<ExitStatus> {
    let Compacted { totals, bytes_before, bytes_after } =
        Store::compact(context.store_dir()?, &mut progress("compacting"))?;
    let Totals { matches, branches, entries } = totals;
    let document = json!({
        "matches": matches, "branches": branches, "entries": entries,
        "bytes_before": bytes_before, "bytes_after": bytes_after,
    });
    context.output.answer(&document, || {
        vec![format!("compacted {}: {bytes_before} → {bytes_after} bytes", in_words(totals)).into()]
    })
}

/// Convert a store in a database to the format of this build
///
/// Stop all processes of older builds first; they fail afterwards. Converts everything in one transaction: if the command
/// fails or is killed, nothing has changed, and it can run again. The account must own the tables. The database needs room
/// for a second copy of all entries.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold store upgrade postgres://turnfold@db.example/games")]
pub(crate) struct UpgradeArgs {
    /// The URL of the database
    #[arg(value_name = "URL", value_parser = OsStringValueParser::new().try_map(StoreAddress::read))]
    store: StoreAddress,
}

/// Spread a store in a database over the servers of a Citus cluster
///
/// The URL names the coordinator. The entries of a branch go to one server, chosen by a hash of the branch; the names and
/// setups of all matches go to every server. Stop all processes that use the store first: they know it as one server's until
/// they start again. Copies everything in one transaction: if the command fails or is killed, nothing has changed, and it can
/// run again.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold store spread postgres://turnfold@db.example/games")]
pub(crate) struct SpreadArgs {
    /// The URL of the database on the coordinator
    #[arg(value_name = "URL", value_parser = OsStringValueParser::new().try_map(StoreAddress::read))]
    store: StoreAddress,
}

// A build without databases does not even read the URL of one.
#[cfg_attr(not(feature = "postgres"), expect(unused_variables, reason = "there is no database"))]
fn upgrade(args: &UpgradeArgs, context: &mut Context) -> Result<ExitStatus> {
    #[cfg(feature = "postgres")]
    if let StoreAddress::Fleet(address) = &args.store {
        let turnfold_store::Migration { from, to } = Store::migrate_fleet(address)?;
        let store = address.to_string();
        return context.output.answer(&json!({ "store": store, "from": from, "to": to }), || {
            if from == to {
                let how = plain(format_args!(": its format is {to}"));
                return vec![Line::from([plain("nothing to do in store "), strong(&store), how])];
            }
            let how = plain(format_args!(" from format {from} to {to}"));
            vec![Line::from([plain("migrated store "), strong(&store), how])]
        });
    }
    Err(Failure::usage("`store upgrade` expects the URL of a database")
        .hint("a store in a directory needs no upgrade"))
}

#[cfg_attr(not(feature = "postgres"), expect(unused_variables, reason = "there is no database"))]
fn spread(args: &SpreadArgs, context: &mut Context) -> Result<ExitStatus> {
    #[cfg(feature = "postgres")]
    if let StoreAddress::Fleet(address) = &args.store {
        let turnfold_store::SpreadReport { is_new, shards, nodes } = Store::spread_fleet(address)?;
        let store = address.to_string();
        let document = json!({ "store": store, "new": is_new, "shards": shards, "nodes": nodes });
        return context.output.answer(&document, || {
            let done = if is_new { "spread store " } else { "nothing to do in store " };
            let servers = if nodes == 1 { "server" } else { "servers" };
            let how = format!(": its entries lie in {shards} shards on {nodes} {servers}");
            vec![Line::from([plain(done), strong(&store), plain(how)])]
        });
    }
    Err(Failure::usage("`store spread` expects the URL of a database")
        .hint("a store in a directory stays on one machine; a backup of it restores into a database"))
}
