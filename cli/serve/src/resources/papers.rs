//! Matches by mail over HTTP: their papers (PM-31a), and the page of a seat, with the code that opens it, the desk as the
//! seat may know it, and the lines of a player without a key (PM-70 to PM-73).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use turnfold_core::paper::{MatchId, PLAYS_MAX, PaperContent, SeatKey, SignedPaper};
use turnfold_core::rules::desk::{Desk, View};
use turnfold_core::{Malformed, Rules as _};
use turnfold_mail::{
    MailError, MailHost, MailedPaper, OpenedPage, PaperOutcome, TakenPaper, TakenReply, seat_bundle,
};

use super::prelude::*;
use crate::auth::require_live;
use crate::documents::Document;
use crate::hosting::{at_desk, desk_problem};
use crate::http::{BYTES, body, has_type, number, one_line};
use crate::limits::{FoldsOf, PAPER_BYTES_MAX};

/// A paper that the desk has, and the receipt for it.
#[derive(Serialize, ToSchema)]
pub(crate) struct PaperTaken {
    #[schema(value_type = String)]
    seat: Seat,
    kind: &'static str,
    number: u32,
    digest: String,
    /// `applied` or `ignored`.
    outcome: &'static str,
    /// Why it is ignored.
    reason: Option<&'static str>,
    /// The entry of the desk that records it.
    seq: u64,
    /// Whether it was recorded just now.
    is_new: bool,
    /// The desk's checkpoint, signed by the host.
    checkpoint: String,
    /// The seat's bundle as base64, if the paper was recorded just now.
    bundle: Option<String>,
}

/// Submit a paper of a match by mail
///
/// The paper is signed, so no token is required. A `join` needs the token of its seat.
#[utoipa::path(operation_id = "submit_paper", post, path = "/v1/matches/{match}/papers", tag = "papers", security(()),
    params(("match" = inline(Name), Path)),
    request_body(content((documents::Bytes = "application/octet-stream"), (String = "text/plain"))),
    responses((status = 201, description = "the desk recorded the paper", content(
        (PaperTaken = "application/json"), (String = "text/plain"))),
        (status = 200, description = "the desk had recorded the paper before", content(
        (PaperTaken = "application/json"), (String = "text/plain"))), Changed))]
pub(crate) async fn take(
    RequestTo { app, bearer, path: match_name, .. }: RequestTo<String>,
    form: AnswerForm,
    _: ValidQuery<NoParameters>,
    request: Request,
) -> ApiResult {
    require_hosted(&app)?;
    let game: MatchName = name(&match_name)?;
    // Clients that were generated from the description cannot always send text.
    let media_type = if has_type(&request, BYTES) { BYTES } else { "text/plain" };
    let paper = body(request, media_type, PAPER_BYTES_MAX).await?;
    let paper = read(&paper).map_err(|error| Problem::new(ProblemCode::Malformed, one_line(&error.0)))?;
    // PM-72: the holder of a seat's token may join it, because the host gave the token away.
    let admitted = match paper.paper().content() {
        PaperContent::Join(_) if bearer.hash().is_some() => vec![seat_of(&app, &bearer, &game).await?],
        _ => Vec::new(),
    };
    let page = bearer.hash().map(|(hash, _)| hash);
    // From here on, the request is carried out even if the client disconnects.
    to_end(&Arc::clone(&app), async move {
        let began = Instant::now();
        let answered = perform(&app, game, paper, admitted, page, form).await;
        app.metrics.append_done(began, &answered);
        answered
    })
    .await
}

fn read(body: &[u8]) -> Result<SignedPaper, Malformed> {
    let text = str::from_utf8(body).map_err(|_| Malformed("expected UTF-8 text".into()))?;
    if let Ok(note) = MailedPaper::read_note(text) {
        return Ok(note.signed);
    }
    let mut found = MailedPaper::find(body).into_iter();
    match (found.next(), found.next()) {
        (Some(found), None) => Ok(found.paper?.signed),
        (None, _) => Err(Malformed("expected a paper, found none".into())),
        (Some(_), Some(_)) => Err(Malformed("expected one paper, found several".into())),
    }
}

async fn perform(
    app: &Arc<App>,
    game: MatchName,
    paper: SignedPaper,
    admitted: Vec<Seat>,
    page: Option<Digest>,
    form: AnswerForm,
) -> ApiResult {
    let of = game.clone();
    let (taken, receipt) = fold_at_desk(app, &game, move |app, host| {
        host.page = page;
        let taken = host.take_paper(paper.clone(), &admitted)?;
        let receipt = taken.seq.map(|seq| receipt(app, &of, &host.mail_match().desk_branch(), &taken, seq));
        Ok((taken, receipt))
    })
    .await?;
    if taken.is_new {
        app.notify_desk(game);
    }
    let Some(receipt) = receipt else { return Err(refused(&taken)) };
    let receipt = receipt?;
    let status = if taken.is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok(answer(&taken, &receipt, status, form))
}

fn receipt(
    app: &App,
    game: &MatchName,
    desk: &turnfold_history::Revision,
    taken: &TakenPaper,
    seq: u64,
) -> ApiResult<PaperTaken> {
    let (Some(desks), Some(paper)) = (&app.desks, &taken.paper) else { return Err(Problem::internal()) };
    let signers = &desks.mail.signers;
    let seat = paper.head().seat;
    let bundle = if taken.is_new {
        let bundle =
            seat_bundle(&app.store, &app.registry, signers, game, seat, seq + 1).map_err(desk_problem)?;
        Some(STANDARD.encode(bundle))
    } else {
        None
    };
    let signed = signers.sign(&app.store, desk, None).map_err(desk_problem)?;
    Ok(PaperTaken {
        seat,
        kind: paper.content().kind(),
        number: paper.head().number,
        digest: paper.digest().to_string(),
        outcome: taken.outcome.name(),
        reason: taken.outcome.code(),
        seq,
        is_new: taken.is_new,
        checkpoint: signed.note.to_string(),
        bundle,
    })
}

fn answer(taken: &TakenPaper, receipt: &PaperTaken, status: StatusCode, form: AnswerForm) -> Response {
    if form == AnswerForm::Json {
        return json(status, receipt);
    }
    let again = if receipt.is_new { "" } else { ", as before" };
    let PaperTaken { seat, kind, number, seq, checkpoint, .. } = receipt;
    let what = format!("{seat} {kind} {number}: {}{again}", taken.outcome);
    text(status, format!("{what}\nrecord {seq} of the desk\n\n{checkpoint}"))
}

fn refused(taken: &TakenPaper) -> Problem {
    let code = match taken.outcome {
        PaperOutcome::Malformed(_) => ProblemCode::Malformed,
        PaperOutcome::NeedsAdmit(_) => ProblemCode::Forbidden,
        _ => ProblemCode::Rejected,
    };
    let head = taken.paper.as_ref().map(|paper| (paper.head(), paper.content().kind()));
    let what = head.map(|(head, kind)| format!("{} {kind} {}: ", head.seat, head.number));
    let why = taken.outcome.message().unwrap_or_default();
    Problem::new(code, format!("{}{}: {why}", what.unwrap_or_default(), taken.outcome))
}

/// The code of a letter, and the token that opens the page from then on.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Opening {
    /// The code behind `#m=` in the link
    #[schema(example = "ABCD-EFG2-JKMN")]
    code: String,
    /// A seat's token that the client made from 32 random bytes: `tf_s_` and 43 characters of base64url
    #[schema(pattern = "^tf_s_[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$")]
    token: String,
}

/// A page that is open.
#[derive(Serialize, ToSchema)]
pub(crate) struct Opened {
    #[schema(value_type = String)]
    seat: Seat,
}

/// The desk of a match by mail, as a seat may know it.
#[derive(Serialize, ToSchema)]
pub(crate) struct DeskJson {
    #[schema(value_type = String)]
    seat: Seat,
    /// The desk as everyone sees it, in the form of its rules (PM-24)
    #[schema(value_type = Document)]
    desk: View,
    /// The terms of play, one sentence each
    terms: Vec<String>,
    /// The commands that are played for a seat that misses a deadline
    default: Vec<String>,
    /// The order of the seat that counts in this turn
    order: Option<OrderJson>,
    /// The key with which the seat signs, in the form of papers
    key: Option<String>,
    /// Whether the terms allow a player without a key in the seat
    plain: bool,
    /// Whether the page can write orders for the seat, which requires that nothing is sealed and no dice are fair
    playable: bool,
    /// The id of the match in papers
    match_id: String,
    /// The number of the seat's next paper
    number: u32,
    /// The history of the desk that such a paper names: its size and root
    seen: String,
}

/// An order that counts.
#[derive(Serialize, ToSchema)]
pub(crate) struct OrderJson {
    number: u32,
    /// The entry of the desk that records it
    seq: u64,
    plays: Vec<String>,
}

impl DeskJson {
    fn of(host: &MailHost<'_>, seat: Seat) -> Result<Self, MailError> {
        let state = host.desk().state();
        let terms = &host.mail_match().terms;
        let order = host.desk().order_now(seat).map(|(entry, order)| OrderJson {
            number: entry.command.paper().map_or(0, |paper| paper.head().number),
            seq: entry.seq,
            plays: order.plays().iter().map(|play| play.as_str().to_owned()).collect(),
        });
        Ok(Self {
            seat,
            desk: Desk::view(state, seat.into()),
            terms: host.terms_in_words(),
            default: terms.default.clone(),
            order,
            key: state.key_of(seat).map(SeatKey::to_base64),
            plain: terms.plain.contains(&seat),
            playable: host.has_page(seat),
            match_id: MatchId::new(host.mail_match().genesis.match_id).to_string(),
            number: state.last_number(seat).saturating_add(1),
            seen: host.seen()?.to_string(),
        })
    }
}

/// Lines of a player without a key.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_field_names, reason = "the description names the body and its field so")]
pub(crate) struct Lines {
    /// An id that the client chose: the same lines with the same id are taken once
    #[schema(pattern = "^[!-~]{1,64}$")]
    id: String,
    /// The turn that they are for
    #[serde(deserialize_with = "number")]
    #[schema(maximum = 4_294_967_295_u32)]
    turn: u32,
    /// The lines, as in a mail after the code
    #[schema(min_items = 1, max_items = 500, example = json!(["move 2,3", "stand"]))]
    lines: Vec<String>,
}

/// The outcome of submitted lines.
#[derive(Serialize, ToSchema)]
pub(crate) struct LinesTaken {
    papers: Vec<PaperMade>,
    /// Why something was not taken, in sentences
    faults: Vec<String>,
}

/// A paper that the host wrote for a player without a key.
#[derive(Serialize, ToSchema)]
pub(crate) struct PaperMade {
    kind: Option<&'static str>,
    number: Option<u32>,
    /// `applied`, `ignored`, or why it is not recorded
    outcome: &'static str,
    /// Why it is ignored or rejected
    reason: Option<&'static str>,
    /// The entry of the desk that records it
    seq: Option<u64>,
}

impl From<&TakenPaper> for PaperMade {
    fn from(taken: &TakenPaper) -> Self {
        let paper = taken.paper.as_ref();
        Self {
            kind: paper.map(|paper| paper.content().kind()),
            number: paper.map(|paper| paper.head().number),
            outcome: taken.outcome.name(),
            reason: taken.outcome.code(),
            seq: taken.seq,
        }
    }
}

/// Open the page of a seat
///
/// Exchanges the code in the link of a letter for access to its seat. No token is required.
#[utoipa::path(operation_id = "open_page", post, path = "/v1/matches/{match}/desk/access", tag = "papers", security(()),
    params(("match" = inline(Name), Path)), request_body = Opening,
    responses((status = 201, description = "the token gives access to the seat", body = Opened),
        (status = 200, description = "the token gave access before", body = Opened), Changed))]
pub(crate) async fn open_page(
    RequestTo { app, client, path: match_name, .. }: RequestTo<String>,
    headers: HeaderMap,
    _: ValidQuery<NoParameters>,
    request: Request,
) -> ApiResult {
    require_hosted(&app)?;
    app.limits.guesses.require_few(client)?;
    require_accepted(&headers, JSON)?;
    let game: MatchName = name(&match_name)?;
    let Opening { code, token } = json_body(request).await?;
    let Some((token, TokenKind::Seat)) = AccessToken::parse(&token) else {
        return Err(Problem::bad("expected `token` to be a seat's token"));
    };
    let opened = fold_at_desk(&app, &game, move |_, host| Ok(host.opened_by(&code))).await?;
    let Some(opened) = opened else {
        app.limits.guesses.count(client);
        return Err(Problem::new(ProblemCode::NoToken, "expected the code of a letter of this match"));
    };
    app.block(move |app| grant(app, game, opened, &token)).await
}

fn grant(app: &Arc<App>, match_name: MatchName, opened: OpenedPage, token: &AccessToken) -> ApiResult {
    let OpenedPage { seat, stale } = opened;
    let hash = token.hash();
    let now_ms = app.now_ms();
    let kind = GrantKind::Seat(seat);
    if let Some(grant) = app.store.find_grant(&hash)? {
        let grant = require_live(grant, now_ms)?;
        if grant.kind == kind && grant.match_name == match_name {
            return Ok(json(StatusCode::OK, &Opened { seat }));
        }
        return Err(Problem::new(ProblemCode::Exists, "the token gives other access; make a new one"));
    }
    if let Some(stale) = stale {
        return Err(Problem::new(ProblemCode::Rejected, stale));
    }
    // If too many browsers have access, the oldest one loses it.
    let is_of_seat = |grant: &Grant| grant.kind.seat() == Some(seat) && grant.is_live(now_ms);
    let grants = app.store.grants_of(&match_name)?;
    let live: Vec<_> = grants.iter().filter(|(_, grant)| is_of_seat(grant)).collect();
    if live.len() >= Grant::LIVE_MAX_PER_SEAT {
        let by_letter = live.iter().filter(|(_, grant)| grant.label.as_str() == MailHost::PAGE_LABEL);
        if let Some((oldest, _)) = by_letter.min_by_key(|(_, grant)| grant.created_at_ms) {
            app.store.revoke_grant(&match_name, GrantId::of(oldest), now_ms)?;
            app.revoke();
        }
    }
    let label = name(MailHost::PAGE_LABEL)?;
    app.store.grant(&hash, NewGrant { kind, match_name, label, expires_at_ms: None }, now_ms)?;
    app.grants.forget();
    Ok(json(StatusCode::CREATED, &Opened { seat }))
}

/// Works at the desk once there is a place for the fold.
async fn fold_at_desk<T: Send + 'static>(
    app: &Arc<App>,
    game: &MatchName,
    work: impl FnMut(&App, &mut MailHost<'_>) -> Result<T, MailError> + Send + 'static,
) -> ApiResult<T> {
    let _permit = app.limits.folds.wait(FoldsOf::Papers(game.clone()), Some(game)).await?;
    at_desk(app, game, work).await
}

fn require_hosted(app: &App) -> ApiResult<()> {
    if app.desks.is_some() {
        return Ok(());
    }
    Err(Problem::forbidden("this service does not host matches by mail"))
}

async fn seat_of(app: &Arc<App>, bearer: &Bearer, game: &MatchName) -> ApiResult<Seat> {
    let access = app.admit(bearer).await?;
    access.require_match(game)?;
    access.playing_seat()?.ok_or_else(|| Problem::forbidden("expected the token of a player's seat"))
}

/// See the desk of a match by mail
///
/// Contains what the seat may know, and what the seat's next paper must name.
#[utoipa::path(operation_id = "show_desk", get, path = "/v1/matches/{match}/desk", tag = "papers",
    params(("match" = inline(Name), Path)),
    responses((status = 200, description = "the desk", body = DeskJson), Looked))]
pub(crate) async fn show_desk(
    RequestTo { app, bearer, path: match_name, .. }: RequestTo<String>,
    _: JsonQuery<NoParameters>,
) -> ApiResult {
    let game: MatchName = name(&match_name)?;
    let seat = seat_of(&app, &bearer, &game).await?;
    require_hosted(&app)?;
    let desk = fold_at_desk(&app, &game, move |_, host| DeskJson::of(host, seat)).await?;
    Ok(json(StatusCode::OK, &desk))
}

/// Submit lines of a player without a key
///
/// They are taken like a mail with the code of the turn: `join NAME`, or the commands of an order.
#[utoipa::path(operation_id = "submit_lines", post, path = "/v1/matches/{match}/desk/lines", tag = "papers",
    params(("match" = inline(Name), Path)), request_body = Lines,
    responses((status = 200, description = "what became of the lines", body = LinesTaken), Changed))]
pub(crate) async fn submit_lines(
    RequestTo { app, bearer, path: match_name, .. }: RequestTo<String>,
    _: JsonQuery<NoParameters>,
    request: Request,
) -> ApiResult {
    let game: MatchName = name(&match_name)?;
    let seat = seat_of(&app, &bearer, &game).await?;
    require_hosted(&app)?;
    let Lines { id, turn, lines } = json_body(request).await?;
    if !(1..=64).contains(&id.len()) || !id.bytes().all(|sign| sign.is_ascii_graphic()) {
        return Err(Problem::bad("expected `id` to have 1 to 64 visible ASCII characters"));
    }
    if !(1..=PLAYS_MAX).contains(&lines.len()) {
        return Err(Problem::bad(format!("expected 1 to {PLAYS_MAX} lines")));
    }
    let is_line = |line: &String| !line.trim().is_empty() && !line.contains(char::is_control);
    if !lines.iter().all(is_line) {
        return Err(Problem::content("expected lines without control characters, none of them empty"));
    }
    to_end(&Arc::clone(&app), async move {
        let page = bearer.hash().map(|(hash, _)| hash);
        let taken = fold_at_desk(&app, &game, move |_, host| {
            host.page = page;
            host.take_lines(seat, turn, &id, &lines)
        })
        .await?;
        let TakenReply { papers, faults, .. } =
            taken.map_err(|why| Problem::new(ProblemCode::Rejected, why))?;
        if papers.iter().any(|paper| paper.is_new) {
            app.notify_desk(game);
        }
        let papers = papers.iter().map(PaperMade::from).collect();
        Ok(json(StatusCode::OK, &LinesTaken { papers, faults }))
    })
    .await
}
