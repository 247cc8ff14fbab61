//! Matches by mail that the service hosts: the host's key, one writer per desk, and turns executed when they are due
//! (PM-31a).

use std::path::PathBuf;

use turnfold_core::paper::DeskTime;
use turnfold_core::rules::desk::Effect;
use turnfold_history::{ReplayError, catch};
use turnfold_mail::{
    DeskOf, MailError, MailHost, MailRoom, Maildir, PostFolder, PostOffice, ReceivedMail, TableDice,
    UnsentLetter, desk_naming, give_to_command, take_mail, why_not_given, write_day,
};
use turnfold_proof::signing::Signers;

use crate::append::{Patience, moves_on};
use crate::auto_host::{AGAIN_MS, News, unix_ms};
use crate::prelude::*;

/// How often to check for deadlines, and after how many checks to look for desks of other processes.
const LOOK_EVERY: Duration = Duration::from_secs(1);
const LOOKS_FOR_DESKS: u32 = 60;
/// After how many checks to look for mails.
const LOOKS_FOR_MAILS: u32 = 10;

/// How the service hosts matches by mail.
#[derive(Clone, Debug)]
pub struct HostedMail {
    /// The host's key.
    pub signers: Arc<Signers>,
    /// The folder in which letters wait to be sent; if `None`, no letters are written.
    pub letters: Option<PathBuf>,
    /// The public address of the pages that letters link to; if `None`, letters have no links (PM-70).
    pub pages: Option<String>,
    /// The Maildir whose mails the service takes (PM-104).
    pub maildir: Option<PathBuf>,
    /// The shell command that sends a letter (PM-104).
    pub send: Option<String>,
    /// The name of the program that players type, for the commands in letters.
    pub program: &'static str,
}

/// The desks that the service hosts.
pub(crate) struct Desks {
    pub(crate) mail: HostedMail,
    pub(crate) news: News,
}

pub(crate) async fn at_desk<T: Send + 'static>(
    app: &Arc<App>,
    game: &MatchName,
    mut work: impl FnMut(&App, &mut MailHost<'_>) -> Result<T, MailError> + Send + 'static,
) -> ApiResult<T> {
    let of = game.clone();
    let main = BranchName::main();
    // The request needs no token, so a match without a desk is reported as missing.
    let desk = app.block(move |app| match desk_naming(&app.store, &of, &BranchName::main())? {
        Some(desk) => Ok(desk),
        None => Err(StoreError::NoSuchMatch { match_name: of }.into()),
    });
    let desk = desk.await?;
    let branch = app.find_branch(desk.clone(), main.clone()).await?;
    // No other request of this service writes to the desk in the meantime.
    let _turn = branch.turn().await?;
    let game = game.clone();
    app.block(move |app| {
        let Some(desks) = &app.desks else { return Err(Problem::internal()) };
        let mut reserved = None;
        let mut patience = Patience::new();
        while let Some(wait) = patience.next(app) {
            // While this request has a reservation, the others wait.
            if reserved.is_none() {
                std::thread::sleep(wait);
            }
            let host = MailHost::of(&app.store, &game, &app.registry, &desks.mail.signers, app.now_ms());
            // Even if a module fails, the heads below are updated, because entries may have been appended before.
            let done = host.and_then(|mut host| {
                let before = host.desk().head();
                let done = catch(|| work(app, &mut host)).map_err(ReplayError::from)?;
                // PM-74: pages were closed, so their streams end.
                let mut ends_streams = host.close_former_pages()?;
                for entry in host.desk().entries() {
                    let is_join = |effect: &Effect| matches!(effect, Effect::Joined { .. });
                    ends_streams |= entry.seq > before && entry.effects.iter().any(is_join);
                }
                if ends_streams {
                    app.revoke();
                }
                done
            });
            drop(reserved.take());
            app.branches.hear(app, &(desk.clone(), main.clone()))?;
            for branch in app.store.branches(&game)? {
                app.branches.hear(app, &(game.clone(), branch.name))?;
            }
            match done {
                // Another process appended first.
                Err(MailError::Replay(ReplayError::Store(StoreError::Conflict {
                    match_name,
                    branch,
                    ..
                }))) => {
                    // FL-33
                    reserved = app.store.reserve(&app.branch(&match_name, &branch)?.named());
                }
                done => return done.map_err(desk_problem).inspect_err(|problem| app.note(problem)),
            }
        }
        Err(moves_on())
    })
    .await
}

pub(crate) async fn keep(app: Arc<App>) {
    let Some(desks) = &app.desks else { return };
    // When to run a match again, in Unix milliseconds.
    let mut due: BTreeMap<MatchName, i64> = BTreeMap::new();
    for look in 0_u32.. {
        if look.is_multiple_of(LOOKS_FOR_DESKS) {
            for game in games(&app).await.unwrap_or_default() {
                if !due.contains_key(&game) {
                    desks.news.notify(game);
                }
            }
            match write_day_of(&app).await {
                Ok(Some(game)) => desks.news.notify(game),
                Ok(None) => {}
                Err(problem) => tracing::warn!(detail = problem.detail(), "cannot write the day's letter"),
            }
        }
        if look.is_multiple_of(LOOKS_FOR_MAILS)
            && let Err(problem) = take_mails(&app).await
        {
            tracing::warn!(detail = problem.detail(), "cannot take mails");
        }
        let mut now = desks.news.take();
        let now_ms = app.now_ms();
        for (game, at_ms) in &due {
            if now_ms >= *at_ms {
                now.insert(game.clone());
            }
        }
        for game in now {
            let next_ms = match run(&app, &game).await {
                Ok(next_ms) => next_ms,
                Err(problem) => {
                    tracing::warn!(%game, detail = problem.detail(), "cannot execute a turn by mail");
                    match problem.code() {
                        ProblemCode::Forbidden | ProblemCode::NotFound => i64::MAX,
                        _ => now_ms.saturating_add(AGAIN_MS),
                    }
                }
            };
            due.insert(game, next_ms);
        }
        desks.news.wait(LOOK_EVERY).await;
    }
}

impl App {
    pub(crate) fn notify_desk(&self, game: MatchName) {
        if let Some(desks) = &self.desks {
            desks.news.notify(game);
        }
    }
}

async fn games(app: &Arc<App>) -> ApiResult<Vec<MatchName>> {
    app.block(|app| {
        let mut games = Vec::new();
        for found in app.store.matches_after(None)? {
            games.extend(DeskOf::game_of(&found?.name));
        }
        Ok(games)
    })
    .await
}

async fn write_day_of(app: &Arc<App>) -> ApiResult<Option<MatchName>> {
    app.block(|app| {
        let (Some(desks), Some(at)) = (&app.desks, desk_time(app)) else { return Ok(None) };
        let HostedMail { signers, letters: Some(folder), .. } = &desks.mail else { return Ok(None) };
        // PM-107: the day's letter waits in the outbox of the returned match.
        let written = write_day(&app.store, &app.registry, signers, folder, at).map_err(desk_problem)?;
        Ok(written.map(|(game, _)| game))
    })
    .await
}

fn desk_time(app: &App) -> Option<DeskTime> {
    DeskTime::of_unix_ms(app.now_ms())
}

async fn take_mails(app: &Arc<App>) -> ApiResult<()> {
    let Some(desks) = &app.desks else { return Ok(()) };
    let HostedMail { signers, maildir: Some(folder), letters: Some(post), .. } = desks.mail.clone() else {
        return Ok(());
    };
    let maildir = folder.clone();
    let waiting = app.block(move |app| {
        let mails = Maildir::open(&maildir).and_then(|maildir| maildir.mails()).map_err(desk_problem)?;
        if mails.is_empty() {
            return Ok(Vec::new());
        }
        let office = PostOffice::open(&app.store, &app.registry, &signers, &post, app.now_ms());
        let office = office.map_err(desk_problem)?;
        // PM-100, PM-104: each mail of the Maildir is taken for the matches that it names.
        let mut waiting = Vec::with_capacity(mails.len());
        for (path, mail) in mails {
            let mut games = Vec::new();
            for place in office.matches_of(&mail) {
                if let Some(found) = office.matches.get(place) {
                    games.push(found.name.clone());
                }
            }
            waiting.push((path, mail, games));
        }
        Ok(waiting)
    });
    for (path, mail, games) in waiting.await? {
        if games.is_empty() {
            continue;
        }
        match take_mail_for(app, &mail, games).await {
            Ok(true) => {
                let folder = folder.clone();
                let mark = move || Maildir::open(&folder)?.mark_taken(&path);
                app.block(move |_| mark().map_err(desk_problem)).await?;
            }
            Ok(false) => {}
            // A mail that cannot be taken stays, and the others are taken all the same.
            Err(problem) => {
                let mail = path.display();
                tracing::warn!(%mail, detail = problem.detail(), "a mail was not taken");
            }
        }
    }
    Ok(())
}

/// Returns `true` if the mail need not be taken again.
async fn take_mail_for(app: &Arc<App>, mail: &ReceivedMail, games: Vec<MatchName>) -> ApiResult<bool> {
    let mut is_done = true;
    for game in games {
        let mail = mail.clone();
        let of = game.clone();
        let taken = at_desk(app, &game, move |app, host| {
            // PM-113: a mail that came after the deadline waits until the deadline has passed. It does not pass while a
            // letter is unsent (PM-101), so the mail is taken then.
            if let Some(now) = desk_time(app)
                && host.is_after_deadline(&mail, now)
                && !is_letter_unsent(app, &of)?
            {
                return Ok(None);
            }
            with_room(app, &of, |room| take_mail(host, room.addresses, &mail, &[]))
        });
        let Some(taken) = taken.await? else {
            is_done = false;
            continue;
        };
        is_done &= taken.is_done();
        let of = game.clone();
        // The desk is not held here, so papers need not wait until the answer is written.
        app.block(move |app| {
            with_room(app, &of, |room| room.answer_taken(&taken)).map_err(desk_problem)?;
            Ok(())
        })
        .await?;
        app.notify_desk(game);
    }
    Ok(is_done)
}

/// Returns when to run the match again, in Unix milliseconds: at its deadline, or to send letters again.
async fn run(app: &Arc<App>, game: &MatchName) -> ApiResult<i64> {
    let of = game.clone();
    at_desk(app, game, move |app, host| {
        let at =
            desk_time(app).ok_or_else(|| MailError::Refused("the clock is beyond the year 9999".into()))?;
        let send = app.desks.as_ref().and_then(|desks| desks.mail.send.clone());
        host.is_letter_unsent = is_letter_unsent(app, &of)?;
        let mut source = |due: &_| (app.outside.roll)(due);
        host.run(at, &mut TableDice::new(Vec::new(), &mut source))?;
        let written = with_room(app, &of, |room| {
            room.write_reports()?;
            let Some(command) = &send else { return Ok(false) };
            let mut give =
                |letter: &UnsentLetter| Ok(why_not_given(command, give_to_command(command, letter)?));
            let report = room.send(host, at, &mut give)?;
            for (letter, why) in report.not_sent {
                tracing::warn!(game = %of, letter, why, "a letter was not sent");
            }
            room.has_unsent()
        });
        if let Err(error) = &written {
            tracing::warn!(game = %of, %error, "cannot write letters");
        }
        // Unsent letters are tried again.
        if let Ok(Some(true)) = written {
            return Ok(unix_ms(at).saturating_add(AGAIN_MS));
        }
        let state = host.desk().state();
        Ok(match state.deadline() {
            Some(deadline) if state.is_open() => unix_ms(deadline),
            _ => i64::MAX,
        })
    })
    .await
}

fn is_letter_unsent(app: &App, game: &MatchName) -> Result<bool, MailError> {
    let Some(desks) = &app.desks else { return Ok(false) };
    if desks.mail.send.is_none() {
        return Ok(false);
    }
    // PM-101: only a letter of this turn keeps the deadline from passing.
    let is_unsent = with_room(app, game, |room| Ok(!room.unsent_turn()?.is_empty()))?;
    Ok(is_unsent == Some(true))
}

fn with_room<T>(
    app: &App,
    game: &MatchName,
    work: impl FnOnce(&MailRoom<'_>) -> Result<T, MailError>,
) -> Result<Option<T>, MailError> {
    let Some(desks) = &app.desks else { return Ok(None) };
    let HostedMail { signers, letters: Some(folder), pages, program, .. } = &desks.mail else {
        return Ok(None);
    };
    let post = PostFolder::of(folder, &app.store, game)?;
    let outbox = &post.outbox();
    let addresses = &post.addresses()?;
    let registry = &app.registry;
    let pages = pages.as_deref();
    let room = MailRoom { store: &app.store, registry, signers, addresses, outbox, game, pages, program };
    Ok(Some(work(&room)?))
}

pub(crate) fn desk_problem(error: impl Into<MailError>) -> Problem {
    match error.into() {
        // The desk was found, so the key does not fit it.
        MailError::Unusable(_) => {
            Problem::forbidden("the key of this service does not fit the desk of the match")
        }
        error @ (MailError::Addresses { .. }
        | MailError::Outbox(_)
        | MailError::Replay(ReplayError::Input(_))
        | MailError::Proof(_)) => {
            tracing::error!(%error, "the desk cannot be signed, or a letter not be written");
            Problem::internal()
        }
        error => error.into(),
    }
}
