//! The laws by name, and the sentences that report violations.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};

use turnfold_core::{AnyRules, Fault, FaultKind};

/// How often a law is reported for a setup, because a faulty game breaks it at every step.
const REPEATS_MAX: u32 = 3;

/// Declares the laws in one table, because texts in several lists would easily diverge. Each row has the promise of the
/// law, the parts of `Rules` to write or change if the law is broken, and the wrong answers of a referee, in the words
/// of its protocol.
macro_rules! laws {
    ($($law:ident $promise:literal, $methods:literal, $answers:literal;)+) => {
        /// What every ruleset promises.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "`Display` states what each means")]
        pub enum Law {
            $($law),+
        }

        impl Law {
            /// Every law.
            pub const ALL: [Self; [$(stringify!($law)),+].len()] = [$(Self::$law),+];

            const fn methods(self) -> &'static str {
                match self {
                    $(Self::$law => $methods),+
                }
            }

            const fn answers(self) -> &'static str {
                match self {
                    $(Self::$law => $answers),+
                }
            }
        }

        impl Display for Law {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(match self {
                    $(Self::$law => $promise),+
                })
            }
        }
    };
}

laws! {
    TextRoundTrip "a command reads back from its text",
        "`Display` and `FromStr` of `Command`", "`legal` and `read`";
    BytesRoundTrip "a command reads back from its bytes and from no others",
        "`Serialize` and `Deserialize` of `Command`", "`legal` and `read`";
    LegalIsWhatApplies "legal lists what judge applies",
        "`candidates` and `decide`", "`legal` and `fold`";
    NothingElseChanges "only applied commands change the state",
        "`decide`, which only reads", "`ignored` and `stop` of `fold`";
    AppliedHasEffects "applied commands have effects and others have none",
        "`carry_out`", "`effects` of a step";
    EffectForms "the text and the JSON of effects agree",
        "`Display` and `Serialize` of `Effect`", "`effects` of a step";
    OutcomeRoundTrip "an outcome reads back from its text",
        "`Display` and `Serialize` of `Effect`", "`effects` of a step";
    Resuming "resuming anywhere equals playing on",
        "`State`, which holds everything",
        "the `state`, which holds everything that the rules look back on";
    Rolls "a due roll comes first and as due",
        "`due_roll`, `roll`, `rolled` and `candidates` of the host", "`due` of a status";
    DiceCountRolls "only a roll that is applied changes the rolls of seeded dice to come",
        "`due_roll` and `rolled`", "`due` of a status";
    MatchOver "a match that is over takes no more commands",
        "`over`", "`players`, `over` and `result` of a status";
    Seats "each command is for the host or for players",
        "`issuer` and `players`", "`players`, `over` and `result` of a status";
    Malformed "malformed text is rejected as such",
        "`Display` and `FromStr` of `Command`", "`ignored` and `stop` of `fold`";
    Views "a view is a JSON object that begins with its ruleset, and no field of it differs when asked for alone",
        "`view` and `view_with`", "`see` and `query`, which follow from their request alone";
    Stable "asking twice gives the same answer",
        "`view`, `query` and `picture`, which only read",
        "`see` and `query`, which follow from their request alone";
    Secrecy "a viewer sees nothing of a concealed entry",
        "`shows`, `view`, `candidates`, `query`, `picture`, `result` and `turn`",
        "`to` of steps and effects, `see`, `legal` and `query`";
    SeatsFile "what a viewer may know of a match is a match that looks the same",
        "`setup_seen` and `shows`", "`to` of steps and effects, `see`, `legal` and `query`";
    ShownStays "what is shown at one head is shown at every later one",
        "`shows`", "`to` of steps and effects, `see`, `legal` and `query`";
    Spectators "what is shown to a spectator is shown to every player",
        "`shows`", "`to` of steps and effects, `see`, `legal` and `query`";
    Leaks "what a viewer is shown reveals no field that its view conceals",
        "`SECRETS`, `shows`, `setup_seen` and `view`",
        "`to` of steps and effects, `see`, `legal` and `query`";
    Secrets "`SECRETS` says whether anything is concealed",
        "`SECRETS`, `shows`, `setup_seen` and `view`", "`secrets` of `hello`";
    Setups "a setup reads back and a bad one is an error",
        "`Setup` and `start`", "`start`";
    Description "a ruleset has a plain name, a summary in one line, and rules for players",
        "`NAME`, `SUMMARY`, `RULEBOOK` and `MAIL_TERMS`", "`hello`";
    Typing "what is typed is read as its canonical text, and canonical text as itself",
        "`read`", "`legal` and `read`";
    Result "only a match that is over has a result, of its players",
        "`result` and `over`", "`players`, `over` and `result` of a status";
    Targets "a picture has each place and piece that legal commands are given with",
        "`targets` and `picture`", "`targets` and `see`";
    Clicks "what of a command is clicked follows from the command alone",
        "`targets`, which knows the command and no state", "`targets` and `see`";
    Choices "random play chooses from the candidates and knows which are legal",
        "`candidates` and `left_out_at_random`", "`legal` and `fold`";
    Questions "only listed questions are answered, and the list is one in every state",
        "`QUERIES` and `query`", "`queries` of `hello`, and `query`";
    Parts "a log folds the same whole, in parts and entry by entry",
        "`State`, which holds everything, and the operation `fold` of a module",
        "`fold`, whose batches equal single folds";
    NoPanic "nothing panics",
        "what is named above", "";
}

/// A callback that receives the current place of the tests, and returns `false` to end them.
pub type Watch<'a> = &'a mut dyn FnMut(&str) -> bool;

/// Why the tests ended early.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// A call of a module exceeded its limit. Further calls would do the same and take as long.
    Exhausted,
    /// The caller ended the tests, or the time for all calls was used up.
    Unfinished,
}

/// Collects violations, and knows the current place of the tests.
pub(crate) struct LawReport<'w> {
    ruleset: String,
    /// Whether the rules are a referee's; fewer laws apply to them (RF-22).
    is_referee: bool,
    setup: String,
    seed: Option<u8>,
    step: usize,
    doing: String,
    repeats: BTreeMap<(Law, String), u32>,
    sentences: Vec<String>,
    watch: Option<Watch<'w>>,
    end: Option<End>,
    pub(crate) matches: usize,
    pub(crate) positions: usize,
    pub(crate) positions_tried: usize,
}

impl<'w> LawReport<'w> {
    pub(crate) fn new(rules: &dyn AnyRules) -> Self {
        Self {
            ruleset: rules.name().into(),
            is_referee: rules.referee().is_some(),
            setup: String::from("none"),
            seed: None,
            step: 0,
            doing: String::new(),
            repeats: BTreeMap::new(),
            sentences: Vec::new(),
            watch: None,
            end: None,
            matches: 0,
            positions: 0,
            positions_tried: 0,
        }
    }

    pub(crate) fn watched(rules: &dyn AnyRules, watch: Watch<'w>) -> Self {
        Self { watch: Some(watch), ..Self::new(rules) }
    }

    pub(crate) fn is_referee(&self) -> bool {
        self.is_referee
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// Returns `true` unless the tests ended before all were done.
    pub(crate) fn is_finished(&self) -> bool {
        self.end != Some(End::Unfinished)
    }

    fn place(&self) -> String {
        let Self { setup, step, .. } = self;
        let seed = self.seed.map_or_else(String::new, |seed| format!(", seed {seed}, after entry {step}"));
        format!("setup {setup}{seed}")
    }

    pub(crate) fn into_sentences(self) -> Vec<String> {
        self.sentences
    }

    pub(crate) fn require_nothing_broken(self) {
        assert!(self.sentences.is_empty(), "{}", self.sentences.join("\n"));
    }

    /// Sets the current setup, or the current match from it.
    pub(crate) fn enter(&mut self, setup: &str, seed: Option<u8>) {
        setup.clone_into(&mut self.setup);
        self.seed = seed;
        self.step(0);
    }

    /// Sets the current moment: after `step` entries.
    pub(crate) fn step(&mut self, step: usize) {
        self.step = step;
        self.doing.clear();
    }

    /// Sets what is being tried, such as a seat and a command.
    pub(crate) fn doing(&mut self, what: impl Display) {
        self.doing.clear();
        // A text that is too long ends with an error, so that its rest is not even formatted.
        let _ = write!(Shortened(&mut self.doing), "{what}");
    }

    pub(crate) fn broke(&mut self, law: Law, how: impl Display) {
        let repeats = self.repeats.entry((law, self.setup.clone())).or_default();
        *repeats += 1;
        if *repeats > REPEATS_MAX {
            return;
        }
        let Self { ruleset, doing, .. } = &*self;
        let place = self.place();
        let doing = if doing.is_empty() { String::new() } else { format!(", {doing}") };
        let how = shortened(&how.to_string());
        let cause = if self.is_referee { law.answers() } else { law.methods() };
        let law = match law {
            Law::NoPanic if self.is_referee => "every request gets a usable answer".into(),
            Law::Secrets if self.is_referee => "a game says whether it has secrets".into(),
            law => law.to_string(),
        };
        let see = if cause.is_empty() { "" } else { "; see " };
        self.sentences.push(format!("`{law}` is broken: {ruleset}, {place}{doing}: {how}{see}{cause}"));
    }

    pub(crate) fn expect(&mut self, law: Law, kept: bool, how: impl FnOnce() -> String) {
        if !kept {
            self.broke(law, how());
        }
    }

    /// Runs `check`, and records a panic as a broken law.
    pub(crate) fn guard<T>(&mut self, check: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.has_ended() {
            return None;
        }
        let place = self.place();
        if self.watch.as_mut().is_some_and(|watch| !watch(&place)) {
            self.end = Some(End::Unfinished);
            return None;
        }
        // A report is consistent after every violation added, so it can be used after a panic.
        let panic = match catch_unwind(AssertUnwindSafe(|| check(self))) {
            Ok(value) => return Some(value),
            Err(panic) => panic,
        };
        let Some(fault) = panic.downcast_ref::<Fault>() else {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or_default();
            self.broke(Law::NoPanic, format!("panicked with `{text}`"));
            return None;
        };
        match fault.kind {
            FaultKind::Overrun => self.end = Some(End::Unfinished),
            FaultKind::Exhausted => {
                self.end = Some(End::Exhausted);
                self.broke(Law::NoPanic, fault.to_string());
            }
            FaultKind::Broken => self.broke(Law::NoPanic, fault.to_string()),
        }
        None
    }
}

/// The number of bytes of a text that are reported, or a few less.
const LENGTH_MAX: usize = 400;

struct Shortened<'a>(&'a mut String);

impl fmt::Write for Shortened<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = LENGTH_MAX.saturating_sub(self.0.len());
        if text.len() <= room {
            self.0.push_str(text);
            return Ok(());
        }
        self.0.push_str(&text[..text.floor_char_boundary(room)]);
        self.0.push('…');
        Err(fmt::Error)
    }
}

fn shortened(text: &str) -> String {
    let mut short = String::new();
    let _ = Shortened(&mut short).write_str(text);
    short
}
