//! The fuzz targets. Each takes any bytes and panics if a promise is broken.
//!
//! `fuzz/` passes them to libFuzzer; `it/fuzz.rs` runs each target over its corpus and mutations of the corpus.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use turnfold_core::AnyRules;
use turnfold_games::rulesets;

mod backup;
mod bundle;
mod command_text;
mod encoding;
mod note;
mod page;
mod play;
mod replay_file;
mod sample;
mod seeds;
mod setup;
mod store;

pub use backup::backup;
pub use bundle::bundle;
pub use command_text::command_text;
pub use encoding::encoding;
pub use note::note;
pub use page::page;
pub use play::play;
pub use replay_file::replay_file;
pub use setup::setup;
pub use store::{entry, store};

/// The function of a target, which takes any bytes.
pub type Run = Box<dyn Fn(&[u8]) + Send + Sync>;

/// A fuzz target.
pub struct FuzzTarget {
    /// The name of the target, of its binary and of its corpus.
    pub name: String,
    /// The function, which panics if a promise is broken.
    pub run: Run,
    /// Useful inputs with which fuzzing begins.
    pub seeds: Vec<Vec<u8>>,
}

impl FuzzTarget {
    fn new(name: &str, run: impl Fn(&[u8]) + Send + Sync + 'static, seeds: Vec<Vec<u8>>) -> Self {
        Self { name: name.to_owned(), run: Box::new(run), seeds }
    }

    /// Returns the folder of inputs that are worth trying again.
    #[must_use]
    pub fn corpus(&self) -> PathBuf {
        corpora().join(&self.name)
    }
}

/// Returns the folder of all corpora.
#[must_use]
pub fn corpora() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus")
}

/// Lists every target.
#[must_use]
pub fn targets() -> Vec<FuzzTarget> {
    let mut targets = vec![
        FuzzTarget::new("backup", backup, backup::seeds()),
        FuzzTarget::new("bundle", bundle, bundle::seeds()),
        FuzzTarget::new("command_text", command_text, seeds::command_texts()),
        FuzzTarget::new("encoding", encoding, seeds::encodings()),
        FuzzTarget::new("entry", entry, store::entry_seeds()),
        FuzzTarget::new("note", note, note::seeds()),
        FuzzTarget::new("page", page, page::seeds(seeds::replay_files())),
        FuzzTarget::new("replay_file", replay_file, seeds::replay_files()),
        FuzzTarget::new("setup", setup, seeds::setups()),
        FuzzTarget::new("store", store, Vec::new()),
    ];
    let play_of = |rules: Arc<dyn AnyRules>| {
        FuzzTarget::new(&format!("play_{}", rules.name()), move |bytes| play(rules.name(), bytes), Vec::new())
    };
    targets.extend(rulesets().into_iter().map(play_of));
    targets
}

/// Splits off the first byte, which chooses a ruleset and one of `kinds` things to do with the rest.
fn choose(bytes: &[u8], kinds: u8) -> Option<(Arc<dyn AnyRules>, u8, &[u8])> {
    let (first, rest) = bytes.split_first()?;
    let kind = first % kinds;
    let mut known = rulesets();
    let place = usize::from(first / kinds) % known.len();
    Some((known.swap_remove(place), kind, rest))
}

/// Returns the byte with which [`choose`] chooses this.
fn choice(rules_place: usize, kind: u8, kinds: u8) -> u8 {
    u8::try_from(rules_place).unwrap() * kinds + kind
}

/// Requires a message for a user to be one line without control sequences.
fn check_message(message: &str) {
    assert!(!message.is_empty(), "an error is empty");
    assert!(!message.contains(char::is_control), "{message:?} holds control characters");
}
