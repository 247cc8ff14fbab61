//! A ruleset that poses as a module, to test pins and faults of modules without a real module.

use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use turnfold_core::any::{FaultKind, FaultOf};
use turnfold_core::decode::DecodeError;
use turnfold_core::{AnyRules, AnyState, Digest, Fault, Malformed, SetupError};

/// The digest of the module that each ruleset claims to be.
const MODULE: Digest = Digest::new([0xa5; 32]);

/// Whether the module fails at a move that takes three stones.
pub(crate) static FAILS: AtomicBool = AtomicBool::new(false);

/// Whether the module fails only while it is checked, like a module whose answers depend on its memory.
pub(crate) static REMEMBERS: AtomicBool = AtomicBool::new(false);

/// Fails as a module does, if it should fail.
pub(crate) fn fail_at(count: u8) {
    if count == 3 && FAILS.load(Ordering::Relaxed) {
        let what = "trapped: unreachable".into();
        panic::resume_unwind(Box::new(Fault {
            ruleset: "heaps".into(),
            version: 1,
            of: FaultOf::Module(MODULE),
            what,
            kind: FaultKind::Broken,
        }));
    }
}

/// A ruleset that poses as a module.
pub(crate) struct ToyModule(pub(crate) Arc<dyn AnyRules>);

impl AnyRules for ToyModule {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn version(&self) -> u32 {
        self.0.version()
    }

    fn module(&self) -> Option<Digest> {
        Some(MODULE)
    }

    fn distrusting(&self) -> Option<Arc<dyn AnyRules>> {
        REMEMBERS.load(Ordering::Relaxed).then(|| {
            FAILS.store(true, Ordering::Relaxed);
            Arc::new(Self(Arc::clone(&self.0))) as Arc<dyn AnyRules>
        })
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
        self.0.read_setup_of(document)
    }

    fn write_setup(&self, setup: &[u8]) -> Result<String, SetupError> {
        self.0.write_setup(setup)
    }

    fn canonical(&self, command: &str) -> Result<String, Malformed> {
        self.0.canonical(command)
    }

    fn rule_ids(&self, code: &str) -> Vec<&str> {
        self.0.rule_ids(code)
    }

    fn command_text(&self, command: &[u8]) -> Result<String, DecodeError> {
        self.0.command_text(command)
    }

    fn start(&self, setup: &[u8]) -> Result<Box<dyn AnyState>, SetupError> {
        self.0.start(setup)
    }

    fn resume(&self, state: &[u8], rolls: u64) -> Result<Box<dyn AnyState>, DecodeError> {
        self.0.resume(state, rolls)
    }
}
