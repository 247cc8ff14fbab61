//! Tests that a ruleset that breaks a law is caught. A test of the core checks that every ruleset keeps the laws.

mod liar;
mod toy;
