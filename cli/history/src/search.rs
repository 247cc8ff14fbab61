//! Searches a history: for an entry, for the smallest log that still shows something, or step by step.

mod bisect;
mod blame;
pub(crate) mod condition;
mod find;
mod shrink;
mod stepper;

pub use bisect::{Bisection, EarlierSpell, Flip, Judgment, Question, bisect};
pub use blame::{Blamed, FieldChange, blame};
pub use condition::{Condition, ConditionError, Survey, name_like};
pub use find::{FoundEntry, Pattern, Wanted, find};
pub use shrink::{Least, Shrinking, shrink, shrink_failing};
pub use stepper::{Hit, SearchDirection, Stepper, StepperEntry};
