//! All answers of a store.

use turnfold_history::golden::{Verification, verify};
use turnfold_store::backend::MemoryBackend;
use turnfold_store::{BranchInfo, BranchName, ErrorKind, Log, MatchInfo, MatchName, Store, StoreError};

use crate::fuzz::check_message;
use crate::fuzz::sample::{entries, line, name};

/// The answers of a store, or the error if it does not open.
pub(super) struct Answers(Result<Answered, StoreError>);

struct Answered {
    matches: Result<Vec<MatchInfo>, StoreError>,
    branches: Result<Vec<BranchInfo>, StoreError>,
    logs: Vec<Result<Log, StoreError>>,
    /// The entries from the middle of a page.
    later: Result<Vec<turnfold_store::Entry>, StoreError>,
    verifications: Vec<Result<Verification, StoreError>>,
    appended: Result<(), StoreError>,
}

impl Answers {
    /// Makes every request to a store with the contents of a backend.
    pub(super) fn of(backend: &MemoryBackend) -> Self {
        Self(Store::with_backend(Box::new(backend.copy())).map(|store| Answered::by(&store)))
    }

    /// Returns `true` if every answer is good.
    pub(super) fn are_good(&self) -> bool {
        self.0.as_ref().is_ok_and(|answered| {
            let sound = |verified: &Result<Verification, _>| {
                verified.as_ref().is_ok_and(|verification| verification.findings.is_empty())
            };
            answered.errors().is_empty() && answered.verifications.iter().all(sound)
        })
    }

    /// Requires every error to be one line, and none to come from a panic.
    pub(super) fn check_errors(&self) {
        let errors = match &self.0 {
            Ok(answered) => answered.errors(),
            Err(error) => vec![error],
        };
        for error in errors {
            check_message(&error.to_string());
            assert!(!matches!(error, StoreError::Failed { .. }), "the committer ended: {error}");
        }
    }

    /// Requires every answer that is not a report of damage to be as in the sound store.
    pub(super) fn check_truth(&self, sound: &Self) {
        let (answered, sound) = match (&self.0, &sound.0) {
            (Ok(answered), Ok(sound)) => (answered, sound),
            (Err(error), _) => return check_is_damage(error),
            (_, Err(error)) => panic!("the sound store does not open: {error}"),
        };
        answered.errors().into_iter().for_each(check_is_damage);
        same(&answered.matches, &sound.matches);
        same(&answered.branches, &sound.branches);
        same(&answered.later, &sound.later);
        answered.logs.iter().zip(&sound.logs).for_each(|(answer, sound)| same(answer, sound));
        for (answer, sound) in answered.verifications.iter().zip(&sound.verifications) {
            if answer.as_ref().is_ok_and(|verification| verification.findings.is_empty()) {
                same(answer, sound);
            }
        }
    }

    /// Requires the entries of each log to be numbered without gaps up to its head.
    pub(super) fn check_numbers(&self) {
        let Ok(answered) = &self.0 else { return };
        for log in answered.logs.iter().flatten() {
            let numbers = log.entries.iter().map(|entry| entry.seq);
            assert!(numbers.eq(1..=log.head), "the entries are not those up to the head {}", log.head);
        }
    }
}

impl Answered {
    fn by(store: &Store) -> Self {
        let [m, n, main] = [name("m"), name("n"), name("main")];
        let main: BranchName = main.as_str().parse().unwrap();
        let read = |name: &MatchName, branch: &BranchName| store.read(name, branch, None);
        let later = store
            .head(&m, &line())
            .and_then(|head| store.entries(&m, &line(), head.min(30)..=head)?.collect::<Result<Vec<_>, _>>());
        Self {
            matches: store.matches(),
            branches: store.branches(&m),
            logs: vec![read(&m, &main), read(&m, &line()), read(&n, &main)],
            later,
            verifications: vec![
                verify(store, &m, Some(&turnfold_games::standard())),
                verify(store, &n, Some(&turnfold_games::standard())),
            ],
            // This is last, because it changes the store.
            appended: store.append(&m, &line(), 67, entries(68, 68), None).map(drop),
        }
    }

    fn errors(&self) -> Vec<&StoreError> {
        let logs = self.logs.iter().filter_map(|log| log.as_ref().err());
        let verifications = self.verifications.iter().filter_map(|it| it.as_ref().err());
        let others = [
            self.matches.as_ref().err(),
            self.branches.as_ref().err(),
            self.later.as_ref().err(),
            self.appended.as_ref().err(),
        ];
        logs.chain(verifications).chain(others.into_iter().flatten()).collect()
    }
}

/// Requires an error to report damage. A match without its record may be reported as not found, because only lists and
/// audits find missing matches.
fn check_is_damage(error: &StoreError) {
    if matches!(error, StoreError::NoSuchMatch { .. }) {
        return;
    }
    let is_damage = matches!(error, StoreError::Corrupt { .. });
    assert!(is_damage && error.kind() == ErrorKind::Trouble, "damage is reported as: {error}");
}

fn same<T: PartialEq + std::fmt::Debug>(answer: &Result<T, StoreError>, sound: &Result<T, StoreError>) {
    if let Ok(answer) = answer {
        assert_eq!(Some(answer), sound.as_ref().ok(), "damage is served as if it were the truth");
    }
}
