//! `turnfold mail`: hosts and plays matches by mail. The verbs of a host share the host's key, and the letters in the
//! outbox (PM-29).

mod host;
mod run;
mod take;
mod write;

use std::path::PathBuf;

use turnfold_core::Registry;
use turnfold_mail::{Addresses, MailRoom, Outbox, PostFolder, TakenMail};
use turnfold_proof::signing::Signers;
use turnfold_store::{MatchName, StoreReader};

use crate::context::Workspace;
use crate::failure::{Failure, Result};
use crate::output::Line;
use crate::program;

verbs! {
    /// Host and play matches by mail: papers, deadlines and letters
    ///
    /// A match by mail consists of a game and its desk, a match NAME.desk with the players' signed papers, the host's clock and
    /// all decisions. turnfold sends and receives no mail: the host saves mails as files, `mail take` records their papers, `mail
    /// run` executes a turn that is ready, and letters to the players wait in the outbox. A player saves the bundle attached to
    /// a letter, and `mail write` makes a paper from it to send back.
    #[command(after_help = "Example: turnfold mail run duel --key ann.key")]
    MailCommand {
        Open(host::OpenArgs) => host::open,
        Take(take::Args) => take::run,
        Run(run::Args) => run::run,
        Status(run::StatusArgs) => run::status,
        Replace(host::ReplaceArgs) => host::replace,
        Recover(host::RecoverArgs) => host::recover,
        Broadcast(host::BroadcastArgs) => host::broadcast,
        Write(write::Args) => write::run,
    }
}

/// The host's key and its folder.
#[derive(Clone, Debug, clap::Args)]
struct HostArgs {
    /// The host's key, which signs what is sent
    #[arg(long, value_name = "FILE", env = "TURNFOLD_KEY")]
    key: PathBuf,

    /// The folder with `outbox` for letters and the players' `addresses`; with several matches, each but the first has its
    /// own folder in `mail` [default: the store's]
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

struct PostRoom {
    signers: Signers,
    folder: PathBuf,
}

impl HostArgs {
    fn post_room(&self, workspace: &Workspace) -> Result<PostRoom> {
        let folder = match &self.output {
            Some(folder) => folder.as_path(),
            None if workspace.fleet().is_some() => {
                return Err(Failure::usage("a store in a database has no folder for letters")
                    .hint("name one with `--output DIR`"));
            }
            None => workspace.store_dir()?,
        };
        Ok(PostRoom { signers: Signers::open(std::slice::from_ref(&self.key))?, folder: folder.into() })
    }
}

impl PostRoom {
    /// Opens the post of a match. Errors in its addresses are reported before anything is recorded.
    fn of<'a>(
        &'a self,
        store: &'a StoreReader,
        game: &'a MatchName,
        registry: &'a Registry,
    ) -> Result<Post<'a>> {
        let folder = PostFolder::of(&self.folder, store, game)?;
        let addresses = folder.addresses()?;
        let outbox = folder.outbox();
        Ok(Post { store, registry, signers: &self.signers, game, folder, outbox, addresses, pages: None })
    }
}

struct Post<'a> {
    store: &'a StoreReader,
    registry: &'a Registry,
    signers: &'a Signers,
    game: &'a MatchName,
    folder: PostFolder,
    outbox: Outbox,
    addresses: Addresses,
    /// The public address of the service whose pages the letters link to.
    pages: Option<&'a str>,
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
            pages: *pages,
            program: program::name(),
        }
    }

    /// Writes the answers to mails, and every report that the desk requires and the outbox lacks. Returns the names of
    /// the new letters.
    fn write(&self, mails: &[&TakenMail]) -> Result<Vec<String>> {
        let room = self.room();
        let mut written = Vec::new();
        for taken in mails {
            written.extend(room.answer_taken(taken)?);
        }
        written.extend(room.write_reports()?);
        Ok(self.shown(&written))
    }

    /// Returns the names of letters, with the folder if the match has its own.
    fn shown(&self, letters: &[impl ToString]) -> Vec<String> {
        let outbox = self.folder.path().join("outbox");
        let mut shown = Vec::new();
        for letter in letters {
            let name = letter.to_string();
            let is_within = self.folder.is_within();
            shown.push(if is_within { outbox.join(name).display().to_string() } else { name });
        }
        shown
    }
}

fn letter_lines(letters: &[String]) -> impl Iterator<Item = Line> {
    letters.iter().map(|letter| Line::from(format!("letter {letter}")))
}
