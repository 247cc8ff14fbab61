//! Tests of `initiative` that cannot be written as a script.

mod reach;
