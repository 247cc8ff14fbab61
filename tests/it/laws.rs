//! A ruleset that breaks a law is caught; that every ruleset keeps the laws is a test of the core.

mod liar;
mod toy;
