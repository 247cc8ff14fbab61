//! `turnfold key` creates signing keys and shows their verifier keys. `turnfold checkpoint` signs statements of which
//! entries a branch has, proves and cosigns them (TR-11 to TR-16).

use std::path::PathBuf;

use serde_json::json;
use turnfold_core::trust::{
    ConsistencyRequest, KeyKind, KeyName, PrivateKey, SignatureLine, VerifierKey, branch_origin,
};
use turnfold_history::{EntryName, Revision, SourceName, Sources};
use turnfold_proof::NOTE_LIMITS as NOTE;
use turnfold_proof::bundle::{StoreRecords, write_checkpoints};
use turnfold_proof::signing::{
    GivenCosignature, KeyFile, SignedBranch, Signers, cosign, prove, sign_branches,
};

use super::audit::read_policy;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure, Result};
use crate::files::{self, NewFile};
use crate::output::counted;
use crate::{clock, random, signals};

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

fn new_key(args: &NewKeyArgs, context: &mut Context) -> Result<ExitStatus> {
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

fn show_key(args: &ShowKeyArgs, context: &mut Context) -> Result<ExitStatus> {
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

verbs! {
    /// Sign which entries a branch has, prove one, cosign as a witness
    #[command(after_help = "Example: turnfold checkpoint sign duel --key ann.key -o duel.checkpoint")]
    CheckpointCommand {
        Sign(SignArgs) => sign_all,
        Prove(ProveArgs) => prove_entry,
        Cosign(CosignArgs) => cosign_request,
    }
}

/// Sign which entries a branch has
///
/// A checkpoint commits to every record of a branch up to its head, or to an entry. Anyone who keeps it can detect later that
/// the branch was cut, changed or replaced. Without REV, every branch of every match is signed, into one bundle that holds
/// nothing else; so are several branches.
///
/// The folder FILE.seen next to the key records what the key has signed. If the branch is shorter than or differs from what was
/// signed, for example after a restore from an older backup, `checkpoint sign` refuses and exits with 1. There is no override. Import a
/// newer bundle, or start over with a new key name.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  turnfold checkpoint sign duel --key ann.key -o duel.checkpoint
  turnfold checkpoint sign duel --key ann.key --since 5 -o duel.request
  turnfold checkpoint sign duel --key ann.key --add cosignatures --policy policy
  turnfold checkpoint sign --key ann.key -o all.bundle")]
pub(crate) struct SignArgs {
    /// The branches, up to their heads or to an entry [default: all]
    #[arg(value_name = "REV")]
    revisions: Vec<Revision>,

    /// The key, or several of one name that sign together
    #[arg(long, value_name = "FILE", env = "TURNFOLD_KEY", required = true)]
    key: Vec<PathBuf>,

    /// Also write the proof that the branch continues its first SIZE records, as a witness requires
    #[arg(long, value_name = "SIZE", conflicts_with = "add")]
    since: Option<u64>,

    /// Add the cosignatures in a file to the checkpoint that each is for, instead of signing a new one
    #[arg(long, value_name = "FILE", requires = "policy")]
    add: Vec<PathBuf>,

    /// With `--add`: the policy file that lists the witnesses, by whose keys the cosignatures are verified
    #[arg(long, value_name = "FILE", requires = "add")]
    policy: Option<PathBuf>,

    #[command(flatten)]
    output: NewFile,
}

fn sign_all(args: &SignArgs, context: &mut Context) -> Result<ExitStatus> {
    args.output.path()?;
    if args.revisions.len() != 1 && (args.since.is_some() || !args.add.is_empty()) {
        return Err(Failure::usage("`--since` and `--add` are for one branch").hint("name it"));
    }
    let cosignatures = read_cosignatures(&args.add)?;
    let policy = match &args.policy {
        Some(path) => Some(read_policy(path)?),
        None => None,
    };
    let store = context.read_store()?;
    let signers = Signers::open(&args.key)?;
    let signed = if args.revisions.is_empty() {
        sign_branches(&StoreRecords::of_all(&store)?, &signers)?
    } else if let (Some(policy), [branch]) = (&policy, args.revisions.as_slice()) {
        signers.add(&store, branch, &cosignatures, policy)?
    } else {
        let mut signed = Vec::new();
        for branch in &args.revisions {
            signed.push(signers.sign(&store, branch, args.since)?);
        }
        signed
    };
    let text = match signed.as_slice() {
        [SignedBranch { request: Some(request), .. }] => request.to_string(),
        [one] if !args.revisions.is_empty() => one.note.to_string(),
        many => {
            let mut bundle = Vec::new();
            write_checkpoints(&mut bundle, many.iter().map(|signed| signed.note.clone()).collect())?;
            String::from_utf8_lossy(&bundle).into_owned()
        }
    };
    let file = args.output.write(&text)?;
    let mut checkpoints = Vec::new();
    for SignedBranch { revision, checkpoint, note, request } in &signed {
        checkpoints.push(json!({
            "match": revision.match_name, "branch": revision.branch,
            "seq": checkpoint.size.saturating_sub(1), "size": checkpoint.size, "origin": checkpoint.origin,
            "root": checkpoint.root.to_string(), "note": note.to_string(),
            "request": request.as_ref().map(ToString::to_string),
        }));
    }
    let document = json!({ "file": file, "checkpoints": checkpoints });
    context.output.answer_with_text(&document, &text, file.as_deref(), |file| match signed.as_slice() {
        [SignedBranch { revision, checkpoint, .. }] => {
            let size = counted(checkpoint.size, "record", "records");
            format!("signed {revision} to `{file}`: {size}").into()
        }
        branches => {
            format!("signed {} to `{file}`", counted(branches.len() as u64, "branch", "branches")).into()
        }
    })?;
    Ok(ExitStatus::Yes)
}

fn read_cosignatures(paths: &[PathBuf]) -> Result<Vec<SignatureLine>> {
    let mut lines = Vec::new();
    for path in paths {
        let bytes = files::read_input_or_stdin(path, &NOTE)?;
        for line in String::from_utf8_lossy(&bytes).lines() {
            match line.parse::<SignatureLine>() {
                Ok(line) if line.cosignature().is_some() => lines.push(line),
                _ => {
                    let message = format!("`{}` holds a line that is not a cosignature", path.display());
                    return Err(Failure::usage(message)
                        .hint("`turnfold checkpoint cosign` and other witnesses print such lines"));
                }
            }
        }
        if lines.is_empty() {
            return Err(Failure::usage(format!("`{}` holds no cosignature", path.display())));
        }
    }
    Ok(lines)
}

/// Prove that a signed branch has an entry
///
/// The proof holds the entry itself, the last signed checkpoint, and the hashes between them. Anyone with the verifier key can
/// check it without the match, and learns nothing about the other entries. Entry 0 is the setup. The file is a C2SP
/// `.tlog-proof`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold checkpoint prove duel:3 --key ann.key -o duel-3.tlog-proof")]
pub(crate) struct ProveArgs {
    /// The entry
    #[arg(value_name = "REV:SEQ")]
    entry: EntryName,

    /// The key that signed the branch
    #[arg(long, value_name = "FILE", env = "TURNFOLD_KEY")]
    key: PathBuf,

    #[command(flatten)]
    output: NewFile,
}

fn prove_entry(args: &ProveArgs, context: &mut Context) -> Result<ExitStatus> {
    args.output.path()?;
    let SourceName::Revision(revision) = &args.entry.source else {
        return Err(Failure::usage("a replay file has no records that could be proven").hint("name a match"));
    };
    let key = KeyFile::open(&args.key)?.require(KeyKind::Signer)?;
    let proof = prove(&context.read_store()?, revision, args.entry.seq, &key)?;
    let text = proof.to_string();
    let file = args.output.write(&text)?;
    let size = proof.checkpoint().map_err(Failure::internal)?.size;
    let proved = json!({
        "match": revision.match_name, "branch": revision.branch, "seq": args.entry.seq, "size": size,
        "file": file, "proof": text,
    });
    context.output.answer_with_text(&proved, &text, file.as_deref(), |file| {
        format!("proved {revision}:{} to `{file}`", args.entry.seq).into()
    })?;
    Ok(ExitStatus::Yes)
}

/// Cosign a checkpoint as a witness
///
/// REQUEST is the output of `turnfold checkpoint sign --since`: a checkpoint and the proof that it continues what this witness cosigned
/// before. The folder next to the witness's key remembers that, so the witness cosigns only one history of each branch, and
/// two players who use the same witness cannot be shown different ones. The witness sees only hashes, neither entries nor
/// names. Pass the printed line to `turnfold checkpoint sign --add`. Exits with 1 if the witness refuses.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example: turnfold checkpoint cosign duel.request --key w.key --log games.example/ann+f74b7821+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4"
)]
pub(crate) struct CosignArgs {
    /// The request; `-` is standard input
    #[arg(value_name = "REQUEST")]
    request: PathBuf,

    /// The witness's key
    #[arg(long, value_name = "FILE", env = "TURNFOLD_KEY")]
    key: PathBuf,

    /// The verifier key of the signer of the checkpoint
    #[arg(long, value_name = "VKEY")]
    log: VerifierKey,
}

fn cosign_request(args: &CosignArgs, context: &mut Context) -> Result<ExitStatus> {
    let bytes = files::read_input_or_stdin(&args.request, &NOTE)?;
    let request = ConsistencyRequest::read(&bytes)
        .map_err(|error| Failure::usage(format!("`{}`: {error}", files::input_name(&args.request))))?;
    let key = KeyFile::open(&args.key)?.require(KeyKind::Witness)?;
    let time = u64::try_from(clock::now_ms()? / 1000).unwrap_or_default();
    let GivenCosignature { line, checkpoint, is_first } = cosign(&request, &key, &args.log, time)?;
    let cosignature = line.to_string();
    let cosigned = json!({
        "origin": checkpoint.origin, "size": checkpoint.size, "root": checkpoint.root.to_string(),
        "first": is_first, "cosignature": cosignature,
    });
    context.output.answer(&cosigned, || {
        if is_first {
            tracing::warn!("the witness has not seen `{}` before", checkpoint.origin);
        }
        vec![cosignature.into()]
    })
}
