//! `turnfold key new`: a key made of the operating system's chance (TR-9).

use std::path::PathBuf;

use turnfold_core::trust::{KeyKind, KeyName, PrivateKey};
use turnfold_replay::signing::KeyFile;

use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
use crate::{random, signals};

/// Make a key and print its verifier key
///
/// Only its owner can read the file, and it is never overwritten. Give the verifier key to everyone who is to check what
/// the key signs.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  turnfold key new ann.key --name games.example/ann
  turnfold key new w.key --name witness.example/w --witness")]
pub(crate) struct Args {
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

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    let mut seed = [0; 32];
    random::fill(&mut seed)?;
    let kind = if args.witness { KeyKind::Witness } else { KeyKind::Signer };
    signals::remove_drafts();
    let key = KeyFile::create(&args.file, PrivateKey::of_seed(args.name.clone(), kind, &seed))?.key;
    let vkey = key.verifier().to_string();
    let made = serde_json::json!({
        "file": args.file.display().to_string(),
        "name": args.name.as_str(),
        "witness": args.witness,
        "vkey": vkey,
    });
    context.output.show(&made, || vec![vkey.into()])?;
    Ok(ExitStatus::Yes)
}
