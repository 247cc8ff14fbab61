//! Changes of accords: another current branch, or a question of a player (SV-65).

use std::collections::BTreeMap;
use std::sync::Mutex;

use tokio::sync::watch;
use turnfold_mail::MatchAccord;
use turnfold_store::{BranchName, MatchName, NamedBranch, StoreError};

use crate::app::{App, lock};
use crate::problem::ApiResult;

/// New accords are looked for in every this many rounds.
const LOOK_EVERY: u64 = 8;

/// The most matches whose new accords are looked for in one round.
const LOOKED_FOR_MAX: usize = 100;

#[derive(Default)]
pub(crate) struct Accords {
    followed: Mutex<BTreeMap<MatchName, Followed>>,
}

struct Followed {
    /// Counts the changes.
    news: watch::Sender<u64>,
    /// The accord in a database that other processes may change, and its last known entry.
    accord: Option<(NamedBranch, u64)>,
}

impl Accords {
    pub(crate) fn watch(&self, match_name: &MatchName) -> watch::Receiver<u64> {
        let mut followed = lock(&self.followed);
        followed.retain(|_, followed| followed.news.receiver_count() > 0);
        let one = followed.entry(match_name.clone());
        one.or_insert_with(|| Followed { news: watch::Sender::new(0), accord: None }).news.subscribe()
    }

    fn announce(&self, match_name: &MatchName) {
        if let Some(followed) = lock(&self.followed).get(match_name) {
            followed.news.send_modify(|count| *count += 1);
        }
    }
}

impl App {
    pub(crate) fn announce_accord(&self, match_name: &MatchName) {
        for branch in self.branches.all() {
            if branch.revision.match_name == *match_name {
                branch.note_left(None);
            }
        }
        self.accords.announce(match_name);
    }

    pub(crate) fn hear_of_accords(&self, round: u64) -> ApiResult<()> {
        let mut known = Vec::new();
        let mut unknown = Vec::new();
        for (name, followed) in lock(&self.accords.followed).iter() {
            match &followed.accord {
                Some((named, head)) => known.push((name.clone(), named.clone(), *head)),
                None => unknown.push(name.clone()),
            }
        }
        let named: Vec<_> = known.iter().map(|(_, named, _)| named.clone()).collect();
        for ((name, named, head), now) in known.into_iter().zip(self.store.heads(&named)?) {
            if now != Some(head) {
                self.note_accord(&name, now.map(|now| (named, now)));
            }
        }
        // Most matches never get an accord, so new accords are looked for less often and for some matches at a time.
        if unknown.is_empty() || !round.is_multiple_of(LOOK_EVERY) {
            return Ok(());
        }
        let begin =
            usize::try_from(round / LOOK_EVERY).unwrap_or(0).wrapping_mul(LOOKED_FOR_MAX) % unknown.len();
        for name in unknown.iter().cycle().skip(begin).take(unknown.len().min(LOOKED_FOR_MAX)) {
            let Ok(accord) = MatchAccord::name_of(name) else { continue };
            match self.store.branch_head(&accord, &BranchName::main()) {
                Ok(found) => {
                    let branch = BranchName::main();
                    let named = NamedBranch { match_name: accord, branch, id: found.id };
                    self.note_accord(name, Some((named, found.seq)));
                }
                Err(StoreError::NoSuchMatch { .. } | StoreError::NoSuchBranch { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn note_accord(&self, match_name: &MatchName, accord: Option<(NamedBranch, u64)>) {
        if let Some(followed) = lock(&self.accords.followed).get_mut(match_name) {
            followed.accord = accord;
        }
        self.announce_accord(match_name);
    }
}
