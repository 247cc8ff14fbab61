//! A queue for reads that fold a long history: a few run at once, two of one token, and the matches take turns (SV-31).

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use turnfold_core::Digest;
use turnfold_store::MatchName;

use crate::problem::{ApiResult, Code, Problem};

/// How many folds run at once on machines with fewer processors, and how many of one reader. One place is always left
/// for other readers.
const AT_ONCE_MIN: usize = 3;
const AT_ONCE_OF_READER: usize = 2;

const WAITING_OF_READER: usize = 64;

/// The reader for whom a history is folded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reader {
    /// The holder of the token of this hash.
    Token(Digest),
    /// The senders of papers of a match, who need no token.
    Papers(MatchName),
}

/// The folds that run and those that wait.
#[derive(Clone)]
pub(crate) struct Folds(Arc<Mutex<FoldQueue>>);

struct FoldQueue {
    free: usize,
    /// How many folds of each reader run.
    running: BTreeMap<Reader, usize>,
    /// The folds that wait, by match; the first match has the next turn.
    matches: VecDeque<(Option<MatchName>, VecDeque<WaitingFold>)>,
}

struct WaitingFold {
    reader: Reader,
    go: oneshot::Sender<FoldPlace>,
}

impl Folds {
    pub(crate) fn new(cores: usize) -> Self {
        let free = cores.max(AT_ONCE_MIN);
        Self(Arc::new(Mutex::new(FoldQueue { free, running: BTreeMap::new(), matches: VecDeque::new() })))
    }

    fn lock(&self) -> MutexGuard<'_, FoldQueue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a place to fold. `game` is the match of the fold, if it has one.
    pub(crate) async fn wait(&self, reader: Reader, game: Option<&MatchName>) -> ApiResult<FoldPlace> {
        let turn = {
            let mut queue = self.lock();
            // No fold is overtaken: while a place is free, only readers with two running folds wait.
            if queue.free > 0 && queue.may_begin(&reader) {
                return Ok(queue.begin(reader, self));
            }
            queue.join(reader, game)?
        };
        turn.await.map_err(|_| Problem::overloaded("the service is shutting down"))
    }

    /// Gives free places to waiting folds.
    fn hand_on(&self) {
        loop {
            let next = {
                let mut queue = self.lock();
                queue.next().map(|next| (next.go, queue.begin(next.reader, self)))
            };
            let Some((go, place)) = next else { return };
            // If the client has gone, its place is dropped, which gives it to the next fold.
            drop(go.send(place));
        }
    }
}

impl FoldQueue {
    fn may_begin(&self, reader: &Reader) -> bool {
        self.running.get(reader).is_none_or(|running| *running < AT_ONCE_OF_READER)
    }

    fn begin(&mut self, reader: Reader, folds: &Folds) -> FoldPlace {
        self.free -= 1;
        *self.running.entry(reader.clone()).or_default() += 1;
        FoldPlace { reader, folds: folds.clone() }
    }

    fn join(&mut self, reader: Reader, game: Option<&MatchName>) -> ApiResult<oneshot::Receiver<FoldPlace>> {
        for (_, waiting) in &mut self.matches {
            waiting.retain(|fold| !fold.go.is_closed());
        }
        self.matches.retain(|(_, waiting)| !waiting.is_empty());
        let waiting = self.matches.iter().flat_map(|(_, waiting)| waiting);
        if waiting.filter(|fold| fold.reader == reader).count() >= WAITING_OF_READER {
            let detail = "too many reads of long matches at once with this token; try again in a second";
            return Err(Problem::new(Code::SlowDown, detail));
        }
        let (go, turn) = oneshot::channel();
        let fold = WaitingFold { reader, go };
        match self.matches.iter_mut().find(|(own, _)| own.as_ref() == game) {
            Some((_, waiting)) => waiting.push_back(fold),
            None => self.matches.push_back((game.cloned(), VecDeque::from([fold]))),
        }
        Ok(turn)
    }

    /// Removes the next fold from the queue if a place is free. Matches take turns. Of the match's folds, the one whose
    /// reader has the fewest running folds is next.
    fn next(&mut self) -> Option<WaitingFold> {
        if self.free == 0 {
            return None;
        }
        for _ in 0..self.matches.len() {
            let (game, mut waiting) = self.matches.pop_front()?;
            let running = |fold: &WaitingFold| self.running.get(&fold.reader).copied().unwrap_or(0);
            let first = waiting.iter().enumerate().min_by_key(|(_, fold)| running(fold));
            let first = first.filter(|(_, fold)| self.may_begin(&fold.reader)).map(|(place, _)| place);
            let fold = first.and_then(|place| waiting.remove(place));
            if !waiting.is_empty() {
                self.matches.push_back((game, waiting));
            }
            if fold.is_some() {
                return fold;
            }
        }
        None
    }
}

/// The place of a running fold. Dropping it gives the place to the next fold.
pub(crate) struct FoldPlace {
    reader: Reader,
    folds: Folds,
}

impl Drop for FoldPlace {
    fn drop(&mut self) {
        let mut queue = self.folds.lock();
        queue.free += 1;
        if let Some(running) = queue.running.get_mut(&self.reader) {
            *running -= 1;
            if *running == 0 {
                queue.running.remove(&self.reader);
            }
        }
        drop(queue);
        self.folds.hand_on();
    }
}
