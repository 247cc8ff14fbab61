//! `turnfold store spread`: a store in a database, over the servers of a cluster.

use clap::builder::{OsStringValueParser, TypedValueParser};
#[cfg(feature = "postgres")]
use serde_json::json;
#[cfg(feature = "postgres")]
use turnfold_store::{SpreadReport, Store};

#[cfg(feature = "postgres")]
use crate::address::FleetAddress;
use crate::address::StoreAddress;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
#[cfg(feature = "postgres")]
use crate::output::{Line, plain, strong};

/// Spread a store in a database over the servers of a Citus cluster
///
/// The URL names the coordinator. The entries of a branch go to one server, chosen by a hash of the branch; the names and
/// setups of all matches go to every server. Stop all processes that use the store first: they know it as one server's until
/// they start again. Copies everything in one transaction: if the command fails or is killed, nothing has changed, and it can
/// run again.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold store spread postgres://turnfold@db.example/games")]
pub(crate) struct Args {
    /// The URL of the database on the coordinator
    #[arg(value_name = "URL", value_parser = OsStringValueParser::new().try_map(StoreAddress::read))]
    store: StoreAddress,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    #[cfg(feature = "postgres")]
    if let StoreAddress::Fleet(address) = &args.store {
        return spread(address, context);
    }
    let _ = (args, context); // A build without databases does not even read the URL of one.
    Err(Failure::usage("`store spread` expects the URL of a database")
        .hint("a store in a directory stays on one machine; a backup of it restores into a database"))
}

#[cfg(feature = "postgres")]
fn spread(address: &FleetAddress, context: &mut Context) -> Result<ExitStatus, Failure> {
    let SpreadReport { is_new, shards, nodes } = Store::spread_fleet(address)?;
    let store = address.to_string();
    context.output.answer(&json!({ "store": store, "new": is_new, "shards": shards, "nodes": nodes }), || {
        let done = if is_new { "spread store " } else { "nothing to do in store " };
        let servers = if nodes == 1 { "server" } else { "servers" };
        let how = format!(": its entries lie in {shards} shards on {nodes} {servers}");
        vec![Line::from([plain(done), strong(&store), plain(how)])]
    })
}
