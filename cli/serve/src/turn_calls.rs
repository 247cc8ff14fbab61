//! Calls for players who have no page open when their turn comes (SV-44): one JSON object for a command of the operator.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::{Instant, MissedTickBehavior, interval};
use turnfold_core::{AnyState, Seat};
use turnfold_history::Viewer;
use turnfold_show::render::WhoseTurn;
use turnfold_store::{BranchName, MatchName};

use crate::app::App;
use crate::open_branch::OpenBranch;
use crate::problem::{ApiResult, Code, Problem};

/// How often the matches are looked at whose players want to be called.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// The most entries that are looked at one by one; of more, the last.
const ENTRIES_MAX: u64 = 100;

/// How long the command has, and how often it is tried for one turn.
const COMMAND_TIME: Duration = Duration::from_mins(1);
const TRIES_MAX: u32 = 10;

/// The longest wait between two tries, and the shortest.
const AGAIN_MAX_MS: i64 = 60 * 60 * 1000;
const AGAIN_MIN_MS: i64 = 1_000;

/// How the service calls players.
#[derive(Clone, Debug)]
pub struct Notifying {
    /// The shell command that takes a call on its standard input.
    pub command: String,
    /// How long a turn lasts before its player is called.
    pub after: Duration,
    /// The file that has who wants to be called, and for which turns was called.
    pub memory: PathBuf,
}

/// A player who wants to be called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wish {
    /// Where, in words that the command understands.
    to: String,
    /// Up to which entry it was looked whose turn it is.
    head: Option<u64>,
    /// The turn that waits for the player.
    turn: Option<Turn>,
}

/// A turn of a player.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Turn {
    /// The entry after which it began.
    seq: u64,
    /// Before this time no call is made.
    not_before_ms: i64,
    tries: u32,
    /// Whether the player knows: by a call, or by a page that was open.
    is_known: bool,
}

type Wishes = BTreeMap<MatchName, BTreeMap<Seat, Wish>>;

struct Call {
    match_name: MatchName,
    seat: Seat,
    seq: u64,
    text: String,
}

/// Who wants to be called, kept in a file.
pub(crate) struct TurnCalls {
    notifying: Notifying,
    wishes: Mutex<Wishes>,
}

impl TurnCalls {
    /// Opens the file, if it is there.
    pub(crate) fn open(notifying: Notifying) -> io::Result<Self> {
        let wishes = match fs::read(&notifying.memory) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(io::Error::other)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Wishes::new(),
            Err(error) => return Err(error),
        };
        Ok(Self { notifying, wishes: Mutex::new(wishes) })
    }

    fn lock(&self) -> MutexGuard<'_, Wishes> {
        self.wishes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns where a player wants to be called.
    pub(crate) fn wish(&self, match_name: &MatchName, seat: Seat) -> Option<String> {
        self.lock().get(match_name)?.get(&seat).map(|wish| wish.to.clone())
    }

    /// Has a player called from the next turn on, or no more.
    pub(crate) fn set_wish(&self, match_name: &MatchName, seat: Seat, to: Option<String>) -> ApiResult<()> {
        let mut wishes = self.lock();
        let of_match = wishes.entry(match_name.clone()).or_default();
        match (to, of_match.get_mut(&seat)) {
            (Some(to), Some(wish)) => wish.to = to,
            (Some(to), None) => drop(of_match.insert(seat, Wish { to, head: None, turn: None })),
            (None, _) => drop(of_match.remove(&seat)),
        }
        if of_match.is_empty() {
            wishes.remove(match_name);
        }
        self.save(&wishes)
    }

    /// Writes the file as a whole; when it returns, the file is durable.
    fn save(&self, wishes: &Wishes) -> ApiResult<()> {
        write_whole(&self.notifying.memory, json!(wishes).to_string().as_bytes()).map_err(|error| {
            tracing::error!(%error, file = %self.notifying.memory.display(), "cannot write who wants to be called");
            Problem::internal()
        })
    }

    /// Changes wishes of a match that are still there, and writes them if anything changed.
    fn change(&self, match_name: &MatchName, change: impl Fn(Seat, &mut Wish)) -> ApiResult<()> {
        let mut wishes = self.lock();
        let Some(of_match) = wishes.get_mut(match_name) else { return Ok(()) };
        let before = of_match.clone();
        for (seat, wish) in of_match.iter_mut() {
            change(*seat, wish);
        }
        if *of_match == before { Ok(()) } else { self.save(&wishes) }
    }

    fn forget(&self, match_name: &MatchName) -> ApiResult<()> {
        let mut wishes = self.lock();
        if wishes.remove(match_name).is_some() { self.save(&wishes) } else { Ok(()) }
    }
}

fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let draft = path.with_extension("new");
    let mut file = File::create(&draft)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&draft, path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Calls players for as long as the service runs.
pub(crate) async fn keep(app: Arc<App>) {
    let Some(calls) = &app.calls else { return };
    let mut ticks = interval(LOOK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let matches: Vec<MatchName> = calls.lock().keys().cloned().collect();
        for match_name in matches {
            let of = match_name.clone();
            let made = app.block(move |app| {
                for call in look(app, &of)? {
                    make(app, &call)?;
                }
                Ok(())
            });
            match made.await {
                Ok(()) => {}
                Err(problem) if problem.code() == Code::NotFound => drop(calls.forget(&match_name)),
                Err(problem) => {
                    tracing::warn!(%match_name, detail = problem.detail(), "cannot see whose turn it is");
                }
            }
        }
    }
}

/// Looks whose turn it is in a match, and returns the calls that are due.
fn look(app: &Arc<App>, match_name: &MatchName) -> ApiResult<Vec<Call>> {
    let Some(calls) = &app.calls else { return Ok(Vec::new()) };
    let Some(mut wishes) = calls.lock().get(match_name).cloned() else { return Ok(Vec::new()) };
    let branch = app.branch(match_name, &BranchName::main())?;
    let head = app.store.head(match_name, &BranchName::main())?;
    let now_ms = app.now_ms();
    let after_ms = i64::try_from(calls.notifying.after.as_millis()).unwrap_or(i64::MAX);
    // A wish that is new begins with the turn that there is.
    let first = wishes.values().map(|wish| wish.head.map_or(head, |seen| seen + 1)).min().unwrap_or(head);
    for seq in first.max(head.saturating_sub(ENTRIES_MAX))..=head {
        if wishes.values().all(|wish| wish.head.is_some_and(|seen| seen >= seq)) {
            continue;
        }
        let state = branch.state_of_log(app, seq)?;
        for (seat, wish) in &mut wishes {
            if wish.head.is_some_and(|seen| seen >= seq) {
                continue;
            }
            wish.head = Some(seq);
            if !is_turn(app, &branch, *seat, (state.as_ref(), seq))? {
                wish.turn = None;
            } else if wish.turn.is_none() {
                let not_before_ms = now_ms.saturating_add(after_ms);
                wish.turn = Some(Turn { seq, not_before_ms, tries: 0, is_known: false });
            }
        }
    }
    let players = app.store.grants_of(match_name)?;
    let mut due = Vec::new();
    for (seat, wish) in &mut wishes {
        let Some(turn) = wish.turn.as_mut().filter(|turn| !turn.is_known) else { continue };
        if turn.not_before_ms > now_ms {
            continue;
        }
        let mut of_seat =
            players.iter().filter(|(_, grant)| grant.kind.played() == Some(*seat) && grant.is_live(now_ms));
        if of_seat.any(|(hash, _)| app.limits.has_streams(hash)) {
            // An open page calls by itself.
            turn.is_known = true;
            continue;
        }
        // It is noted before it is made, so that it is never made twice.
        turn.is_known = true;
        turn.tries += 1;
        due.push(call_of(
            app,
            match_name,
            (*seat, wish.to.clone()),
            wish.turn.as_ref().map_or(head, |turn| turn.seq),
        )?);
    }
    calls.change(match_name, |seat, wish| {
        // A wish that was made anew in the meantime is looked at the next time.
        if let Some(seen) = wishes.get(&seat).filter(|seen| seen.to == wish.to) {
            *wish = seen.clone();
        }
    })?;
    Ok(due)
}

/// Returns whether a seat has a turn in the state after an entry, as far as its player may know.
fn is_turn(
    app: &Arc<App>,
    branch: &Arc<OpenBranch>,
    seat: Seat,
    (state, seq): (&dyn AnyState, u64),
) -> ApiResult<bool> {
    let viewer = Viewer::from(seat);
    let now = match WhoseTurn::seen_by(viewer, state) {
        Some(now) => now,
        None => WhoseTurn::of_history(&branch.history_of_log(app, viewer, seq)?)?,
    };
    Ok(match now {
        WhoseTurn::Of(seats, _) => seats.contains(&seat),
        WhoseTurn::Over(_) | WhoseTurn::Unknown => false,
    })
}

/// Writes a call: nothing in it gives access, for a command may hand it to anyone.
fn call_of(app: &App, match_name: &MatchName, (seat, to): (Seat, String), seq: u64) -> ApiResult<Call> {
    let genesis = app.store.genesis(match_name)?;
    let name = app.store.names_of(match_name, app.now_ms())?.remove(&seat);
    let text = json!({
        "event": "your_turn",
        "id": format!("{match_name}/{seat}/{seq}"),
        "match": match_name,
        "title": genesis.title,
        "ruleset": genesis.ruleset,
        "seat": seat,
        "name": name,
        "to": to,
        "link": format!("{}/m/{match_name}", app.origin),
    });
    Ok(Call { match_name: match_name.clone(), seat, seq, text: format!("{text}\n") })
}

/// Makes a call; where the command fails, it is made again later.
fn make(app: &App, call: &Call) -> ApiResult<()> {
    let Some(calls) = &app.calls else { return Ok(()) };
    let failed = match run(&calls.notifying.command, &call.text) {
        Ok(None) => return Ok(()),
        Ok(Some(why)) => why,
        Err(error) => error.to_string(),
    };
    tracing::warn!(match_name = %call.match_name, seat = %call.seat, why = failed, "a player was not called");
    let now_ms = app.now_ms();
    calls.change(&call.match_name, |seat, wish| {
        let Some(turn) = wish.turn.as_mut().filter(|turn| seat == call.seat && turn.seq == call.seq) else {
            return;
        };
        if turn.tries < TRIES_MAX {
            turn.is_known = false;
            let wait = AGAIN_MIN_MS.saturating_mul(1 << turn.tries.min(20)).min(AGAIN_MAX_MS);
            turn.not_before_ms = now_ms.saturating_add(wait);
        }
    })
}

/// Runs the command with a call on its standard input; returns why it failed, if it did.
fn run(command: &str, text: &str) -> io::Result<Option<String>> {
    let mut child =
        Command::new("sh").args(["-c", command]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A command need not read it.
        let _ = stdin.write_all(text.as_bytes());
    }
    wait(&mut child)
}

fn wait(child: &mut Child) -> io::Result<Option<String>> {
    let since = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((!status.success()).then(|| format!("the command ended with {status}")));
        }
        if since.elapsed() > COMMAND_TIME {
            child.kill()?;
            child.wait()?;
            return Ok(Some("the command took too long".into()));
        }
        thread::sleep(Duration::from_millis(20));
    }
}
