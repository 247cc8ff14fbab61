//! The accord of a match: the terms by which the service hosts it, absences of players (SV-45, SV-48), and taking back,
//! together (SV-63, SV-64) and as the host (SV-66).

use turnfold_core::Rules as _;
use turnfold_core::paper::DeskTime;
use turnfold_core::rules::accord::{Accord, Command, Terms};
use turnfold_history::rules_of;
use turnfold_mail::{MailError, MatchAccord, terms_of_accord};

use super::matches::accord_of;
use super::prelude::*;
use crate::append::require_not_by_mail;
use crate::auto_host::{self, Hosted, unix_ms};
use crate::takeback::{self, TakebackJson};

/// How the service hosts a match.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct HostingJson {
    #[schema(value_type = TermsJson)]
    terms: Terms,
    /// The ends of the present turns by seats, in milliseconds since 1970, as far as a spectator may know.
    #[schema(value_type = BTreeMap<String, i64>)]
    deadlines: BTreeMap<Seat, i64>,
    /// The ends of absences by seats, in milliseconds since 1970.
    #[schema(value_type = BTreeMap<String, i64>)]
    absent: BTreeMap<Seat, i64>,
}

/// The terms of play.
#[derive(Serialize, ToSchema)]
pub(crate) struct TermsJson {
    /// The hours of each turn; 0 for turns without a deadline.
    hours: u16,
    /// What happens to a seat that missed a deadline: `default`, `wait` or `second`.
    #[schema(pattern = "^(default|wait|second)$")]
    missed: String,
    /// The commands for a seat that missed.
    default: Vec<String>,
    /// The commands of the host while the game waits for no player.
    between: Vec<String>,
    /// The misses in a row after which the match no longer waits for a seat; 0 for never.
    patience: u32,
    /// The total days that each seat may be absent.
    absences: u16,
}

impl HostingJson {
    pub(super) fn of(app: &App, hosted: &Hosted) -> Self {
        let mut absent = BTreeMap::new();
        for seat in Accord::players(&hosted.accord.state) {
            let Some(until) = hosted.accord.state.absent_until(*seat) else { continue };
            if unix_ms(until) > app.now_ms() {
                absent.insert(*seat, unix_ms(until));
            }
        }
        let terms = hosted.accord.state.terms().clone();
        let deadlines = hosted.deadlines.iter().map(|(seat, deadline)| (*seat, deadline.at_ms)).collect();
        Self { terms, deadlines, absent }
    }
}

/// The terms by which the service hosts a match.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewTerms {
    /// The terms as TOML; missing ones are the game's own
    #[schema(max_length = 10000, example = "hours = 72\n")]
    terms: String,
}

/// How long a player is away.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewAbsence {
    /// Until when, in UTC
    #[schema(
        pattern = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$",
        example = "2026-12-24T18:00:00Z"
    )]
    until: String,
}

/// Set the terms by which the service hosts a match
#[utoipa::path(operation_id = "set_terms", post, path = "/v1/matches/{match}/terms", tag = "matches",
    params(("match" = inline(Name), Path)), request_body = NewTerms,
    responses((status = 200, description = "the service hosts the match by these terms", body = HostingJson), Changed))]
pub(crate) async fn set_terms(
    RequestTo { app, bearer, path: match_name, .. }: RequestTo<String>,
    _: JsonQuery<NoParameters>,
    request: Request,
) -> ApiResult {
    let (access, match_name) = app.admit_to(&bearer, &match_name).await?;
    access.require_host(&match_name)?;
    let NewTerms { terms } = json_body(request).await?;
    app.block(move |app| {
        let main = Revision { match_name: match_name.clone(), branch: BranchName::main(), seq: None };
        require_not_by_mail(app, &main)?;
        let game = app.store.genesis(&match_name)?;
        let rules = rules_of(&game, &main, &app.registry)?;
        let setup = accord_of(app, &match_name, &*rules, &game, &terms)?;
        match MatchAccord::find(&app.store, &match_name, &game)? {
            Some(accord) => {
                let terms = terms_of_accord(&setup).map_err(|error| Problem::content(error.to_string()))?;
                record(app, &accord, Seat::Host, &Command::Terms(terms))?;
            }
            None => MatchAccord::create(&app.store, &match_name, &game, setup, app.now_ms())?,
        }
        hosting_now(app, &match_name)
    })
    .await
}

/// Announce that the player of the token is away
#[utoipa::path(operation_id = "announce_absence", post, path = "/v1/matches/{match}/absence", tag = "matches",
    params(("match" = inline(Name), Path)), request_body = NewAbsence,
    responses((status = 200, description = "deadlines wait for the player until then", body = HostingJson), Changed))]
pub(crate) async fn announce_absence(
    RequestTo { app, bearer, path: match_name, .. }: RequestTo<String>,
    _: JsonQuery<NoParameters>,
    request: Request,
) -> ApiResult {
    let (access, match_name) = app.admit_to(&bearer, &match_name).await?;
    let NewAbsence { until } = json_body(request).await?;
    app.block(move |app| {
        let seat = access.playing_seat()?.ok_or_else(|| Problem::forbidden("only a player can be absent"))?;
        let until: DeskTime = until
            .parse()
            .map_err(|_| Problem::content("expected `until` to be a time such as `2026-12-24T18:00:00Z`"))?;
        let Hosted { accord, .. } = require_hosted(app, &match_name)?;
        let from = DeskTime::of_unix_ms(app.now_ms()).ok_or_else(Problem::internal)?;
        record(app, &accord, seat, &Command::Absent(from, until))?;
        hosting_now(app, &match_name)
    })
    .await
}

fn require_hosted(app: &Arc<App>, match_name: &MatchName) -> ApiResult<Hosted> {
    let hosted = auto_host::hosted(app, match_name)?;
    hosted.ok_or_else(|| Problem::content("this match has no terms: its host does what a host does"))
}

fn record(app: &App, accord: &MatchAccord, seat: Seat, command: &Command) -> ApiResult<()> {
    accord.record(&app.store, seat, command, app.now_ms()).map_err(|error| match error {
        MailError::Refused(why) => Problem::content(why),
        error => error.into(),
    })
}

fn hosting_now(app: &Arc<App>, match_name: &MatchName) -> ApiResult {
    app.auto_host.notify(match_name);
    let hosted = require_hosted(app, match_name)?;
    Ok(json(StatusCode::OK, &HostingJson::of(app, &hosted)))
}

/// The branch on which a match continues, and a player's question to take back.
#[derive(Serialize, ToSchema)]
pub(crate) struct GoesOnJson {
    /// The current branch of the match.
    current: String,
    /// The question that not all have answered; null if there is none.
    #[schema(required = true)]
    takeback: Option<TakebackJson>,
}

/// Where to go on from.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct After {
    /// The entry after which to continue, in the viewer's numbering [default: before one's own last command; for the host,
    /// before the last entry]
    after: Option<u64>,
}

/// An answer.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TakebackAnswer {
    /// Whether the player agrees; the player who asked answers `false` to withdraw
    agree: bool,
}

/// Ask to take back
///
/// A player asks, and once all other players have agreed, the match continues from there on a new branch. The host
/// takes back at once.
#[utoipa::path(operation_id = "take_back", post, path = "/v1/matches/{match}/takeback", tag = "matches",
    params(("match" = inline(Name), Path), After),
    responses((status = 200, description = "the players are asked, or the match goes on from there", body = GoesOnJson), Changed))]
pub(crate) async fn take_back(
    RequestTo { app, bearer, path: match_name, .. }: RequestTo<String>,
    JsonQuery(After { after }): JsonQuery<After>,
) -> ApiResult {
    let (access, match_name) = app.admit_to(&bearer, &match_name).await?;
    let seat = access.playing_seat()?;
    goes_on(app, access, match_name, move |app, match_name| match seat {
        Some(seat) => takeback::ask(app, match_name, seat, after),
        None => takeback::take_back(app, match_name, after),
    })
    .await
}

/// Answer whether to take back
#[utoipa::path(operation_id = "answer_takeback", post, path = "/v1/matches/{match}/takeback/{number}", tag = "matches",
    params(("match" = inline(Name), Path), ("number" = u32, Path, minimum = 1)), request_body = TakebackAnswer,
    responses((status = 200, description = "the answer is recorded", body = GoesOnJson), Changed))]
pub(crate) async fn answer_takeback(
    RequestTo { app, bearer, path: (match_name, number), .. }: RequestTo<(String, String)>,
    _: JsonQuery<NoParameters>,
    request: Request,
) -> ApiResult {
    let (access, match_name) = app.admit_to(&bearer, &match_name).await?;
    let number = number.parse::<u32>().map_err(|_| Problem::bad("expected the number of a question"))?;
    let TakebackAnswer { agree } = json_body(request).await?;
    let seat = access.playing_seat()?.ok_or_else(|| Problem::forbidden("only players answer this"))?;
    goes_on(app, access, match_name, move |app, match_name| {
        takeback::answer(app, match_name, seat, number, agree)
    })
    .await
}

async fn goes_on(
    app: Arc<App>,
    access: Access,
    match_name: MatchName,
    change: impl FnOnce(&Arc<App>, &MatchName) -> ApiResult<()> + Send + 'static,
) -> ApiResult {
    to_end(&Arc::clone(&app), async move {
        let name = match_name.clone();
        let current = app.block(move |app| current_branch(app, &name)).await?;
        // While the turn is held, no command is judged on the branch, which may be left.
        let _turn = app.find_branch(match_name.clone(), current).await?.turn().await?;
        app.block(move |app| {
            change(app, &match_name)?;
            let viewer = access.looks(&match_name, None)?;
            let current = current_branch(app, &match_name)?.to_string();
            let takeback = takeback::asked(app, &match_name, viewer)?;
            Ok(json(StatusCode::OK, &GoesOnJson { current, takeback }))
        })
        .await
    })
    .await
}
