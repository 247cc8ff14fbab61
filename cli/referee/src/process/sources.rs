//! The referees that a user named. Only the user's own command line and files can name them (RF-3).

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use turnfold_core::SetupError;
use turnfold_core::any::{AnyRules, setup_from_toml};
use turnfold_core::registry::{NamedReferee, RefereeSource};
use turnfold_core::text::in_one_line;

use super::child::Launch;
use super::children::Children;
use crate::carrier::NoAnswer;
use crate::laws;
use crate::locked;
use crate::recorded::{self, RecordedRules};
use crate::referee::Referee;
use crate::rules::RefereeRules;

const FILE_BYTES_MAX: u64 = 1 << 20;

/// The referees that a user named. A referee is started when a match of its game is folded. One without a name is
/// started with the first match, because only the referee itself knows its game.
#[derive(Debug, Default)]
pub struct Referees {
    named: BTreeMap<String, Arc<Launch>>,
    unnamed: Vec<Arc<Launch>>,
    files: Vec<PathBuf>,
    children_max: usize,
    started: Mutex<StartedReferees>,
}

#[derive(Default)]
struct StartedReferees {
    by_name: BTreeMap<String, Arc<RefereeRules>>,
    has_asked_unnamed: bool,
}

impl std::fmt::Debug for StartedReferees {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_list().entries(self.by_name.keys()).finish()
    }
}

impl Referees {
    /// Returns an empty list of referees, each of which may have up to `children_max` children at once.
    #[must_use]
    pub fn new(children_max: usize) -> Self {
        Self { children_max, ..Self::default() }
    }

    /// Returns `true` if no referee is named.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.named.is_empty() && self.unnamed.is_empty()
    }

    /// Adds the referees of a file, which has a section `[NAME]` for each.
    ///
    /// # Errors
    /// Why the file cannot be used, in one line.
    pub fn add_file(&mut self, path: &Path) -> Result<(), String> {
        if path == Path::new("/dev/null") {
            return Ok(());
        }
        self.files.push(path.into());
        let text = match read(path) {
            Ok(text) => text,
            Err(why) => return Err(in_file(path, &why)),
        };
        let sections: BTreeMap<String, Launch> = match setup_from_toml(&text) {
            Ok(sections) => sections,
            Err(SetupError::Text { line, column, message }) => {
                return Err(format!("{}:{line}:{column}: {}", path.display(), in_one_line(&message)));
            }
            Err(other) => return Err(in_file(path, &other.to_string())),
        };
        for (name, mut launch) in sections {
            laws::ruleset_name(&name).map_err(|why| in_file(path, &why))?;
            if launch.command.is_empty() {
                return Err(in_file(path, &format!("[{name}] has an empty `command`")));
            }
            // A folder is relative to the file.
            if let Some(folder) = &mut launch.folder {
                *folder = path.parent().unwrap_or(Path::new(".")).join(&*folder);
            }
            self.named.insert(name, Arc::new(launch));
        }
        Ok(())
    }

    /// Adds `NAME=COMMAND` or `COMMAND`. The command is split into words as by a shell, but no shell runs. It replaces
    /// a referee of the same name from a file.
    ///
    /// # Errors
    /// What is wrong with it, in one line.
    pub fn add(&mut self, given: &str) -> Result<(), String> {
        let (name, line) = match given.split_once('=') {
            Some((name, line)) if laws::ruleset_name(name).is_ok() => (Some(name), line),
            _ => (None, given),
        };
        // On Windows a backslash is part of a path.
        let line = if cfg!(windows) { line.replace('\\', "\\\\") } else { line.into() };
        let command = shlex::split(&line).unwrap_or_default();
        if command.is_empty() {
            return Err(format!("`{}` is no command", in_one_line(given)));
        }
        let launch = Arc::new(Launch { command, env: BTreeMap::new(), folder: None, seconds: None });
        match name {
            Some(name) => drop(self.named.insert(name.into(), launch)),
            None => self.unnamed.push(launch),
        }
        Ok(())
    }

    /// Gives every request at least this many seconds (RF-16).
    pub fn set_seconds(&mut self, seconds: u64) {
        for launch in self.named.values_mut().chain(&mut self.unnamed) {
            let own = launch.seconds.unwrap_or(0);
            Arc::make_mut(launch).seconds = Some(own.max(seconds));
        }
    }

    /// Returns the files on which the referees depend, as far as their commands show it: the files that name them, and the
    /// programs, scripts and folders among the words of their commands.
    #[must_use]
    pub fn paths(&self) -> Vec<PathBuf> {
        let mut paths = self.files.clone();
        for launch in self.named.values().chain(&self.unnamed) {
            paths.extend(launch.paths());
        }
        paths
    }

    fn start(&self, launch: &Arc<Launch>) -> Result<Arc<RefereeRules>, String> {
        let children = Children::new(launch.clone(), self.children_max.max(1), false);
        match Referee::start(Box::new(children)) {
            Ok(referee) => Ok(Arc::new(RefereeRules::new(referee))),
            Err(NoAnswer::NotStarted(why)) => Err(why),
            Err(stop) => Err(format!("`{}`: {stop}", launch.line())),
        }
    }
}

impl RefereeSource for Referees {
    fn named(&self) -> Vec<NamedReferee> {
        let mut named = Vec::new();
        for (name, launch) in &self.named {
            named.push(NamedReferee { ruleset: name.clone(), command: launch.line() });
        }
        named
    }

    fn by_name(&self, name: &str) -> Result<Option<Arc<dyn AnyRules>>, String> {
        if name == recorded::NAME {
            return Ok(Some(Arc::new(RecordedRules)));
        }
        let mut started = locked(&self.started);
        if !started.has_asked_unnamed {
            for launch in &self.unnamed {
                let rules = self.start(launch)?;
                let name = rules.name().to_owned();
                if self.named.contains_key(&name) || started.by_name.contains_key(&name) {
                    return Err(format!("two referees are named for `{name}`"));
                }
                started.by_name.insert(name, rules);
            }
            started.has_asked_unnamed = true;
        }
        if let Some(rules) = started.by_name.get(name) {
            return Ok(Some(rules.clone()));
        }
        let Some(launch) = self.named.get(name) else { return Ok(None) };
        let rules = self.start(launch)?;
        if rules.name() != name {
            return Err(format!("`{}` is a referee of `{}`, not of `{name}`", launch.line(), rules.name()));
        }
        started.by_name.insert(name.into(), rules.clone());
        Ok(Some(rules))
    }

    fn settle(&self) {
        let rules: Vec<_> = locked(&self.started).by_name.values().cloned().collect();
        for rules in rules {
            rules.second.settle();
        }
    }
}

fn in_file(path: &Path, why: &str) -> String {
    format!("{}: {}", path.display(), in_one_line(why))
}

fn read(path: &Path) -> Result<String, String> {
    check_owner(path)?;
    let file = fs::File::open(path).map_err(|error| error.to_string())?;
    io::read_to_string(file.take(FILE_BYTES_MAX)).map_err(|error| error.to_string())
}

/// Refuses a file that belongs to another user or that others may write, because its writer chooses what runs here.
#[cfg(unix)]
fn check_owner(path: &Path) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt as _;
    let file = fs::metadata(path).map_err(|error| error.to_string())?;
    if file.uid() != rustix::process::geteuid().as_raw() {
        return Err("it belongs to another user; what it names is not started".into());
    }
    if file.mode() & 0o022 != 0 {
        return Err("others may write it; `chmod go-w` makes it yours alone".into());
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_owner(_: &Path) -> Result<(), String> {
    Ok(())
}
