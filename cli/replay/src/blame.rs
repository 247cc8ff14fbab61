//! Blaming: the entries that change a field of the view.

use serde_json::Value;

use crate::difference::Difference;
use crate::error::ReplayError;
use crate::record::Record;
use crate::sight::Sight;

/// An entry that changed a field.
pub struct FieldChange {
    /// The entry.
    pub record: Record,
    /// The field before and after.
    pub difference: Difference,
}

/// Shows each entry that changes the field at a path, in order; returns `true` if any view has that field.
///
/// # Errors
/// What is wrong with the line of play.
pub fn blame(sight: &Sight, path: &str, observe: &mut dyn FnMut(FieldChange)) -> Result<bool, ReplayError> {
    let field = |view: Value| view.pointer(path).cloned();
    let mut value = field(sight.view(sight.start()?.as_ref()));
    let mut found = value.is_some();
    sight.fold(&mut |seen| {
        let new = field(seen.view());
        found |= new.is_some();
        if new != value {
            let old = std::mem::replace(&mut value, new.clone());
            let difference = Difference { path: path.into(), old, new };
            observe(FieldChange { record: seen.record(), difference });
        }
    })?;
    Ok(found)
}
