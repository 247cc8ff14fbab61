//! Papers of matches by mail, taken over HTTP (PM-31a).

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use tokio::time::Instant;
use turnfold_core::paper::{PaperContent, SignedPaper};
use turnfold_core::{Digest, Malformed, Seat};
use turnfold_mail::{MailedPaper, PaperOutcome, TakenPaper, seat_bundle};
use turnfold_store::MatchName;
use utoipa::ToSchema;

use super::seat_pages::{require_hosted, seat_of};
use super::statuses::{Name, PaperProblems};
use crate::app::{App, to_end};
use crate::auth::Bearer;
use crate::desks::desk_problem;
use crate::documents;
use crate::hosting::at_desk;
use crate::http::{AnswerForm, BYTES, NoParameters, ValidQuery, body, has_type, json, name, one_line, text};
use crate::limits::{FoldsOf, PAPER_BYTES_MAX};
use crate::problem::{ApiResult, Problem, ProblemCode};

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
        (PaperTaken = "application/json"), (String = "text/plain"))), PaperProblems))]
pub(crate) async fn take(
    State(app): State<Arc<App>>,
    bearer: Bearer,
    Path(match_name): Path<String>,
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
        let answered = perform(&app, game, (paper, admitted, page), form).await;
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
    (paper, admitted, page): (SignedPaper, Vec<Seat>, Option<Digest>),
    form: AnswerForm,
) -> ApiResult {
    let permit = app.limits.folds.wait(FoldsOf::Papers(game.clone()), Some(&game)).await?;
    let signed = paper.clone();
    let of = game.clone();
    let (taken, receipt) = at_desk(app, &game, move |app, host| {
        host.page = page;
        let taken = host.take_paper(signed.clone(), &admitted)?;
        let receipt = taken.seq.map(|seq| receipt(app, &of, &host.mail_match().desk_branch(), &taken, seq));
        Ok((taken, receipt))
    })
    .await?;
    drop(permit);
    if taken.is_new
        && let Some(desks) = &app.desks
    {
        desks.notify(game);
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
