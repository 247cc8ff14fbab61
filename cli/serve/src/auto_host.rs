//! The automatic host. Between the players' moves and at their deadlines, it does what the terms of the match say
//! (SV-46, SV-47).

use std::collections::BTreeSet;
use std::slice;

use tokio::sync::Notify;
use tokio::time::timeout;
use turnfold_core::DicePolicy;
use turnfold_core::paper::DeskTime;
use turnfold_core::rules::accord::Terms;
use turnfold_core::rules::desk::Missed;
use turnfold_history::session::PlayPosition;
use turnfold_history::{HistorySource, LogEntry, ReplayError, catch, require_rules};
use turnfold_mail::{GameTurn, HostedKey, MatchAccord, PlayedRules};
use turnfold_show::render::WhoseTurn;
use turnfold_store::{BranchId, NamedBranch, NewEntries, PackedEntries};

use crate::append::require_not_by_mail;
use crate::open_branch::CachedView;
use crate::prelude::*;
use crate::takeback::{self, current_branch};

const LOOK_EVERY: Duration = Duration::from_millis(500);
/// After how many checks to look for all matches with terms, because another process may have made one.
const LOOKS_FOR_ALL: u32 = 60;
/// How long to wait after a failure with a match.
pub(crate) const AGAIN_MS: i64 = 60_000;
/// The most steps at once, and the most appends in a row without a player's command. No known terms need that many.
const STEPS_MAX: u32 = 50;
const BETWEEN_MAX: u32 = 20;

const HOUR_MS: i64 = 60 * 60 * 1000;

/// The matches with news for their host.
#[derive(Default)]
pub(crate) struct News {
    names: Mutex<BTreeSet<MatchName>>,
    wake: Notify,
}

impl News {
    pub(crate) fn notify(&self, match_name: MatchName) {
        lock(&self.names).insert(match_name);
        self.wake.notify_one();
    }

    pub(crate) fn take(&self) -> BTreeSet<MatchName> {
        std::mem::take(&mut *lock(&self.names))
    }

    /// Waits for news, but not longer than this.
    pub(crate) async fn wait(&self, time: Duration) {
        let _ = timeout(time, self.wake.notified()).await;
    }
}

#[derive(Default)]
pub(crate) struct AutoHost {
    clocks: Mutex<BTreeMap<MatchName, Arc<Mutex<Option<TurnClock>>>>>,
    /// All matches with accords, once they were looked for.
    known: Mutex<Option<BTreeSet<MatchName>>>,
    news: News,
}

impl AutoHost {
    pub(crate) fn notify(&self, match_name: &MatchName) {
        if let Some(known) = lock(&self.known).as_mut() {
            known.insert(match_name.clone());
        }
        self.news.notify(match_name.clone());
    }

    pub(crate) fn moved(&self, match_name: &MatchName) {
        if lock(&self.clocks).contains_key(match_name) {
            self.notify(match_name);
        }
    }
}

/// The turns of a branch, as far as a spectator sees them, because other deadlines would reveal secrets (SV-47).
struct TurnClock {
    match_id: [u8; 16],
    branch: BranchId,
    current: PlayPosition,
    /// The tag of what a spectator sees.
    tag: String,
    /// Whose turn it is, and since which entry.
    turns: BTreeMap<Seat, Moment>,
    /// For each seat, how many deadlines it missed in a row, and the last entry that was played for it.
    misses: BTreeMap<Seat, (u32, Moment)>,
    /// How many appends of the host came after the last command of a player.
    hosted: u32,
    last_key: Option<HostedKey>,
}

#[derive(Clone, Copy)]
struct Moment {
    seq: u64,
    at_ms: i64,
}

pub(crate) struct Hosted {
    pub(crate) accord: MatchAccord,
    /// The deadline of each seat whose turn it is.
    pub(crate) deadlines: BTreeMap<Seat, Deadline>,
    /// The next step, and the state in which it is played.
    step: Option<(HostedKey, PlayPosition)>,
}

#[derive(Clone, Copy)]
pub(crate) struct Deadline {
    pub(crate) at_ms: i64,
    /// When the turn began.
    pub(crate) turn_ms: i64,
    /// When the deadline was last set.
    pub(crate) known_since_ms: i64,
    /// How many deadlines of the turn have passed.
    pub(crate) passed: i64,
}

impl TurnClock {
    fn begin(app: &App, branch: &OpenBranch) -> ApiResult<Self> {
        let revision = &branch.revision;
        let current =
            HistorySource::of_branch(&revision.at(0), &app.store, &app.registry, None)?.position(None)?;
        let mut clock = Self {
            match_id: branch.match_id(app)?,
            branch: branch.id,
            tag: CachedView::of(Viewer::SPECTATOR, current.state.as_ref()).tag,
            current,
            turns: BTreeMap::new(),
            misses: BTreeMap::new(),
            hosted: 0,
            last_key: None,
        };
        let created_at_ms = app.store.genesis(&revision.match_name)?.created_at_ms;
        for seat in clock.seats(app, branch)? {
            clock.turns.insert(seat, Moment { seq: 0, at_ms: created_at_ms });
        }
        Ok(clock)
    }

    fn follow(&mut self, app: &App, branch: &OpenBranch, head: u64) -> ApiResult<()> {
        if head <= self.current.head {
            return Ok(());
        }
        for entry in branch.entries(app, self.current.head, head)? {
            self.current = self.current.fork().follow(&branch.revision, slice::from_ref(&entry))?;
            self.take(app, branch, &entry)?;
        }
        Ok(())
    }

    fn take(&mut self, app: &App, branch: &OpenBranch, entry: &LogEntry) -> ApiResult<()> {
        let key = match &entry.key {
            Some(key) => key.as_str().parse::<HostedKey>().ok(),
            None => None,
        };
        let moment = Moment { seq: entry.seq, at_ms: entry.recorded_at_ms.unwrap_or(0) };
        match key {
            Some(HostedKey::Missed { seat, misses, .. }) => drop(self.misses.insert(seat, (misses, moment))),
            Some(HostedKey::Between { .. }) if self.last_key != key => self.hosted += 1,
            Some(HostedKey::Between { .. }) => {}
            None => self.hosted = 0,
        }
        self.last_key = key;
        let tag = CachedView::of(Viewer::SPECTATOR, self.current.state.as_ref()).tag;
        if tag == self.tag {
            return Ok(());
        }
        self.tag = tag;
        if key.is_none() {
            self.misses.remove(&entry.seat);
        }
        let before = std::mem::take(&mut self.turns);
        for seat in self.seats(app, branch)? {
            // A seat's own move and an entry of the host begin a new turn.
            let began = match before.get(&seat) {
                Some(began) if entry.seat != seat && entry.seat != Seat::Host => *began,
                _ => moment,
            };
            self.turns.insert(seat, began);
        }
        Ok(())
    }

    fn seats(&self, app: &App, branch: &OpenBranch) -> ApiResult<Vec<Seat>> {
        let now = branch
            .seen_by(app, Viewer::SPECTATOR)
            .whose_turn(self.current.state.as_ref(), self.current.head)?;
        let WhoseTurn::Of(mut seats, _) = now else { return Ok(Vec::new()) };
        seats.retain(|seat| *seat != Seat::Host);
        Ok(seats)
    }

    fn standing(&self, accord: MatchAccord, players: &Players, now_ms: i64) -> Hosted {
        let state = self.current.state.as_ref();
        let mut hosted = Hosted { accord, deadlines: BTreeMap::new(), step: None };
        if state.over() {
            return hosted;
        }
        let accord = &hosted.accord;
        let terms = accord.state.terms().clone();
        let hour_ms = i64::from(terms.hours) * HOUR_MS;
        let mut earlier = BTreeMap::new();
        for seat in players.joined.keys() {
            earlier.insert(*seat, self.missed(*seat, accord, players));
        }
        let is_gone = |misses: u32| terms.patience > 0 && misses >= terms.patience;
        let is_anyone_there = earlier.values().any(|misses| !is_gone(*misses));
        let after = self.current.head;
        let mut due = None;
        for (seat, since) in &self.turns {
            // No turn begins until all invited players have joined.
            let Some(ready_ms) = players.all_joined_ms else { continue };
            if hour_ms == 0 || !players.joined.contains_key(seat) {
                continue;
            }
            let absent_ms = accord.state.absent_until(*seat).map_or(0, unix_ms);
            let turn_ms = ready_ms.max(since.at_ms).max(accord.since_ms);
            let begin_ms = turn_ms.max(absent_ms);
            let passed = ((now_ms - begin_ms) / hour_ms).max(0);
            let last_ms = begin_ms + passed * hour_ms;
            let said_ms = accord.state.last_said(*seat).map_or(0, unix_ms);
            let known_since_ms = if passed > 0 { last_ms } else { turn_ms.max(said_ms) };
            let at_ms = last_ms + hour_ms;
            let deadline = Deadline { at_ms, turn_ms, known_since_ms, passed };
            hosted.deadlines.insert(*seat, deadline);
            // What was played for the seat may be concealed, or may not end its turn.
            let was_played = self.misses.get(seat).is_some_and(|(_, played)| {
                played.seq >= since.seq && (passed == 0 || played.at_ms >= last_ms)
            });
            let before = earlier.get(seat).copied().unwrap_or(0);
            let passed = u32::try_from(passed).unwrap_or(u32::MAX).min(terms.patience.max(2));
            // After a pause of the service, deadlines for which it would not have waited are not counted as missed.
            let mut misses = before;
            let mut is_due = is_gone(before);
            for _ in 0..passed {
                if is_due {
                    break;
                }
                misses = misses.saturating_add(1);
                is_due = is_gone(misses) || is_default_due(&terms, misses);
            }
            // If all players are gone, the host does not play the match against itself.
            if due.is_none() && is_due && !was_played && is_anyone_there && state.waits_for(*seat) {
                due = Some(HostedKey::Missed { seat: *seat, misses, after });
            }
        }
        let waits = state.players().iter().any(|seat| state.waits_for(*seat));
        let is_between = state.due_roll().is_some() || !waits && !terms.between.is_empty();
        if is_between && self.hosted < BETWEEN_MAX {
            due = Some(HostedKey::Between { after });
        }
        hosted.step = due.map(|step| (step, self.current.fork()));
        hosted
    }

    fn missed(&self, seat: Seat, accord: &MatchAccord, players: &Players) -> u32 {
        let Some((misses, Moment { at_ms, .. })) = self.misses.get(&seat).copied() else { return 0 };
        let joined_ms = players.joined.get(&seat).copied().unwrap_or(0);
        let said_ms = accord.state.last_said(seat).map_or(0, unix_ms);
        // The count starts over when the player joins or announces an absence, and when the terms change.
        if at_ms < joined_ms.max(said_ms).max(accord.since_ms) { 0 } else { misses }
    }
}

fn is_default_due(terms: &Terms, misses: u32) -> bool {
    // PM-17, PM-84: a default is played for the first or the second missed deadline in a row, or for none.
    match terms.missed {
        Missed::Default => true,
        Missed::Second => misses >= 2,
        Missed::Wait => false,
    }
}

pub(crate) fn unix_ms(time: DeskTime) -> i64 {
    i64::try_from(time.unix_seconds()).unwrap_or(i64::MAX / 1000).saturating_mul(1000)
}

/// When the players joined, in Unix milliseconds.
struct Players {
    joined: BTreeMap<Seat, i64>,
    /// When the last one joined; `None` as long as someone who was invited has not.
    all_joined_ms: Option<i64>,
}

impl Players {
    fn of(app: &App, match_name: &MatchName, now_ms: i64) -> ApiResult<Self> {
        let mut joined = BTreeMap::new();
        let mut invited = BTreeSet::new();
        for (_, grant) in app.store.grants_of(match_name)? {
            let Some(seat) = grant.kind.seat() else { continue };
            if !grant.is_live(now_ms) {
                continue;
            }
            if grant.kind.played().is_none() {
                invited.insert(seat);
                continue;
            }
            let at_ms = joined.entry(seat).or_insert(grant.created_at_ms);
            *at_ms = grant.created_at_ms.min(*at_ms);
        }
        let is_awaited = invited.iter().any(|seat| !joined.contains_key(seat));
        let all_joined_ms = if is_awaited { None } else { joined.values().max().copied() };
        Ok(Self { joined, all_joined_ms })
    }
}

pub(crate) fn hosted(app: &Arc<App>, match_name: &MatchName) -> ApiResult<Option<Hosted>> {
    let game = app.store.genesis(match_name)?;
    let Some(accord) = MatchAccord::find(&app.store, match_name, &game)? else { return Ok(None) };
    if !accord.state.has_terms() {
        return Ok(None);
    }
    let main = Revision { match_name: match_name.clone(), branch: BranchName::main(), seq: None };
    if matches!(game.dice, DicePolicy::Fair(_)) || require_not_by_mail(app, &main).is_err() {
        return Ok(None);
    }
    let branch = app.branch(match_name, &current_branch(app, match_name)?)?;
    let kept = Arc::clone(lock(&app.auto_host.clocks).entry(match_name.clone()).or_default());
    let mut kept = lock(&kept);
    let match_id = branch.match_id(app)?;
    // The head is read under the lock, so that the clock is not ahead of it.
    let head = app.store.head(match_name, &branch.revision.branch)?;
    let now_ms = app.now_ms();
    let players = Players::of(app, match_name, now_ms)?;
    let mut clock = match kept.take() {
        Some(clock)
            if clock.match_id == match_id && clock.branch == branch.id && clock.current.head <= head =>
        {
            clock
        }
        _ => TurnClock::begin(app, &branch)?,
    };
    clock.follow(app, &branch, head)?;
    let hosted = clock.standing(accord, &players, now_ms);
    *kept = Some(clock);
    Ok(Some(hosted))
}

/// When to look at a match with terms again: after an append, or at a time.
struct Watched {
    branch: Option<(NamedBranch, u64)>,
    /// The time to look at it, if there is one.
    at_ms: Option<i64>,
}

pub(crate) async fn keep(app: Arc<App>) {
    let mut watched: BTreeMap<MatchName, Watched> = BTreeMap::new();
    for look in 0_u32.. {
        let mut now = app.auto_host.news.take();
        if look.is_multiple_of(LOOKS_FOR_ALL) {
            match app.block(matches_with_terms).await {
                Ok(all) => now.extend(all),
                Err(problem) => {
                    tracing::warn!(detail = problem.detail(), "cannot look for matches with terms");
                }
            }
        }
        let now_ms = app.now_ms();
        let mut known = Vec::new();
        for (name, watched) in &watched {
            if watched.at_ms.is_some_and(|at| at <= now_ms) {
                now.insert(name.clone());
            }
            known.extend(watched.branch.clone());
        }
        now.extend(app.block(move |app| moved(app, &known)).await.unwrap_or_default());
        for name in now {
            match host(&app, &name).await {
                Ok(Some(next)) => drop(watched.insert(name, next)),
                Ok(None) => forget(&app, &mut watched, &name),
                Err(problem) if matches!(problem.code(), ProblemCode::NotFound | ProblemCode::NoRules) => {
                    forget(&app, &mut watched, &name);
                }
                Err(problem) => {
                    tracing::warn!(match_name = %name, detail = problem.detail(), "cannot host a match");
                    let at_ms = Some(app.now_ms().saturating_add(AGAIN_MS));
                    watched.insert(name, Watched { branch: None, at_ms });
                }
            }
        }
        app.auto_host.news.wait(LOOK_EVERY).await;
    }
}

fn forget(app: &App, watched: &mut BTreeMap<MatchName, Watched>, match_name: &MatchName) {
    watched.remove(match_name);
    lock(&app.auto_host.clocks).remove(match_name);
}

fn matches_with_terms(app: &Arc<App>) -> ApiResult<BTreeSet<MatchName>> {
    let mut names = BTreeSet::new();
    for found in app.store.matches_after(None)? {
        names.extend(MatchAccord::game_of(&found?.name));
    }
    *lock(&app.auto_host.known) = Some(names.clone());
    Ok(names)
}

pub(crate) fn known_matches(app: &Arc<App>) -> ApiResult<BTreeSet<MatchName>> {
    let known = lock(&app.auto_host.known).clone();
    if let Some(known) = known { Ok(known) } else { matches_with_terms(app) }
}

fn moved(app: &App, known: &[(NamedBranch, u64)]) -> ApiResult<Vec<MatchName>> {
    let named: Vec<_> = known.iter().map(|(named, _)| named.clone()).collect();
    let heads = app.store.heads(&named)?;
    let mut others = Vec::new();
    for ((named, head), now) in known.iter().zip(heads) {
        if now != Some(*head) {
            others.push(named.match_name.clone());
        }
    }
    Ok(others)
}

async fn host(app: &Arc<App>, match_name: &MatchName) -> ApiResult<Option<Watched>> {
    for _ in 0..STEPS_MAX {
        let name = match_name.clone();
        let current = app.block(move |app| {
            // A process may have ended after the last answer, before the takeback.
            takeback::settle(app, &name)?;
            current_branch(app, &name)
        });
        let branch = app.find_branch(match_name.clone(), current.await?).await?;
        // No command of a player is judged while the host plays.
        let _turn = branch.turn().await?;
        let name = match_name.clone();
        let taken = app.block(move |app| {
            let Some(Hosted { accord, deadlines, step }) = hosted(app, &name)? else { return Ok(None) };
            let mut has_played = false;
            if let Some((step, position)) = step {
                has_played = play(app, &branch, accord.state.terms(), step, position)?;
            }
            let head = app.store.head(&name, &branch.revision.branch)?;
            let at_ms = deadlines.values().map(|deadline| deadline.at_ms).min();
            Ok(Some((Watched { branch: Some((branch.named(), head)), at_ms }, has_played)))
        });
        let Some((watched, has_played)) = taken.await? else { return Ok(None) };
        if !has_played {
            return Ok(Some(watched));
        }
    }
    Ok(Some(Watched { branch: None, at_ms: Some(app.now_ms()) }))
}

/// Returns `true` if this process or another one recorded anything.
fn play(
    app: &App,
    branch: &OpenBranch,
    terms: &Terms,
    step: HostedKey,
    position: PlayPosition,
) -> ApiResult<bool> {
    let Revision { match_name, branch: name, .. } = &branch.revision;
    let PlayPosition { rules: rules_of_game, dice, head: before, state } = position;
    require_rules(&*rules_of_game)?;
    let rules = PlayedRules { default: &terms.default, between: &terms.between };
    let roll = |due: &_| (app.outside.roll)(due).map_err(ReplayError::Chance);
    let played = catch(|| {
        let mut game = GameTurn::new(state, before, Box::new(roll)).with_dice(dice);
        match step {
            HostedKey::Between { .. } => {
                let players = game.state().players().to_vec();
                let mut played = game.roll_due()?;
                played.extend(game.between(&players, &[], false, rules)?.played);
                Ok(played)
            }
            HostedKey::Missed { seat, .. } => game.default(seat, rules),
        }
    });
    let played = played.map_err(ReplayError::from)??;
    if played.is_empty() {
        return Ok(false);
    }
    let key = step.to_string().parse().map_err(|_| Problem::internal())?;
    let recorded_at_ms = app.now_ms();
    let entries: PackedEntries = played.iter().filter_map(|record| record.to_store(recorded_at_ms)).collect();
    let entries = NewEntries { entries, module: rules_of_game.module() };
    let appended = app.store.append(match_name, name, before, entries, Some(&key));
    app.branches.hear(app, &(match_name.clone(), name.clone()))?;
    match appended {
        // Another process, or a player at the command line, appended first.
        Ok(_) | Err(StoreError::Conflict { .. } | StoreError::IdempotencyKeyReused { .. }) => Ok(true),
        Err(error) => {
            let problem = error.into();
            app.note(&problem);
            Err(problem)
        }
    }
}
