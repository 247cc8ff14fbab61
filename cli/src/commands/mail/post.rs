//! What the host's verbs share: its key, and the letters that wait in the outbox (PM-29).

use std::path::{Path, PathBuf};

use turnfold_replay::input;
use turnfold_replay::mail::{Addresses, MailRoom, Outbox, TakenPaper};
use turnfold_replay::signing::Signers;
use turnfold_store::{MatchName, StoreReader};

use crate::context::Context;
use crate::failure::Failure;
use crate::limits;
use crate::output::Output;

/// The host's key and its folder.
#[derive(Debug, clap::Args)]
pub(super) struct HostArgs {
    /// The host's key, which signs what is sent
    #[arg(long, value_name = "FILE", env = "TURNFOLD_KEY")]
    key: PathBuf,

    /// The folder with the letters that wait to be sent, in `outbox`, and the players' `addresses` [default: the store's]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// The host at work.
pub(super) struct PostRoom {
    pub(super) signers: Signers,
    outbox: Outbox,
    addresses: Addresses,
}

impl HostArgs {
    /// Takes the key, and finds outbox and addresses. A store in a database has no folder for them.
    pub(super) fn post_room(&self, context: &Context) -> Result<PostRoom, Failure> {
        let folder = match &self.out {
            Some(folder) => folder.as_path(),
            None if context.fleet().is_some() => {
                return Err(Failure::usage("a store in a database has no folder for letters")
                    .hint("name one with `--out DIR`"));
            }
            None => context.store_dir()?,
        };
        let addresses = addresses(&folder.join("addresses"))?;
        let signers = Signers::open(std::slice::from_ref(&self.key))?;
        Ok(PostRoom { signers, outbox: Outbox::at(&folder.join("outbox")), addresses })
    }
}

/// Reads where the players get their letters; without the file letters are addressed to nobody.
pub(crate) fn addresses(path: &Path) -> Result<Addresses, Failure> {
    if !path.exists() {
        return Ok(Addresses::default());
    }
    let bytes = input::read_file(path, &limits::MAIL_ADDRESSES)?;
    let unusable = |why: String| Failure::usage(format!("`{}`: {why}", path.display()));
    let text = String::from_utf8(bytes).map_err(|_| unusable("expected UTF-8 text".into()))?;
    text.parse().map_err(|error: turnfold_core::Malformed| unusable(error.to_string()))
}

impl PostRoom {
    /// Writes the answers to the papers of mails, and every report that the desk's log calls for and the outbox does not
    /// have. Returns the names of the letters that were written now.
    pub(super) fn write<'a>(
        &self,
        store: &StoreReader,
        game: &MatchName,
        mails: impl IntoIterator<Item = &'a [TakenPaper]>,
        context: &Context,
    ) -> Result<Vec<String>, Failure> {
        let Self { signers, outbox, addresses } = self;
        let room = MailRoom { store, registry: &context.registry, signers, addresses, outbox, game };
        let mut written = Vec::new();
        for papers in mails {
            written.extend(room.write_answers(papers)?);
        }
        written.extend(room.write_reports()?);
        Ok(written.iter().map(ToString::to_string).collect())
    }
}

/// Prints which letters were written.
pub(super) fn tell(letters: &[String], output: &mut Output) -> Result<(), Failure> {
    for letter in letters {
        output.line(format_args!("letter {letter}"))?;
    }
    Ok(())
}
