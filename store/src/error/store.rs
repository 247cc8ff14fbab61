//! Everything a store refuses or fails to do, and what to do next.

use std::io;
use std::path::PathBuf;

use turnfold_core::{Digest, Seat};

use super::text::{numbered, place};
use crate::grant::GrantId;
use crate::local::dir::holder::Holder;
use crate::names::{BranchName, GrantLabel, MatchName};
use crate::note::{Note, NoteId};

/// What a store refuses or fails to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process, or another handle in this one, has the store.
    #[error("store `{}` is locked by {holder}", dir.display())]
    Locked {
        /// The store's directory.
        dir: PathBuf,
        /// Who has it, where that can be known.
        holder: Holder,
    },
    /// There is no store here.
    #[error("no store at `{}`", dir.display())]
    Missing {
        /// Where it was looked for.
        dir: PathBuf,
    },
    /// The directory is something else; nothing was written to it.
    #[error("`{}` is not a turnfold store: {reason}", dir.display())]
    NotAStore {
        /// The directory.
        dir: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The operating system does not let us read here.
    #[error("cannot read store `{}`: {source}", dir.display())]
    Unreadable {
        /// The store's directory.
        dir: PathBuf,
        /// What the operating system reports.
        source: io::Error,
    },
    /// The operating system does not let us write here.
    #[error("cannot write to store `{}`: {source}", dir.display())]
    Unwritable {
        /// The store's directory.
        dir: PathBuf,
        /// What the operating system reports.
        source: io::Error,
    },
    /// The store was written by a build with another format.
    #[error(
        "store `{}` has the format `{}`, this build knows `turnfold store 4`",
        dir.display(), found.escape_debug()
    )]
    UnknownFormat {
        /// The store's directory.
        dir: PathBuf,
        /// The format it names.
        found: String,
    },
    /// The clock is one that sled cannot use.
    #[error("the clock of this machine is before 1970")]
    Clock,
    /// Something stored is not what was written.
    #[error("corrupt store: {}{reason}", place(match_name.as_ref(), branch.as_ref(), *seq))]
    Corrupt {
        /// The match concerned, where known.
        match_name: Option<MatchName>,
        /// The branch concerned, where known.
        branch: Option<BranchName>,
        /// The entry concerned, where known.
        seq: Option<u64>,
        /// What is wrong.
        reason: String,
    },
    /// The branch is not where the caller believes; nothing was appended.
    #[error("conflict in `{match_name}@{branch}`: expected head {expected}, found {head}")]
    Conflict {
        /// The match.
        match_name: MatchName,
        /// The branch.
        branch: BranchName,
        /// The head the caller expected.
        expected: u64,
        /// The head as it is.
        head: u64,
    },
    /// The match is played by another module; nothing was appended (MD-9).
    #[error(
        "match `{match_name}` is played by the module {recorded}, not by the module {found}; nothing was recorded"
    )]
    OtherModule {
        /// The match.
        match_name: MatchName,
        /// The module that the match pins, or that the store recorded at the first append.
        recorded: Digest,
        /// The module that judged the commands.
        found: Digest,
    },
    /// The key belongs to an append of something else; nothing was appended.
    #[error(
        "the idempotency key was used for other commands, {} of `{match_name}@{branch}`",
        numbered(*first, *last)
    )]
    IdempotencyKeyReused {
        /// The match.
        match_name: MatchName,
        /// The branch.
        branch: BranchName,
        /// The first entry that carries the key.
        first: u64,
        /// The last entry that carries it.
        last: u64,
    },
    /// There is no match of this name.
    #[error("no match `{match_name}` in this store")]
    NoSuchMatch {
        /// The name.
        match_name: MatchName,
    },
    /// The match has no branch of this name.
    #[error("match `{match_name}` has no branch `{branch}`")]
    NoSuchBranch {
        /// The match.
        match_name: MatchName,
        /// The name.
        branch: BranchName,
    },
    /// The branch is shorter than that.
    #[error("`{match_name}@{branch}` has no entry {seq}: its head is {head}")]
    NoSuchSeq {
        /// The match.
        match_name: MatchName,
        /// The branch.
        branch: BranchName,
        /// The entry asked for.
        seq: u64,
        /// The last entry there is.
        head: u64,
    },
    /// A match of this name exists.
    #[error("match `{match_name}` already exists")]
    AlreadyExists {
        /// The name.
        match_name: MatchName,
    },
    /// The match has a branch of this name.
    #[error("match `{match_name}` already has a branch `{branch}`")]
    BranchExists {
        /// The match.
        match_name: MatchName,
        /// The name.
        branch: BranchName,
    },
    /// Other branches begin on this one.
    #[error("branch `{branch}` of match `{match_name}` cannot be deleted: branch `{child}` begins on it")]
    BranchInUse {
        /// The match.
        match_name: MatchName,
        /// The branch.
        branch: BranchName,
        /// A branch that begins on it.
        child: BranchName,
    },
    /// `main` is neither deleted nor renamed.
    #[error("branch `main` of match `{match_name}` cannot be {action}: every match has it")]
    MainBranch {
        /// The match.
        match_name: MatchName,
        /// What cannot be done to it.
        action: &'static str,
    },
    /// An append without entries.
    #[error("nothing to append to `{match_name}@{branch}`")]
    NothingToAppend {
        /// The match.
        match_name: MatchName,
        /// The branch.
        branch: BranchName,
    },
    /// A setup or command beyond the store's limits.
    #[error("{what} of {bytes} bytes is too large: at most {limit}")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// How large it is.
        bytes: usize,
        /// How large it may be.
        limit: usize,
    },
    /// There is no such grant, or none that counts.
    #[error("no grant `{id}`, or it was revoked or has expired")]
    NoSuchGrant {
        /// What it would be called.
        id: GrantId,
    },
    /// The invitation became the grant of another token.
    #[error("the invitation `{id}` was accepted with another token")]
    InvitationSpent {
        /// What the invitation is called.
        id: GrantId,
    },
    /// Someone plays the seat.
    #[error("the seat {seat} is taken: the first to join has it")]
    SeatTaken {
        /// The seat.
        seat: Seat,
    },
    /// Another player of the match has the name.
    #[error("the name `{name}` is taken: another player has it, or one that is written alike")]
    NameTaken {
        /// The name.
        name: GrantLabel,
    },
    /// A match keeps a host.
    #[error("the grant `{id}` is the last host grant of match `{match_name}`")]
    LastHost {
        /// The match.
        match_name: MatchName,
        /// What the grant is called.
        id: GrantId,
    },
    /// A grant has this hash, or one of the same match this name.
    #[error("a grant `{id}` already exists")]
    GrantExists {
        /// What both would be called.
        id: GrantId,
    },
    /// The match, or the seat, has as many live grants as it may have.
    #[error(
        "{}match `{match_name}` has {limit} live grants, as many as there may be",
        seat.map_or_else(String::new, |seat| format!("seat `{seat}` of "))
    )]
    TooManyGrants {
        /// The match.
        match_name: MatchName,
        /// The seat, when it is the seat's grants that are too many.
        seat: Option<Seat>,
        /// How many there may be.
        limit: usize,
    },
    /// There is no such note.
    #[error("no note `{id}`")]
    NoSuchNote {
        /// What it would be called.
        id: NoteId,
    },
    /// The match has as many notes as it may have, or the token has.
    #[error("match `{match_name}` has {limit} notes{}, as many as there may be", if *limit == Note::MAX { "" } else { " with this token" })]
    TooManyNotes {
        /// The match.
        match_name: MatchName,
        /// How many there may be.
        limit: usize,
    },
    /// A grant of a player's seat for a seat that is none.
    #[error("`{seat}` is no player's seat")]
    NotAPlayer {
        /// The seat.
        seat: Seat,
    },
    /// Reading or writing failed.
    #[error("cannot {action}: {source}")]
    Io {
        /// What was being done.
        action: String,
        /// What the operating system reports.
        source: io::Error,
    },
    /// The store cannot be opened, and is as it was.
    #[error("cannot {action}: {source}; nothing was changed")]
    Unopened {
        /// What was being done.
        action: String,
        /// What the operating system reports.
        source: io::Error,
    },
    /// The disk is full; what was acknowledged is safe.
    #[error("the store's disk is full ({source}); nothing of this call was recorded")]
    Full {
        /// What the operating system reports.
        source: io::Error,
    },
    /// Writing or syncing failed half-way.
    #[error("{reason}; whether this was recorded is unknown until the store is opened again")]
    Unsettled {
        /// What failed.
        reason: String,
    },
    /// The database server did not answer in time, or others were in the way for too long.
    #[error(
        "the database server does not answer: {reason}; {}",
        if *maybe { "it may have been recorded" } else { "nothing was recorded" }
    )]
    Unavailable {
        /// What failed last.
        reason: String,
        /// Whether it may have been recorded all the same.
        maybe: bool,
    },
    /// The database server refuses, or cannot be used.
    #[error("the database cannot be used: {reason}")]
    Database {
        /// What it contains.
        reason: String,
    },
    /// A branch is not as far as it was seen before: the database went back to an earlier state.
    #[error(
        "the database lost data: match `{match_name}`, branch `{branch}` was seen at entry {held} and ends at {found}{}",
        if held == found { " in another way" } else { "" }
    )]
    Receded {
        /// The match.
        match_name: MatchName,
        /// The branch.
        branch: BranchName,
        /// The last entry that was acknowledged or read.
        held: u64,
        /// The last entry there is.
        found: u64,
    },
    /// An earlier write failed, so this handle takes no more; what was acknowledged is safe.
    #[error("the store stopped accepting writes: {reason}")]
    Failed {
        /// What failed first.
        reason: String,
    },
}
