//! `turnfold verify`: audits stored matches and single branches.

use std::str::FromStr;

use serde_json::json;
use turnfold_history::golden::{Finding, FindingKind, Verification, VerifiedBranch, verify};
use turnfold_history::{
    FileName, History, Parting, QuotedFinding, QuotedLink, Revision, SourceName, Sources,
};
use turnfold_store::{BranchName, Damage, MatchName, StoreError};

use crate::context::Context;
use crate::failure::{ExitStatus, Failure, Result};
use crate::histories;
use crate::output::{Line, added, counted, dim, plain, removed};

/// Audit matches of the store: chain, decoding, rules, dice
///
/// Recomputes every link and every seeded roll, and decodes and folds every command again. A match is verified with all
/// its branches and everything else that the store keeps for it, a revision up to its entry. For all matches, it also reads
/// the journal, where a sound index hides damage. Of fair dice, only count and range are checked: `audit` recomputes their
/// values, given the desk. Exits with 1 if a log disagrees with its rules, with 3 if the store is damaged. A replay file is
/// verified by `check`.
///
/// With `--chain`, checks only what needs no rules: numbering, encoding, links and idempotency keys. So it also works if this
/// program no longer has the rules of a match, and prints what was not checked.
///
/// With `--reload`, hunts instead for state that does not survive being stored, in a match or a replay file: at each entry, the
/// state of some entries ago is written to bytes, read back and folded on. If the bytes of a state lack something, or a rule
/// depends on anything but the state, a hash differs.
///
/// A link covers the setup and all entries before it, with their times and keys. So two people who have the same match
/// can compare it by telephone: one reads out a link from `verify` or `log --links` with its entry, the other runs
/// `verify --expect`. If the logs differ, it exits with 1 and names the first entry that differs, or a range that
/// contains it and the link to ask for next. An imported match has links of its own.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  turnfold verify duel\n  turnfold verify duel@flank:12 --reload\n  \
    turnfold verify duel --expect 9c41d2aa01b3c4d5@12")]
pub(crate) struct Args {
    /// Matches and revisions such as `duel@flank:12`; with `--reload` also replay files [default: all matches]
    #[arg(value_name = "MATCH|REV")]
    targets: Vec<VerifyTarget>,

    /// Require this link, or at least 16 digits of it, after an entry of the one revision; may be repeated
    #[arg(long, value_name = "LINK@SEQ", requires = "targets")]
    expect: Vec<QuotedLink>,

    /// Check only the chain of entries, without the rules
    #[arg(long)]
    chain: bool,

    /// Store and reload the state at every entry, fold again and compare hashes
    #[arg(long, requires = "targets", conflicts_with_all = ["expect", "chain"])]
    reload: bool,

    /// With `--reload`: how many entries to fold again at each entry
    #[arg(long, value_name = "K", requires = "reload", default_value_t = 8,
        value_parser = clap::value_parser!(u16).range(1..=1000))]
    window: u16,
}

/// What to verify: a match if only its name is given, or else a branch, up to an entry if one is named. Only `--reload`
/// accepts a replay file.
#[derive(Clone, Debug)]
struct VerifyTarget {
    source: SourceName,
    is_match: bool,
}

impl FromStr for VerifyTarget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let source: SourceName = text.parse()?;
        let is_match = matches!(source, SourceName::Revision(_)) && !text.contains(['@', ':']);
        Ok(Self { source, is_match })
    }
}

fn of_file(file: &FileName) -> Failure {
    Failure::usage(format!("`{file}` is a replay file, and `verify` is for matches of the store"))
        .hint(format!("`turnfold check {file}` verifies it"))
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    let mut is_good = true;
    if args.reload {
        for target in &args.targets {
            is_good &= reload(&target.source, args.window, context)? == ExitStatus::Yes;
        }
        return Ok(is_good.into());
    }
    if !args.expect.is_empty() {
        return match args.targets.as_slice() {
            [VerifyTarget { source: SourceName::Revision(revision), .. }] => {
                verify_branch(revision, args.chain, context)?;
                print_quoted(revision, &args.expect, context)
            }
            [VerifyTarget { source: SourceName::File(file), .. }] => Err(of_file(file)),
            _ => Err(Failure::usage("links can be compared with one revision only, found several")),
        };
    }
    if args.targets.is_empty() {
        is_good &= verify_matches(None, args.chain, context)?;
    }
    for target in &args.targets {
        match &target.source {
            SourceName::Revision(revision) if target.is_match => {
                is_good &= verify_matches(Some(&revision.match_name), args.chain, context)?;
            }
            SourceName::Revision(revision) => verify_branch(revision, args.chain, context)?,
            SourceName::File(file) => return Err(of_file(file)),
        }
    }
    Ok(is_good.into())
}

/// Audits a match, or all matches of the store if there is no name. Returns `true` if they agree with their rules.
fn verify_matches(name: Option<&MatchName>, is_chain_only: bool, context: &mut Context) -> Result<bool> {
    let store = context.read_store()?;
    let matches: Box<dyn Iterator<Item = Result<MatchName, StoreError>>> = match name {
        None => Box::new(store.matches_after(None)?.map(|info| info.map(|info| info.name))),
        Some(name) => Box::new([Ok(name.clone())].into_iter()),
    };
    let mut disagreeing = 0;
    let mut damaged = 0;
    for match_name in matches {
        let match_name = &match_name?;
        let registry = if is_chain_only { None } else { Some(&context.registry) };
        let verification = verify(&store, match_name, registry)?;
        print(Some(match_name), &verification, is_chain_only, context)?;
        for finding in verification.findings {
            if finding.kind == FindingKind::Damaged { damaged += 1 } else { disagreeing += 1 }
        }
    }
    // Skipped for one match, because it reads the commits of all matches.
    if name.is_none()
        && let Some(Damage { match_name, branch, seq, reason }) = store.hidden_damage()?
    {
        let finding = Finding { branch, seq, kind: FindingKind::Damaged, message: reason };
        let found = Verification { findings: vec![finding], ..Verification::default() };
        print(match_name.as_ref(), &found, false, context)?;
        damaged += 1;
    }
    if damaged > 0 {
        context.output.flush()?;
        let findings = counted(damaged, "finding", "findings");
        return Err(Failure::trouble(format!("the store is damaged: {findings}"))
            .hint(context.damaged_store().next_step()));
    }
    Ok(disagreeing == 0)
}

fn verify_branch(revision: &Revision, is_chain_only: bool, context: &mut Context) -> Result<()> {
    let Revision { match_name, branch, seq } = revision;
    let store = context.read_store()?;
    let mut verification = Verification::default();
    let mut state_hash = None;
    let read = if is_chain_only {
        let entries = match seq {
            Some(seq) => *seq,
            None => store.head(match_name, branch)?,
        };
        0..=entries
    } else {
        let history = History::of_branch(revision, &store, &context.registry)?;
        state_hash = Some(history.state()?.state_hash());
        verification.left = Verification::left_to_check(&history.dice);
        verification.referee = Verification::named_referee(&*history.rules);
        history.head()..=history.head()
    };
    let entries = *read.end();
    let link = store.links(match_name, branch, read)?.pop();
    let link = link.ok_or_else(|| Failure::internal("an entry without a link"))?;
    verification.branches.push(VerifiedBranch { branch: branch.clone(), entries, link, state_hash });
    print(Some(match_name), &verification, is_chain_only, context)
}

fn print(
    match_name: Option<&MatchName>,
    found: &Verification,
    is_chain_only: bool,
    context: &mut Context,
) -> Result<()> {
    let Verification { branches, findings, left, referee } = found;
    let match_name = match_name.map(MatchName::as_str);
    let ok = findings.is_empty();
    let not_checked = Verification::NOT_CHECKED;
    let verified = if is_chain_only {
        json!({ "match": match_name, "ok": ok, "branches": branches, "findings": findings, "not_checked": not_checked })
    } else {
        json!({ "match": match_name, "ok": ok, "branches": branches, "findings": findings, "dice": left, "referee": referee })
    };
    context.output.show(&verified, || {
        let name = match_name.unwrap_or("the store");
        let mut lines = Vec::new();
        for VerifiedBranch { branch, entries, link, state_hash } in branches {
            let entries = counted(*entries, "entry", "entries");
            let state = match state_hash {
                Some(state_hash) => format!("state {state_hash:.16} "),
                None => String::new(),
            };
            let branch = plain(format_args!(" {name}@{branch}: {entries} "));
            lines.push([added("ok"), branch, dim(format_args!("{state}link {link:.16}"))].into());
        }
        lines.extend(findings.iter().map(|finding| finding_line(name, finding)));
        if let Some(left) = left {
            lines.push([dim("dice"), plain(format_args!(" {name}: {left}"))].into());
        }
        // RF-17
        if let Some(referee) = referee {
            let whose = plain(format_args!(" {name}: computed by your referee {referee}"));
            lines.push([dim("rules"), whose].into());
        }
        if is_chain_only {
            lines.push([dim("not checked"), plain(format_args!(" {name}: {not_checked}"))].into());
        }
        lines
    })?;
    Ok(())
}

fn finding_line(name: &str, finding: &Finding) -> Line {
    let place = place(name, finding.branch.as_ref(), finding.seq);
    [removed(finding.kind), plain(format_args!(" {place}: {}", finding.message))].into()
}

pub(super) fn place(name: &str, branch: Option<&BranchName>, seq: Option<u64>) -> String {
    let mut place = name.to_owned();
    if let Some(branch) = branch {
        place = format!("{place}@{branch}");
    }
    if let Some(seq) = seq {
        place = format!("{place}:{seq}");
    }
    place
}

/// At each entry, reads the state of `window` entries ago from its bytes and folds on from it. A hash differs if the
/// bytes lack a part of the state, or if a rule depends on anything but the state.
fn reload(source: &SourceName, window: u16, context: &mut Context) -> Result<ExitStatus> {
    let (history, _) = histories::load_whole(source, context)?;
    let differs_at = history.first_unsynced(usize::from(window))?;
    let ok = differs_at.is_none();
    let entries = history.head();
    let name = source.to_string();
    let tested = json!({
        "source": name, "ok": ok, "entries": entries, "window": window, "differs_at": differs_at,
    });
    context.output.verdict(ok, &tested, || {
        let entries = counted(entries, "entry", "entries");
        vec![match differs_at {
            None => Line::from([added("ok"), plain(format_args!(" {name}: {entries}, window {window}"))]),
            Some(seq) => {
                let what = format!(" {name}: the reloaded state differs after entry {seq}");
                Line::from([removed("failed"), plain(what)])
            }
        }]
    })
}

fn print_quoted(revision: &Revision, quoted: &[QuotedLink], context: &mut Context) -> Result<ExitStatus> {
    let found = QuotedLink::compare(&context.read_store()?, revision, quoted)?;
    let mut is_same = false;
    let mut same_to = None;
    let mut misquoted = None;
    let mut parts = None;
    let (word, text) = match &found {
        QuotedFinding::Same(seq) => {
            is_same = true;
            same_to = Some(*seq);
            (added("same"), format!("as quoted, up to {}", entry(*seq)))
        }
        QuotedFinding::Wrongly(seq) => {
            misquoted = Some(*seq);
            let text = format!("the link after {} is quoted wrongly, as a later one is right", entry(*seq));
            (removed("unclear"), text)
        }
        QuotedFinding::Parts(parting) => {
            same_to = parting.same;
            parts = Some(parting);
            (removed("differs"), explained(revision, parting))
        }
    };
    let compared = json!({
        "revision": revision.to_string(),
        "same": is_same,
        "same_to": same_to,
        "differ_at": parts.map(|parting| parting.differ),
        "first": parts.and_then(Parting::first),
        "branch": parts.and_then(|parting| parting.branch.as_ref()).map(BranchName::as_str),
        "ask_next": parts.and_then(Parting::ask_next),
        "misquoted": misquoted,
    });
    context
        .output
        .verdict(is_same, &compared, || vec![[word, plain(format_args!(" {revision}: {text}"))].into()])
}

fn explained(revision: &Revision, parting: &Parting) -> String {
    let Parting { branch, same, differ, ends, .. } = parting;
    if let Some(branch) = branch {
        let whose = format!("the quoted link is that of `{}@{branch}`", revision.match_name);
        return format!("{whose}, which parts at entry {differ}");
    }
    match (parting.first(), same, ends) {
        (Some(0), ..) => {
            "they differ from the start: this is another match, or an import with links of its own".into()
        }
        (Some(first), _, Some(ends)) if first > *ends => {
            format!("the same up to {}, where it ends; the quoted history continues", entry(*ends))
        }
        (Some(first), ..) => format!("they part at entry {first}"),
        (None, Some(same), _) => {
            let next = parting.ask_next().unwrap_or(*same);
            let same = entry(*same);
            format!(
                "they part after {same} and at or before entry {differ}; ask for the link after entry {next}"
            )
        }
        (None, None, _) => format!(
            "they part at or before entry {differ}, or are not one match; ask for the link after entry 0, the setup"
        ),
    }
}

fn entry(seq: u64) -> String {
    if seq == 0 { "the setup".into() } else { format!("entry {seq}") }
}
