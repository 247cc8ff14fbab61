//! `turnfold store upgrade` and `turnfold store spread`: what only a store in a database needs.

use clap::builder::{OsStringValueParser, TypedValueParser};
#[cfg(feature = "postgres")]
use serde_json::json;
#[cfg(feature = "postgres")]
use turnfold_store::{Migration, SpreadReport, Store};

use crate::address::StoreAddress;
use crate::context::Context;
use crate::failure::{ExitStatus, Failure};
#[cfg(feature = "postgres")]
use crate::output::{Line, plain, strong};

/// Convert a store in a database to the format of this build
///
/// Stop all processes of older builds first; they fail afterwards. Converts everything in one transaction: if the command
/// fails or is killed, nothing has changed, and it can run again. The account must own the tables. The database needs room
/// for a second copy of all entries.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold store upgrade postgres://turnfold@db.example/games")]
pub(crate) struct UpgradeArgs {
    /// The URL of the database
    #[arg(value_name = "URL", value_parser = OsStringValueParser::new().try_map(StoreAddress::read))]
    store: StoreAddress,
}

/// Spread a store in a database over the servers of a Citus cluster
///
/// The URL names the coordinator. The entries of a branch go to one server, chosen by a hash of the branch; the names and
/// setups of all matches go to every server. Stop all processes that use the store first: they know it as one server's until
/// they start again. Copies everything in one transaction: if the command fails or is killed, nothing has changed, and it can
/// run again.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: turnfold store spread postgres://turnfold@db.example/games")]
pub(crate) struct SpreadArgs {
    /// The URL of the database on the coordinator
    #[arg(value_name = "URL", value_parser = OsStringValueParser::new().try_map(StoreAddress::read))]
    store: StoreAddress,
}

// A build without databases does not even read the URL of one.
#[cfg_attr(not(feature = "postgres"), expect(unused_variables, reason = "there is no database"))]
pub(crate) fn upgrade(args: &UpgradeArgs, context: &mut Context) -> Result<ExitStatus, Failure> {
    #[cfg(feature = "postgres")]
    if let StoreAddress::Fleet(address) = &args.store {
        let Migration { from, to } = Store::migrate_fleet(address)?;
        let store = address.to_string();
        return context.output.answer(&json!({ "store": store, "from": from, "to": to }), || {
            if from == to {
                let how = plain(format_args!(": its format is {to}"));
                return vec![Line::from([plain("nothing to do in store "), strong(&store), how])];
            }
            let how = plain(format_args!(" from format {from} to {to}"));
            vec![Line::from([plain("migrated store "), strong(&store), how])]
        });
    }
    Err(Failure::usage("`store upgrade` expects the URL of a database")
        .hint("a store in a directory needs no upgrade"))
}

#[cfg_attr(not(feature = "postgres"), expect(unused_variables, reason = "there is no database"))]
pub(crate) fn spread(args: &SpreadArgs, context: &mut Context) -> Result<ExitStatus, Failure> {
    #[cfg(feature = "postgres")]
    if let StoreAddress::Fleet(address) = &args.store {
        let SpreadReport { is_new, shards, nodes } = Store::spread_fleet(address)?;
        let store = address.to_string();
        let document = json!({ "store": store, "new": is_new, "shards": shards, "nodes": nodes });
        return context.output.answer(&document, || {
            let done = if is_new { "spread store " } else { "nothing to do in store " };
            let servers = if nodes == 1 { "server" } else { "servers" };
            let how = format!(": its entries lie in {shards} shards on {nodes} {servers}");
            vec![Line::from([plain(done), strong(&store), plain(how)])]
        });
    }
    Err(Failure::usage("`store spread` expects the URL of a database")
        .hint("a store in a directory stays on one machine; a backup of it restores into a database"))
}
