//! A module that was loaded: its instances, and how it is asked.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use turnfold_core::Digest;
use turnfold_core::any::{Fault, FaultKind, FaultOf};
use turnfold_core::text::in_one_line;
use turnfold_guest::message::{Describe, Description, Op, OpReply, Request};

use crate::file::LoadError;
use crate::form::Form;
use crate::instance::{Budget, CallTime, Instance, Stop};
use crate::laws::Lawful;

/// How many instances of a module wait for the next request, and the most bytes of the memory of one that does (MD-6).
const IDLE_MAX: usize = 4;
const IDLE_BYTES_MAX: usize = 16 << 20;

/// The most bytes that the waiting instances of all modules have (MD-6).
const ALL_IDLE_BYTES_MAX: usize = 64 << 20;

/// How many bytes the waiting instances of all modules have.
static ALL_IDLE_BYTES: AtomicUsize = AtomicUsize::new(0);

/// How much of a module's own words an error repeats.
const QUOTED_CHARS_MAX: usize = 200;

/// A module that was loaded.
pub(crate) struct Module {
    form: Form,
    digest: Digest,
    description: Description,
    /// Instances that wait for the next request.
    idle: Mutex<Vec<Instance>>,
}

impl Module {
    /// Checks the form of a file and asks what it is.
    pub(crate) fn load(file: &[u8], digest: Digest) -> Result<Self, LoadError> {
        let unknown = Description {
            name: String::new(),
            version: 0,
            summary: String::new(),
            example: String::new(),
            rulebook: String::new(),
            mail_terms: String::new(),
            secrets: turnfold_guest::message::Secrecy::None,
            ignored: Vec::new(),
            rejected: Vec::new(),
        };
        let idle = Mutex::default();
        let mut module = Self { form: Form::read(file)?, digest, description: unknown, idle };
        let described = module.try_ask(Describe {}, Budget::CALL);
        let described = described.map_err(|stop| LoadError::NoModule(stop.to_string()))?;
        module.description = described.unwrap_or_else(|never| match never {});
        Ok(module)
    }

    /// Returns the digest of its file.
    pub(crate) fn digest(&self) -> Digest {
        self.digest
    }

    /// Returns what it describes itself as.
    pub(crate) fn description(&self) -> &Description {
        &self.description
    }

    /// Asks the module.
    pub(crate) fn ask<O>(&self, op: O, budget: Budget) -> Result<O::Answer, O::Error>
    where
        O: Op<Answer: Lawful, Error: Lawful>,
    {
        self.try_ask(op, budget).unwrap_or_else(|stop| self.stop(&stop))
    }

    /// Asks the module; after a trap, once more in an instance in which nothing was called yet (MD-6).
    pub(crate) fn try_ask<O>(&self, op: O, budget: Budget) -> Result<Result<O::Answer, O::Error>, Stop>
    where
        O: Op<Answer: Lawful, Error: Lawful>,
    {
        let request = encode(op)?;
        let mut instance = self.take()?;
        let was_fresh = instance.is_fresh;
        let time = CallTime::of(budget)?;
        let mut reply = self.reply::<O>(&mut instance, &request, budget, &time);
        if !was_fresh && matches!(reply, Err(Stop::Trapped(_) | Stop::OutOfMemory)) {
            instance = Instance::new(&self.form)?;
            reply = self.reply::<O>(&mut instance, &request, budget, &time);
        }
        if reply.is_ok() {
            self.put_back(instance);
        }
        reply
    }

    /// Makes an instance in which nothing was called yet, and which the caller alone calls (MD-7).
    pub(crate) fn fresh(&self) -> Instance {
        Instance::new(&self.form).unwrap_or_else(|stop| self.stop(&stop))
    }

    /// Asks an instance of the caller's.
    pub(crate) fn ask_in<O>(
        &self,
        instance: &mut Instance,
        op: O,
        budget: Budget,
    ) -> Result<O::Answer, O::Error>
    where
        O: Op<Answer: Lawful, Error: Lawful>,
    {
        let ask = || self.reply::<O>(instance, &encode(op)?, budget, &CallTime::of(budget)?);
        ask().unwrap_or_else(|stop| self.stop(&stop))
    }

    /// Reads the reply to a request, strictly by its type (MD-7).
    fn reply<O>(
        &self,
        instance: &mut Instance,
        request: &[u8],
        budget: Budget,
        time: &CallTime,
    ) -> Result<Result<O::Answer, O::Error>, Stop>
    where
        O: Op<Answer: Lawful, Error: Lawful>,
    {
        let reply = instance.request(request, budget, time)?;
        let text = std::str::from_utf8(reply).map_err(|_| broke("its answer is not UTF-8"))?;
        let reply = serde_json::from_str::<OpReply<O::Answer, O::Error>>(text);
        let mut reply = match reply.map_err(|error| broke(&format!("its answer cannot be read: {error}")))? {
            OpReply::Answer(answer) => Ok(answer),
            OpReply::Error(error) => Err(error),
            OpReply::Refused(why) => return Err(broke(&format!("it refused a request: {why}"))),
        };
        let checked = match &mut reply {
            Ok(answer) => answer.check(&self.description),
            Err(error) => error.check(&self.description),
        };
        checked.map_err(|law| broke(&law))?;
        Ok(reply)
    }

    fn take(&self) -> Result<Instance, Stop> {
        let Some(instance) = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop() else {
            return Instance::new(&self.form);
        };
        ALL_IDLE_BYTES.fetch_sub(instance.memory_bytes(), Ordering::Relaxed);
        Ok(instance)
    }

    /// Keeps an instance for the next request, if there is room for its memory.
    fn put_back(&self, instance: Instance) {
        let bytes = instance.memory_bytes();
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let has_room = |all: usize| all.checked_add(bytes).filter(|all| *all <= ALL_IDLE_BYTES_MAX);
        if idle.len() < IDLE_MAX
            && bytes <= IDLE_BYTES_MAX
            && ALL_IDLE_BYTES.try_update(Ordering::Relaxed, Ordering::Relaxed, has_room).is_ok()
        {
            idle.push(instance);
        }
    }

    /// Unwinds with a [`Fault`], which the edge of the program catches. No panic hook runs.
    pub(crate) fn stop(&self, stop: &Stop) -> ! {
        let Description { name: ruleset, version, .. } = &self.description;
        let (ruleset, version, of) = (ruleset.clone(), *version, FaultOf::Module(self.digest));
        let kind = match stop {
            Stop::OutOfFuel | Stop::OutOfTime(_) | Stop::OutOfMemory => FaultKind::Exhausted,
            Stop::Overrun(_) => FaultKind::Overrun,
            Stop::Trapped(_) | Stop::Broke(_) => FaultKind::Broken,
        };
        resume_unwind(Box::new(Fault { ruleset, version, of, what: stop.to_string(), kind }))
    }

    /// Requires a law to hold.
    pub(crate) fn require(&self, holds: bool, broken: &str) {
        if !holds {
            self.stop(&broke(broken));
        }
    }
}

fn encode(op: impl Into<Request>) -> Result<Vec<u8>, Stop> {
    serde_json::to_vec(&op.into()).map_err(|error| broke(&format!("a request cannot be written: {error}")))
}

impl Drop for Module {
    fn drop(&mut self) {
        let idle = self.idle.get_mut().unwrap_or_else(PoisonError::into_inner);
        let bytes = idle.iter().map(Instance::memory_bytes).sum();
        ALL_IDLE_BYTES.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Describes a broken law on one line that is not long.
fn broke(law: &str) -> Stop {
    Stop::Broke(in_one_line(law).chars().take(QUOTED_CHARS_MAX).collect())
}
