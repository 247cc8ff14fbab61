//! Filling maps and sets.

/// Puts items into a collection one by one.
///
/// `collect` sorts a list first to make a map or a set. Each type of item then adds a sort of its own, 4 kB of a
/// module, although a state has few items.
pub fn gathered<C: Default + Extend<T>, T>(items: impl IntoIterator<Item = T>) -> C {
    let mut all = C::default();
    for item in items {
        all.extend([item]);
    }
    all
}
