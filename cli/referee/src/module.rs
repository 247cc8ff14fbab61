//! A loaded module: its instances, and how they are asked.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use turnfold_core::Digest;
use turnfold_core::any::FaultOf;
use turnfold_core::text::in_one_line;

use crate::carrier::{Carrier, Effort, NoAnswer};
use crate::form::Form;
use crate::instance::{Budget, CallTime, Instance};
use crate::json::JsonNode;
use crate::load::LoadError;
use crate::locked;

/// How many instances of a module may wait for the next request, and the most bytes of memory of each (MD-6).
const IDLE_MAX: usize = 4;
const IDLE_BYTES_MAX: usize = 16 << 20;

/// The most bytes of memory of the waiting instances of all modules (MD-6).
const ALL_IDLE_BYTES_MAX: usize = 64 << 20;

static ALL_IDLE_BYTES: AtomicUsize = AtomicUsize::new(0);

/// The id of every request. All may have the same one, because a call has one answer.
const ID: i64 = 1;

pub(crate) struct Module {
    form: Arc<Form>,
    digest: Digest,
    idle: Mutex<Vec<Instance>>,
}

impl Module {
    pub(crate) fn load(file: &[u8], digest: Digest) -> Result<Self, LoadError> {
        Ok(Self { form: Arc::new(Form::read(file)?), digest, idle: Mutex::default() })
    }

    fn take(&self) -> Result<Instance, NoAnswer> {
        let Some(instance) = locked(&self.idle).pop() else { return Instance::new(&self.form) };
        ALL_IDLE_BYTES.fetch_sub(instance.memory_bytes(), Ordering::Relaxed);
        Ok(instance)
    }

    fn put_back(&self, instance: Instance) {
        let bytes = instance.memory_bytes();
        let mut idle = locked(&self.idle);
        if idle.len() < IDLE_MAX
            && bytes <= IDLE_BYTES_MAX
            && ALL_IDLE_BYTES
                .try_update(Ordering::Relaxed, Ordering::Relaxed, |all| {
                    all.checked_add(bytes).filter(|all| *all <= ALL_IDLE_BYTES_MAX)
                })
                .is_ok()
        {
            idle.push(instance);
        }
    }
}

impl Carrier for Module {
    /// Calls an instance. After a trap, calls a fresh instance once (MD-6).
    fn ask(&self, op: &'static str, args: &str, effort: Effort) -> Result<JsonNode, NoAnswer> {
        let request = format!("{{\"id\":{ID},\"op\":\"{op}\",\"args\":{args}}}");
        let budget = Budget::of(effort);
        let mut instance = self.take()?;
        let was_fresh = instance.is_fresh;
        let time = CallTime::of(budget)?;
        let mut answer = instance.request(request.as_bytes(), budget, &time).map(read);
        if !was_fresh && matches!(answer, Err(NoAnswer::Ended(_) | NoAnswer::OutOfMemory)) {
            instance = Instance::new(&self.form)?;
            answer = instance.request(request.as_bytes(), budget, &time).map(read);
        }
        let answer = answer?.map_err(NoAnswer::Broke)?;
        self.put_back(instance);
        Ok(answer)
    }

    fn named(&self) -> FaultOf {
        FaultOf::Module(self.digest)
    }

    fn second(&self) -> Result<Box<dyn Carrier>, NoAnswer> {
        Ok(Box::new(Self { form: self.form.clone(), digest: self.digest, idle: Mutex::default() }))
    }
}

fn read(answer: &[u8]) -> Result<JsonNode, String> {
    let text = std::str::from_utf8(answer).map_err(|_| "its answer is not UTF-8")?;
    let answer =
        JsonNode::read(text).map_err(|why| format!("its answer cannot be read: {}", in_one_line(&why)))?;
    match answer.integer_in("id") {
        Some(ID) => Ok(answer),
        Some(other) => Err(format!("its answer to request {ID} has the id {other}")),
        None => Err(format!("its answer to request {ID} has no id")),
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        let idle = self.idle.get_mut().unwrap_or_else(PoisonError::into_inner);
        for instance in idle {
            ALL_IDLE_BYTES.fetch_sub(instance.memory_bytes(), Ordering::Relaxed);
        }
    }
}
