//! Lies that no type of `Rules` can tell but a module can, because it answers each operation separately.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use turnfold_core::any::{AnyTrial, Choice, FaultKind, FaultOf};
use turnfold_core::decode::DecodeError;
use turnfold_core::dice::DiceStream;
use turnfold_core::picture::Picture;
use turnfold_core::{
    Answer, AnyRules, AnyState, DicePolicy, Digest, DueRoll, Fault, FoldError, Json, Logged, Malformed,
    MatchResult, Perspective, QueryError, Rejected, Seat, SetupError, Step, Targets, Verdict,
};
use turnfold_games::find;
use turnfold_laws::{Fixture, Law, broken_laws, broken_laws_while};

/// The operation with a wrong answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lie {
    None,
    TargetsTellState,
    AnswersWhatIsNotListed,
    ListsQuestionsByState,
    ChoosesOthers,
    ReadsNoSetupOfAFile,
    WritesNoCommandOfALog,
    ReadsLooselyWithoutAState,
    FoldsManyOtherwise,
    HangsInView,
}

/// How often a view that hangs was requested.
static VIEWS: AtomicU32 = AtomicU32::new(0);

struct Liar(Arc<dyn AnyRules>, Lie);

struct LiarState(Box<dyn AnyState>, Lie);

impl AnyRules for Liar {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn version(&self) -> u32 {
        self.0.version()
    }

    fn summary(&self) -> &str {
        self.0.summary()
    }

    fn example(&self) -> &str {
        self.0.example()
    }

    fn rulebook(&self) -> &str {
        self.0.rulebook()
    }

    fn mail_terms(&self) -> &str {
        self.0.mail_terms()
    }

    fn has_secrets(&self) -> bool {
        self.0.has_secrets()
    }

    fn ignored_codes(&self) -> Vec<&str> {
        self.0.ignored_codes()
    }

    fn rejected_codes(&self) -> Vec<&str> {
        self.0.rejected_codes()
    }

    fn read_setup(&self, toml: &str) -> Result<Vec<u8>, SetupError> {
        self.0.read_setup(toml)
    }

    fn read_setup_of(&self, document: &str) -> Result<Vec<u8>, SetupError> {
        let document = if self.1 == Lie::ReadsNoSetupOfAFile { "" } else { document };
        self.0.read_setup_of(document)
    }

    fn write_setup(&self, setup: &[u8]) -> Result<String, SetupError> {
        self.0.write_setup(setup)
    }

    fn canonical(&self, command: &str) -> Result<String, Malformed> {
        let is_loose = self.1 == Lie::ReadsLooselyWithoutAState;
        self.0.canonical(if is_loose { command.trim_start() } else { command })
    }

    fn rule_ids(&self, code: &str) -> Vec<&str> {
        self.0.rule_ids(code)
    }

    fn command_text(&self, command: &[u8]) -> Result<String, DecodeError> {
        self.0.command_text(if self.1 == Lie::WritesNoCommandOfALog { &[] } else { command })
    }

    fn start(&self, setup: &[u8]) -> Result<Box<dyn AnyState>, SetupError> {
        Ok(Box::new(LiarState(self.0.start(setup)?, self.1)))
    }

    fn resume(&self, state: &[u8], rolls: u64) -> Result<Box<dyn AnyState>, DecodeError> {
        Ok(Box::new(LiarState(self.0.resume(state, rolls)?, self.1)))
    }
}

impl AnyState for LiarState {
    fn players(&self) -> &[Seat] {
        self.0.players()
    }

    fn over(&self) -> bool {
        self.0.over()
    }

    fn result(&self) -> Option<MatchResult> {
        self.0.result()
    }

    fn turn(&self) -> Option<u64> {
        self.0.turn()
    }

    fn has_secrets(&self) -> bool {
        self.0.has_secrets()
    }

    fn read(&self, command: &str) -> Result<String, Malformed> {
        self.0.read(command)
    }

    fn due_roll(&self) -> Option<DueRoll> {
        self.0.due_roll()
    }

    fn rolls(&self) -> u64 {
        self.0.rolls()
    }

    fn seeded_roll(&self, dice: &DicePolicy) -> Option<Vec<i32>> {
        self.0.seeded_roll(dice)
    }

    fn roll_command(&self, values: Vec<i32>) -> Option<String> {
        self.0.roll_command(values)
    }

    fn default_seat(&self, command: &str) -> Option<Seat> {
        self.0.default_seat(command)
    }

    fn judge(&self, seat: Seat, command: &str) -> Result<Verdict, Rejected> {
        self.0.judge(seat, command)
    }

    fn fold(
        &mut self,
        log: &[Logged<'_>],
        dice: &DicePolicy,
        observe: &mut dyn FnMut(&mut dyn Step),
    ) -> Result<(), FoldError> {
        let surplus = usize::from(self.1 == Lie::FoldsManyOtherwise && log.len() > 64);
        self.0.fold(&log[..log.len() - surplus], dice, observe)
    }

    fn fold_as(
        &mut self,
        viewer: Perspective,
        log: &[Logged<'_>],
        dice: &DicePolicy,
        observe: &mut dyn FnMut(&mut dyn Step),
    ) -> Result<(), FoldError> {
        self.0.fold_as(viewer, log, dice, observe)
    }

    fn fold_as_at(
        &mut self,
        viewer: Perspective,
        now: &[u8],
        log: &[Logged<'_>],
        dice: &DicePolicy,
        observe: &mut dyn FnMut(&mut dyn Step),
    ) -> Result<(), FoldError> {
        self.0.fold_as_at(viewer, now, log, dice, observe)
    }

    fn state_hash(&self) -> Digest {
        self.0.state_hash()
    }

    fn state_hash_as(&self, version: u32) -> Digest {
        self.0.state_hash_as(version)
    }

    fn state_bytes(&self) -> Vec<u8> {
        self.0.state_bytes()
    }

    fn legal(&self, seat: Seat) -> Vec<String> {
        self.0.legal(seat)
    }

    fn targets(&self, command: &str) -> Targets {
        let targets = self.0.targets(command);
        let is_malformed = self.0.default_seat(command).is_none();
        if self.1 != Lie::TargetsTellState || is_malformed {
            return targets;
        }
        // One bit of the state, which a seat learns by listing its commands.
        Targets { irreversible: self.0.state_hash().as_bytes()[0] & 1 == 0, ..targets }
    }

    fn legal_at_random(&self, seat: Seat) -> Vec<String> {
        self.0.legal_at_random(seat)
    }

    fn choices(&self, seat: Seat) -> Vec<Choice> {
        let mut choices = self.0.choices(seat);
        if self.1 == Lie::ChoosesOthers {
            for choice in &mut choices {
                choice.legal = !choice.legal;
            }
        }
        choices
    }

    fn candidates(&self, seat: Seat) -> Vec<String> {
        self.0.candidates(seat)
    }

    fn random_command(&self, chance: &mut DiceStream) -> Option<(Seat, String)> {
        self.0.random_command(chance)
    }

    fn setup_seen(&self, setup: &[u8], viewer: Perspective) -> Result<Vec<u8>, SetupError> {
        self.0.setup_seen(setup, viewer)
    }

    fn view(&self, viewer: Perspective) -> Json {
        if self.1 == Lie::HangsInView {
            VIEWS.fetch_add(1, Ordering::Relaxed);
            let (what, kind) = ("out of fuel".into(), FaultKind::Exhausted);
            let module = Digest::new([0xa5; 32]);
            resume_unwind(Box::new(Fault {
                ruleset: "initiative".into(),
                version: 1,
                of: FaultOf::Module(module),
                what,
                kind,
            }));
        }
        self.0.view(viewer)
    }

    fn view_at(&self, viewer: Perspective, path: &str) -> Option<serde_json::Value> {
        self.0.view_at(viewer, path)
    }

    fn query(&self, viewer: Perspective, question: &str) -> Result<Answer, QueryError> {
        match (self.1, self.0.query(viewer, question)) {
            (Lie::AnswersWhatIsNotListed, Err(QueryError::Unknown { .. })) if question != "?" => {
                Ok(Answer::new(self.0.state_hash().to_string(), &0))
            }
            (Lie::ListsQuestionsByState, Err(QueryError::Unknown { ruleset, found, known })) => {
                let known = format!("{known}, `about{}`", self.0.state_hash());
                Err(QueryError::Unknown { ruleset, found, known })
            }
            (_, answer) => answer,
        }
    }

    fn picture(&self, viewer: Perspective) -> Picture {
        self.0.picture(viewer)
    }

    fn fork(&self) -> Box<dyn AnyState> {
        Box::new(Self(self.0.fork(), self.1))
    }

    fn trial(&self) -> Box<dyn AnyTrial> {
        self.0.trial()
    }
}

fn liar(lie: Lie) -> (Liar, [Fixture; 1]) {
    let rules = find("initiative").unwrap();
    let fixture = Fixture::example(&*rules);
    (Liar(rules, lie), [fixture])
}

fn check(lie: Lie, expected: &[Law]) {
    let (rules, fixtures) = liar(lie);
    let sentences = broken_laws(&rules, &fixtures);
    for sentence in &sentences {
        let names = |law: &Law| sentence.starts_with(&format!("`{law}` is broken: initiative, "));
        assert!(expected.iter().any(names), "{sentence}");
    }
    for law in expected {
        let name = format!("`{law}` is broken");
        assert!(sentences.iter().any(|sentence| sentence.starts_with(&name)), "{law} in {sentences:?}");
    }
}

#[test]
fn every_operation_is_held_to_a_law() {
    check(Lie::None, &[]);
    check(Lie::TargetsTellState, &[Law::Clicks]);
    check(Lie::AnswersWhatIsNotListed, &[Law::Questions]);
    check(Lie::ListsQuestionsByState, &[Law::Questions]);
    check(Lie::ChoosesOthers, &[Law::Choices]);
    check(Lie::ReadsNoSetupOfAFile, &[Law::Setups]);
    check(Lie::WritesNoCommandOfALog, &[Law::BytesRoundTrip]);
    check(Lie::ReadsLooselyWithoutAState, &[Law::Malformed]);
}

/// This needs more entries at once than any match of the other laws has.
#[test]
fn a_log_that_folds_otherwise_whole_than_in_parts_is_caught() {
    check(Lie::FoldsManyOtherwise, &[Law::Parts]);
}

/// Every other call would take as long, and there are thousands.
#[test]
fn the_first_call_that_takes_too_much_ends_the_laws() {
    check(Lie::HangsInView, &[Law::NoPanic]);
    assert_eq!(VIEWS.load(Ordering::Relaxed), 1);
}

#[test]
fn laws_end_when_no_one_waits_for_them() {
    let (rules, fixtures) = liar(Lie::None);
    let mut places = Vec::new();
    let tried = broken_laws_while(&rules, &fixtures, &mut |place| {
        places.push(place.to_owned());
        places.len() < 1_000
    });
    assert!(!tried.is_finished && tried.broken.is_empty() && places.len() == 1_000);
    assert!(places[999].starts_with("setup example, seed "), "{}", places[999]);
    assert!(tried.positions_tried < tried.positions, "{tried:?}");
    let tried = broken_laws_while(&rules, &fixtures, &mut |_| true);
    assert!(tried.is_finished && tried.broken.is_empty());
    assert_eq!((tried.matches, tried.positions_tried), (3, tried.positions));
}
