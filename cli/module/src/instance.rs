//! Instances of a module: how one is called, and with which limits (MD-6).

use std::time::{Duration, Instant};

use turnfold_guest::message::ABI;
use wasmi::errors::{ErrorKind, InstantiationError, MemoryError, TableError};
use wasmi::{Memory, Store, StoreLimits, StoreLimitsBuilder, TrapCode, TypedFunc, TypedResumableCall};

use crate::form::{Form, MEMORY_BYTES_MAX};

/// The most bytes of a request, and of an answer (MD-4).
pub(crate) const MESSAGE_BYTES_MAX: usize = 64 << 20;

/// The most elements of a table: a module has fewer functions than that to call indirectly.
const TABLE_ELEMENTS_MAX: usize = 1 << 20;

/// What an instance may burn for one entry, and for one call (MD-6).
const FUEL_OF_ENTRY: u64 = 1_000_000_000;
const FUEL_OF_CALL: u64 = 100 * FUEL_OF_ENTRY;

/// How long a call may take (MD-6).
const TIME_OF_CALL: Duration = Duration::from_secs(10);

/// How many times the limits hold for entries that are recorded already, so that no log becomes unreadable (MD-6).
const WIDER: u32 = 4;

/// Fuel between two looks at the clock: some hundredths of a second.
const FUEL_OF_SLICE: u64 = 50_000_000;

/// What one call may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    fuel: u64,
    time: Duration,
}

impl Budget {
    /// Returns what a call may take that folds nothing.
    pub(crate) const CALL: Self = Self { fuel: FUEL_OF_CALL, time: TIME_OF_CALL };

    /// What a call may take that only returns which messages a module speaks.
    const ABI: Self = Self { fuel: 1_000_000, time: TIME_OF_CALL };

    /// Returns the budget of a call that judges or folds `count` new entries.
    pub(crate) fn of_entries(count: usize) -> Self {
        let fuel = u64::try_from(count).unwrap_or(u64::MAX).saturating_mul(FUEL_OF_ENTRY).min(FUEL_OF_CALL);
        Self { fuel, ..Self::CALL }
    }

    /// Returns the budget for entries that are recorded already.
    pub(crate) fn wider(self) -> Self {
        Self { fuel: self.fuel.saturating_mul(u64::from(WIDER)), time: self.time.saturating_mul(WIDER) }
    }
}

/// Why an instance gave no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    OutOfFuel,
    OutOfTime(Duration),
    OutOfMemory,
    /// The trap, in the words of WebAssembly.
    Trapped(String),
    /// The law that the answer broke.
    Broke(String),
}

impl std::fmt::Display for Stop {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::OutOfFuel => out.write_str("out of fuel"),
            Self::OutOfTime(limit) => write!(out, "no answer within {} s", limit.as_secs()),
            Self::OutOfMemory => out.write_str("out of memory"),
            Self::Trapped(trap) => write!(out, "trapped: {trap}"),
            Self::Broke(law) => out.write_str(law),
        }
    }
}

impl From<wasmi::Error> for Stop {
    fn from(error: wasmi::Error) -> Self {
        match (error.as_trap_code(), error.kind()) {
            (Some(TrapCode::OutOfFuel), _) => Self::OutOfFuel,
            (Some(TrapCode::GrowthOperationLimited | TrapCode::OutOfSystemMemory), _)
            | (
                _,
                ErrorKind::Memory(MemoryError::ResourceLimiterDeniedAllocation)
                | ErrorKind::Table(TableError::ResourceLimiterDeniedAllocation)
                | ErrorKind::Instantiation(
                    InstantiationError::FailedToInstantiateMemory(_)
                    | InstantiationError::FailedToInstantiateTable(_),
                ),
            ) => Self::OutOfMemory,
            (Some(trap), _) => Self::Trapped(trap.trap_message().into()),
            (None, _) => Self::Trapped(error.to_string()),
        }
    }
}

/// A module that runs: its memory, and what is called in it.
pub(crate) struct Instance {
    store: Store<StoreLimits>,
    memory: Memory,
    alloc: TypedFunc<i32, i32>,
    call: TypedFunc<(i32, i32), i64>,
    /// Whether nothing was called yet.
    pub(crate) is_fresh: bool,
}

impl Instance {
    /// Makes an instance, with a memory that nothing was written to.
    pub(crate) fn new(form: &Form) -> Result<Self, Stop> {
        let limits =
            StoreLimitsBuilder::new().memory_size(MEMORY_BYTES_MAX).table_elements(TABLE_ELEMENTS_MAX);
        let mut store = Store::new(form.module.engine(), limits.trap_on_grow_failure(true).build());
        store.limiter(|limits| limits);
        store.set_fuel(FUEL_OF_CALL)?;
        let instance = form.linker.instantiate_and_start(&mut store, &form.module)?;
        let no_memory = || Stop::Broke("it exports no memory".into());
        let mut made = Self {
            memory: instance.get_memory(&store, "memory").ok_or_else(no_memory)?,
            alloc: instance.get_typed_func(&store, "turnfold_alloc")?,
            call: instance.get_typed_func(&store, "turnfold_call")?,
            store,
            is_fresh: true,
        };
        let abi = instance.get_typed_func(&made.store, "turnfold_abi")?;
        match made.run(abi, (), &mut Spending::new(Budget::ABI))? {
            ABI => Ok(made),
            other => Err(Stop::Broke(format!(
                "it speaks version {other} of the messages, this build speaks {ABI}"
            ))),
        }
    }

    /// Returns how many bytes the instance's memory has.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.memory.data_size(&self.store)
    }

    /// Passes the module a request; returns its answer, which is there until the next call.
    pub(crate) fn request(&mut self, request: &[u8], budget: Budget) -> Result<&[u8], Stop> {
        let too_large = || Stop::Broke(format!("a request of {} bytes is larger than 64 MiB", request.len()));
        let length = i32::try_from(request.len()).map_err(|_| too_large())?;
        if request.len() > MESSAGE_BYTES_MAX {
            return Err(too_large());
        }
        self.is_fresh = false;
        let mut spending = Spending::new(budget);
        let place = self.run(self.alloc, length, &mut spending)?;
        let outside = || Stop::Broke("room for a request is outside of the memory".into());
        let offset = usize::try_from(place.cast_unsigned()).map_err(|_| outside())?;
        self.memory.write(&mut self.store, offset, request).map_err(|_| outside())?;
        let answer = self.run(self.call, (place, length), &mut spending)?.cast_unsigned();
        let outside = || Stop::Broke("an answer is outside of the memory".into());
        let part = |bits: u64| usize::try_from(bits).map_err(|_| outside());
        let (start, bytes) = (part(answer >> 32)?, part(answer & u64::from(u32::MAX))?);
        if bytes > MESSAGE_BYTES_MAX {
            return Err(Stop::Broke(format!("an answer of {bytes} bytes is larger than 64 MiB")));
        }
        let memory = self.memory.data(&self.store);
        memory.get(start..start.saturating_add(bytes)).ok_or_else(outside)
    }

    /// Runs a function slice by slice, so that neither its fuel nor its time runs out unnoticed.
    fn run<P: wasmi::WasmParams, R: wasmi::WasmResults>(
        &mut self,
        function: TypedFunc<P, R>,
        arguments: P,
        spending: &mut Spending,
    ) -> Result<R, Stop> {
        let mut granted = spending.grant(0)?;
        self.store.set_fuel(granted)?;
        let mut running = function.call_resumable(&mut self.store, arguments)?;
        loop {
            let unspent = self.store.get_fuel()?;
            spending.spend(granted.saturating_sub(unspent));
            match running {
                TypedResumableCall::Finished(result) => return Ok(result),
                TypedResumableCall::HostTrap(_) => return Err(Stop::Trapped("a call of the host".into())),
                TypedResumableCall::OutOfFuel(paused) => {
                    granted = spending.grant(paused.required_fuel())?;
                    self.store.set_fuel(granted)?;
                    running = paused.resume(&mut self.store)?;
                }
            }
        }
    }
}

/// What is left of a budget while a call runs.
struct Spending {
    fuel: u64,
    since: Instant,
    budget: Budget,
}

impl Spending {
    #[expect(clippy::disallowed_methods, reason = "a limit, which no answer depends on")]
    fn new(budget: Budget) -> Self {
        Self { fuel: budget.fuel, since: Instant::now(), budget }
    }

    fn spend(&mut self, fuel: u64) {
        self.fuel = self.fuel.saturating_sub(fuel);
    }

    /// Grants fuel for the next slice, at least as much as the next step needs.
    fn grant(&self, least: u64) -> Result<u64, Stop> {
        if self.since.elapsed() > self.budget.time {
            return Err(Stop::OutOfTime(self.budget.time));
        }
        if self.fuel < least.max(1) {
            return Err(Stop::OutOfFuel);
        }
        Ok(self.fuel.min(FUEL_OF_SLICE.max(least)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDLESS: &str = r#"(module
        (memory (export "memory") 1)
        (func (export "turnfold_abi") (result i32) (i32.const 1))
        (func (export "turnfold_alloc") (param i32) (result i32) (i32.const 0))
        (func (export "turnfold_call") (param i32 i32) (result i64) (loop (br 0)) (unreachable)))"#;

    fn stop(budget: Budget) -> Stop {
        let form = Form::read(&wat::parse_str(ENDLESS).unwrap()).unwrap();
        Instance::new(&form).unwrap().request(b"{}", budget).unwrap_err()
    }

    #[test]
    fn md_6_an_endless_loop_runs_out_of_fuel_or_time() {
        let fuel = 3 * FUEL_OF_SLICE;
        assert_eq!(stop(Budget { fuel, time: Duration::MAX }), Stop::OutOfFuel);
        assert_eq!(stop(Budget { fuel: 1, time: Duration::MAX }), Stop::OutOfFuel);
        let time = Duration::from_millis(1);
        assert_eq!(stop(Budget { fuel: u64::MAX, time }), Stop::OutOfTime(time));
    }

    #[test]
    fn md_6_recorded_entries_have_four_times_the_limits() {
        let [one, many] = [Budget::of_entries(1), Budget::of_entries(1_000)];
        assert_eq!(
            [one.fuel, many.fuel, Budget::CALL.fuel],
            [1_000_000_000, 100_000_000_000, 100_000_000_000]
        );
        assert_eq!((one.wider().fuel, one.wider().time), (4_000_000_000, Duration::from_secs(40)));
    }
}
