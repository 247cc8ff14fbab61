//! `turnfold store doctor`: reports problems of a store or a service, each with a remedy.

use turnfold_history::Sources;
use turnfold_history::history::recorded_rules;
use turnfold_show::render::ListedMatch;
use turnfold_store::BranchName;

use crate::address::StoreAddress;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::output::counted;
use crate::{clock, files};
use finding::{DoctorFinding, Grade};

mod finding;
mod service;
#[cfg(unix)]
mod system;

/// Find what keeps a store or a service from working well
///
/// Opens the store and looks at its matches, at free space, at permissions, at the clock and at the modules; with the URL of a
/// service, at its answers, its clock and the token. Each finding names what to do. Of the entries it reads only the last thousand
/// of each match: `store check` and `verify` audit all of them. Exits with 1 if something should be mended.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  turnfold store doctor\n  turnfold store doctor --store https://play.example --token admin.token"
)]
pub(crate) struct Args {}

/// How far the clock may be behind the last entry, in milliseconds. Clocks of several machines differ.
const CLOCK_TOLERANCE_MS: i64 = 60_000;

/// How many of the last entries of each match are read to check their times.
const TIMES_READ: u64 = 1_000;

/// The most matches that a finding names.
const NAMED: usize = 3;

pub(crate) fn run(_: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let findings = if matches!(context.store, StoreAddress::Service(_)) {
        service::findings(context)
    } else {
        store_findings(context)
    };
    context.output.list(&findings, |findings| findings.iter().map(DoctorFinding::line).collect())?;
    let is_well = findings.iter().all(|finding| finding.grade != Grade::Mend);
    Ok(if is_well { ExitStatus::Yes } else { ExitStatus::No })
}

fn store_findings(context: &Context) -> Vec<DoctorFinding> {
    let mut findings = Vec::new();
    let listed = matches(context).map_err(|failure| failure.in_store(context.damaged_store()));
    match &listed {
        Ok(listed) => findings.push(DoctorFinding::ok("store", stored(context, listed))),
        Err(failure) => findings.push(DoctorFinding::failed("store", failure)),
    }
    #[cfg(unix)]
    if let Ok(dir) = context.store_dir()
        && dir.is_dir()
    {
        findings.push(system::space(dir));
        findings.push(system::permissions(dir));
    }
    findings.push(match clock::now_ms() {
        Ok(now_ms) => clock_finding(now_ms, listed.as_deref().unwrap_or_default()),
        Err(failure) => DoctorFinding::failed("clock", &failure),
    });
    if let Ok(listed) = &listed
        && let Some(finding) = times_finding(context, listed)
    {
        findings.push(finding);
    }
    findings.push(modules(context));
    if listed.is_ok() {
        findings.push(rules(context).unwrap_or_else(|failure| DoctorFinding::failed("rules", &failure)));
    }
    findings
}

fn matches(context: &Context) -> Result<Vec<ListedMatch>, Failure> {
    let store = context.read_store()?;
    let matches = store.matches_after(None)?;
    matches.map(|info| Ok(ListedMatch::read(info?, &store)?)).collect()
}

fn stored(context: &Context, listed: &[ListedMatch]) -> String {
    let dir = context.store_dir();
    let place = dir.map_or_else(|_| "the database".into(), |dir| format!("`{}`", files::shown(dir)));
    let entries = listed.iter().map(|listed| listed.entries).sum();
    let matches = counted(listed.len() as u64, "match", "matches");
    format!("{place} opens and has {matches} with {} on `main`", counted(entries, "entry", "entries"))
}

/// Checks that the clock is not behind the last entries, because the times of new entries would go back.
fn clock_finding(now_ms: i64, listed: &[ListedMatch]) -> DoctorFinding {
    let is_ahead = |listed: &&ListedMatch| listed.active_at_ms > now_ms.saturating_add(CLOCK_TOLERANCE_MS);
    let Some(ahead) = listed.iter().find(is_ahead) else {
        return DoctorFinding::ok("clock", clock::rfc_3339(now_ms).unwrap_or_default());
    };
    let name = &ahead.match_name;
    let ahead_s = ahead.active_at_ms.saturating_sub(now_ms) / 1000;
    let message = format!("the last entry of `{name}` is {ahead_s} s ahead of the clock");
    DoctorFinding::mend("clock", message, "set the clock of this machine, and keep it by a time service")
}

/// Checks that the times of entries do not go back. Stops at damaged entries, which other verbs report.
fn times_finding(context: &Context, listed: &[ListedMatch]) -> Option<DoctorFinding> {
    let store = context.read_store().ok()?;
    for listed in listed {
        let name = &listed.match_name;
        let branch = BranchName::main();
        let range = (listed.entries + 1).saturating_sub(TIMES_READ).max(1)..=listed.entries;
        let mut before_ms = i64::MIN;
        for entry in store.entries(name, &branch, range).ok()? {
            let Ok(entry) = entry else { break };
            let back_ms = before_ms.saturating_sub(entry.recorded_at_ms);
            before_ms = entry.recorded_at_ms;
            if back_ms > CLOCK_TOLERANCE_MS {
                let message = format!(
                    "the clock went back {} s before entry {} of `{name}`",
                    back_ms / 1000,
                    entry.seq
                );
                let next_step = "keep the clock by a time service, because lists and deadlines take every entry to be \
                    older than the next";
                return Some(DoctorFinding::note("times", message, next_step));
            }
        }
    }
    None
}

/// Checks that every module loads, and that it has passed the laws, because `serve` and `mail` require that (MD-7).
fn modules(context: &Context) -> DoctorFinding {
    let modules = match context.modules.files() {
        Ok(modules) => modules,
        Err(error) => {
            return DoctorFinding::mend(
                "modules",
                format!("cannot read them: {error}"),
                "mend the permissions of their folder",
            );
        }
    };
    for module in &modules {
        let path = files::shown(&module.path);
        if let Err(error) = &module.rules {
            return DoctorFinding::mend(
                "modules",
                format!("`{path}`: {error}"),
                "remove the file, or put the module there again",
            );
        }
    }
    let unchecked = modules.iter().find(|module| !context.modules.has_passed(&module.digest));
    let count = counted(modules.len() as u64, "module", "modules");
    match unchecked {
        None => DoctorFinding::ok("modules", count),
        Some(module) => {
            let path = files::shown(&module.path);
            let message =
                format!("the laws have not passed on `{path}`, so `serve` and `mail` do not play it");
            DoctorFinding::note("modules", message, format!("run `turnfold game check {path}`"))
        }
    }
}

/// Checks that this build has the rules of every match.
fn rules(context: &Context) -> Result<DoctorFinding, Failure> {
    let store = context.read_store()?;
    let mut count = 0;
    let mut missing = Vec::new();
    for info in store.matches_after(None)? {
        let info = info?;
        count += 1;
        if let Err(cause) = recorded_rules(&info.genesis, &context.registry) {
            missing.push(format!("`{}`: {cause}", info.name));
        }
    }
    if missing.is_empty() {
        return Ok(DoctorFinding::ok("rules", format!("there for {}", counted(count, "match", "matches"))));
    }
    let others = missing.len().saturating_sub(NAMED);
    let more = if others > 0 { format!("; and {others} more") } else { String::new() };
    missing.truncate(NAMED);
    let message = format!("missing for {}{more}", missing.join("; "));
    Ok(DoctorFinding::mend(
        "rules",
        message,
        "add the module with `turnfold game add`, or use the build that recorded these matches",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_behind_the_last_entry_is_to_be_mended() {
        let listed = ListedMatch {
            match_name: "duel".parse().unwrap(),
            ruleset: "cycletap".into(),
            version: 1,
            entries: 1,
            branches: 1,
            title: String::new(),
            created_at_ms: 0,
            active_at_ms: 100_000,
            origin: None,
            turn: None,
        };
        assert_eq!(clock_finding(40_000, std::slice::from_ref(&listed)).grade, Grade::Ok);
        let found = clock_finding(30_000, &[listed]);
        assert_eq!(found.grade, Grade::Mend);
        assert_eq!(found.message, "the last entry of `duel` is 70 s ahead of the clock");
    }
}
