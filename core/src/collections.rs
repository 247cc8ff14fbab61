//! Filling maps and sets.

/// Puts items into a collection one by one.
///
/// `collect` makes a map or a set by sorting a list first. Each kind of item brings a sorting of its own then, 4 kB of a
/// module, and those of a state are few.
pub fn gathered<C: Default + Extend<T>, T>(items: impl IntoIterator<Item = T>) -> C {
    let mut all = C::default();
    for item in items {
        all.extend([item]);
    }
    all
}
