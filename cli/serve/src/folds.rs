//! Places for reads that fold a long history: a few at once, two of one token, and the matches take turns (SV-31).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use turnfold_core::Digest;
use turnfold_store::MatchName;

use crate::problem::{ApiResult, Problem, ProblemCode};

/// How many folds run at once on machines with fewer processors, and how many of one reader. One place is always left
/// for other readers and other matches.
const AT_ONCE_MIN: usize = 3;
const AT_ONCE_OF_READER: usize = 2;

const WAITING_OF_READER: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reader {
    /// The holder of the token of this hash.
    Token(Digest),
    /// The senders of papers of a match, who need no token.
    Papers(MatchName),
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Counted {
    Of(Reader),
    /// Those of a match, or those of many matches.
    In(Option<MatchName>),
}

pub(crate) struct Folds {
    at_once: usize,
    places: Arc<Semaphore>,
    /// The places of readers and matches that fold or wait.
    counted: Mutex<BTreeMap<Counted, Arc<Semaphore>>>,
}

impl Folds {
    pub(crate) fn new(cores: usize) -> Self {
        let at_once = cores.max(AT_ONCE_MIN);
        Self { at_once, places: Arc::new(Semaphore::new(at_once)), counted: Mutex::default() }
    }

    fn places_of(&self, counted: Counted, at_once: usize) -> Arc<Semaphore> {
        let mut all = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, places| Arc::strong_count(places) > 1);
        Arc::clone(all.entry(counted).or_insert_with(|| Arc::new(Semaphore::new(at_once))))
    }

    pub(crate) async fn wait(
        &self,
        reader: Reader,
        game: Option<&MatchName>,
    ) -> ApiResult<[OwnedSemaphorePermit; 3]> {
        let of_reader = self.places_of(Counted::Of(reader), AT_ONCE_OF_READER);
        // Each fold that runs or waits has a reference, and the map has one.
        if Arc::strong_count(&of_reader) > AT_ONCE_OF_READER + WAITING_OF_READER + 1 {
            let detail = "too many reads of long matches at once with this token; try again in a second";
            return Err(Problem::new(ProblemCode::SlowDown, detail));
        }
        let of_reader = of_reader.acquire_owned().await;
        let of_match = self.places_of(Counted::In(game.cloned()), self.at_once - 1).acquire_owned().await;
        // The last permit is given in turn to folds that have the others, which are few of each match.
        let place = Arc::clone(&self.places).acquire_owned().await;
        let closing = |_| Problem::closing();
        Ok([of_reader.map_err(closing)?, of_match.map_err(closing)?, place.map_err(closing)?])
    }
}
