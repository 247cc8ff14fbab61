//! Proofs of `initiative` that no script can write.

mod reach;
