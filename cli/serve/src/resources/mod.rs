//! The resources of the service (SV-8): one file each. A handler knows no rule; it asks what the verb of its name asks.

pub(crate) mod backup;
pub(crate) mod branches;
pub(crate) mod calls;
pub(crate) mod diff;
pub(crate) mod entries;
pub(crate) mod events;
pub(crate) mod files;
pub(crate) mod find;
pub(crate) mod grants;
pub(crate) mod health;
pub(crate) mod here;
pub(crate) mod hosting;
pub(crate) mod join;
pub(crate) mod match_document;
pub(crate) mod matches;
pub(crate) mod modules;
pub(crate) mod notes;
pub(crate) mod pages;
pub(crate) mod papers;
pub(crate) mod position;
pub(crate) mod rematch;
pub(crate) mod rulesets;
pub(crate) mod seat_pages;
pub(crate) mod status;
pub(crate) mod statuses;
pub(crate) mod trial;
