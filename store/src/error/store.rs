//! Everything a store refuses or fails to do.

use std::io;
use std::path::PathBuf;

use turnfold_core::{Digest, Seat};

use super::text::{numbered, place};
use crate::grant::GrantId;
use crate::local::lock::Holder;
use crate::names::{BranchName, GrantLabel, MatchName};
use crate::note::{Note, NoteId};

/// Why a store refused or failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process, or another handle in this process, has the store open.
    #[error("store `{}` is locked by {holder}", dir.display())]
    Locked {
        /// The store's directory.
        dir: PathBuf,
        /// The holder, as far as it is known.
        holder: Holder,
    },
    /// The directory has no store, or does not exist.
    #[error("no store at `{}`", dir.display())]
    Missing {
        /// The directory.
        dir: PathBuf,
    },
    /// The directory is something else. Nothing was written to it.
    #[error("`{}` is not a turnfold store: {reason}", dir.display())]
    NotAStore {
        /// The directory.
        dir: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The operating system denies reading.
    #[error("cannot read store `{}`: {source}", dir.display())]
    Unreadable {
        /// The store's directory.
        dir: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The operating system denies writing.
    #[error("cannot write to store `{}`: {source}", dir.display())]
    Unwritable {
        /// The store's directory.
        dir: PathBuf,
        /// The error of the operating system.
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
        /// The format in the file `FORMAT`.
        found: String,
    },
    /// The clock is before 1970, which sled does not support.
    #[error("the clock of this machine is before 1970")]
    Clock,
    /// Stored data is not as it was written.
    #[error("corrupt store: {}{reason}", place(match_name.as_ref(), branch.as_ref(), *seq))]
    Corrupt {
        /// The match that is damaged, if it is known.
        match_name: Option<MatchName>,
        /// The branch that is damaged, if it is known.
        branch: Option<BranchName>,
        /// The entry that is damaged, if it is known.
        seq: Option<u64>,
        /// What is wrong.
        reason: String,
    },
    /// The branch has another head than the caller expects. Nothing was appended.
    #[error("conflict in `{match_name}@{branch}`: expected head {expected}, found {head}")]
    Conflict {
        /// The match.
        match_name: MatchName,
        /// The branch.
        branch: BranchName,
        /// The head the caller expected.
        expected: u64,
        /// The current head.
        head: u64,
    },
    /// The match is played by another module. Nothing was appended (MD-9).
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
    /// The idempotency key belongs to an append of other commands. Nothing was appended.
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
        /// The last entry that carries the key.
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
    /// The branch has no entry with this seq.
    #[error("`{match_name}@{branch}` has no entry {seq}: its head is {head}")]
    NoSuchSeq {
        /// The match.
        match_name: MatchName,
        /// The branch.
        branch: BranchName,
        /// The requested seq.
        seq: u64,
        /// The seq of the last entry.
        head: u64,
    },
    /// A match with this name exists.
    #[error("match `{match_name}` already exists")]
    AlreadyExists {
        /// The name.
        match_name: MatchName,
    },
    /// The match has a branch with this name.
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
    /// `main` cannot be deleted or renamed.
    #[error("branch `main` of match `{match_name}` cannot be {action}: every match has it")]
    MainBranch {
        /// The match.
        match_name: MatchName,
        /// The refused action, as a participle.
        action: &'static str,
    },
    /// The append has no entries.
    #[error("nothing to append to `{match_name}@{branch}`")]
    NothingToAppend {
        /// The match.
        match_name: MatchName,
        /// The branch.
        branch: BranchName,
    },
    /// A setup or command is larger than the store allows.
    #[error("{what} of {bytes} bytes is too large: at most {limit}")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Its size in bytes.
        bytes: usize,
        /// The most bytes allowed.
        limit: usize,
    },
    /// There is no grant with this id, or it was revoked or has expired.
    #[error("no grant `{id}`, or it was revoked or has expired")]
    NoSuchGrant {
        /// The id in the request.
        id: GrantId,
    },
    /// The invitation was spent for another token.
    #[error("the invitation `{id}` was accepted with another token")]
    InvitationSpent {
        /// The id of the invitation.
        id: GrantId,
    },
    /// Another player has the seat.
    #[error("the seat {seat} is taken: the first to join has it")]
    SeatTaken {
        /// The seat.
        seat: Seat,
    },
    /// Another player of the match has the same name, or one that is compared as the same.
    #[error("the name `{name}` is taken: another player has it, or one that is written alike")]
    NameTaken {
        /// The name.
        name: GrantLabel,
    },
    /// The grant is the last live host grant of the match, which must keep one.
    #[error("the grant `{id}` is the last host grant of match `{match_name}`")]
    LastHost {
        /// The match.
        match_name: MatchName,
        /// The id of the grant.
        id: GrantId,
    },
    /// There is a grant with this hash, or one of the same match with this id.
    #[error("a grant `{id}` already exists")]
    GrantExists {
        /// The id that both would have.
        id: GrantId,
    },
    /// The match or the seat has the most live grants that are allowed.
    #[error(
        "{}match `{match_name}` has {limit} live grants, as many as there may be",
        seat.map_or_else(String::new, |seat| format!("seat `{seat}` of "))
    )]
    TooManyGrants {
        /// The match.
        match_name: MatchName,
        /// The seat, if its own limit was reached.
        seat: Option<Seat>,
        /// The limit.
        limit: usize,
    },
    /// The match has no note with this id.
    #[error("no note `{id}`")]
    NoSuchNote {
        /// The id in the request.
        id: NoteId,
    },
    /// The match has the most notes that are allowed, in all or by one token.
    #[error("match `{match_name}` has {limit} notes{}, as many as there may be", if *limit == Note::MAX { " for all" } else { " with this token" })]
    TooManyNotes {
        /// The match.
        match_name: MatchName,
        /// The limit.
        limit: usize,
    },
    /// The grant is for a seat that no player can have.
    #[error("`{seat}` is no player's seat")]
    NotAPlayer {
        /// The seat.
        seat: Seat,
    },
    /// Reading or writing failed.
    #[error("cannot {action}: {source}")]
    Io {
        /// The failed action, which completes "cannot …".
        action: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The store cannot be opened. Nothing was changed.
    #[error("cannot {action}: {source}; nothing was changed")]
    Unopened {
        /// The failed action, which completes "cannot …".
        action: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The disk is full. Everything acknowledged is safe.
    #[error("the store's disk is full ({source}); nothing of this call was recorded")]
    Full {
        /// The error of the operating system.
        source: io::Error,
    },
    /// A write or sync failed, so the data may or may not be on disk.
    #[error("{reason}; whether this was recorded is unknown until the store is opened again")]
    Unsettled {
        /// What failed.
        reason: String,
    },
    /// The database server did not answer in time, or other transactions were in the way for too long.
    #[error(
        "the database server does not answer: {reason}; {}",
        if *maybe { "it may have been recorded" } else { "nothing was recorded" }
    )]
    Unavailable {
        /// The last failure.
        reason: String,
        /// Whether the data may have been recorded all the same.
        maybe: bool,
    },
    /// The database server refuses, or the database cannot be used.
    #[error("the database cannot be used: {reason}")]
    Database {
        /// The reason.
        reason: String,
    },
    /// A branch ends before an entry that was seen, or differs there, because the database went back to an earlier
    /// state.
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
        /// The last entry that the branch has now.
        found: u64,
    },
    /// An earlier write failed, so this handle refuses further writes. Everything acknowledged is safe.
    #[error("the store stopped accepting writes: {reason}")]
    Failed {
        /// The first failure.
        reason: String,
    },
}
