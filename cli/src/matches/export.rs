//! Replay files and pages, near or far.

use std::path::Path;
use std::slice;

use turnfold_core::Digest;
use turnfold_history::tfl::{PageError, Replay, replay_in};
use turnfold_history::{Revision, SourceName, Sources};
use turnfold_proof::bundle::BundledName;
use turnfold_show::Page;
use ureq::http::StatusCode;

use crate::commands::export::Args;
use crate::context::Workspace;
use crate::failure::Failure;
use crate::files::is_standard;
use crate::histories::load_unchecked;
use crate::output::Format;
use crate::remote::client::{Client, ServiceRequest, path_of};
use crate::remote::look::{self, seen_at};
use crate::remote::problem::NotAnswered;

/// A replay file or a page.
pub(crate) struct Exported {
    /// The seat whose knowledge the file is limited to; `None` if it holds everything.
    pub(crate) view: Option<String>,
    pub(crate) entries: u64,
    pub(crate) state_hash: Option<Digest>,
    pub(crate) text: String,
}

impl Workspace {
    /// Returns the revision if its replay file may be long, and is written entry by entry.
    pub(crate) fn long_replay<'a>(
        &self,
        args: &Args,
        source: &'a SourceName,
    ) -> Result<Option<&'a Revision>, Failure> {
        let SourceName::Revision(revision) = source else { return Ok(None) };
        if self.service()?.is_some() || args.html || !args.viewer.sees_all() {
            return Ok(None);
        }
        self.require_exportable(revision)?;
        Ok(Some(revision))
    }

    pub(crate) fn export(&self, args: &Args, source: &SourceName) -> Result<Exported, Failure> {
        if let Some((client, revision)) = self.service_with(source)? {
            return self.export_far(args, client, revision);
        }
        if let SourceName::Revision(revision) = source {
            self.require_exportable(revision)?;
        }
        if args.html {
            let Page { html, view, entries, state_hash } = Page::load(args.viewer, source, self)?;
            let view = view.map(|seat| seat.to_string());
            return Ok(Exported { view, entries, state_hash, text: html });
        }
        if let SourceName::File(file) = source
            && BundledName::of(&file.path).is_none()
        {
            if !is_standard(&file.path) && !file.path.exists() {
                return Err(missing_replay(&file.path));
            }
            return Err(
                Failure::usage(format!("`{file}` is a file already")).hint("`--html` makes a page of it")
            );
        }
        let seat_history = load_unchecked(args.viewer, source, self)?;
        let replay = seat_history.to_replay()?;
        Ok(Exported {
            view: replay.header.view.map(|view| view.perspective.to_string()),
            entries: seat_history.head(),
            state_hash: replay.closing.map(|closing| closing.state),
            text: replay.to_string(),
        })
    }

    fn require_exportable(&self, revision: &Revision) -> Result<(), Failure> {
        self.require_rules("`export`", &self.read_store()?, slice::from_ref(&revision.match_name))
    }

    fn export_far(&self, args: &Args, client: &Client, revision: &Revision) -> Result<Exported, Failure> {
        let text = fetched_text(args, client, revision)?;
        let mut view = None;
        let mut replay = None;
        if args.html {
            match replay_in(&revision.to_string(), text.as_bytes()) {
                Ok(found) => replay = Some(found),
                Err(PageError::NoReplay { viewer, .. }) => view = Some(viewer.to_string()),
                Err(error) => return Err(look::unusable(error)),
            }
        } else {
            for line in text.lines().take_while(|line| *line != "[setup]") {
                if let Some(seat) = line.strip_prefix("view = \"") {
                    view = seat.strip_suffix('"').map(String::from);
                }
            }
            replay = Some(text.clone().into_bytes());
        }
        // This machine may lack the rules of the match; then the file is still written, without a state hash in the
        // output.
        let replay =
            replay.and_then(|bytes| Replay::read_also_seen("replay.tfl", &bytes, &self.registry).ok());
        let state_hash = replay.and_then(|replay| replay.closing).map(|closing| closing.state);
        let mut entries = 0;
        for line in text.lines() {
            let is_entry = if args.html {
                line.starts_with("<li>")
            } else {
                line.starts_with(|first: char| first.is_ascii_digit())
            };
            entries += u64::from(is_entry);
        }
        Ok(Exported { view, entries, state_hash, text })
    }
}

fn fetched_text(args: &Args, client: &Client, revision: &Revision) -> Result<String, Failure> {
    let viewer = Some(args.viewer).filter(|viewer| !viewer.sees_all());
    if args.html {
        let path = path_of(revision, "replay.html");
        let query = seen_at(revision.seq, viewer);
        let media_type = Some("text/html");
        return Ok(client.get(&ServiceRequest { path, query, format: Format::Text, media_type })?.body);
    }
    if viewer.is_some() {
        return Ok(look::seen_replay(client, revision, viewer)?);
    }
    match look::whole_replay(client, revision) {
        // A seat may have the whole file only after the end of the match.
        Err(NotAnswered::ApiError(error)) if error.status == StatusCode::FORBIDDEN => {
            Ok(look::seen_replay(client, revision, None)?)
        }
        whole => Ok(whole?),
    }
}

pub(crate) fn missing_replay(file: &Path) -> Failure {
    let file = file.display();
    Failure::usage(format!("cannot read replay `{file}`: there is no such file"))
        .hint(format!("`-o {file}` writes to it"))
}
