//! `turnfold store upgrade`: converts a store in a database to the format of this build.

use clap::builder::{OsStringValueParser, TypedValueParser};
#[cfg(feature = "postgres")]
use serde_json::json;
#[cfg(feature = "postgres")]
use turnfold_store::{Migration, Store};

#[cfg(feature = "postgres")]
use crate::address::FleetAddress;
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
pub(crate) struct Args {
    /// The URL of the database
    #[arg(value_name = "URL", value_parser = OsStringValueParser::new().try_map(StoreAddress::read))]
    store: StoreAddress,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus, Failure> {
    #[cfg(feature = "postgres")]
    if let StoreAddress::Fleet(address) = &args.store {
        return migrate(address, context);
    }
    let _ = (args, context); // A build without databases does not even read the URL of one.
    Err(Failure::usage("`store upgrade` expects the URL of a database")
        .hint("a store in a directory needs no upgrade"))
}

#[cfg(feature = "postgres")]
fn migrate(address: &FleetAddress, context: &mut Context) -> Result<ExitStatus, Failure> {
    let Migration { from, to } = Store::migrate_fleet(address)?;
    let store = address.to_string();
    context.output.answer(&json!({ "store": store, "from": from, "to": to }), || {
        let (done, how) = if from == to {
            ("nothing to do in store ", format!(": its format is {to}"))
        } else {
            ("migrated store ", format!(" from format {from} to {to}"))
        };
        vec![Line::from([plain(done), strong(&store), plain(how)])]
    })
}
