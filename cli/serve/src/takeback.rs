//! Takebacks: the questions and answers of players, the current branch of a match (SV-63 to SV-66), and the news about
//! them for those who follow a match.

use std::collections::BTreeSet;

use tokio::sync::watch;
use turnfold_core::rules::accord::{Command, Takeback};
use turnfold_history::session::ScriptCommand;
use turnfold_history::{CommandForm, ReplayError};
use turnfold_mail::{MailError, MatchAccord};
use turnfold_store::NamedBranch;

use crate::append::{moves_on, require_not_by_mail};
use crate::limits::BRANCHES_MAX;
use crate::prelude::*;

/// How often to try again after a conflict with another request.
const TRIES_MAX: u32 = 8;

/// After how many rounds to look for new accords.
const LOOKS_FOR_ACCORDS: u64 = 8;

/// The most matches whose new accords are looked for in one round.
const LOOKED_FOR_MAX: usize = 100;

#[derive(Default)]
pub(crate) struct Accords {
    followed: Mutex<BTreeMap<MatchName, Followed>>,
}

struct Followed {
    /// Counts the changes.
    news: watch::Sender<u64>,
    /// The accord in a database that other processes may change, and its last known entry.
    accord: Option<(NamedBranch, u64)>,
}

impl Accords {
    pub(crate) fn watch(&self, match_name: &MatchName) -> watch::Receiver<u64> {
        let mut followed = lock(&self.followed);
        followed.retain(|_, followed| followed.news.receiver_count() > 0);
        let one = followed.entry(match_name.clone());
        one.or_insert_with(|| Followed { news: watch::Sender::new(0), accord: None }).news.subscribe()
    }

    fn announce(&self, match_name: &MatchName) {
        if let Some(followed) = lock(&self.followed).get(match_name) {
            followed.news.send_modify(|count| *count += 1);
        }
    }
}

impl App {
    fn announce_accord(&self, match_name: &MatchName) {
        for branch in self.branches.all() {
            if branch.revision.match_name == *match_name {
                *lock(&branch.is_left) = None;
            }
        }
        self.accords.announce(match_name);
    }

    pub(crate) fn hear_of_accords(&self, round: u64) -> ApiResult<()> {
        let mut known = Vec::new();
        let mut unknown = Vec::new();
        for (name, followed) in lock(&self.accords.followed).iter() {
            match &followed.accord {
                Some((named, head)) => known.push((name.clone(), named.clone(), *head)),
                None => unknown.push(name.clone()),
            }
        }
        let named: Vec<_> = known.iter().map(|(_, named, _)| named.clone()).collect();
        for ((name, named, head), now) in known.into_iter().zip(self.store.heads(&named)?) {
            if now != Some(head) {
                self.note_accord(&name, now.map(|now| (named, now)));
            }
        }
        // Most matches never get an accord, so new accords are looked for less often and for some matches at a time.
        if unknown.is_empty() || !round.is_multiple_of(LOOKS_FOR_ACCORDS) {
            return Ok(());
        }
        let begin = usize::try_from(round / LOOKS_FOR_ACCORDS).unwrap_or(0).wrapping_mul(LOOKED_FOR_MAX)
            % unknown.len();
        for name in unknown.iter().cycle().skip(begin).take(unknown.len().min(LOOKED_FOR_MAX)) {
            let Ok(accord) = MatchAccord::name_of(name) else { continue };
            match self.store.branch_head(&accord, &BranchName::main()) {
                Ok(found) => {
                    let branch = BranchName::main();
                    let named = NamedBranch { match_name: accord, branch, id: found.id };
                    self.note_accord(name, Some((named, found.seq)));
                }
                Err(StoreError::NoSuchMatch { .. } | StoreError::NoSuchBranch { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn note_accord(&self, match_name: &MatchName, accord: Option<(NamedBranch, u64)>) {
        if let Some(followed) = lock(&self.accords.followed).get_mut(match_name) {
            followed.accord = accord;
        }
        self.announce_accord(match_name);
    }
}

/// What a player asks to take back.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct TakebackJson {
    /// Its number, by which it is answered.
    number: u32,
    /// Who asks.
    #[schema(value_type = String)]
    seat: Seat,
    /// The entry after which the match would continue, in the viewer's numbering; 0 is the setup.
    after: u64,
    /// Who agreed.
    #[schema(value_type = Vec<String>)]
    agreed: BTreeSet<Seat>,
    /// Whose answer is missing.
    #[schema(value_type = Vec<String>)]
    awaited: BTreeSet<Seat>,
}

pub(crate) fn current_branch(app: &App, match_name: &MatchName) -> ApiResult<BranchName> {
    // SV-65: the accord names the branch on which the match continues.
    Ok(turnfold_mail::current_branch(&app.store, match_name)?)
}

fn open_current(app: &Arc<App>, match_name: &MatchName) -> ApiResult<Arc<OpenBranch>> {
    let branch = current_branch(app, match_name)?;
    app.branches.ask(app, &(match_name.clone(), branch))
}

pub(crate) fn has_left(app: &App, branch: &OpenBranch) -> ApiResult<bool> {
    if let Some(is_left) = *lock(&branch.is_left) {
        return Ok(is_left);
    }
    let Revision { match_name, branch: name, .. } = &branch.revision;
    let is_left = find_accord(app, match_name)?.is_some_and(|accord| accord.state.has_left(name));
    *lock(&branch.is_left) = Some(is_left);
    Ok(is_left)
}

pub(crate) fn require_not_left(app: &App, branch: &OpenBranch) -> ApiResult<()> {
    if !has_left(app, branch)? {
        return Ok(());
    }
    // SV-65: the command may come from a page that does not know the new branch yet.
    let Revision { match_name, branch: name, .. } = &branch.revision;
    let current = current_branch(app, match_name)?;
    Err(Problem::content(format!(
        "the match continues on branch `{current}`; what came on `{name}` was taken back"
    )))
}

fn find_accord(app: &App, match_name: &MatchName) -> ApiResult<Option<MatchAccord>> {
    let game = app.store.genesis(match_name)?;
    Ok(MatchAccord::find(&app.store, match_name, &game)?)
}

pub(crate) fn seats_with_players(app: &App, match_name: &MatchName) -> ApiResult<BTreeSet<Seat>> {
    let now_ms = app.now_ms();
    let mut seats = BTreeSet::new();
    for (_, grant) in app.store.grants_of(match_name)? {
        if grant.is_live(now_ms) {
            seats.extend(grant.kind.played());
        }
    }
    Ok(seats)
}

fn open_takeback(
    app: &Arc<App>,
    match_name: &MatchName,
) -> ApiResult<Option<(MatchAccord, Takeback, Arc<OpenBranch>)>> {
    let Some(accord) = find_accord(app, match_name)? else { return Ok(None) };
    let open = open_current(app, match_name)?;
    let head = open.head(app)?;
    // A further entry closes the question.
    let Some(takeback) = accord.state.takeback(head).cloned() else { return Ok(None) };
    if takeback.branch != open.revision.branch {
        return Ok(None);
    }
    Ok(Some((accord, takeback, open)))
}

pub(crate) fn asked(
    app: &Arc<App>,
    match_name: &MatchName,
    viewer: Viewer,
) -> ApiResult<Option<TakebackJson>> {
    if viewer == Viewer::SPECTATOR {
        return Ok(None);
    }
    let Some((_, takeback, _)) = open_takeback(app, match_name)? else { return Ok(None) };
    let Takeback { number, by, agreed, after, .. } = takeback;
    let mut awaited = seats_with_players(app, match_name)?;
    awaited.retain(|seat| *seat != by && !agreed.contains(seat));
    // The number of the entry is the same for all viewers, because the game conceals nothing.
    Ok(Some(TakebackJson { number, seat: by, after, agreed, awaited }))
}

pub(crate) fn ask(app: &Arc<App>, match_name: &MatchName, seat: Seat, after: Option<u64>) -> ApiResult<()> {
    let open = open_current(app, match_name)?;
    require_not_by_mail(app, &open.revision)?;
    // SV-63: whether a command revealed something could itself be a secret, so the game as a whole decides. This comes
    // first, because the numbers below count concealed entries, too.
    if open.current(app, |current| current.position.state.has_secrets())? {
        return Err(Problem::content(
            "this game conceals things that moves may bring to light; its host can take back",
        ));
    }
    let head = open.head(app)?;
    let after = match after {
        Some(after) if after > head => {
            let detail = format!("there is no entry {after}; the last one is {head}");
            return Err(Problem::new(ProblemCode::NoEntry, detail));
        }
        Some(after) => after,
        None => before_last_of(app, &open, seat, head)?,
    };
    // The request is repeated, because its response was lost.
    if let Some((_, asked, _)) = open_takeback(app, match_name)?
        && asked.by == seat
        && asked.after == after
    {
        return Ok(());
    }
    let others = seats_with_players(app, match_name)?;
    if others.iter().all(|other| *other == seat) {
        return Err(Problem::content("no one else plays in this match; its host can take back"));
    }
    require_no_roll(app, &open, after, head)?;
    if after == head {
        return Err(Problem::content("there is no entry to take back"));
    }
    let command = Command::Takeback(open.revision.branch.clone(), head, after);
    record(app, match_name, seat, &command)
}

pub(crate) fn answer(
    app: &Arc<App>,
    match_name: &MatchName,
    seat: Seat,
    number: u32,
    agrees: bool,
) -> ApiResult<()> {
    let open = open_takeback(app, match_name)?;
    let Some((_, takeback, _)) = open.filter(|(_, takeback, _)| takeback.number == number) else {
        return Err(Problem::content("there is no such question any more"));
    };
    if agrees && takeback.agreed.contains(&seat) {
        return settle(app, match_name);
    }
    let command = if agrees { Command::Agree(number) } else { Command::Decline(number) };
    record(app, match_name, seat, &command)?;
    settle(app, match_name)
}

fn record(app: &Arc<App>, match_name: &MatchName, seat: Seat, command: &Command) -> ApiResult<()> {
    for _ in 0..TRIES_MAX {
        let accord = find_or_create_accord(app, match_name)?;
        match accord.record(&app.store, seat, command, app.now_ms()) {
            Ok(()) => {
                app.announce_accord(match_name);
                return Ok(());
            }
            Err(error) if is_conflict(&error) => {}
            Err(MailError::Refused(why)) => return Err(Problem::content(why)),
            Err(error) => return Err(error.into()),
        }
    }
    Err(moves_on())
}

fn find_or_create_accord(app: &Arc<App>, match_name: &MatchName) -> ApiResult<MatchAccord> {
    let game = app.store.genesis(match_name)?;
    if let Some(accord) = MatchAccord::find(&app.store, match_name, &game)? {
        return Ok(accord);
    }
    MatchAccord::name_of(match_name).map_err(|_| {
        Problem::content("nothing can be taken back in a match whose name has more than 57 characters")
    })?;
    MatchAccord::require_free(&app.store, match_name, &game)?;
    let players = open_current(app, match_name)?.seen_by(app, Viewer::HOST).state(None)?.players().len();
    let seats = u8::try_from(players).map_err(|_| Problem::internal())?;
    match MatchAccord::create_without_terms(&app.store, match_name, &game, seats, app.now_ms()) {
        Ok(()) | Err(MailError::Replay(ReplayError::Store(StoreError::AlreadyExists { .. }))) => {}
        Err(error) => return Err(error.into()),
    }
    find_accord(app, match_name)?.ok_or_else(moves_on)
}

fn is_conflict(error: &MailError) -> bool {
    matches!(error, MailError::Replay(ReplayError::Store(StoreError::Conflict { .. })))
}

pub(crate) fn settle(app: &Arc<App>, match_name: &MatchName) -> ApiResult<()> {
    for _ in 0..TRIES_MAX {
        let Some((accord, takeback, open)) = open_takeback(app, match_name)? else { return Ok(()) };
        let mut others = seats_with_players(app, match_name)?;
        others.remove(&takeback.by);
        if others.is_empty() || !others.is_subset(&takeback.agreed) {
            return Ok(());
        }
        // If several processes try, one succeeds.
        if go_on(app, &accord, &open, takeback.after)? {
            return Ok(());
        }
    }
    Err(moves_on())
}

pub(crate) fn take_back(app: &Arc<App>, match_name: &MatchName, after: Option<u64>) -> ApiResult<()> {
    for _ in 0..TRIES_MAX {
        let accord = find_or_create_accord(app, match_name)?;
        let open = open_current(app, match_name)?;
        require_not_by_mail(app, &open.revision)?;
        let head = open.head(app)?;
        let nothing = || Problem::content("there is no entry to take back");
        let after = match after {
            Some(after) if after < head => after,
            None => head.checked_sub(1).ok_or_else(nothing)?,
            _ => return Err(nothing()),
        };
        if go_on(app, &accord, &open, after)? {
            return Ok(());
        }
    }
    Err(moves_on())
}

/// Creates a branch after an entry of the current one and makes it the current branch. Returns `false` if the accord changed
/// in the meantime.
fn go_on(app: &Arc<App>, accord: &MatchAccord, open: &OpenBranch, after: u64) -> ApiResult<bool> {
    let revision = &open.revision;
    let match_name = &revision.match_name;
    let name = back_branch(app, open, after)?;
    match accord.record(&app.store, Seat::Host, &Command::Stand(name), app.now_ms()) {
        Ok(()) => {
            app.announce_accord(match_name);
            app.auto_host.notify(match_name);
            Ok(true)
        }
        // The branch stays even if it is not needed, because another process may make it the current one at this moment.
        Err(error) if is_conflict(&error) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn back_branch(app: &App, open: &OpenBranch, after: u64) -> ApiResult<BranchName> {
    let revision = &open.revision;
    let match_name = &revision.match_name;
    let link = app.store.links(match_name, &revision.branch, after..=after)?.pop();
    let branches = app.store.branches(match_name)?;
    for number in 1..=branches.len().saturating_add(1) {
        let name: BranchName = format!("takeback-{number}").parse().map_err(|_| Problem::internal())?;
        if let Some(there) = branches.iter().find(|there| there.name == name) {
            // Another process may have just created this branch.
            if there.head == after && Some(there.head_link) == link && name != revision.branch {
                return Ok(name);
            }
            continue;
        }
        if branches.len() >= BRANCHES_MAX {
            return Err(Problem::slow_down(format!("a match has at most {BRANCHES_MAX} branches")));
        }
        match app.store.create_branch(match_name, &name, &revision.branch, after, Vec::new()) {
            Ok(()) => return Ok(name),
            Err(StoreError::BranchExists { .. }) => return Err(moves_on()),
            Err(error) => return Err(error.into()),
        }
    }
    Err(Problem::internal())
}

fn before_last_of(app: &App, open: &OpenBranch, seat: Seat, head: u64) -> ApiResult<u64> {
    const READ: u64 = 100;
    let mut to = head;
    while to > 0 {
        let from = to.saturating_sub(READ);
        let entries = open.entries(app, from, to)?;
        for entry in entries.iter().rev() {
            if entry.seat == seat {
                return Ok(entry.seq - 1);
            }
        }
        to = from;
    }
    Err(Problem::content(format!("{seat} gave no command that could be taken back")))
}

fn require_no_roll(app: &App, open: &OpenBranch, after: u64, head: u64) -> ApiResult<()> {
    let rules = open.current(app, |current| Arc::clone(&current.position.rules))?;
    for entry in open.entries(app, after, head)? {
        let text = match entry.command {
            CommandForm::Bytes(bytes) => rules.command_text(&bytes).map_err(|_| Problem::internal())?,
            CommandForm::Text(text) => text,
        };
        // SV-63: players cannot take back a roll.
        if ScriptCommand::is_roll(&text) {
            return Err(Problem::content("dice fell after that; the host can take it back"));
        }
    }
    Ok(())
}
