//! Appends: commands are judged on the state in memory, made durable, then shown (SV-10 to SV-16).

use std::collections::BTreeSet;

use tokio::sync::oneshot;
use turnfold_history::session::{
    AcceptedCall, NotPlayed, PlayCall, PlayPosition, RejectedCommand, RepeatedCall, Roller, ScriptCommand,
    ScriptCommands,
};
use turnfold_history::{HistorySource, Record, require_rules};
use turnfold_show::render::NothingPlayed;
use turnfold_store::{IdempotencyKey, NewEntries, PackedEntries};

use crate::http::Tags;
use crate::open_branch::{CachedView, HeadState};
use crate::prelude::*;
use crate::takeback::require_not_left;

pub(crate) const COMMANDS_MAX: usize = 1000;

/// The most commands that are judged without a thread for it.
const QUICK_MAX: usize = 4;

pub(crate) struct AnsweredAppend {
    /// The last entry, in the viewer's numbering.
    pub(crate) head: u64,
    pub(crate) records: Vec<Record>,
    pub(crate) tag: String,
    pub(crate) kind: AppendedKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AppendedKind {
    Recorded,
    /// No command was given and nothing was due, or a due roll was not made.
    Nothing(NothingPlayed),
    /// An earlier request with the key recorded it.
    Repeated,
}

pub(crate) fn moves_on() -> Problem {
    Problem::new(ProblemCode::Store, "too many concurrent appends; try again")
}

/// What is being made durable.
struct Storing {
    before: u64,
    /// The head state once it is durable.
    current: HeadState,
    stored: oneshot::Receiver<Result<turnfold_store::Appended, StoreError>>,
}

impl AppendRequest {
    /// Appends the commands. Other appends wait until they are durable and shown, but no thread waits for the disk. If
    /// another process appended first, the commands are judged again.
    pub(crate) async fn perform(self: &Arc<Self>, app: &Arc<App>) -> ApiResult<AnsweredAppend> {
        let mut held = None;
        let mut reserved = None;
        let mut patience = Patience::new();
        while let Some(wait) = patience.next(app) {
            // While this request has a reservation, the others wait.
            if !wait.is_zero() && reserved.is_none() {
                tokio::time::sleep(wait).await;
            }
            let (branch, turn) = if let Some(held) = held.take() {
                held
            } else {
                let branch = app.find_branch(self.match_name.clone(), self.branch.clone()).await?;
                let turn = branch.turn().await?;
                (branch, turn)
            };
            let known = branch.known_head();
            let attempted = match branch.require_there() {
                Ok(()) => self.attempt(app, &branch).await,
                // Another process deleted the branch. The commands are for the branch that has its name now, if any.
                Err(_) if app.store.is_shared() => continue,
                Err(gone) => return Err(gone),
            };
            match &attempted {
                Ok(Some(appended)) if !matches!(appended.kind, AppendedKind::Nothing(_)) => app.note_answer(),
                Err(problem) if !problem.code().status().is_client_error() => app.note(problem),
                Ok(None) if !app.store.is_shared() => {
                    branch.forget();
                    held = Some((branch, turn));
                    continue;
                }
                _ if app.store.is_shared() => {
                    drop(reserved.take());
                    if matches!(attempted, Ok(None)) {
                        // FL-33: the head is read after the reservation, so no other append comes first again.
                        let named = branch.named();
                        reserved = app.block(move |app| Ok(app.store.reserve(&named))).await?;
                    }
                    // FL-18: a state that is behind may refuse wrongly, so ask for the head before reporting that.
                    let names = (self.match_name.clone(), self.branch.clone());
                    let now = app.block(move |app| app.branches.ask(app, &names)).await?;
                    if !Arc::ptr_eq(&now, &branch) {
                        continue;
                    }
                    if matches!(attempted, Ok(None)) || now.known_head() > known {
                        held = Some((branch, turn));
                        continue;
                    }
                }
                _ => {}
            }
            return attempted?.ok_or_else(moves_on);
        }
        Err(moves_on())
    }

    /// Appends the commands, unless the store has another head than the state in memory.
    async fn attempt(
        self: &Arc<Self>,
        app: &Arc<App>,
        branch: &Arc<OpenBranch>,
    ) -> ApiResult<Option<AnsweredAppend>> {
        let is_hosts = self.seat.is_none() && self.lines.iter().all(|line| line.seat == Some(Seat::Host));
        let mut quick = None;
        // Such commands are judged without the store, so a thread for it would cost more than judging. A branch on which
        // commands were judged before is not played by mail.
        if is_hosts && self.key.is_none() && !app.store.is_shared() && self.lines.len() <= QUICK_MAX {
            quick = branch.quick_position(self.viewer);
        }
        let (answered, storing) = if quick.is_some() {
            self.judge(app, branch, quick)?
        } else {
            let append = Arc::clone(self);
            let branch = Arc::clone(branch);
            app.block(move |app| append.judge(app, &branch, None)).await?
        };
        let Some(Storing { before, current, stored }) = storing else { return Ok(Some(answered)) };
        let ended = StoreError::Failed { reason: "its committer ended".to_owned() };
        match stored.await.unwrap_or(Err(ended)) {
            Ok(stored) if !stored.repeated => {}
            Ok(_) | Err(StoreError::Conflict { .. }) => return Ok(None),
            Err(error) => {
                // It is not known whether the commands were recorded, so the head state has to be read again.
                branch.forget();
                return Err(error.into());
            }
        }
        let head = current.position.head;
        branch.publish(current);
        keep_passed(app, branch, before, head);
        let viewer = self.viewer;
        if viewer.sees_all() {
            return Ok(Some(answered));
        }
        // A player's answer contains only what the player sees of the entries.
        let branch = Arc::clone(branch);
        let delta = app.block(move |app| branch.seen_by(app, viewer).delta(before)).await?;
        let records = delta.records.clone();
        Ok(Some(AnsweredAppend { head: delta.head, records, tag: delta.tag.clone(), ..answered }))
    }

    /// Judges the commands, and begins to store what there is to record. `quick` is the position if they are judged
    /// without a thread; then the store is not asked.
    fn judge(
        &self,
        app: &App,
        branch: &OpenBranch,
        quick: Option<(PlayPosition, CachedView)>,
    ) -> ApiResult<(AnsweredAppend, Option<Storing>)> {
        let call = PlayCall {
            revision: &branch.revision,
            viewer: self.viewer,
            alone: self.seat,
            commands: ScriptCommands::Read(&self.lines),
            expected: self.expect.as_slice(),
            key: self.key.as_ref(),
        };
        let mut free = BTreeSet::new();
        // SV-12: the order is seat, key, precondition, rules, store. A command without a seat gets one from a state.
        if quick.is_none() {
            require_not_by_mail(app, &branch.revision)?;
        }
        if self.seat.is_some() {
            require_not_left(app, branch)?;
        } else {
            for seat in self.lines.iter().filter_map(|line| line.seat) {
                require_free(seat, app, branch, &mut free)?;
            }
        }
        if quick.is_none() {
            match call.repeated(&app.store, app)? {
                // SV-14: the tag is of that time. With a newer one the next `If-Match` would pass despite unseen moves.
                Some(Ok(RepeatedCall { records, head, state, .. })) => {
                    let tag = CachedView::of(self.viewer, state.as_ref()).tag;
                    let kind = AppendedKind::Repeated;
                    return Ok((AnsweredAppend { head, records, tag, kind }, None));
                }
                Some(Err(reason)) => return Err(refused(reason, "")),
                None => {}
            }
        }
        let (position, CachedView { tag, .. }) = match quick {
            Some(known) => known,
            None => branch.current(app, |head| (head.position.fork(), head.shown(self.viewer)))?,
        };
        let began = Instant::now();
        let mut may_give = |given: &ScriptCommand, state: &dyn AnyState| {
            if self.seat.is_some() {
                return Ok(());
            }
            match given.seat.or_else(|| state.default_seat(&given.command)) {
                Some(seat) => require_free(seat, app, branch, &mut free),
                None => Ok(()),
            }
        };
        if let Some(first) = self.lines.first() {
            may_give(first, position.state.as_ref())?;
        }
        // SV-13: the tag is of the branch as its viewer sees it.
        if self.if_match.as_ref().is_some_and(|tags| !tags.hold(&tag, false)) {
            let detail = "what you see has changed since; look at it again, then decide";
            return Err(Problem::moved(detail.into(), &tag));
        }
        call.require_head(position.head).map_err(|reason| refused(reason, &tag))?;
        let roller = if self.rolls { Roller::Seeded } else { Roller::Absent };
        match call.judge(position, roller, &mut may_give, &mut Some)? {
            Err(RejectedCommand { index, record, reason }) => {
                Err(Problem::of_command(reason.to_string(), index, *record))
            }
            Ok(AcceptedCall { before, records, position }) if records.is_empty() => {
                let nothing = NothingPlayed::in_state(position.state.as_ref());
                let head =
                    if self.viewer.sees_all() { before } else { branch.seen_by(app, self.viewer).head()? };
                let kind = AppendedKind::Nothing(nothing);
                Ok((AnsweredAppend { head, records, tag, kind }, None))
            }
            Ok(accepted) => {
                let (answered, storing) = self.store(app, branch, accepted)?;
                branch.note_judging(began.elapsed());
                Ok((answered, Some(storing)))
            }
        }
    }

    fn store(
        &self,
        app: &App,
        branch: &OpenBranch,
        accepted: AcceptedCall,
    ) -> ApiResult<(AnsweredAppend, Storing)> {
        let AcceptedCall { before, records, position } = accepted;
        require_rules(&*position.rules)?;
        let recorded_at_ms = app.now_ms();
        let entries: PackedEntries =
            records.iter().filter_map(|record| record.to_store(recorded_at_ms)).collect();
        let entries = NewEntries { entries, module: position.rules.module() };
        let mut current = HeadState::new(position, &branch.memory);
        let mut tag = String::new();
        if self.viewer.sees_all() {
            // The view is computed here, where it may take time, and shown once the entries are durable.
            tag = current.shown(self.viewer).tag;
        }
        let revision = &branch.revision;
        let (sender, stored) = oneshot::channel();
        let then = move |stored| drop(sender.send(stored));
        let expected = BranchHead { id: branch.id, seq: before };
        app.store.append_then(
            &revision.match_name,
            &revision.branch,
            expected,
            entries,
            self.key.as_ref(),
            then,
        )?;
        let head = current.position.head;
        let answered = AnsweredAppend { head, records, tag, kind: AppendedKind::Recorded };
        Ok((answered, Storing { before, current, stored }))
    }
}

fn refused(reason: NotPlayed, tag: &str) -> Problem {
    match reason {
        NotPlayed::OtherHead { .. } => Problem::moved(reason.to_string(), tag),
        NotPlayed::KeyUsed { revision, .. } => {
            // Which commands the key recorded may be concealed.
            let reason = NotPlayed::KeyUsed { revision, entries: None };
            Problem::new(ProblemCode::KeyReused, format!("{reason}; choose a new key"))
        }
        reason @ NotPlayed::ByMail { .. } => Problem::forbidden(reason.to_string()),
        reason @ NotPlayed::Rejected { .. } => Problem::new(ProblemCode::Rejected, reason.to_string()),
    }
}

pub(crate) fn require_not_by_mail(app: &App, revision: &Revision) -> ApiResult<()> {
    // PM-2: a branch that is played by mail takes no other appends.
    turnfold_mail::require_not_by_mail(&app.store, revision)?.map_err(|reason| refused(reason, ""))
}

fn keep_passed(app: &Arc<App>, branch: &OpenBranch, before: u64, head: u64) {
    if head / turnfold_store::SNAPSHOT_INTERVAL == before / turnfold_store::SNAPSHOT_INTERVAL {
        return;
    }
    let app = Arc::clone(app);
    let revision = branch.revision.clone();
    // The response does not wait for the snapshots.
    tokio::task::spawn_blocking(move || {
        app.guard(|| {
            HistorySource::keep_snapshots(&revision, before, head, &*app, &app.store);
            Ok(())
        })
    });
}

pub(crate) struct AppendRequest {
    pub(crate) match_name: MatchName,
    pub(crate) branch: BranchName,
    pub(crate) viewer: Viewer,
    /// The seat whose commands they are; `None` for the host's.
    pub(crate) seat: Option<Seat>,
    pub(crate) lines: Vec<ScriptCommand>,
    /// Whether to make due rolls.
    pub(crate) rolls: bool,
    pub(crate) key: Option<IdempotencyKey>,
    pub(crate) if_match: Option<Tags>,
    pub(crate) expect: Option<u64>,
}

/// Requires that a host may give commands of a seat. `free` are the seats that were found free, so that a request asks
/// once for each.
fn require_free(seat: Seat, app: &App, branch: &OpenBranch, free: &mut BTreeSet<Seat>) -> ApiResult<()> {
    if seat == Seat::Host || free.contains(&seat) {
        return Ok(());
    }
    // SV-11: a host gives only its own commands and those of free seats.
    if app.store.is_taken(&branch.revision.match_name, seat, app.now_ms())? {
        let detail = format!("seat {seat} is taken; only its player can issue its commands");
        return Err(Problem::forbidden(detail));
    }
    free.insert(seat);
    Ok(())
}

/// How long an append is retried while others append, too.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often it is tried at least, because a busy machine manages only a few tries in that time; and how long at most.
const TRIES_MIN: u32 = 16;
const PATIENCE_MAX: Duration = Duration::from_secs(15);

/// The longest wait before a try, in microseconds. The first waits are much shorter.
const WAIT_MAX: u64 = 64_000;

pub(crate) struct Patience {
    since: Instant,
    tries: u32,
    /// The longest wait before the next retry, in microseconds.
    wait_max: u64,
}

impl Patience {
    pub(crate) fn new() -> Self {
        Self { since: Instant::now(), tries: 0, wait_max: 1000 }
    }

    pub(crate) fn next(&mut self, app: &App) -> Option<Duration> {
        self.tries += 1;
        if self.tries == 1 {
            return Some(Duration::ZERO);
        }
        let patience = if self.tries > TRIES_MIN { PATIENCE } else { PATIENCE_MAX };
        if self.since.elapsed() >= patience {
            return None;
        }
        // Without random bytes it does not wait.
        let mut bytes = [0; 8];
        let _ = (app.outside.fill_random)(&mut bytes);
        // FL-18: the wait is random, so that two services do not collide again.
        let wait = u64::from_le_bytes(bytes) % self.wait_max;
        self.wait_max = (self.wait_max * 2).min(WAIT_MAX);
        Some(Duration::from_micros(wait))
    }
}
