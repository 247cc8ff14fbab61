//! What the host's verbs share: the host's key, and the letters in the outbox (PM-29).

use std::path::{Path, PathBuf};

use turnfold_core::Seat;
use turnfold_core::paper::DeskTime;
use turnfold_mail::{
    Addresses, DeskHistory, LetterName, MailAddress, MailError, MailHost, MailRoom, PostFolder, SendReport,
    TakenMail, UnsentLetter, addresses_in, give_to_command, why_not_given,
};
use turnfold_proof::signing::Signers;
use turnfold_store::{MatchName, StoreReader};

use crate::context::Context;
use crate::failure::Failure;
use crate::output::Line;
use crate::signals;

/// The host's key and its folder.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct HostArgs {
    /// The host's key, which signs what is sent
    #[arg(long, value_name = "FILE", env = "TURNFOLD_KEY")]
    key: PathBuf,

    /// The folder with `outbox` for letters and the players' `addresses`; with several matches, each but the first has its
    /// own folder in `mail` [default: the store's]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// The host's key with the folder for letters.
pub(super) struct PostRoom {
    pub(super) signers: Signers,
    folder: PathBuf,
}

pub(super) struct Post<'a> {
    room: &'a PostRoom,
    game: &'a MatchName,
    folder: PostFolder,
    addresses: Addresses,
    /// The public address of the service whose pages the letters link to.
    pages: Option<String>,
}

impl HostArgs {
    /// Opens the key and finds the folder for letters. A store in a database has none, so `--output` is required.
    pub(super) fn post_room(&self, context: &Context) -> Result<PostRoom, Failure> {
        let folder = match &self.output {
            Some(folder) => folder.as_path(),
            None if context.fleet().is_some() => {
                return Err(Failure::usage("a store in a database has no folder for letters")
                    .hint("name one with `--output DIR`"));
            }
            None => context.store_dir()?,
        };
        Ok(PostRoom { signers: Signers::open(std::slice::from_ref(&self.key))?, folder: folder.into() })
    }
}

impl PostRoom {
    /// Returns the folder for the letters of all matches.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Requires that the addresses in the folder for all post are readable, before a first match is created there.
    pub(super) fn require_readable_addresses(&self) -> Result<(), Failure> {
        addresses_in(&self.folder)?;
        Ok(())
    }

    /// Opens the post of a new match and adds addresses to it. `pages` is the public address of the service.
    pub(super) fn with_addresses<'a>(
        &'a self,
        store: &StoreReader,
        game: &'a MatchName,
        added: &Addresses,
        pages: Option<String>,
    ) -> Result<Post<'a>, Failure> {
        let folder = PostFolder::of(&self.folder, store, game)?;
        folder.add_addresses(added)?;
        Ok(Post { room: self, game, addresses: folder.addresses()?, folder, pages })
    }

    /// Opens the post of a match. Errors in its addresses are reported before anything is recorded.
    pub(super) fn of<'a>(&'a self, store: &StoreReader, game: &'a MatchName) -> Result<Post<'a>, Failure> {
        let folder = PostFolder::of(&self.folder, store, game)?;
        Ok(Post { room: self, game, addresses: folder.addresses()?, folder, pages: None })
    }
}

impl Post<'_> {
    /// Returns the folder of the match, if it has its own.
    pub(super) fn own_folder(&self) -> Option<&Path> {
        self.folder.is_within().then_some(self.folder.path())
    }

    /// Stores the address of the newest player of a seat.
    pub(super) fn give_address(
        &mut self,
        seat: Seat,
        desk: &DeskHistory,
        address: MailAddress,
    ) -> Result<(), Failure> {
        self.folder.give_address(seat, desk, address)?;
        self.addresses = self.folder.addresses()?;
        Ok(())
    }

    /// Writes the answers to mails, and every report that the desk requires and the outbox lacks. Returns the names of
    /// the new letters, with their folder if the match has its own.
    pub(super) fn write<'a>(
        &self,
        store: &StoreReader,
        mails: impl IntoIterator<Item = &'a TakenMail>,
        context: &Context,
    ) -> Result<Vec<String>, Failure> {
        self.write_with(store, context, |room| {
            mails.into_iter().try_fold(Vec::new(), |mut written, taken| {
                written.extend(room.answer_taken(taken)?);
                Ok(written)
            })
        })
    }

    /// Writes every letter that the desk requires and the outbox lacks (PM-34). Returns names as [`write`](Self::write)
    /// does.
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the method itself is of one lifetime only"
    )]
    pub(super) fn write_missing(
        &self,
        store: &StoreReader,
        context: &Context,
    ) -> Result<Vec<String>, Failure> {
        self.write_with(store, context, |room| room.write_missing_answers())
    }

    /// Returns `true` if a letter of this turn is still unsent (PM-101).
    pub(super) fn has_unsent_turn(&self, store: &StoreReader, context: &Context) -> Result<bool, Failure> {
        self.with_room(store, context, |room| Ok(!room.unsent_turn()?.is_empty()))
    }

    /// Passes the unsent letters to a command (PM-36). Letters are named as in [`write`](Self::write).
    pub(super) fn send(
        &self,
        command: &str,
        host: &mut MailHost<'_>,
        at: DeskTime,
        store: &StoreReader,
        context: &Context,
    ) -> Result<SendReport, Failure> {
        let mut give = |letter: &UnsentLetter| {
            let status = give_to_command(command, letter)?;
            signals::wait_with(status);
            Ok(why_not_given(command, status))
        };
        let mut report = self.with_room(store, context, |room| room.send(host, at, &mut give))?;
        let not_sent = report.not_sent.iter_mut().map(|(letter, _)| letter);
        for letter in not_sent.chain(&mut report.sent).chain(&mut report.written) {
            *letter = self.shown(letter);
        }
        Ok(report)
    }

    /// Writes a text by the host to every player. Returns names as [`write`](Self::write) does.
    pub(super) fn broadcast(
        &self,
        words: &str,
        at: DeskTime,
        store: &StoreReader,
        context: &Context,
    ) -> Result<Vec<String>, Failure> {
        let written = self.with_room(store, context, |room| room.broadcast(words, at))?;
        Ok(written.iter().map(|name| self.shown(&name.to_string())).collect())
    }

    pub(super) fn with_room<T>(
        &self,
        store: &StoreReader,
        context: &Context,
        work: impl FnOnce(&MailRoom<'_>) -> Result<T, MailError>,
    ) -> Result<T, Failure> {
        let Self { room: PostRoom { signers, .. }, game, folder, addresses, pages } = self;
        let outbox = &folder.outbox();
        let registry = &context.registry;
        let room = MailRoom { store, registry, signers, addresses, outbox, game, pages: pages.as_deref() };
        Ok(work(&room)?)
    }

    fn write_with(
        &self,
        store: &StoreReader,
        context: &Context,
        answer: impl FnOnce(&MailRoom<'_>) -> Result<Vec<LetterName>, MailError>,
    ) -> Result<Vec<String>, Failure> {
        let written = self.with_room(store, context, |room| {
            let mut written = answer(room)?;
            written.extend(room.write_reports()?);
            Ok(written)
        })?;
        Ok(written.iter().map(|name| self.shown(&name.to_string())).collect())
    }

    /// Returns the name of a letter, with its folder if the match has its own.
    fn shown(&self, letter: &str) -> String {
        match self.own_folder() {
            Some(folder) => folder.join("outbox").join(letter).display().to_string(),
            None => letter.into(),
        }
    }
}

/// Returns a line for each new letter.
pub(super) fn letter_lines(letters: &[String]) -> impl Iterator<Item = Line> {
    letters.iter().map(|letter| Line::from(format!("letter {letter}")))
}
