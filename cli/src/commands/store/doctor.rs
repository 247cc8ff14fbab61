//! `turnfold store doctor`: reports problems of a store or a service, each with a remedy.

use serde::Serialize;
use turnfold_history::{Sources, recorded_rules};
use turnfold_serve::TokenKind;
use turnfold_show::render::ListedMatch;
use turnfold_store::BranchName;

use crate::client::{ServiceReply, ServiceRequest};
use crate::context::{Context, StoreAddress};
use crate::failure::{ExitStatus, Failure, Result};
use crate::output::{Format, Line, added, counted, plain, removed, warning};
use crate::{clock, files};

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

/// How far the clock of a service may differ from this machine's, in milliseconds. Answers give whole seconds and take
/// time to arrive.
const SERVICE_CLOCK_TOLERANCE_MS: u64 = 30_000;

const NAMED: usize = 3;

#[derive(Debug, Serialize)]
struct DoctorFinding {
    about: &'static str,
    grade: Grade,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_step: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Grade {
    Ok,
    /// It works, but may surprise the user.
    Note,
    Mend,
}

impl DoctorFinding {
    fn ok(about: &'static str, message: impl Into<String>) -> Self {
        Self { about, grade: Grade::Ok, message: message.into(), next_step: None }
    }

    fn note(about: &'static str, message: impl Into<String>, next_step: impl Into<String>) -> Self {
        Self { grade: Grade::Note, next_step: Some(next_step.into()), ..Self::ok(about, message) }
    }

    fn mend(about: &'static str, message: impl Into<String>, next_step: impl Into<String>) -> Self {
        Self { grade: Grade::Mend, ..Self::note(about, message, next_step) }
    }

    fn failed(about: &'static str, failure: &Failure) -> Self {
        let next_step = failure.hint.clone();
        Self { grade: Grade::Mend, next_step, ..Self::ok(about, failure.message()) }
    }

    fn line(&self) -> Line {
        let grade = match self.grade {
            Grade::Ok => added("ok  "),
            Grade::Note => warning("note"),
            Grade::Mend => removed("mend"),
        };
        let mut text = format!(" {}: {}", self.about, self.message);
        if let Some(next_step) = &self.next_step {
            text = format!("{text}; {next_step}");
        }
        Line::from([grade, plain(text)])
    }
}

pub(crate) fn run(_: &Args, context: &mut Context) -> Result<ExitStatus> {
    let findings = if matches!(context.store, StoreAddress::Service(_)) {
        service_findings(context)
    } else {
        store_findings(context)
    };
    context.output.list(&findings, |findings| findings.iter().map(DoctorFinding::line).collect())?;
    Ok(findings.iter().all(|finding| finding.grade != Grade::Mend).into())
}

fn store_findings(context: &Context) -> Vec<DoctorFinding> {
    let listed = matches(context).map_err(|failure| failure.in_store(context.damaged_store()));
    let mut findings = vec![match &listed {
        Ok(listed) => {
            let place = match context.store_dir() {
                Ok(dir) => format!("`{}`", files::shown(dir)),
                Err(_) => "the database".into(),
            };
            let matches = counted(listed.len() as u64, "match", "matches");
            let entries = listed.iter().map(|listed| listed.entries).sum();
            let entries = counted(entries, "entry", "entries");
            DoctorFinding::ok("store", format!("{place} opens and has {matches} with {entries} on `main`"))
        }
        Err(failure) => DoctorFinding::failed("store", failure),
    }];
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
    if let Ok(listed) = &listed {
        findings.extend(times_finding(context, listed));
    }
    findings.push(modules(context));
    if listed.is_ok() {
        findings.push(rules(context).unwrap_or_else(|failure| DoctorFinding::failed("rules", &failure)));
    }
    findings
}

fn matches(context: &Context) -> Result<Vec<ListedMatch>> {
    let store = context.read_store()?;
    let mut listed = Vec::new();
    for info in store.matches_after(None)? {
        listed.push(ListedMatch::read(info?, &store)?);
    }
    Ok(listed)
}

/// Checks that the clock is not behind the last entries, because the times of new entries would go back.
fn clock_finding(now_ms: i64, listed: &[ListedMatch]) -> DoctorFinding {
    for ListedMatch { match_name, active_at_ms, .. } in listed {
        if *active_at_ms > now_ms.saturating_add(CLOCK_TOLERANCE_MS) {
            let ahead_s = active_at_ms.saturating_sub(now_ms) / 1000;
            let message = format!("the last entry of `{match_name}` is {ahead_s} s ahead of the clock");
            let next_step = "set the clock of this machine, and keep it by a time service";
            return DoctorFinding::mend("clock", message, next_step);
        }
    }
    DoctorFinding::ok("clock", clock::rfc_3339(now_ms).unwrap_or_default())
}

fn times_finding(context: &Context, listed: &[ListedMatch]) -> Option<DoctorFinding> {
    let store = context.read_store().ok()?;
    for listed in listed {
        let name = &listed.match_name;
        let range = (listed.entries + 1).saturating_sub(TIMES_READ).max(1)..=listed.entries;
        let mut before_ms = i64::MIN;
        for entry in store.entries(name, &BranchName::main(), range).ok()? {
            // Other verbs report damaged entries.
            let Ok(entry) = entry else { break };
            let back_ms = before_ms.saturating_sub(entry.recorded_at_ms);
            before_ms = entry.recorded_at_ms;
            if back_ms > CLOCK_TOLERANCE_MS {
                let seconds = back_ms / 1000;
                let message =
                    format!("the clock went back {seconds} s before entry {} of `{name}`", entry.seq);
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
            let message = format!("cannot read them: {error}");
            return DoctorFinding::mend("modules", message, "mend the permissions of their folder");
        }
    };
    for module in &modules {
        if let Err(error) = &module.rules {
            let message = format!("`{}`: {error}", files::shown(&module.path));
            let next_step = "remove the file, or put the module there again";
            return DoctorFinding::mend("modules", message, next_step);
        }
    }
    for module in &modules {
        if !context.modules.has_passed(&module.digest) {
            let path = files::shown(&module.path);
            let message =
                format!("the laws have not passed on `{path}`, so `serve` and `mail` do not play it");
            return DoctorFinding::note("modules", message, format!("run `turnfold game check {path}`"));
        }
    }
    DoctorFinding::ok("modules", counted(modules.len() as u64, "module", "modules"))
}

fn rules(context: &Context) -> Result<DoctorFinding> {
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
    let next_step = "add the module with `turnfold game add`, or use the build that recorded these matches";
    Ok(DoctorFinding::mend("rules", message, next_step))
}

fn service_findings(context: &Context) -> Vec<DoctorFinding> {
    let client = match context.service() {
        Ok(Some(client)) => client,
        Ok(None) => return Vec::new(),
        Err(failure) => return vec![DoctorFinding::failed("token", &failure)],
    };
    let mut findings = Vec::new();
    match client.get(&ServiceRequest::of("/readyz", Vec::new(), Format::Text)) {
        Ok(reply) => {
            findings.push(DoctorFinding::ok("service", "takes requests, and its store accepts writes"));
            findings.extend(service_clock_finding(&reply));
        }
        Err(error) => findings.push(DoctorFinding::failed("service", &error.into())),
    }
    let kind = match client.kind {
        TokenKind::Admin => "the admin",
        TokenKind::Host => "the host of a match",
        TokenKind::Seat => "a seat",
        TokenKind::Spectator => "a spectator",
        TokenKind::Calendar => "a calendar",
        TokenKind::Invitation => {
            findings.push(DoctorFinding::note("token", "is of an invitation", "run `turnfold join`"));
            return findings;
        }
    };
    findings.push(match client.get(&ServiceRequest::of("/v1/matches", Vec::new(), Format::Json)) {
        Ok(_) => DoctorFinding::ok("token", format!("is valid, and of {kind}")),
        Err(error) => DoctorFinding::failed("token", &error.into()),
    });
    findings
}

/// Compares the clocks, because deadlines and delays go by the clock of the service.
fn service_clock_finding(reply: &ServiceReply) -> Option<DoctorFinding> {
    let date = reply.header("date")?;
    let service_ms = clock::since_1970(httpdate::parse_http_date(date).ok()?)?;
    let own_ms = clock::now_ms().ok()?;
    let own = clock::rfc_3339(own_ms)?;
    if service_ms.abs_diff(own_ms) <= SERVICE_CLOCK_TOLERANCE_MS {
        let message = format!("the service and this machine agree: {own}");
        return Some(DoctorFinding::ok("clock", message));
    }
    let message = format!("{date} at the service, and {own} here");
    let next_step = "set the clock that is wrong, and keep it by a time service";
    Some(DoctorFinding::mend("clock", message, next_step))
}

/// Checks of free space and permissions on this machine.
#[cfg(unix)]
mod system {
    use std::fs;
    use std::io;
    use std::os::unix::fs::MetadataExt;
    use std::path::{Path, PathBuf};

    use rustix::fs::{Access, access};
    use turnfold_store::Store;

    use super::DoctorFinding;
    use crate::files;

    const MIB: u64 = 1 << 20;

    const SPACE_MIN: u64 = 256 * MIB;

    /// Checks the free space. Compacting and upgrading write a second copy of the store.
    pub(super) fn space(dir: &Path) -> DoctorFinding {
        let (free, taken) = match (Store::free_bytes(dir), Store::bytes_on_disk(dir)) {
            (Ok(free), Ok(taken)) => (free.unwrap_or(u64::MAX), taken),
            (Err(error), _) | (_, Err(error)) => return DoctorFinding::failed("space", &error.into()),
        };
        let message = format!("{} MiB are free, and the store takes {} MiB", free / MIB, taken.div_ceil(MIB));
        if free < SPACE_MIN {
            return DoctorFinding::mend("space", message, "free some space before writes fail");
        }
        if free < taken {
            let next_step = "`store compact` and `store upgrade` need room for a second copy";
            return DoctorFinding::note("space", message, next_step);
        }
        DoctorFinding::ok("space", message)
    }

    pub(super) fn permissions(dir: &Path) -> DoctorFinding {
        let shown = files::shown(dir);
        let found = match paths_below(dir) {
            Ok(found) => found,
            Err(error) => {
                let message = format!("cannot list `{shown}`: {error}");
                return DoctorFinding::mend("permissions", message, "mend its permissions");
            }
        };
        for path in &found {
            if let Err(error) = access(path, Access::READ_OK | Access::WRITE_OK) {
                let message = format!("cannot read and write `{}`: {error}", files::shown(path));
                let next_step = "run as the user to whom the store belongs, or give it to this user";
                return DoctorFinding::mend("permissions", message, next_step);
            }
        }
        for path in &found {
            if mode(path) & 0o022 != 0 {
                let message = format!("others can change `{}`", files::shown(path));
                return DoctorFinding::mend("permissions", message, format!("run `chmod -R go-w {shown}`"));
            }
        }
        if mode(dir) & 0o055 != 0 {
            let message = format!("others on this machine can read `{shown}`, seeds of dice included");
            let next_step = format!("run `chmod -R go= {shown}` if they should not");
            return DoctorFinding::note("permissions", message, next_step);
        }
        DoctorFinding::ok("permissions", format!("only this user can read and write `{shown}`"))
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).map_or(0, |found| found.mode())
    }

    fn paths_below(dir: &Path) -> io::Result<Vec<PathBuf>> {
        let mut found = vec![dir.to_path_buf()];
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                found.extend(paths_below(&entry.path())?);
            } else {
                found.push(entry.path());
            }
        }
        Ok(found)
    }
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
