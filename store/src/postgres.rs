//! The engine on PostgreSQL (FL-2, FL-5): the same store for many processes at once. `FLEET.md` in this crate's folder is its
//! contract.

mod access;
pub(crate) mod address;
mod append;
mod begun;
mod change;
mod check;
mod connect;
mod engine;
mod fault;
mod granting;
mod group;
mod held;
mod insert;
mod keys;
pub(crate) mod migrate;
mod notes;
mod open_fleet;
mod read;
mod reserve;
mod run;
mod schema;
pub(crate) mod spread;
