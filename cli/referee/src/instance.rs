//! Instances of a module: how one is called, and with which limits (MD-6).

use std::time::{Duration, Instant};

use wasmi::errors::{ErrorKind, InstantiationError, MemoryError, TableError};
use wasmi::{Memory, Store, StoreLimits, StoreLimitsBuilder, TrapCode, TypedFunc, TypedResumableCall};

use crate::allowance::{self, Allowance};
use crate::carrier::{Effort, NoAnswer};
use crate::form::{Form, MEMORY_BYTES_MAX};

/// The most bytes of a request, and of an answer (MD-4).
pub(crate) const MESSAGE_BYTES_MAX: usize = 64 << 20;

/// The version of the exports, which `turnfold_abi` returns.
const ABI: i32 = 2;

/// The most elements of a table. A module has fewer functions to call indirectly.
const TABLE_ELEMENTS_MAX: usize = 1 << 20;

/// How much fuel one entry may burn, and one call (MD-6).
const FUEL_OF_ENTRY: u64 = 1_000_000_000;
const FUEL_OF_CALL: u64 = 100 * FUEL_OF_ENTRY;

/// How long a call may take (MD-6), also for recorded entries. Fuel ends slow calls; this ends calls that hang.
const TIME_OF_CALL: Duration = Duration::from_secs(10);

/// How long a call that folds many entries may take. After that each of them is folded alone, within the rest of the
/// time of a call. So if the module hangs, a reader of the log waits only as long as for one call.
const TIME_OF_MANY: Duration = Duration::from_secs(2);

/// How many times as much fuel recorded entries may burn, so that no log becomes unreadable (MD-6).
const WIDER: u64 = 4;

/// Fuel between two looks at the clock: some hundredths of a second.
const FUEL_OF_SLICE: u64 = 50_000_000;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    fuel: u64,
    time: Duration,
}

impl Budget {
    const CALL: Self = Self { fuel: FUEL_OF_CALL, time: TIME_OF_CALL };

    const ABI: Self = Self { fuel: 1_000_000, time: TIME_OF_CALL };

    /// Returns the budget of a request. If many entries take too long, each of them is folded alone.
    pub(crate) fn of(effort: Effort) -> Self {
        let Effort { entries, is_new } = effort;
        let mut budget = Self::CALL;
        if entries > 0 {
            let count = u64::try_from(entries).unwrap_or(u64::MAX);
            budget.fuel = count.saturating_mul(FUEL_OF_ENTRY).min(FUEL_OF_CALL);
            budget.time = if entries > 1 { TIME_OF_MANY } else { TIME_OF_CALL.saturating_sub(TIME_OF_MANY) };
        }
        if !is_new {
            budget.fuel = budget.fuel.saturating_mul(WIDER);
        }
        budget
    }
}

impl From<wasmi::Error> for NoAnswer {
    fn from(error: wasmi::Error) -> Self {
        match (error.as_trap_code(), error.kind()) {
            (Some(TrapCode::OutOfFuel), _) => out_of_fuel(),
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
            (Some(trap), _) => trapped(trap.trap_message()),
            (None, _) => trapped(&error.to_string()),
        }
    }
}

fn out_of_fuel() -> NoAnswer {
    NoAnswer::Exhausted("out of fuel".into())
}

fn trapped(trap: &str) -> NoAnswer {
    NoAnswer::Ended(format!("trapped: {trap}"))
}

pub(crate) struct Instance {
    store: Store<StoreLimits>,
    memory: Memory,
    alloc: TypedFunc<i32, i32>,
    call: TypedFunc<(i32, i32), i64>,
    /// Whether it has had no request yet.
    pub(crate) is_fresh: bool,
}

impl Instance {
    pub(crate) fn new(form: &Form) -> Result<Self, NoAnswer> {
        let limits =
            StoreLimitsBuilder::new().memory_size(MEMORY_BYTES_MAX).table_elements(TABLE_ELEMENTS_MAX);
        let mut store = Store::new(form.module.engine(), limits.trap_on_grow_failure(true).build());
        store.limiter(|limits| limits);
        store.set_fuel(FUEL_OF_CALL)?;
        let instance = form.linker.instantiate_and_start(&mut store, &form.module)?;
        let Some(memory) = instance.get_memory(&store, "memory") else {
            return Err(NoAnswer::broke("it exports no memory"));
        };
        let mut made = Self {
            memory,
            alloc: instance.get_typed_func(&store, "turnfold_alloc")?,
            call: instance.get_typed_func(&store, "turnfold_call")?,
            store,
            is_fresh: true,
        };
        let abi = instance.get_typed_func(&made.store, "turnfold_abi")?;
        let time = CallTime::of(Budget::ABI)?;
        match made.run(abi, (), &mut Spending::new(Budget::ABI, &time))? {
            ABI => Ok(made),
            other => {
                Err(NoAnswer::Broke(format!("it has version {other} of the exports, this build knows {ABI}")))
            }
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.memory.data_size(&self.store)
    }

    /// Passes the module a request. Returns the answer, which is valid until the next call.
    pub(crate) fn request(
        &mut self,
        request: &[u8],
        budget: Budget,
        time: &CallTime,
    ) -> Result<&[u8], NoAnswer> {
        let length = match i32::try_from(request.len()) {
            Ok(length) if request.len() <= MESSAGE_BYTES_MAX => length,
            _ => {
                let bytes = request.len();
                return Err(NoAnswer::Broke(format!("a request of {bytes} bytes is larger than 64 MiB")));
            }
        };
        self.is_fresh = false;
        let mut spending = Spending::new(budget, time);
        let place = self.run(self.alloc, length, &mut spending)?;
        let offset = usize::try_from(place.cast_unsigned()).unwrap_or(usize::MAX);
        if self.memory.write(&mut self.store, offset, request).is_err() {
            return Err(NoAnswer::broke("room for a request is outside of the memory"));
        }
        let answer = self.run(self.call, (place, length), &mut spending)?.cast_unsigned();
        let start = usize::try_from(answer >> 32).unwrap_or(usize::MAX);
        let bytes = usize::try_from(answer & u64::from(u32::MAX)).unwrap_or(usize::MAX);
        if bytes > MESSAGE_BYTES_MAX {
            return Err(NoAnswer::Broke(format!("an answer of {bytes} bytes is larger than 64 MiB")));
        }
        match self.memory.data(&self.store).get(start..start.saturating_add(bytes)) {
            Some(answer) => Ok(answer),
            None => Err(NoAnswer::broke("an answer is outside of the memory")),
        }
    }

    /// Runs a function slice by slice, so that neither its fuel nor its time runs out unnoticed.
    fn run<P: wasmi::WasmParams, R: wasmi::WasmResults>(
        &mut self,
        function: TypedFunc<P, R>,
        arguments: P,
        spending: &mut Spending<'_>,
    ) -> Result<R, NoAnswer> {
        let mut granted = spending.grant(0)?;
        self.store.set_fuel(granted)?;
        let mut running = function.call_resumable(&mut self.store, arguments)?;
        loop {
            let unspent = self.store.get_fuel()?;
            spending.spend(granted.saturating_sub(unspent));
            match running {
                TypedResumableCall::Finished(result) => return Ok(result),
                TypedResumableCall::HostTrap(_) => return Err(trapped("a call of the host")),
                TypedResumableCall::OutOfFuel(paused) => {
                    granted = spending.grant(paused.required_fuel())?;
                    self.store.set_fuel(granted)?;
                    running = paused.resume(&mut self.store)?;
                }
            }
        }
    }
}

/// The time of a call, together with the second call after a trap.
pub(crate) struct CallTime {
    since: Instant,
    /// The time limit, and the error when it is exceeded.
    most: Duration,
    stop: NoAnswer,
}

impl CallTime {
    /// Begins a call. Its time is taken off the operation's allowance.
    #[expect(clippy::disallowed_methods, reason = "a limit, which no answer depends on")]
    pub(crate) fn of(budget: Budget) -> Result<Self, NoAnswer> {
        let mut most = budget.time;
        let mut stop = NoAnswer::Exhausted(format!("no answer within {} s", TIME_OF_CALL.as_secs()));
        if let Some(Allowance { all, left }) = allowance::current()
            && left < most
        {
            most = left;
            stop = NoAnswer::Overrun(format!("the modules have used up their {} s", all.as_secs()));
        }
        if most.is_zero() {
            return Err(stop);
        }
        Ok(Self { since: Instant::now(), most, stop })
    }

    fn check(&self) -> Result<(), NoAnswer> {
        if self.since.elapsed() > self.most { Err(self.stop.clone()) } else { Ok(()) }
    }
}

impl Drop for CallTime {
    fn drop(&mut self) {
        allowance::take(self.since.elapsed());
    }
}

struct Spending<'a> {
    fuel: u64,
    time: &'a CallTime,
}

impl<'a> Spending<'a> {
    fn new(budget: Budget, time: &'a CallTime) -> Self {
        Self { fuel: budget.fuel, time }
    }

    fn spend(&mut self, fuel: u64) {
        self.fuel = self.fuel.saturating_sub(fuel);
    }

    /// Grants fuel for the next slice, at least as much as the next step needs.
    fn grant(&self, least: u64) -> Result<u64, NoAnswer> {
        self.time.check()?;
        if self.fuel < least.max(1) {
            return Err(out_of_fuel());
        }
        Ok(self.fuel.min(FUEL_OF_SLICE.max(least)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDLESS: &str = r#"(module
        (memory (export "memory") 1)
        (func (export "turnfold_abi") (result i32) (i32.const 2))
        (func (export "turnfold_alloc") (param i32) (result i32) (i32.const 0))
        (func (export "turnfold_call") (param i32 i32) (result i64) (loop (br 0)) (unreachable)))"#;

    fn stop(budget: Budget) -> String {
        let form = Form::read(&wat::parse_str(ENDLESS).unwrap()).unwrap();
        let time = CallTime::of(budget).unwrap();
        Instance::new(&form).unwrap().request(b"{}", budget, &time).unwrap_err().to_string()
    }

    #[test]
    fn md_6_an_endless_loop_runs_out_of_fuel_or_time() {
        let fuel = 3 * FUEL_OF_SLICE;
        assert_eq!(stop(Budget { fuel, time: Duration::MAX }), "out of fuel");
        assert_eq!(stop(Budget { fuel: 1, time: Duration::MAX }), "out of fuel");
        let time = Duration::from_millis(1);
        assert_eq!(stop(Budget { fuel: u64::MAX, time }), "no answer within 10 s");
    }

    #[test]
    fn md_6_all_calls_of_an_operation_end_together() {
        let all = Duration::from_millis(20);
        let budget = Budget { fuel: u64::MAX, ..Budget::CALL };
        allowance::within(all, || {
            let used_up = "the modules have used up their 0 s";
            assert_eq!(stop(budget), used_up);
            assert_eq!(CallTime::of(budget).err(), Some(NoAnswer::Overrun(used_up.into())));
        });
        assert!(CallTime::of(budget).is_ok());
    }

    #[test]
    fn md_6_recorded_entries_have_four_times_the_fuel_and_no_more_time() {
        let budget = |entries, is_new| Budget::of(Effort { entries, is_new });
        assert_eq!([budget(1, true).fuel, budget(1_000, true).fuel], [1_000_000_000, 100_000_000_000]);
        assert_eq!([budget(1, false).fuel, budget(1_000, false).fuel], [4_000_000_000, 400_000_000_000]);
        assert_eq!(budget(1, true).time, budget(1, false).time);
        assert_eq!(Budget::of(Effort::NO_FOLD).fuel, 400_000_000_000);
    }
}
