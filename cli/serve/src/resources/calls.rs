//! Calls for players who have no page open when their turn comes (SV-44): who wants to be called and where, and the
//! calls. The operator's command gets one JSON object for each call.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fmt, thread};

use serde_json::json;
use tokio::time::{MissedTickBehavior, interval};
use turnfold_core::paper::DeskTime;
use turnfold_history::text::printable;
use turnfold_show::render::WhoseTurn;
use turnfold_store::GrantLabel;
use turnfold_store::draft::{DraftFile, Readers};

use super::prelude::*;
use crate::auto_host;

/// The longest address, in characters.
const TO_MAX: usize = 200;

const LOOK_EVERY: Duration = Duration::from_millis(500);

/// The most new entries to look at one by one. Earlier ones are skipped.
const ENTRIES_MAX: u64 = 100;

/// The most entries that a call describes, and how many entries to look back for them.
const HAPPENED_MAX: usize = 3;
const LOOKED_BACK: u64 = 20;

/// How long the command may run, and how often it is tried for one turn.
const COMMAND_TIME: Duration = Duration::from_mins(1);
const TRIES_MAX: u32 = 10;

/// The longest wait between two tries, and the wait that each failure doubles.
const AGAIN_MAX_MS: i64 = 60 * 60 * 1000;
const AGAIN_MIN_MS: i64 = 1_000;

/// How the service calls players.
#[derive(Clone, Debug)]
pub struct Notifying {
    /// The shell command that takes a call on its standard input.
    pub command: String,
    /// How long a turn lasts before its player is called.
    pub after: Duration,
    /// The file that records who wants to be called, and the turns for which players were called.
    pub memory: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wish {
    /// The address, in words that the command understands.
    to: String,
    /// The branch that was looked at last. Earlier builds wrote none and meant `main`.
    #[serde(default = "BranchName::main", skip_serializing_if = "BranchName::is_main")]
    branch: BranchName,
    /// The last entry that was looked at.
    head: Option<u64>,
    /// The turn that waits for the player.
    turn: Option<Turn>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Turn {
    /// The entry after which it began.
    seq: u64,
    /// Before this time no call is made.
    not_before_ms: i64,
    tries: u32,
    /// Whether the player knows of the turn, from a call or an open page.
    is_known: bool,
}

/// The wishes by the hashes of the players' tokens. A later player of the seat has another token, and so has a player
/// of a later match of the same name. So they do not inherit a wish.
type Wishes = BTreeMap<Digest, Wish>;

/// A player who wants to be called.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Player {
    match_name: MatchName,
    seat: Seat,
    token: Digest,
}

pub(crate) struct TurnCalls {
    notifying: Notifying,
    wishes: Mutex<Wishes>,
}

impl TurnCalls {
    pub(crate) fn open(notifying: Notifying) -> io::Result<Self> {
        let file = &notifying.memory;
        let bytes = match fs::read(file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => b"{}".to_vec(),
            Err(error) => return Err(unreadable(file, &error)),
        };
        let kept: BTreeMap<String, Wish> =
            serde_json::from_slice(&bytes).map_err(|error| unreadable(file, &error))?;
        let mut wishes = Wishes::new();
        for (token, wish) in kept {
            let token = token.parse::<Digest>().map_err(|error| unreadable(file, &error))?;
            wishes.insert(token, wish);
        }
        Ok(Self { notifying, wishes: Mutex::new(wishes) })
    }

    fn wish(&self, token: &Digest) -> Option<String> {
        lock(&self.wishes).get(token).map(|wish| wish.to.clone())
    }

    fn set_wish(&self, token: Digest, to: Option<String>) -> ApiResult<()> {
        let mut wishes = lock(&self.wishes);
        if let Some(to) = to {
            let new = Wish { to: String::new(), branch: BranchName::main(), head: None, turn: None };
            wishes.entry(token).or_insert(new).to = to;
        } else {
            wishes.remove(&token);
        }
        self.save(&wishes)
    }

    fn save(&self, wishes: &Wishes) -> ApiResult<()> {
        write_whole(&self.notifying.memory, json!(wishes).to_string().as_bytes()).map_err(|error| {
            tracing::error!(%error, file = %self.notifying.memory.display(), "cannot write who wants to be called");
            Problem::internal()
        })
    }

    fn change(&self, token: &Digest, change: impl FnOnce(&mut Wish)) -> ApiResult<()> {
        let mut wishes = lock(&self.wishes);
        let Some(wish) = wishes.get_mut(token) else { return Ok(()) };
        let before = wish.clone();
        change(wish);
        if *wish == before { Ok(()) } else { self.save(&wishes) }
    }
}

fn unreadable(file: &Path, why: &dyn fmt::Display) -> io::Error {
    io::Error::other(format!("cannot read who wants to be called in `{}`: {why}", file.display()))
}

fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Only the owner can read the file, because it contains addresses.
    let mut draft = DraftFile::file_in(folder, Readers::Owner)?;
    draft.file().write_all(bytes)?;
    draft.file().sync_all()?;
    draft.persist(path, true)?;
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

pub(crate) async fn keep(app: Arc<App>) {
    let mut ticks = interval(LOOK_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(problem) = app.block(look_at_all).await {
            tracing::warn!(detail = problem.detail(), "cannot see who is to be called");
        }
    }
}

fn look_at_all(app: &Arc<App>) -> ApiResult<()> {
    let Some(calls) = &app.calls else { return Ok(()) };
    let tokens: Vec<Digest> = lock(&calls.wishes).keys().copied().collect();
    let mut players = Vec::new();
    for token in tokens {
        let grant = app.store.find_grant(&token)?.filter(|grant| grant.is_live(app.now_ms()));
        if let Some(grant) = grant
            && let Some(seat) = grant.kind.played()
        {
            players.push(Player { match_name: grant.match_name, seat, token });
        } else {
            // The host revoked the token, or the match is gone.
            calls.set_wish(token, None)?;
        }
    }
    players.sort();
    for player in players {
        // A problem in one match must not stop the calls in the others.
        if let Err(problem) = call_if_due(app, calls, &player) {
            tracing::warn!(match_name = %player.match_name, detail = problem.detail(), "cannot see whose turn it is");
        }
    }
    Ok(())
}

fn call_if_due(app: &Arc<App>, calls: &TurnCalls, player: &Player) -> ApiResult<()> {
    let Player { match_name, seat, token } = player;
    let Some(mut wish) = lock(&calls.wishes).get(token).cloned() else { return Ok(()) };
    let current = current_branch(app, match_name)?;
    let branch = app.branch(match_name, &current)?;
    let head = app.store.head(match_name, &current)?;
    // Turns on a branch that the match left do not count.
    if wish.branch != current {
        wish = Wish { branch: current, head: None, turn: None, ..wish };
    }
    let now_ms = app.now_ms();
    // A new wish begins with the present turn.
    let first = wish.head.map_or(head, |seen| seen + 1).max(head.saturating_sub(ENTRIES_MAX));
    for seq in first..=head {
        let state = branch.state_of_log(app, seq)?;
        wish.head = Some(seq);
        if !is_turn(app, &branch, *seat, (state.as_ref(), seq))? {
            wish.turn = None;
        } else if wish.turn.is_none() {
            let after_ms = i64::try_from(calls.notifying.after.as_millis()).unwrap_or(i64::MAX);
            let not_before_ms = now_ms.saturating_add(after_ms);
            wish.turn = Some(Turn { seq, not_before_ms, tries: 0, is_known: false });
        }
    }
    let mut due = None;
    if let Some(turn) = wish.turn.as_mut().filter(|turn| !turn.is_known && turn.not_before_ms <= now_ms) {
        // The call is noted before it is made, so that it is never made twice. An open page needs no call.
        turn.is_known = true;
        if !app.limits.has_streams(token) {
            turn.tries += 1;
            due = Some(turn.seq);
        }
    }
    let mut text = String::new();
    if let Some(seq) = due {
        text = text_of_call(app, player, &branch, &wish.to, seq)?;
    }
    let mut is_noted = false;
    calls.change(token, |known| {
        // A wish that was changed in the meantime is looked at the next time.
        if known.to == wish.to {
            *known = wish;
            is_noted = true;
        }
    })?;
    let Some(seq) = due.filter(|_| is_noted) else { return Ok(()) };
    let why = match run(&calls.notifying.command, &text) {
        Ok(None) => return Ok(()),
        Ok(Some(why)) => why,
        Err(error) => error.to_string(),
    };
    tracing::warn!(%match_name, %seat, why, "a player was not called");
    let now_ms = app.now_ms();
    calls.change(token, |wish| {
        let Some(turn) = wish.turn.as_mut().filter(|turn| turn.seq == seq) else { return };
        if turn.tries < TRIES_MAX {
            turn.is_known = false;
            let wait = AGAIN_MIN_MS.saturating_mul(1 << turn.tries.min(20)).min(AGAIN_MAX_MS);
            turn.not_before_ms = now_ms.saturating_add(wait);
        }
    })
}

pub(crate) fn is_turn(
    app: &Arc<App>,
    branch: &Arc<OpenBranch>,
    seat: Seat,
    (state, seq): (&dyn AnyState, u64),
) -> ApiResult<bool> {
    Ok(match branch.seen_by(app, Viewer::of(seat)).whose_turn(state, seq)? {
        WhoseTurn::Of(seats, _) => seats.contains(&seat),
        WhoseTurn::Over(_) | WhoseTurn::Unknown => false,
    })
}

fn text_of_call(
    app: &Arc<App>,
    player: &Player,
    branch: &OpenBranch,
    to: &str,
    seq: u64,
) -> ApiResult<String> {
    let Player { match_name, seat, .. } = player;
    let genesis = app.store.genesis(match_name)?;
    let names = app.store.names_of(match_name, app.now_ms())?;
    let happened = happened_before(app, player, branch, seq, &names)?;
    let revision = &branch.revision;
    let place =
        if revision.branch.is_main() { seq.to_string() } else { format!("{}:{seq}", revision.branch) };
    let name = names.get(seat);
    let deadline = auto_host::hosted(app, match_name)?.and_then(|hosted| hosted.deadlines.get(seat).copied());
    let deadline = deadline.and_then(|deadline| DeskTime::of_unix_ms(deadline.at_ms));
    // Nothing in the text gives access, because the command may pass it to anyone.
    let text = json!({
        "event": "your_turn",
        "id": format!("{match_name}/{seat}/{place}"),
        "match": match_name,
        "title": genesis.title,
        "ruleset": genesis.ruleset,
        "seat": seat,
        "name": name,
        "happened": happened,
        "to": to,
        "link": format!("{}/m/{match_name}", app.origin),
        "deadline": deadline,
    });
    Ok(format!("{text}\n"))
}

fn happened_before(
    app: &App,
    player: &Player,
    branch: &OpenBranch,
    seq: u64,
    names: &BTreeMap<Seat, GrantLabel>,
) -> ApiResult<Vec<String>> {
    let Player { seat, .. } = player;
    // The viewer's numbering counts, because the choice of entries must not show how many are concealed.
    let history = branch.seen_by(app, Viewer::of(*seat)).history_of_log(seq)?;
    let passed = history.head().saturating_sub(LOOKED_BACK);
    let mut happened = Vec::new();
    history.fold(&mut |entry| {
        if entry.seq() <= passed {
            return;
        }
        if entry.seat() == *seat {
            happened.clear();
            return;
        }
        // VW-80: the sentences are those of the page.
        let by = entry.seat().as_subject((*seat).into());
        let sentence = entry.sentence();
        // A sentence need not name who gave the command.
        let words = if sentence.is_empty() {
            format!("{by}: {} => {}", entry.command(), entry.outcome())
        } else if sentence.starts_with(by) {
            sentence
        } else {
            format!("{by}: {sentence}")
        };
        happened.push(printable(&with_names(&words, names)).into_owned());
    })?;
    let first = happened.len().saturating_sub(HAPPENED_MAX);
    happened.drain(..first);
    Ok(happened)
}

fn with_names(sentence: &str, names: &BTreeMap<Seat, GrantLabel>) -> String {
    let mut words = String::new();
    for part in sentence.split_inclusive(|end: char| !end.is_alphanumeric() && end != '_') {
        let word = part.trim_end_matches(|end: char| !end.is_alphanumeric() && end != '_');
        match word.parse::<Seat>().ok().and_then(|seat| names.get(&seat)) {
            Some(name) => {
                words.push_str(name.as_str());
                words.extend(part.strip_prefix(word));
            }
            None => words.push_str(part),
        }
    }
    words
}

fn run(command: &str, text: &str) -> io::Result<Option<String>> {
    let mut child =
        Command::new("sh").args(["-c", command]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // The command need not read its input.
        let _ = stdin.write_all(text.as_bytes());
    }
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

/// Where a player is called.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewCall {
    /// An address that the operator's command understands: 1 to 200 characters, none of them a control
    #[schema(min_length = 1, max_length = 200, example = "ann@example.org")]
    to: String,
}

/// Where a player is called.
#[derive(Serialize, ToSchema)]
pub(crate) struct CallJson {
    /// The address; null for a player who is not called.
    #[schema(required = true)]
    to: Option<String>,
}

fn calls_for<'a>(app: &'a App, access: &Access, match_name: &MatchName) -> ApiResult<&'a TurnCalls> {
    access.require_match(match_name)?;
    access.playing_seat()?.ok_or_else(|| Problem::forbidden("only a player is called"))?;
    app.calls.as_ref().ok_or_else(|| Problem::new(ProblemCode::NotFound, "this service calls no players"))
}

/// See where the player of the token is called
#[utoipa::path(operation_id = "show_call", get, path = "/v1/matches/{match}/call", tag = "grants", params(("match" = inline(Name), Path)),
    responses((status = 200, description = "where the player is called", body = CallJson), Looked))]
pub(crate) async fn show(
    RequestTo { app, bearer, path: match_name, .. }: RequestTo<String>,
    _: JsonQuery<NoParameters>,
) -> ApiResult {
    app.serve(bearer, move |app, access| {
        let calls = calls_for(app, access, &name(&match_name)?)?;
        Ok(json(StatusCode::OK, &CallJson { to: calls.wish(&access.token) }))
    })
    .await
}

/// Have the player of the token called on turns while no page is open
#[utoipa::path(operation_id = "set_call", post, path = "/v1/matches/{match}/call", tag = "grants", params(("match" = inline(Name), Path)),
    request_body = NewCall,
    responses((status = 200, description = "the player is called there from now on", body = CallJson), Changed))]
pub(crate) async fn set(
    RequestTo { app, bearer, path: match_name, .. }: RequestTo<String>,
    _: JsonQuery<NoParameters>,
    request: Request,
) -> ApiResult {
    let (access, match_name) = app.admit_to(&bearer, &match_name).await?;
    let NewCall { to } = json_body(request).await?;
    app.block(move |app| {
        let calls = calls_for(app, &access, &match_name)?;
        let length = to.chars().count();
        if length == 0 || length > TO_MAX || to.chars().any(char::is_control) {
            return Err(Problem::content(
                "expected `to` to have 1 to 200 characters, none of them a control",
            ));
        }
        calls.set_wish(access.token, Some(to.clone()))?;
        Ok(json(StatusCode::OK, &CallJson { to: Some(to) }))
    })
    .await
}

/// Stop the calls to the player of the token
#[utoipa::path(operation_id = "stop_calls", delete, path = "/v1/matches/{match}/call", tag = "grants", params(("match" = inline(Name), Path)),
    responses((status = 204, description = "the player is not called"), Deleted))]
pub(crate) async fn stop(
    RequestTo { app, bearer, path: match_name, .. }: RequestTo<String>,
    _: ValidQuery<NoParameters>,
) -> ApiResult {
    app.serve(bearer, move |app, access| {
        calls_for(app, access, &name(&match_name)?)?.set_wish(access.token, None)?;
        Ok(StatusCode::NO_CONTENT.into_response())
    })
    .await
}
