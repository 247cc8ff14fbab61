//! pgbouncer in front of a server of the tests.

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use crate::postgres::{SERVER_USER, Server, command, is_root, skipped};

/// Possible paths of pgbouncer.
const PROGRAMS: [&str; 2] = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"];

/// pgbouncer in front of a server, ended when it is dropped or this process ends.
pub(crate) struct Pooler<'a> {
    server: &'a Server,
    guard: Child,
}

impl<'a> Pooler<'a> {
    /// Starts pgbouncer in session mode with its socket in the server's folder, and waits until it answers. Its pool has
    /// room for all connections of several processes, because those beyond it would wait for ever.
    pub(crate) fn start(server: &'a Server) -> Option<Self> {
        Self::start_with(server, "pool_mode = session\ndefault_pool_size = 80")
    }

    /// Starts pgbouncer in transaction mode, as it worked before it tracked the prepared statements of its clients.
    pub(crate) fn start_for_transactions(server: &'a Server) -> Option<Self> {
        let version = PROGRAMS.iter().find_map(|program| command(program.as_ref()).arg("-V").output().ok());
        let version = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        let minor = version.as_ref().and_then(|text| text.strip_prefix("PgBouncer 1.")?.split('.').next());
        let knows_them = minor.and_then(|minor| minor.parse().ok()).is_some_and(|minor: u32| minor >= 21);
        let unknown = if knows_them { "max_prepared_statements = 0" } else { "" };
        Self::start_with(server, &format!("pool_mode = transaction\ndefault_pool_size = 2\n{unknown}"))
    }

    /// Starts pgbouncer with these lines in its configuration.
    fn start_with(server: &'a Server, lines: &str) -> Option<Self> {
        let program = PROGRAMS.into_iter().find(|path| fs::exists(path).unwrap());
        let Some(program) = program else {
            skipped("a pooler", "`pgbouncer` is not here");
            return None;
        };
        let dir = server.dir.display();
        let write = |file: &str, text: &str| {
            let path = server.dir.join(file);
            fs::write(&path, text).unwrap();
            if is_root() {
                chown(&path, Some(SERVER_USER), Some(SERVER_USER)).unwrap();
            }
        };
        write("users.txt", "\"tests\" \"\"\n");
        write(
            "pgbouncer.ini",
            &format!(
                "[databases]\n* = host={dir}\n[pgbouncer]\n{lines}\nauth_type = trust\n\
                 auth_file = {dir}/users.txt\nunix_socket_dir = {dir}\nlisten_port = 6432\nlogfile = {dir}/pooler.log\n"
            ),
        );
        let script = format!("'{program}' -q '{dir}/pgbouncer.ini' & cat >/dev/null; kill $!; wait $!");
        let mut guard = command("sh".as_ref());
        let pooler =
            Self { server, guard: guard.args(["-c", &script]).stdin(Stdio::piped()).spawn().unwrap() };
        for _ in 0..200 {
            // The socket is there a moment before anyone listens to it.
            if UnixStream::connect(server.dir.join(".s.PGSQL.6432")).is_ok() {
                return Some(pooler);
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("pgbouncer does not start: see `{dir}/pooler.log`");
    }

    /// Returns the URL of a schema through the pooler.
    pub(crate) fn url(&self, schema: &str) -> String {
        self.server.url(schema).replace("/postgres?", ":6432/postgres?")
    }
}

impl Drop for Pooler<'_> {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}
