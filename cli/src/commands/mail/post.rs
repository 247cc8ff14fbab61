//! What the host's verbs share: the host's key, and the letters in the outbox (PM-29).

use std::path::{Path, PathBuf};

use turnfold_core::paper::DeskTime;
use turnfold_core::{Registry, Seat};
use turnfold_mail::{
    Addresses, DeskHistory, MailAddress, MailHost, MailRoom, Outbox, PostFolder, SendReport, TakenMail,
    give_to_command, why_not_given,
};
use turnfold_proof::signing::Signers;
use turnfold_store::{MatchName, StoreReader};

use crate::context::Context;
use crate::failure::Failure;
use crate::output::Line;
use crate::program;
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

pub(super) struct PostRoom {
    pub(super) signers: Signers,
    pub(super) folder: PathBuf,
}

impl HostArgs {
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
    /// Opens the post of a match. Errors in its addresses are reported before anything is recorded.
    pub(super) fn of<'a>(
        &'a self,
        store: &'a StoreReader,
        game: &'a MatchName,
        context: &Context,
    ) -> Result<Post<'a>, Failure> {
        let folder = PostFolder::of(&self.folder, store, game)?;
        Ok(Post {
            store,
            registry: context.registry.clone(),
            signers: &self.signers,
            game,
            addresses: folder.addresses()?,
            outbox: folder.outbox(),
            folder,
            pages: None,
        })
    }
}

/// The letters of a match. Their names are shown with the folder, if the match has its own.
pub(super) struct Post<'a> {
    store: &'a StoreReader,
    registry: Registry,
    signers: &'a Signers,
    game: &'a MatchName,
    folder: PostFolder,
    outbox: Outbox,
    addresses: Addresses,
    /// The public address of the service whose pages the letters link to.
    pub(super) pages: Option<String>,
}

impl Post<'_> {
    fn room(&self) -> MailRoom<'_> {
        let Self { store, registry, signers, game, outbox, addresses, pages, .. } = self;
        MailRoom {
            store,
            registry,
            signers,
            addresses,
            outbox,
            game,
            pages: pages.as_deref(),
            program: program::name(),
        }
    }

    pub(super) fn own_folder(&self) -> Option<&Path> {
        if self.folder.is_within() { Some(self.folder.path()) } else { None }
    }

    pub(super) fn add_addresses(&mut self, added: &Addresses) -> Result<(), Failure> {
        self.folder.add_addresses(added)?;
        self.addresses = self.folder.addresses()?;
        Ok(())
    }

    pub(super) fn give(
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
    /// the new letters.
    pub(super) fn write(&self, mails: &[&TakenMail]) -> Result<Vec<String>, Failure> {
        let room = self.room();
        let mut written = Vec::new();
        for taken in mails {
            written.extend(room.answer_taken(taken)?);
        }
        written.extend(room.write_reports()?);
        Ok(self.shown(&written))
    }

    /// Writes every letter that the desk requires and the outbox lacks (PM-34).
    pub(super) fn write_missing(&self) -> Result<Vec<String>, Failure> {
        let room = self.room();
        let mut written = room.write_missing_answers()?;
        written.extend(room.write_reports()?);
        Ok(self.shown(&written))
    }

    /// Returns `true` if a letter of this turn is still unsent (PM-101).
    pub(super) fn has_unsent_turn(&self) -> Result<bool, Failure> {
        Ok(!self.room().unsent_turn()?.is_empty())
    }

    /// Passes the unsent letters to a command (PM-36).
    pub(super) fn send(
        &self,
        command: &str,
        host: &mut MailHost<'_>,
        at: DeskTime,
    ) -> Result<SendReport, Failure> {
        let mut report = self.room().send(host, at, &mut |letter| {
            let status = give_to_command(command, letter)?;
            signals::wait_with(status);
            Ok(why_not_given(command, status))
        })?;
        report.sent = self.shown(&report.sent);
        report.written = self.shown(&report.written);
        for (letter, _) in &mut report.not_sent {
            *letter = self.shown_name(letter);
        }
        Ok(report)
    }

    pub(super) fn broadcast(&self, words: &str, at: DeskTime) -> Result<Vec<String>, Failure> {
        Ok(self.shown(&self.room().broadcast(words, at)?))
    }

    fn shown(&self, letters: &[impl ToString]) -> Vec<String> {
        letters.iter().map(|letter| self.shown_name(&letter.to_string())).collect()
    }

    fn shown_name(&self, letter: &str) -> String {
        match self.own_folder() {
            Some(folder) => folder.join("outbox").join(letter).display().to_string(),
            None => letter.into(),
        }
    }
}

pub(super) fn letter_lines(letters: &[String]) -> impl Iterator<Item = Line> {
    letters.iter().map(|letter| Line::from(format!("letter {letter}")))
}
