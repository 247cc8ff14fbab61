//! Turns the fault of a module into an error. The caller discards everything that the failed operation borrowed.

use std::panic::{self, AssertUnwindSafe};

use turnfold_core::Fault;

/// Calls `work` and returns its result, or the fault of a module that failed in it (MD-6).
///
/// What `work` borrows may be half changed after a fault, so the caller discards it.
///
/// # Errors
/// The [`Fault`] of the module.
///
/// # Panics
/// If `work` panics for another reason than a fault.
pub fn catch<T>(work: impl FnOnce() -> T) -> Result<T, Fault> {
    panic::catch_unwind(AssertUnwindSafe(work)).map_err(|cause| match cause.downcast::<Fault>() {
        Ok(fault) => *fault,
        Err(panic) => panic::resume_unwind(panic),
    })
}

#[cfg(test)]
mod tests {
    use turnfold_core::Digest;
    use turnfold_core::any::{FaultKind, FaultOf};

    use super::*;

    #[test]
    fn a_fault_is_caught_and_a_panic_goes_on() {
        let module = Digest::new([0xa5; 32]);
        let fault = Fault {
            ruleset: "nim".into(),
            version: 1,
            of: FaultOf::Module(module),
            what: "out of fuel".into(),
            kind: FaultKind::Exhausted,
        };
        let thrown = fault.clone();
        assert_eq!(catch(|| 1), Ok(1));
        let caught = catch(|| panic::resume_unwind(Box::new(thrown)));
        assert_eq!(caught, Err::<(), _>(fault.clone()));
        assert_eq!(fault.to_string(), "ruleset nim 1 (module a5a5a5a5a5a5a5a5): out of fuel");
        let panic = panic::catch_unwind(|| catch(|| panic::resume_unwind(Box::new("panic"))));
        assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"panic"));
    }
}
