//! Notes on a match or on one of its entries, for all viewers or for their author alone (SV-61).

use turnfold_store::{GrantLabel, Note, NoteId, NoteText, NotedEntry};

use super::prelude::*;
use crate::documents::Id;
use crate::reading::AsWhom;

/// A note, as a viewer may know it.
#[derive(Serialize, ToSchema)]
pub(crate) struct NoteJson {
    id: String,
    /// The entry that it is about, in the viewer's numbering; null if it is about the match
    #[schema(required = true)]
    entry: Option<u64>,
    /// The author's seat; null for a spectator, whose notes no one else reads
    #[schema(required = true, value_type = Option<String>)]
    seat: Option<Seat>,
    /// The author's name at that time
    #[schema(required = true, value_type = Option<String>)]
    name: Option<GrantLabel>,
    /// Whether only its author reads it
    private: bool,
    /// Whether it was written with the token of this request
    own: bool,
    #[schema(value_type = String)]
    text: NoteText,
    written_at_ms: i64,
}

/// A note to write.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewNote {
    /// 1 to 500 characters, at least one of them visible, without controls but line feeds
    #[schema(min_length = 1, max_length = 500, example = "a strong move")]
    text: String,
    /// Whether only its author reads it, as is always so for spectators
    private: bool,
}

/// What a note is about.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct About {
    /// The entry, in the viewer's numbering [default: the match]
    #[param(minimum = 1)]
    entry: Option<u64>,
    /// The seat to view as; only for the host
    #[serde(rename = "as")]
    #[param(value_type = Option<String>, rename = "as", pattern = "^(p([1-9]|1[0-6])|host|spectator)$")]
    seat: Option<SeatName>,
}

struct Author {
    token: Digest,
    seat: Option<Seat>,
}

impl Author {
    fn of(access: &Access) -> Self {
        let seat = match access.grant().map(|grant| grant.kind) {
            None | Some(GrantKind::Host) => Some(Seat::Host),
            Some(kind) => kind.played(),
        };
        Self { token: access.token, seat }
    }

    fn has_written(&self, note: &Note) -> bool {
        match note.token {
            Some(token) => token == self.token,
            // A note from a backup has no token and belongs to the current holder of the seat.
            None => note.by.is_some() && note.by == self.seat,
        }
    }

    fn may_read(&self, note: &Note) -> bool {
        !note.is_private || self.has_written(note)
    }

    fn json(&self, note: Note, entry: Option<u64>) -> NoteJson {
        NoteJson {
            own: self.has_written(&note),
            id: note.id.to_string(),
            entry,
            seat: note.by,
            name: note.name,
            private: note.is_private,
            text: note.text,
            written_at_ms: note.written_at_ms,
        }
    }
}

fn notes_for(app: &App, branch: &OpenBranch, viewer: Viewer, author: &Author) -> ApiResult<Vec<NoteJson>> {
    let match_name = &branch.revision.match_name;
    let mut notes = app.store.notes_of(match_name)?;
    notes.retain(|note| author.may_read(note));
    let lineage =
        if notes.iter().any(|note| note.about.is_some()) { lineage(app, branch)? } else { Vec::new() };
    let mut shown = Vec::new();
    for note in notes {
        let Some(about) = &note.about else {
            shown.push(author.json(note, None));
            continue;
        };
        let is_here = lineage.iter().any(|(name, last)| *name == about.branch && about.seq <= *last);
        // A note on an entry is shown to viewers who may know of the entry, with their number of it.
        if is_here && let Some(entry) = seen_as(app, branch, viewer, about.seq)? {
            shown.push(author.json(note, Some(entry)));
        }
    }
    Ok(shown)
}

/// Returns the entry in the viewer's numbering; `None` if the viewer may not know of it.
fn seen_as(app: &App, branch: &OpenBranch, viewer: Viewer, seq: u64) -> ApiResult<Option<u64>> {
    if viewer.sees_all() {
        return Ok(Some(seq));
    }
    let seen = branch.seen_by(app, viewer).entries()?;
    let entry = seen.known_within(seq);
    Ok((entry > 0 && seen.in_log(entry) == seq).then_some(entry))
}

/// Returns a branch and its ancestors, each with its last entry that the branch has.
fn lineage(app: &App, branch: &OpenBranch) -> ApiResult<Vec<(BranchName, u64)>> {
    let branches = app.store.branches(&branch.revision.match_name)?;
    let mut name = branch.revision.branch.clone();
    let mut last = u64::MAX;
    let mut lineage = Vec::new();
    // A branch begins on an older one, so this ends; the limit is for a damaged store.
    while lineage.len() <= branches.len() {
        lineage.push((name.clone(), last));
        let Some(info) = branches.iter().find(|info| info.name == name) else { break };
        let Some((parent, at)) = &info.parent else { break };
        name.clone_from(parent);
        last = last.min(*at);
    }
    Ok(lineage)
}

/// List the notes on a match and on the entries of a branch
#[utoipa::path(operation_id = "list_notes", get, path = "/v1/matches/{match}/branches/{branch}/notes", tag = "notes",
    params(("match" = inline(Name), Path), ("branch" = inline(Name), Path), AsWhom),
    responses((status = 200, description = "the notes that the token's holder may read, as they were written", body = documents::NoteList), Looked))]
pub(crate) async fn list(
    RequestTo { app, bearer, path, .. }: RequestTo<BranchPath>,
    JsonQuery(AsWhom { seat }): JsonQuery<AsWhom>,
) -> ApiResult {
    app.read(&bearer, path, seat, Reach::Entry, move |app, access, BranchView { branch, viewer }| {
        let author = Author::of(access);
        let items = notes_for(app, branch, *viewer, &author)?;
        Ok(json(StatusCode::OK, &List { items, next: None::<String> }))
    })
    .await
}

/// Write a note on a match, or on an entry of a branch
#[utoipa::path(operation_id = "write_note", post, path = "/v1/matches/{match}/branches/{branch}/notes", tag = "notes",
    params(("match" = inline(Name), Path), ("branch" = inline(Name), Path), About), request_body = NewNote,
    responses((status = 201, description = "the note is written", headers(("Location" = String)), body = NoteJson), Changed))]
pub(crate) async fn write(
    RequestTo { app, bearer, path, .. }: RequestTo<BranchPath>,
    JsonQuery(About { entry, seat }): JsonQuery<About>,
    request: Request,
) -> ApiResult {
    let (access, _) = app.admit_to(&bearer, &path.match_name).await?;
    let new = json_body::<NewNote>(request).await?;
    app.read_for(access, path, seat, Reach::Entry, move |app, access, BranchView { branch, viewer }| {
        let author = Author::of(access);
        if !new.private && author.seat.is_none() {
            return Err(Problem::forbidden("a spectator's notes are for the spectator alone"));
        }
        let Ok(text) = new.text.parse::<NoteText>() else {
            return Err(Problem::content(
                "expected `text` to have 1 to 500 characters, at least one of them visible, without controls but line feeds",
            ));
        };
        let mut about = None;
        if let Some(entry) = entry {
            let seen = branch.seen_by(app, *viewer).entries()?;
            let head = seen.head();
            if entry == 0 || entry > head {
                let detail = format!("there is no entry {entry}; the last one is {head}");
                return Err(Problem::new(ProblemCode::NoEntry, detail));
            }
            about = Some(NotedEntry { branch: branch.revision.branch.clone(), seq: seen.in_log(entry) });
        }
        let match_name = &branch.revision.match_name;
        let now_ms = app.now_ms();
        let name = match author.seat {
            Some(seat) => app.store.names_of(match_name, now_ms)?.remove(&seat),
            None => None,
        };
        let note = Note {
            id: NoteId::of(u64::from_le_bytes(app.random()?)),
            about,
            by: author.seat,
            name,
            token: Some(author.token),
            is_private: new.private,
            text,
            written_at_ms: now_ms,
        };
        app.store.write_note(match_name, note.clone())?;
        let path = format!("/v1/matches/{match_name}/notes/{}", note.id);
        Ok(created(&author.json(note, entry), &path))
    })
    .await
}

/// Remove a note: one's own or, as the host, any note that everyone can read
#[utoipa::path(operation_id = "remove_note", delete, path = "/v1/matches/{match}/notes/{id}", tag = "notes",
    params(("match" = inline(Name), Path), ("id" = inline(Id), Path)),
    responses((status = 204, description = "the note is gone"), Deleted))]
pub(crate) async fn remove(
    RequestTo { app, bearer, path: (match_name, id), .. }: RequestTo<(String, String)>,
    _: ValidQuery<NoParameters>,
) -> ApiResult {
    app.serve(bearer, move |app, access| {
        let match_name: MatchName = name(&match_name)?;
        let viewer = access.looks(&match_name, None)?;
        let id: NoteId = name(&id)?;
        let author = Author::of(access);
        let notes = app.store.notes_of(&match_name)?;
        // A note that the caller may not know of is reported as missing.
        let Some(note) = notes.iter().find(|note| note.id == id && author.may_read(note)) else {
            return Err(StoreError::NoSuchNote { id }.into());
        };
        let is_own = author.has_written(note);
        if !is_own && !is_known(app, &match_name, note, viewer) {
            return Err(StoreError::NoSuchNote { id }.into());
        }
        if !is_own && !access.is_host() {
            return Err(Problem::forbidden("only its author and the host can remove a note"));
        }
        app.store.remove_note(&match_name, id)?;
        Ok(StatusCode::NO_CONTENT.into_response())
    })
    .await
}

fn is_known(app: &Arc<App>, match_name: &MatchName, note: &Note, viewer: Viewer) -> bool {
    let Some(about) = &note.about else { return true };
    let Ok(branch) = app.branch(match_name, &about.branch) else { return false };
    matches!(seen_as(app, &branch, viewer, about.seq), Ok(Some(_)))
}
