//! `turnfold key`: creates signing keys and shows their verifier keys.

use std::path::PathBuf;

use serde_json::json;
use turnfold_core::trust::{KeyKind, KeyName, PrivateKey, branch_origin};
use turnfold_history::{Revision, Sources};
use turnfold_proof::signing::KeyFile;

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::{random, signals};

verbs! {
    /// Make signing keys and print their verifier keys
    ///
    /// A key file holds a private key in one line. It is not encrypted: keep it on an encrypted disk, or wrap it with `age -p`. The
    /// folder next to it records what the key has signed, so that it never signs two histories; a copy of the key without that
    /// folder could.
    ///
    /// No backup of a store contains a key. If you lose a key, make another, under another name or in another file, and publish
    /// it where the old one was. A thief can sign with a key, but cannot make two histories consistent.
    #[command(after_help = "Example: turnfold key new ann.key --name games.example/ann")]
    KeyCommand {
        New(NewKeyArgs) => new_key,
        Show(ShowKeyArgs) => show_key,
    }
}

/// Make a key and print its verifier key
///
/// Only its owner can read the file, and it is never overwritten. Give the verifier key to everyone who is to check what
/// the key signs.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  turnfold key new ann.key --name games.example/ann
  turnfold key new w.key --name witness.example/w --witness")]
pub(crate) struct NewKeyArgs {
    /// The file to make
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Name of the key, such as `games.example/ann`; nothing is ever fetched from it
    #[arg(long, value_name = "NAME")]
    name: KeyName,

    /// Make a witness key, which only cosigns
    #[arg(long)]
    witness: bool,
}

fn new_key(args: &NewKeyArgs, context: &mut Context) -> Result<ExitStatus, Failure> {
    // TR-9: a key is made from random bytes of the operating system.
    let seed = random::bytes()?;
    let kind = if args.witness { KeyKind::Witness } else { KeyKind::Signer };
    signals::remove_drafts();
    let key = KeyFile::create(&args.file, PrivateKey::of_seed(args.name.clone(), kind, &seed))?.key;
    let vkey = key.verifier().to_string();
    let file = args.file.display().to_string();
    let made = json!({ "file": file, "name": args.name.as_str(), "witness": args.witness, "vkey": vkey });
    context.output.answer(&made, || vec![vkey.into()])
}

/// Print the verifier key of a key, or the one for a branch
///
/// Put the verifier key of the key into a policy: it stands for every branch that the key signs. Tools that know a single
/// log take the verifier key for its branch.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  turnfold key show ann.key\n  turnfold key show ann.key duel")]
pub(crate) struct ShowKeyArgs {
    /// The key file
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// A branch of a match
    #[arg(value_name = "REV")]
    revision: Option<Revision>,
}

fn show_key(args: &ShowKeyArgs, context: &mut Context) -> Result<ExitStatus, Failure> {
    let file = KeyFile::open(&args.file)?;
    let mut verifier = file.key.verifier();
    if let Some(Revision { match_name, branch, .. }) = &args.revision {
        let store = context.read_store()?;
        store.head(match_name, branch)?;
        let file = file.require(KeyKind::Signer)?;
        let id = store.genesis(match_name)?.match_id;
        // TR-6: the verifier key for a branch.
        verifier = verifier.for_origin(&branch_origin(file.key.name(), &id, branch.as_str()));
    }
    let vkey = verifier.to_string();
    let is_witness = verifier.kind() == KeyKind::Witness;
    let shown = json!({ "name": verifier.name(), "witness": is_witness, "vkey": vkey });
    context.output.answer(&shown, || vec![vkey.into()])
}
