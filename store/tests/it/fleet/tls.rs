//! FL-1: a remote server proves its identity.

use std::path::{Path, PathBuf};

use turnfold_store::{BranchName, FleetAddress, Store};

use crate::game::{genesis, labels, name, opaque};
use crate::postgres::Server;

/// Returns the path of a file: an authority, or a certificate of `localhost` that it signed.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/system/serve/tls").join(name)
}

#[test]
fn fl_1_a_server_is_used_by_tls_when_its_certificate_is_of_its_name_and_authority() {
    let (certificate, key) = (file("localhost.pem"), file("localhost.key"));
    let Some((_server, port)) = Server::start_with_tls(&certificate, &key) else { return };
    let open = |host: &str, rest: &str| {
        let url = format!("postgres://tests@{host}:{port}/postgres?schema=tls&{rest}");
        Store::open_or_create_fleet(&FleetAddress::read(&url, None).unwrap())
    };
    let by = |authority: &str| format!("sslmode=verify-full&sslrootcert={}", file(authority).display());
    let store = open("localhost", &by("authority.pem")).unwrap();
    store.create_match(&name("m"), &genesis(), Vec::new()).unwrap();
    store.append(&name("m"), &BranchName::main(), 0, vec![opaque(7)], None).unwrap();
    assert_eq!(labels(&store, "m", "main"), [7]);
    for (host, rest, reason) in [
        // Its certificate does not name the address.
        ("127.0.0.1", by("authority.pem"), "certificate not valid for name"),
        // The certificate is signed by another authority than the given one, or by none that the system knows.
        ("localhost", by("localhost.pem"), "certificate"),
        // The server accepts no connection without TLS, so the store above used TLS.
        ("localhost", "sslmode=disable".to_owned(), "pg_hba.conf"),
        (
            "localhost",
            "sslmode=verify-full&sslrootcert=/nowhere.pem".to_owned(),
            "cannot read `/nowhere.pem`",
        ),
    ] {
        let error = open(host, &rest).unwrap_err().to_string();
        assert!(error.contains(reason), "{host} {rest}: {error}");
    }
}
