//! Appending: commands judged on the state in memory, made durable, then shown (SV-10 to SV-16).

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::oneshot;
use tokio::time::Instant;
use turnfold_core::{AnyRules, AnyState, DicePolicy, Outcome, Seat};
use turnfold_replay::mail::desk_naming;
use turnfold_replay::play::is_same_call;
use turnfold_replay::position::keep_snapshots;
use turnfold_replay::render::NothingPlayed;
use turnfold_replay::{
    Detail, History, NotPlayed, Record, Revision, Roller, ScriptLine, SeatHistory, Session, Viewer,
};
use turnfold_store::{BranchHead, IdempotencyKey, StoreError};

use crate::app::App;
use crate::auth::{Access, Viewpoint};
use crate::head_state::{CachedView, HeadState};
use crate::open_branch::OpenBranch;
use crate::problem::{ApiResult, Code, Problem};
use crate::tag::Tags;

/// How often a state is read anew because the store is somewhere else than it.
pub(crate) const ATTEMPTS: u32 = 3;

/// The most commands of one request of a host.
pub(crate) const COMMANDS_MAX: usize = 1000;

/// The most commands that are judged without a thread for it.
const QUICK_MAX: usize = 4;

/// What is asked for.
pub(crate) struct Append {
    pub(crate) access: Access,
    pub(crate) view: Viewpoint,
    /// The seat whose commands they are; `None` for the host's.
    pub(crate) seat: Option<Seat>,
    pub(crate) lines: Vec<ScriptLine>,
    /// Whether due rolls are made.
    pub(crate) rolls: bool,
    pub(crate) key: Option<IdempotencyKey>,
    pub(crate) if_match: Option<Tags>,
    pub(crate) expect: Option<u64>,
}

/// What became of it.
pub(crate) struct Appended {
    /// The last entry, as the viewer counts.
    pub(crate) head: u64,
    pub(crate) records: Vec<Record>,
    pub(crate) tag: String,
    pub(crate) kind: AppendedKind,
    /// What was not played: a roll may be due that nobody made.
    pub(crate) nothing: Option<NothingPlayed>,
}

/// Whether anything was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AppendedKind {
    Recorded,
    /// Nothing was asked for and nothing was due.
    Nothing,
    /// An earlier request with the key recorded it.
    Repeated,
}

/// Why an attempt came to nothing.
enum Stopped {
    /// The store is somewhere else than the state in memory.
    Behind,
    Problem(Problem),
}

impl Stopped {
    fn problem(self) -> Problem {
        match self {
            Self::Behind => moves_on(),
            Self::Problem(problem) => problem,
        }
    }
}

/// Says that others append all the time.
pub(crate) fn moves_on() -> Problem {
    Problem::new(Code::Store, "the store moves on faster than it can be read; try again")
}

impl<E: Into<Problem>> From<E> for Stopped {
    fn from(error: E) -> Self {
        Self::Problem(error.into())
    }
}

/// What judging commands came to.
enum Judged {
    /// Nothing is to be recorded.
    Answered(Appended),
    Accepted(Box<Accepted>),
}

/// Where the branch stands when commands are judged.
struct AtHead {
    rules: &'static dyn AnyRules,
    dice: DicePolicy,
    head: u64,
    state: Box<dyn AnyState>,
    /// What the viewer sees.
    shown: CachedView,
}

/// Commands that were accepted, on their way to the disk.
struct Accepted {
    before: u64,
    records: Vec<Record>,
    /// Where the branch stands once they are durable.
    current: HeadState,
    stored: oneshot::Receiver<Result<turnfold_store::Appended, StoreError>>,
}

impl Append {
    /// Appends to a branch, whose turn the caller holds. No thread waits for the disk. Returns `None` if another branch
    /// has its name by now.
    pub(crate) async fn perform(
        self: &Arc<Self>,
        app: &Arc<App>,
        table: &Arc<OpenBranch>,
    ) -> ApiResult<Option<Appended>> {
        for _ in 0..ATTEMPTS {
            let known = table.known_head();
            let stopped = match self.attempt(app, table).await {
                Ok(appended) if appended.kind != AppendedKind::Nothing => {
                    app.note_answer();
                    return Ok(Some(appended));
                }
                stopped => stopped,
            };
            if !app.store.is_shared() {
                match stopped {
                    Ok(appended) => return Ok(Some(appended)),
                    Err(Stopped::Behind) => {
                        table.forget();
                        continue;
                    }
                    Err(Stopped::Problem(problem)) => {
                        app.note(&problem);
                        return Err(problem);
                    }
                }
            }
            if let Err(Stopped::Problem(problem)) = &stopped
                && !problem.code().status().is_client_error()
            {
                app.note(problem);
                return stopped.map(Some).map_err(Stopped::problem);
            }
            // FL-18: what is behind says no wrongly, so the head is asked for first.
            let Revision { match_name, branch, .. } = table.line().clone();
            let now = app.block(move |app| app.tables.ask(app, &(match_name, branch))).await?;
            match stopped {
                _ if !Arc::ptr_eq(&now, table) => return Ok(None),
                Err(Stopped::Behind) => {}
                _ if now.known_head() > known => {}
                stopped => return stopped.map(Some).map_err(Stopped::problem),
            }
        }
        Err(moves_on())
    }

    async fn attempt(self: &Arc<Self>, app: &Arc<App>, table: &Arc<OpenBranch>) -> Result<Appended, Stopped> {
        let quick = self.asks_no_store(app).then(|| table.if_quick(|current| self.look(current))).flatten();
        let judged = if let Some(at_head) = quick {
            self.judge(HostSeats::new(app, table), at_head)?
        } else {
            let (append, of) = (Arc::clone(self), Arc::clone(table));
            app.block(move |app| {
                require_not_by_mail(app, of.line())?;
                Ok(append.judge_with_store(app, &of))
            })
            .await??
        };
        let accepted = match judged {
            Judged::Answered(appended) => return Ok(appended),
            Judged::Accepted(accepted) => *accepted,
        };
        let Accepted { before, records, mut current, stored } = accepted;
        let ended = StoreError::Failed { reason: "its committer ended".to_owned() };
        match stored.await.unwrap_or(Err(ended)) {
            Ok(stored) if !stored.repeated => {}
            Ok(_) | Err(StoreError::Conflict { .. }) => return Err(Stopped::Behind),
            Err(error) => {
                // Whether it was recorded is not known, so neither is where the branch stands.
                table.forget();
                return Err(error.into());
            }
        }
        let (head, viewer) = (current.head, self.view.viewer);
        let tag = viewer.see_all().then(|| current.shown(viewer).tag);
        table.publish(current);
        keep_passed(app, table, (before, head));
        if let Some(tag) = tag {
            return Ok(Appended { head, records, tag, kind: AppendedKind::Recorded, nothing: None });
        }
        let (append, of) = (Arc::clone(self), Arc::clone(table));
        Ok(app.block(move |app| append.shown(app, &of, before)).await?)
    }

    /// Returns `true` if judging the commands asks no store and takes hardly any time, so that a thread for it would be
    /// more work than it is. A line on which commands were judged before is none that is played by mail.
    fn asks_no_store(&self, app: &App) -> bool {
        let is_hosts = self.seat.is_none() && self.lines.iter().all(|line| line.seat == Some(Seat::Host));
        is_hosts && self.key.is_none() && !app.store.is_shared() && self.lines.len() <= QUICK_MAX
    }

    fn look(&self, current: &mut HeadState) -> AtHead {
        let shown = current.shown(self.view.viewer);
        let HeadState { rules, dice, head, .. } = *current;
        AtHead { rules, dice, head, state: current.state.fork(), shown }
    }

    /// Judges the commands where the store may be asked.
    fn judge_with_store(&self, app: &Arc<App>, table: &OpenBranch) -> Result<Judged, Stopped> {
        // SV-12: seat, key, precondition, rules, store. A command without a seat has one in a state only.
        let mut seats = HostSeats::new(app, table);
        if self.seat.is_none() {
            self.lines.iter().filter_map(|line| line.seat).try_for_each(|seat| seats.require_free(seat))?;
        }
        if let Some(repeated) = self.repeated(app, table)? {
            return Ok(Judged::Answered(repeated));
        }
        let at_head = table.current(app, |current| self.look(current))?;
        if let (None, [first, ..]) = (self.seat, self.lines.as_slice()) {
            seats.require_own(first, at_head.state.as_ref())?;
        }
        self.judge(seats, at_head)
    }

    /// Judges the commands and hands those that are accepted to the store.
    fn judge(&self, mut seats: HostSeats<'_>, at_head: AtHead) -> Result<Judged, Stopped> {
        let HostSeats { app, table, .. } = seats;
        let AtHead { rules, dice, head: before, state, shown } = at_head;
        self.require_expected(table, before, &shown)?;
        let began = Instant::now();
        let (session, records) = self.play(&mut seats, rules, dice, before, state)?;
        if records.is_empty() {
            let nothing = NothingPlayed::in_state(session.state.as_ref());
            let head =
                if self.view.viewer.see_all() { before } else { table.delta(app, self.view, before)?.head };
            let kind = AppendedKind::Nothing;
            let appended = Appended { head, records, tag: shown.tag, kind, nothing: Some(nothing) };
            return Ok(Judged::Answered(appended));
        }
        let recorded_at_ms = app.now_ms();
        let entries: Vec<_> = records.iter().filter_map(|record| record.to_store(recorded_at_ms)).collect();
        let mut current = HeadState::new(rules, dice, before + entries.len() as u64, session.state);
        if self.view.viewer.see_all() {
            // It is worked out here, where that may take its time, and shown once the entries are durable.
            current.shown(self.view.viewer);
        }
        table.note_judging(began.elapsed());
        let (line, (sender, stored)) = (table.line(), oneshot::channel());
        let then = move |stored| drop(sender.send(stored));
        let expected = BranchHead { id: table.id(), seq: before };
        app.store.append_then(&line.match_name, &line.branch, expected, entries, self.key.as_ref(), then)?;
        Ok(Judged::Accepted(Box::new(Accepted { before, records, current, stored })))
    }

    /// Answers a player with what it may know of the entries after one.
    fn shown(&self, app: &App, table: &OpenBranch, before: u64) -> ApiResult<Appended> {
        let delta = table.delta(app, self.view, before)?;
        let records = delta.records_after(before);
        let (head, tag, kind) = (delta.head, delta.tag.clone(), AppendedKind::Recorded);
        Ok(Appended { head, records, tag, kind, nothing: None })
    }

    /// Plays the commands: all of them are accepted, or none is recorded (SV-10).
    fn play(
        &self,
        seats: &mut HostSeats<'_>,
        rules: &'static dyn AnyRules,
        dice: DicePolicy,
        head: u64,
        state: Box<dyn AnyState>,
    ) -> ApiResult<(Session, Vec<Record>)> {
        let roller = if self.rolls { Roller::of(&dice) } else { Roller::Nobody };
        let mut session = Session::new(state, dice, roller, head + 1, Detail::new(self.view.viewer));
        let mut records = Vec::new();
        if self.lines.is_empty() {
            session.roll_due(&mut records)?;
        }
        for (index, line) in self.lines.iter().enumerate() {
            let played = if let Some(seat) = self.seat {
                // Before a seat's command nothing is rolled: a rejection would take the roll back.
                let played = session.submit_alone(line, Some(seat)).map(|record| records.push(record));
                if played.is_ok() {
                    session.roll_due(&mut records)?;
                }
                played
            } else {
                seats.require_own(line, session.state.as_ref())?;
                session.submit(line, &mut records)?
            };
            let Err(rejected) = played else { continue };
            return Err(self.rejected(index, *rejected, rules));
        }
        Ok((session, records))
    }

    fn rejected(&self, index: usize, record: Record, rules: &dyn AnyRules) -> Problem {
        let code = match &record.outcome {
            Outcome::Rejected(code) if code.as_str() == "malformed" => Code::Malformed,
            _ => Code::Rejected,
        };
        let reason = NotPlayed::rejected(&record, self.lines.len(), rules);
        Problem::of_command(code, reason.detail(None), index, record)
    }

    /// Requires the branch to be where the client believes (SV-13).
    fn require_expected(&self, table: &OpenBranch, head: u64, shown: &CachedView) -> ApiResult<()> {
        if let Some(expected) = self.expect.filter(|expected| *expected != head) {
            let line = table.line().clone();
            let reason = NotPlayed::OtherHead { line, expected, head };
            return Err(Problem::moved(reason.detail(None), &shown.tag));
        }
        match &self.if_match {
            Some(tags) if !tags.hold(&shown.tag, false) => {
                let detail = "what you see has changed since; look at it again, then decide";
                Err(Problem::moved(detail.into(), &shown.tag))
            }
            _ => Ok(()),
        }
    }

    /// Answers a request that was made before with the same key as it was answered then (SV-14).
    fn repeated(&self, app: &App, table: &OpenBranch) -> ApiResult<Option<Appended>> {
        let Some(key) = &self.key else { return Ok(None) };
        let line = table.line();
        let Some(range) = app.store.find_idempotency_key(&line.match_name, &line.branch, key)? else {
            return Ok(None);
        };
        let (first, last) = range.into_inner();
        let before = usize::try_from(first - 1).unwrap_or(usize::MAX);
        let sight = |viewer| -> ApiResult<SeatHistory> {
            let log = app.store.read(&line.match_name, &line.branch, Some(last))?;
            Ok(SeatHistory::of(viewer, History::of_log(line, log, &app.registry)?)?)
        };
        let whole = sight(Viewer::HOST)?;
        let records = whole.records_after(before)?;
        let asked: Vec<_> = self.lines.iter().map(|asked| self.given(asked)).collect();
        if !is_same_call(&asked, &records, whole.rules()) {
            let reason = NotPlayed::KeyUsed { line: line.clone(), entries: None };
            return Err(Problem::new(Code::KeyReused, reason.detail(None)));
        }
        let seen = if self.view.viewer.see_all() { whole } else { sight(self.view.viewer)? };
        let tag = CachedView::of(self.view.viewer, seen.state()?.as_ref()).tag;
        let (head, records) = (seen.head(), seen.records_after(before)?);
        Ok(Some(Appended { head, records, tag, kind: AppendedKind::Repeated, nothing: None }))
    }

    /// Returns a command with the seat that gives it, where that is known.
    fn given(&self, line: &ScriptLine) -> ScriptLine {
        ScriptLine { seat: line.seat.or(self.seat), ..line.clone() }
    }
}

/// PM-2: a line that a desk names takes commands by mail alone, whoever gives them.
pub(crate) fn require_not_by_mail(app: &App, line: &Revision) -> ApiResult<()> {
    let Some(desk) = desk_naming(&app.store, &line.match_name, &line.branch)? else { return Ok(()) };
    let line = Revision { seq: None, ..line.clone() };
    Err(Problem::forbidden(format!("`{line}` is played by mail: `{desk}` says what is on it")))
}

/// The seats whose commands a host may give: its own, and those that nobody else has (SV-11).
struct HostSeats<'a> {
    app: &'a App,
    table: &'a OpenBranch,
    /// Those that were found free; a request asks for each once.
    free: BTreeSet<Seat>,
}

impl<'a> HostSeats<'a> {
    fn new(app: &'a App, table: &'a OpenBranch) -> Self {
        Self { app, table, free: BTreeSet::new() }
    }

    fn require_own(&mut self, line: &ScriptLine, state: &dyn AnyState) -> ApiResult<()> {
        let seat = line.seat.or_else(|| state.default_seat(&line.command));
        seat.map_or(Ok(()), |seat| self.require_free(seat))
    }

    fn require_free(&mut self, seat: Seat) -> ApiResult<()> {
        if seat == Seat::Host || self.free.contains(&seat) {
            return Ok(());
        }
        if self.app.store.is_taken(&self.table.line().match_name, seat, self.app.now_ms())? {
            let detail = format!("{seat} is somebody's seat, so only they give its commands");
            return Err(Problem::forbidden(detail));
        }
        self.free.insert(seat);
        Ok(())
    }
}

/// Keeps the snapshots that were passed, while the answer goes out.
fn keep_passed(app: &Arc<App>, table: &OpenBranch, (before, head): (u64, u64)) {
    if head / turnfold_store::SNAPSHOT_INTERVAL == before / turnfold_store::SNAPSHOT_INTERVAL {
        return;
    }
    let (app, line) = (Arc::clone(app), table.line().clone());
    tokio::task::spawn_blocking(move || keep_snapshots(&line, (before, head), &app.world, &app.store));
}
