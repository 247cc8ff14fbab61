//! A pooler in front of the server: pgbouncer in session mode, otherwise as it comes (FL-30).

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::chown;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use turnfold_store::{BranchName, FleetAddress, Store};

use crate::game::{genesis, labels, name, opaque};
use crate::postgres::{NOBODY, Server, command, is_root};

/// pgbouncer in front of a server, ended when it is dropped or this process ends.
struct Pooler {
    guard: Child,
}

impl Pooler {
    /// Starts it with its socket in the server's folder, and waits until it answers.
    #[expect(clippy::print_stderr, reason = "a skipped test says so")]
    fn start(server: &Server) -> Option<Self> {
        let program =
            ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"].into_iter().find(|path| fs::exists(path).unwrap());
        let Some(program) = program else {
            eprintln!("SKIPPED: there is no pgbouncer in /usr/sbin or /usr/bin");
            return None;
        };
        let dir = server.dir.display();
        let write = |file: &str, text: &str| {
            let path = server.dir.join(file);
            fs::write(&path, text).unwrap();
            if is_root() {
                chown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
            }
        };
        write("users.txt", "\"tests\" \"\"\n");
        write(
            "pgbouncer.ini",
            &format!(
                "[databases]\n* = host={dir}\n[pgbouncer]\npool_mode = session\nauth_type = trust\n\
                 auth_file = {dir}/users.txt\nunix_socket_dir = {dir}\nlisten_port = 6432\nlogfile = {dir}/pooler.log\n"
            ),
        );
        let script = format!("'{program}' -q '{dir}/pgbouncer.ini' & cat >/dev/null; kill $!; wait $!");
        let mut guard = command("sh".as_ref());
        let pooler = Self { guard: guard.args(["-c", &script]).stdin(Stdio::piped()).spawn().unwrap() };
        for _ in 0..200 {
            if fs::exists(server.dir.join(".s.PGSQL.6432")).unwrap() {
                return Some(pooler);
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("pgbouncer does not start: see `{dir}/pooler.log`");
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}

#[test]
fn fl_30_a_store_is_used_through_pgbouncer_in_session_mode() {
    // Its log is read, so it is no other test's.
    let Some(server) = Server::start("") else { return };
    let Some(_pooler) = Pooler::start(&server) else { return };
    let url = server.url("pooled").replace("/postgres?", ":6432/postgres?");
    let address = FleetAddress::read(&url, None).unwrap();
    assert!(address.to_string().contains(":6432/"), "{address}");
    let (m, main) = (name("m"), BranchName::main());
    let store = Store::open_or_create_fleet(&address).unwrap();
    store.create_match(&m, &genesis(), Vec::new()).unwrap();
    store.append(&m, &main, 0, vec![opaque(1)], None).unwrap();
    // FL-21: a statement that waits for a lock is ended, and said again.
    let ended = || {
        let log = fs::read_to_string(server.dir.join("log")).unwrap();
        log.matches("canceling statement due to statement timeout").count()
    };
    assert_eq!(ended(), 0);
    let mut other = server.psql().stdin(Stdio::piped()).spawn().unwrap();
    let mut input = other.stdin.take().unwrap();
    writeln!(input, "BEGIN; LOCK TABLE pooled.run IN ACCESS EXCLUSIVE MODE;").unwrap();
    server.wait_for("SELECT count(*) > 0 FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND granted");
    thread::scope(|scope| {
        let append = scope.spawn(|| store.append(&m, &main, 1, vec![opaque(2)], None));
        for _ in 0..400 {
            if ended() > 0 {
                break;
            }
            thread::sleep(Duration::from_millis(50));
        }
        assert!(ended() > 0, "no statement was ended");
        writeln!(input, "COMMIT;").unwrap();
        append.join().unwrap().unwrap();
    });
    drop(input);
    other.wait().unwrap();
    assert_eq!(labels(&store, "m", "main"), [1, 2]);
    assert_eq!(labels(&Store::open_fleet(&server.schema("pooled")).unwrap(), "m", "main"), [1, 2]);
}
