//! FL-28: connections that are cut before a request, during it, between a commit and its answer, and during the answer.

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use turnfold_store::{BranchName, FleetAddress, MatchName, NamedBranch, Store, StoreError};

use crate::chance::Chance;
use crate::game::{genesis, labels, name, opaque};
use crate::postgres::shared;
use crate::rescue::unobserved;

/// How long an append is retried.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// The name of a server's socket.
const SOCKET: &str = ".s.PGSQL.5432";

/// A proxy between a store and its server that cuts connections.
struct Proxy {
    upstream: PathBuf,
    chance: Mutex<Chance>,
    /// One of this many requests is cut; 0 cuts none.
    rarity: AtomicU64,
    cuts: [AtomicU64; 4],
    is_over: AtomicBool,
}

impl Proxy {
    /// Chooses where to cut a request, or `None` to leave it whole.
    fn choose(&self) -> Option<usize> {
        let rarity = usize::try_from(self.rarity.load(Ordering::SeqCst)).unwrap();
        let mut chance = self.chance.lock().unwrap();
        let place = (rarity > 0 && chance.below(rarity) == 0).then(|| chance.below(4))?;
        self.cuts[place].fetch_add(1, Ordering::SeqCst);
        Some(place)
    }

    fn count(&self) -> u64 {
        self.cuts.iter().map(|cuts| cuts.load(Ordering::SeqCst)).sum()
    }

    /// Accepts connections until the proxy is stopped.
    fn run(self: &Arc<Self>, listener: &UnixListener) {
        while let Ok((client, _)) = listener.accept() {
            if self.is_over.load(Ordering::SeqCst) {
                return;
            }
            let Ok(server) = UnixStream::connect(&self.upstream) else { continue };
            let cut = Arc::new(Mutex::new(None));
            let (here, there) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            let (proxy, chosen) = (Arc::clone(self), Arc::clone(&cut));
            thread::spawn(move || proxy.requests(here, there, &chosen));
            thread::spawn(move || answers(server, client, &cut));
        }
    }

    fn requests(&self, mut client: UnixStream, mut server: UnixStream, chosen: &Mutex<Option<usize>>) {
        let mut bytes = vec![0; 1 << 16];
        while let Ok(count @ 1..) = client.read(&mut bytes) {
            let place = self.choose();
            let sent = match place {
                Some(0) => break,
                Some(1) => count / 2,
                _ => count,
            };
            // Before the server can answer.
            *chosen.lock().unwrap() = place.filter(|place| *place > 1);
            if server.write_all(&bytes[..sent]).is_err() || place == Some(1) {
                break;
            }
        }
        let _ = (client.shutdown(Shutdown::Both), server.shutdown(Shutdown::Both));
    }
}

fn answers(mut server: UnixStream, mut client: UnixStream, chosen: &Mutex<Option<usize>>) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count @ 1..) = server.read(&mut bytes) {
        let place = *chosen.lock().unwrap();
        let sent = match place {
            Some(2) => break,
            Some(_) => count / 2,
            None => count,
        };
        if client.write_all(&bytes[..sent]).is_err() || place.is_some() {
            break;
        }
    }
    let _ = (client.shutdown(Shutdown::Both), server.shutdown(Shutdown::Both));
}

fn named(store: &Store, m: &MatchName, main: &BranchName) -> NamedBranch {
    let id = store.branch_head(m, main).unwrap().id;
    NamedBranch { match_name: m.clone(), branch: main.clone(), id }
}

fn at(dir: &Path, schema: &str) -> FleetAddress {
    let host = dir.display().to_string().replace('/', "%2F");
    FleetAddress::read(&format!("postgres://tests@{host}/postgres?schema={schema}"), None).unwrap()
}

#[test]
#[expect(clippy::print_stderr, reason = "the figures of the long form")]
#[expect(clippy::disallowed_methods, reason = "it shows whether time ran out")]
fn fl_28_cut_wires_lose_nothing_and_double_nothing() {
    let Some(server) = shared() else { return };
    let full = std::env::var_os("TURNFOLD_FLEET_FULL").is_some();
    let (cuts_wanted, writers) = if full { (10_000, 8) } else { (60, 4) };
    let dir = tempfile::Builder::new().prefix("tfpx").tempdir_in("/tmp").unwrap();
    let listener = UnixListener::bind(dir.path().join(SOCKET)).unwrap();
    let proxy = Arc::new(Proxy {
        upstream: server.dir.join(SOCKET),
        chance: Mutex::new(Chance::new(28)),
        rarity: AtomicU64::new(0),
        cuts: Default::default(),
        is_over: AtomicBool::new(false),
    });
    let running = Arc::clone(&proxy);
    let thread = thread::spawn(move || running.run(&listener));
    let store = Store::open_or_create_fleet(&at(dir.path(), "wires")).unwrap();
    for writer in 0..writers {
        store.create_match(&name(&format!("m{writer}")), &genesis(), Vec::new()).unwrap();
    }
    proxy.rarity.store(12, Ordering::SeqCst);
    let ran_out = [const { AtomicU64::new(0) }; 2];
    let heads: Vec<u64> = thread::scope(|scope| {
        let (store, proxy, ran_out) = (&store, &proxy, &ran_out);
        let write = move |writer: u64| {
            let (m, main) = (name(&format!("m{writer}")), BranchName::main());
            let mut head = 0_u64;
            while proxy.count() < cuts_wanted {
                let key = head.is_multiple_of(2).then(|| format!("k{head}").parse().unwrap());
                // FL-33
                let reserved = head.is_multiple_of(3).then(|| store.reserve(&named(store, &m, &main)));
                let began = Instant::now();
                match store.append(&m, &main, head, vec![opaque(head)], key.as_ref()) {
                    Ok(done) => {
                        assert_eq!((done.first, done.last, done.repeated), (head + 1, head + 1, false));
                    }
                    Err(StoreError::Unavailable { maybe, reason }) => {
                        // Only when time ran out; `maybe` then states whether the append may have been recorded.
                        assert!(began.elapsed() >= PATIENCE, "{reason}");
                        ran_out[usize::from(maybe)].fetch_add(1, Ordering::SeqCst);
                        let now = store.head(&m, &main).unwrap();
                        assert!(now == head || maybe && now == head + 1, "{now} after {head}");
                        head = now;
                        continue;
                    }
                    Err(error) => panic!("{error}"),
                }
                drop(reserved);
                head += 1;
            }
            head
        };
        let threads: Vec<_> = (0..writers).map(|writer| scope.spawn(move || write(writer))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    proxy.rarity.store(0, Ordering::SeqCst);
    for (writer, head) in heads.iter().enumerate() {
        assert_eq!(labels(&store, &format!("m{writer}"), "main"), (0..*head).collect::<Vec<_>>());
    }
    assert_eq!(store.check(&mut unobserved()).unwrap().damage, []);
    let [not_sent, maybe] = ran_out.each_ref().map(|count| count.load(Ordering::SeqCst));
    eprintln!(
        "{:?} cuts, {} appends; time ran out {not_sent} times for what was not recorded, {maybe} times for what may have been",
        proxy.cuts,
        heads.iter().sum::<u64>()
    );
    proxy.is_over.store(true, Ordering::SeqCst);
    // One more connection makes the proxy notice that it is stopped.
    let _ = UnixStream::connect(dir.path().join(SOCKET));
    thread.join().unwrap();
}
