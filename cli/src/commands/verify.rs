//! `turnfold verify`: audits stored matches and single branches.

mod chain;
mod finding;
mod reload;

use std::str::FromStr;

use serde_json::json;
use turnfold_history::{
    FileName, Finding, FindingKind, History, QuotedLink, Revision, SourceName, Sources, Verification,
    VerifiedBranch,
    golden::verify::{left_to_check, named_referee, verify},
    history::links::{Parting, QuotedFinding, compare},
};
use turnfold_store::{BranchName, Damage, MatchName, StoreError};

pub(super) use self::finding::place;

use self::finding::finding_line;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
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

#[derive(Clone, Debug)]
enum VerifyTarget {
    /// A match with all its branches.
    Match(MatchName),
    /// A branch, up to an entry if one is named.
    Branch(Revision),
    /// A replay file; only `--reload` accepts one.
    File(FileName),
}

impl FromStr for VerifyTarget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse()? {
            SourceName::Revision(revision) if !text.contains(['@', ':']) => {
                Ok(Self::Match(revision.match_name))
            }
            SourceName::Revision(revision) => Ok(Self::Branch(revision)),
            SourceName::File(file) => Ok(Self::File(file)),
        }
    }
}

impl Args {
    /// Returns the one branch whose links are compared; `None` without `--expect`.
    fn compared_branch(&self) -> Result<Option<Revision>, Failure> {
        match self.targets.as_slice() {
            _ if self.expect.is_empty() => Ok(None),
            [VerifyTarget::Branch(revision)] => Ok(Some(revision.clone())),
            [VerifyTarget::Match(name)] => Ok(Some(main_branch(name))),
            [VerifyTarget::File(file)] => Err(of_file(file)),
            _ => Err(Failure::usage("links can be compared with one revision only, found several")),
        }
    }
}

/// Returns the failure for a replay file.
fn of_file(file: &FileName) -> Failure {
    Failure::usage(format!("`{file}` is a replay file, and `verify` is for matches of the store"))
        .hint(format!("`turnfold check {file}` verifies it"))
}

/// Returns the line about what is left to another check, such as the values of fair dice.
fn left_line(name: &str, left: &str) -> Line {
    [dim("dice"), plain(format_args!(" {name}: {left}"))].into()
}

fn main_branch(name: &MatchName) -> Revision {
    Revision { match_name: name.clone(), branch: BranchName::main(), seq: None }
}

/// Returns the line that names the referee whose rules were used (RF-17).
fn referee_line(name: &str, referee: &str) -> Line {
    [dim("rules"), plain(format_args!(" {name}: computed by your referee {referee}"))].into()
}

/// Prints the result for a match, or for the store as a whole.
fn print(match_name: Option<&MatchName>, found: &Verification, context: &mut Context) -> Result<(), Failure> {
    let Verification { branches, findings, left, referee } = found;
    let match_name = match_name.map(MatchName::as_str);
    let ok = findings.is_empty();
    let name = match_name.unwrap_or("the store");
    let verified = json!({ "match": match_name, "ok": ok, "branches": branches, "findings": findings, "dice": left, "referee": referee });
    context.output.show(&verified, || {
        let branches = branches.iter().map(|VerifiedBranch { branch, entries, link, state_hash }| {
            let entries = counted(*entries, "entry", "entries");
            let place = plain(format_args!(" {name}@{branch}: {entries} "));
            Line::from([added("ok"), place, dim(format_args!("state {state_hash:.16} link {link:.16}"))])
        });
        let findings = findings.iter().map(|finding| finding_line(name, finding));
        let referee = referee.as_ref().map(|referee| referee_line(name, referee));
        branches.chain(findings).chain(left.map(|left| left_line(name, left))).chain(referee).collect()
    })?;
    Ok(())
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let mut answers = Vec::new();
    if args.reload {
        for target in &args.targets {
            let source = match target {
                VerifyTarget::Match(name) => SourceName::Revision(main_branch(name)),
                VerifyTarget::Branch(revision) => SourceName::Revision(revision.clone()),
                VerifyTarget::File(file) => SourceName::File(file.clone()),
            };
            answers.push(reload::reload(&source, args.window, context)?);
        }
        return Ok(ExitStatus::from(!answers.contains(&ExitStatus::No)));
    }
    let compared = args.compared_branch()?;
    let verify = if args.chain { chain::verify_branch } else { verify_branch };
    if args.targets.is_empty() {
        answers.push(verify_matches(None, args.chain, context)?);
    }
    for target in &args.targets {
        answers.push(match target {
            // With `--expect`, the branch is audited below.
            VerifyTarget::Match(_) | VerifyTarget::Branch(_) if compared.is_some() => ExitStatus::Yes,
            VerifyTarget::Match(name) => verify_matches(Some(name), args.chain, context)?,
            VerifyTarget::Branch(revision) => verify(revision, context)?,
            VerifyTarget::File(file) => return Err(of_file(file)),
        });
    }
    if let Some(revision) = compared {
        answers.extend([verify(&revision, context)?, print_quoted(&revision, &args.expect, context)?]);
    }
    Ok(ExitStatus::from(!answers.contains(&ExitStatus::No)))
}

/// Audits a match, or all matches of the store if there is no name.
fn verify_matches(
    name: Option<&MatchName>,
    is_chain_only: bool,
    context: &mut Context,
) -> Result<ExitStatus, Failure> {
    let store = context.read_store()?;
    let matches: Box<dyn Iterator<Item = Result<MatchName, StoreError>>> = match name {
        None => Box::new(store.matches_after(None)?.map(|info| info.map(|info| info.name))),
        Some(name) => Box::new([Ok(name.clone())].into_iter()),
    };
    let mut disagreeing = 0;
    let mut damaged = 0;
    for match_name in matches {
        let match_name = &match_name?;
        let findings = if is_chain_only {
            chain::verify_match(&store, match_name, context)?
        } else {
            let verification = verify(&store, match_name, &context.registry)?;
            print(Some(match_name), &verification, context)?;
            verification.findings
        };
        for finding in findings {
            if finding.kind == FindingKind::Damaged { damaged += 1 } else { disagreeing += 1 }
        }
    }
    // Skipped for one match, because it reads the commits of all matches.
    if let Some(damage) = store.hidden_damage()?.filter(|_| name.is_none()) {
        let Damage { match_name, branch, seq, reason } = damage;
        let finding = Finding { branch, seq, kind: FindingKind::Damaged, message: reason };
        let found = Verification { findings: vec![finding], ..Verification::default() };
        print(match_name.as_ref(), &found, context)?;
        damaged += 1;
    }
    if damaged > 0 {
        context.output.flush()?;
        let findings = counted(damaged, "finding", "findings");
        return Err(Failure::trouble(format!("the store is damaged: {findings}"))
            .hint(context.damaged_store().next_step()));
    }
    Ok(ExitStatus::from(disagreeing == 0))
}

/// Audits a branch up to an entry.
fn verify_branch(revision: &Revision, context: &mut Context) -> Result<ExitStatus, Failure> {
    let store = context.read_store()?;
    let history = History::of_branch(revision, &store, &context.registry)?;
    let entries = history.head();
    let left = left_to_check(&history.dice);
    let state = history.state()?;
    let referee = named_referee(&*history.rules);
    let link = store.links(&revision.match_name, &revision.branch, entries..=entries)?.first().copied();
    let link = link.ok_or_else(|| Failure::internal("an entry without a link"))?;
    let branch =
        VerifiedBranch { branch: revision.branch.clone(), entries, link, state_hash: state.state_hash() };
    let verification = Verification { branches: vec![branch], findings: Vec::new(), left, referee };
    print(Some(&revision.match_name), &verification, context)?;
    Ok(ExitStatus::Yes)
}

/// Compares a branch with the links that another player quotes, and prints where they differ.
fn print_quoted(
    revision: &Revision,
    quoted: &[QuotedLink],
    context: &mut Context,
) -> Result<ExitStatus, Failure> {
    let found = compare(&context.read_store()?, revision, quoted)?;
    let (is_same, same_to, misquoted, parting) = match &found {
        QuotedFinding::Same(seq) => (true, Some(*seq), None, None),
        QuotedFinding::Wrongly(seq) => (false, None, Some(*seq), None),
        QuotedFinding::Parts(parting) => (false, parting.same, None, Some(parting)),
    };
    let compared = json!({
        "revision": revision.to_string(),
        "same": is_same,
        "same_to": same_to,
        "differ_at": parting.map(|parting| parting.differ),
        "first": parting.and_then(Parting::first),
        "branch": parting.and_then(|parting| parting.branch.as_ref()).map(BranchName::as_str),
        "ask_next": parting.and_then(Parting::ask_next),
        "misquoted": misquoted,
    });
    context.output.verdict(is_same, &compared, || {
        let (word, text) = match &found {
            QuotedFinding::Same(seq) => (added("same"), format!("as quoted, up to {}", entry(*seq))),
            QuotedFinding::Wrongly(seq) => {
                let text =
                    format!("the link after {} is quoted wrongly, as a later one is right", entry(*seq));
                (removed("unclear"), text)
            }
            QuotedFinding::Parts(parting) => (removed("differs"), explained(revision, parting)),
        };
        vec![[word, plain(format_args!(" {revision}: {text}"))].into()]
    })
}

fn explained(revision: &Revision, parting: &Parting) -> String {
    if let Some(branch) = &parting.branch {
        let whose = format!("the quoted link is that of `{}@{branch}`", revision.match_name);
        return format!("{whose}, which parts at entry {}", parting.differ);
    }
    match (parting.first(), parting.same, parting.ends) {
        (Some(0), ..) => {
            "they differ from the start: this is another match, or an import with links of its own".into()
        }
        (Some(first), _, Some(ends)) if first > ends => {
            format!("the same up to {}, where it ends; the quoted history continues", entry(ends))
        }
        (Some(first), ..) => format!("they part at entry {first}"),
        (None, Some(same), _) => {
            let next = parting.ask_next().unwrap_or(same);
            format!(
                "they part after {} and at or before entry {}; ask for the link after entry {next}",
                entry(same),
                parting.differ
            )
        }
        (None, None, _) => format!(
            "they part at or before entry {}, or are not one match; ask for the link after entry 0, the setup",
            parting.differ
        ),
    }
}

/// Returns the name of an entry in text; 0 is the setup.
fn entry(seq: u64) -> String {
    if seq == 0 { "the setup".into() } else { format!("entry {seq}") }
}
