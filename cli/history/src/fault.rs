//! Where the faults of modules end: an operation that met one is an error, and whatever it borrowed is discarded.

use std::panic::{self, AssertUnwindSafe};

use turnfold_core::Fault;

/// Does work, and returns the fault of the module that could not go on with it (MD-6).
///
/// What `work` borrows may be half changed after a fault, so the caller discards it.
///
/// # Errors
/// The [`Fault`].
///
/// # Panics
/// As `work` does; a panic is no fault.
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
