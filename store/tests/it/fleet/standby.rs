//! FL-28: a standby that takes over.

use turnfold_store::{BranchName, FleetAddress, Store, StoreError};

use crate::game::{genesis, labels, name, opaque};
use crate::postgres::Server;

/// Returns the address of a store on whichever of two servers can be written to.
fn of_both(first: &Server, second: &Server) -> FleetAddress {
    let [first, second] = [first, second].map(|server| server.dir.display().to_string().replace('/', "%2F"));
    FleetAddress::read(&format!("postgres://tests@{first},{second}/postgres?schema=s"), None).unwrap()
}

#[test]
fn fl_28_a_synchronous_standby_loses_nothing_and_what_another_lacks_is_named_lost() {
    for is_synchronous in [true, false] {
        let Some(primary) = Server::start("") else { return };
        let Some(standby) = primary.standby() else { return };
        if is_synchronous {
            primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'");
            primary.sql("SELECT pg_reload_conf()");
        }
        let store = Store::open_or_create_fleet(&of_both(&primary, &standby)).unwrap();
        let (m, main) = (name("m"), BranchName::main());
        store.create_match(&m, &genesis(), Vec::new()).unwrap();
        for head in 0..5 {
            store.append(&m, &main, head, vec![opaque(head)], None).unwrap();
        }
        if !is_synchronous {
            standby.wait_for("SELECT count(*) = 5 FROM s.run");
            standby.kill();
            for head in 5..8 {
                store.append(&m, &main, head, vec![opaque(head)], None).unwrap();
            }
        }
        primary.kill();
        if !is_synchronous {
            standby.begin();
        }
        standby.promote();
        if is_synchronous {
            store.append(&m, &main, 5, vec![opaque(5)], None).unwrap();
            assert_eq!(labels(&store, "m", "main"), [0, 1, 2, 3, 4, 5]);
        } else {
            let error = store.append(&m, &main, 8, vec![opaque(8)], None).unwrap_err();
            assert!(matches!(error, StoreError::Receded { held: 8, found: 5, .. }), "{error}");
            let again = Store::open_fleet(&of_both(&primary, &standby)).unwrap();
            assert_eq!(labels(&again, "m", "main"), [0, 1, 2, 3, 4]);
        }
    }
}
