//! A database server for the tests (FL-25). It is started when first needed, and removed when the process ends.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use turnfold_store::{FleetAddress, Store};

/// The user that runs the server if root runs the tests, because the server refuses to run as root.
pub(crate) const SERVER_USER: u32 = 65534;

/// A server. It is stopped and removed when this is dropped or the process ends.
pub(crate) struct Server {
    programs: PathBuf,
    pub(crate) dir: PathBuf,
    /// Waits for the end of its input, then stops the server and removes its folder.
    guard: Child,
    /// Whether its stores are spread over the servers of a cluster before use.
    is_spread: bool,
}

/// Servers that share stores with the extension `citus`. They address each other by the folders of their sockets.
pub(crate) struct Cluster {
    pub(crate) coordinator: Server,
    pub(crate) workers: Vec<Server>,
}

impl Cluster {
    /// Starts a coordinator and this number of workers, if the extension is installed.
    pub(crate) fn start(workers: usize) -> Option<Self> {
        let here = Server::start("")?;
        if here.sql("SELECT 1 FROM pg_available_extensions WHERE name = 'citus'").is_empty() {
            skipped("a store on several servers", "the extension `citus` is not here");
            return None;
        }
        drop(here);
        let coordinator = Self::node()?;
        coordinator.sql(&format!("SELECT citus_set_coordinator_host('{}', 5432)", coordinator.dir.display()));
        let mut cluster = Self { coordinator, workers: Vec::new() };
        for _ in 0..workers {
            cluster.add()?;
        }
        Some(cluster)
    }

    /// Starts another worker.
    pub(crate) fn add(&mut self) -> Option<()> {
        let worker = Self::node()?;
        let added = self.coordinator.sql(&format!("SELECT citus_add_node('{}', 5432)", worker.dir.display()));
        assert!(!added.is_empty(), "a worker cannot be added");
        self.workers.push(worker);
        Some(())
    }

    fn node() -> Option<Server> {
        let node = Server::start(
            "shared_preload_libraries = 'citus'\nwal_level = logical\nmax_prepared_transactions = 200\n\
             max_wal_senders = 20\nmax_replication_slots = 20\nmax_worker_processes = 20",
        )?;
        node.sql("CREATE EXTENSION citus");
        // The server also connects to itself.
        node.sql(&format!("ALTER SYSTEM SET citus.local_hostname = '{}'", node.dir.display()));
        node.sql("SELECT pg_reload_conf()");
        Some(node)
    }
}

impl Server {
    /// Starts a server with these settings added, if its programs are installed.
    pub(crate) fn start(settings: &str) -> Option<Self> {
        let server = Self::prepare(settings)?;
        server.begin();
        Some(server)
    }

    /// Starts a server that accepts TCP connections only with TLS, and returns its port.
    pub(crate) fn start_with_tls(certificate: &Path, key: &Path) -> Option<(Self, u16)> {
        let server = Self::prepare("ssl = on\nlisten_addresses = 'localhost'")?;
        let data = server.dir.join("data");
        for (file, name) in [(certificate, "server.crt"), (key, "server.key")] {
            fs::copy(file, data.join(name)).unwrap();
            fs::set_permissions(data.join(name), fs::Permissions::from_mode(0o600)).unwrap();
            if is_root() {
                chown(data.join(name), Some(SERVER_USER), Some(SERVER_USER)).unwrap();
            }
        }
        fs::write(data.join("pg_hba.conf"), "hostssl all all all trust\n").unwrap();
        // A free port may be taken before the server starts.
        for _ in 0..20 {
            let port = std::net::TcpListener::bind("localhost:0").unwrap().local_addr().unwrap().port();
            server.configure(&format!("port = {port}"));
            if server.starts() {
                return Some((server, port));
            }
        }
        panic!("no port is free");
    }

    /// Creates a server without starting it.
    fn prepare(settings: &str) -> Option<Self> {
        let programs = programs()?;
        let dir = folder();
        let mut initdb = command(&programs.join("initdb"));
        initdb
            .args(["-N", "-A", "trust", "-U", "tests", "--no-locale", "-E", "UTF8", "-D"])
            .arg(dir.join("data"));
        run(&mut initdb);
        let guard = guard(&programs, &dir);
        let server = Self { programs, dir, guard, is_spread: false };
        server.configure(&format!(
            "listen_addresses = ''\nunix_socket_directories = '{}'\nmax_connections = 200\n\
             shared_buffers = '32MB'\n{settings}",
            server.dir.display()
        ));
        Some(server)
    }

    /// Adds settings. The last setting of a name counts.
    fn configure(&self, settings: &str) {
        let config = fs::OpenOptions::new().append(true).open(self.dir.join("data/postgresql.conf"));
        write!(config.unwrap(), "\n{settings}\n").unwrap();
    }

    /// Starts a standby of this server, if the program that copies a server is installed.
    pub(crate) fn standby(&self) -> Option<Self> {
        if !self.programs.join("pg_basebackup").exists() {
            skipped("a standby of PostgreSQL", "`pg_basebackup` is not here");
            return None;
        }
        let dir = folder();
        let mut copy = command(&self.programs.join("pg_basebackup"));
        copy.args(["-U", "tests", "-R", "-c", "fast", "-X", "stream", "-h"]).arg(&self.dir);
        run(copy.arg("-D").arg(dir.join("data")));
        let guard = guard(&self.programs, &dir);
        let standby = Self { programs: self.programs.clone(), dir, guard, is_spread: false };
        standby.configure(&format!("unix_socket_directories = '{}'", standby.dir.display()));
        standby.begin();
        Some(standby)
    }

    /// Promotes a standby to a primary.
    pub(crate) fn promote(&self) {
        run(&mut self.pg_ctl(&["-w", "-t", "60", "promote"]));
    }

    /// Returns `psql` on this server, without input and output.
    pub(crate) fn psql(&self) -> Command {
        let mut psql = command(&self.programs.join("psql"));
        psql.args(["-U", "tests", "-d", "postgres", "-At", "-h"]).arg(&self.dir);
        psql
    }

    /// Runs a statement and returns what it prints.
    pub(crate) fn sql(&self, statement: &str) -> String {
        let mut psql = self.psql();
        psql.args(["-c", statement]);
        String::from_utf8(psql.stdout(Stdio::piped()).output().unwrap().stdout).unwrap()
    }

    /// Waits until a statement returns true.
    pub(crate) fn wait_for(&self, statement: &str) {
        for _ in 0..600 {
            if self.sql(statement).trim() == "t" {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        panic!("`{statement}` is not true");
    }

    /// Starts the server, also after it was killed.
    pub(crate) fn begin(&self) {
        assert!(self.starts(), "the server does not start: see `{}`", self.dir.join("log").display());
    }

    fn starts(&self) -> bool {
        let mut start = self.pg_ctl(&["-w", "-t", "60", "-l"]);
        start.arg(self.dir.join("log")).arg("start").status().unwrap().success()
    }

    /// Stops the server as a crash would.
    pub(crate) fn kill(&self) {
        run(&mut self.pg_ctl(&["-m", "immediate", "stop"]));
    }

    fn pg_ctl(&self, args: &[&str]) -> Command {
        let mut command = command(&self.programs.join("pg_ctl"));
        command.arg("-D").arg(self.dir.join("data")).args(args);
        command
    }

    /// Returns the address of a schema that no test has used.
    pub(crate) fn address(&self) -> FleetAddress {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let address = self.schema(&format!("s{}", COUNT.fetch_add(1, Ordering::SeqCst)));
        if self.is_spread {
            Store::open_or_create_fleet(&address).unwrap();
            Store::spread_fleet(&address).unwrap();
        }
        address
    }

    /// Returns the address of a schema.
    pub(crate) fn schema(&self, schema: &str) -> FleetAddress {
        FleetAddress::read(&self.url(schema), None).unwrap()
    }

    /// Returns the URL of a schema.
    pub(crate) fn url(&self, schema: &str) -> String {
        let host = self.dir.display().to_string().replace('/', "%2F");
        format!("postgres://tests@{host}/postgres?schema={schema}")
    }
}

/// Creates a folder that the server can write to, with a path short enough for a socket.
fn folder() -> PathBuf {
    let dir = tempfile::Builder::new().prefix("tfpg").tempdir_in("/tmp").unwrap().keep();
    if is_root() {
        chown(&dir, Some(SERVER_USER), Some(SERVER_USER)).unwrap();
    }
    dir
}

/// Starts a process that stops the server and removes its folder when this process ends in any way.
fn guard(programs: &Path, dir: &Path) -> Child {
    let (pg_ctl, place) = (programs.join("pg_ctl"), dir.display());
    let script = format!(
        "cat >/dev/null; '{}' -D '{place}/data' -m immediate stop >/dev/null 2>&1; rm -rf '{place}'",
        pg_ctl.display()
    );
    // In a process group of its own it survives a signal to the group of the tests.
    command(Path::new("sh")).args(["-c", &script]).process_group(0).stdin(Stdio::piped()).spawn().unwrap()
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}

/// Returns the server that all tests of this process share, if a server can be started.
pub(crate) fn shared() -> Option<&'static Server> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    static CLUSTER: OnceLock<Option<Cluster>> = OnceLock::new();
    // FL-36: run the same tests on stores that are spread over servers.
    if std::env::var_os("TURNFOLD_SPREAD").is_some() {
        let cluster = CLUSTER.get_or_init(|| {
            let mut cluster = Cluster::start(2)?;
            cluster.coordinator.is_spread = true;
            cluster.coordinator.sql("ALTER SYSTEM SET citus.shard_count = 4");
            cluster.coordinator.sql("SELECT pg_reload_conf()");
            Some(cluster)
        });
        return cluster.as_ref().map(|cluster| &cluster.coordinator);
    }
    SERVER.get_or_init(|| Server::start("")).as_ref()
}

/// Returns the shared server unless its stores are spread, for tests that create tables by hand.
pub(crate) fn alone() -> Option<&'static Server> {
    let found = shared().filter(|server| !server.is_spread);
    if found.is_none() && std::env::var_os("TURNFOLD_SPREAD").is_some() {
        skipped("tables made by hand", "TURNFOLD_SPREAD spreads each store over servers");
    }
    found
}

/// Prints that something is not tested, and why. It bypasses the capture of output, because whoever runs the tests must
/// see it.
pub(crate) fn skipped(what: &str, why: &str) {
    io::stderr().write_all(format!("SKIPPED: {what}: {why}\n").as_bytes()).unwrap();
}

/// Finds the programs of the newest server in Debian's folders or on `PATH`, if tests of PostgreSQL are requested.
fn programs() -> Option<PathBuf> {
    if std::env::var_os("TURNFOLD_POSTGRES").is_none() {
        skipped("a store on PostgreSQL", "TURNFOLD_POSTGRES=1 runs its tests");
        return None;
    }
    let found = newest();
    if found.is_none() {
        skipped("a store on PostgreSQL", "`initdb` and `pg_ctl` are not here");
    }
    found
}

fn newest() -> Option<PathBuf> {
    let version = |path: &PathBuf| path.parent()?.file_name()?.to_str()?.parse::<u32>().ok();
    let debian = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let debian = debian.map(|version| version.path().join("bin")).filter(|bin| bin.join("initdb").exists());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut on_path =
        std::env::split_paths(&path).filter(|dir| dir.join("initdb").exists() && dir.join("pg_ctl").exists());
    debian.max_by_key(version).or_else(|| on_path.next())
}

pub(crate) fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|found| std::os::unix::fs::MetadataExt::uid(&found) == 0)
}

pub(crate) fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    if is_root() {
        command.uid(SERVER_USER).gid(SERVER_USER);
    }
    // The server writes its messages to its log. It must not keep open the pipe of the process that runs the tests.
    command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn run(command: &mut Command) {
    let status = command.status().unwrap();
    assert!(status.success(), "{command:?}: {status}");
}
