//! FL-35, FL-36: a store whose runs are spread over the servers of a cluster.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use turnfold_store::{BranchName, FleetAddress, IdempotencyKey, SpreadReport, Store, StoreError};

use super::{backup, sql};
use crate::game::{branch, genesis, labels, name, opaque};
use crate::postgres::{Cluster, Server, alone};
use crate::rescue::{contents, fill, unobserved};

/// Returns what the coordinator sent to its servers during `act`: each statement and its server.
fn sent(coordinator: &Server, act: impl FnOnce()) -> Vec<(String, String)> {
    let log = coordinator.dir.join("log");
    let before = fs::read_to_string(&log).unwrap().len();
    act();
    let printed = fs::read_to_string(&log).unwrap();
    let mut sent = Vec::new();
    let mut lines = printed[before..].lines().peekable();
    while let Some(line) = lines.next() {
        let Some((_, statement)) = line.split_once("NOTICE:  issuing ") else { continue };
        let mut statement = statement.to_owned();
        let mut server = String::new();
        for line in lines.by_ref() {
            if let Some((_, found)) = line.split_once("DETAIL:  on server ") {
                found.split(" connectionId").next().unwrap().clone_into(&mut server);
                break;
            }
            statement.push_str(line);
        }
        let is_setting =
            ["SET ", "BEGIN", "COMMIT", "SELECT pg_catalog."].iter().any(|word| statement.starts_with(word));
        if !is_setting {
            sent.push((statement, server));
        }
    }
    sent
}

#[test]
fn fl_36_what_concerns_a_branch_of_a_spread_store_is_done_by_one_server() {
    let Some(cluster) = Cluster::start(2) else { return };
    let server = &cluster.coordinator;
    let address = server.address();
    let store = Store::open_or_create_fleet(&address).unwrap();
    fill(&store);
    let before = backup(&store);
    let held = contents(&store);
    store.close().unwrap();
    assert_eq!(Store::spread_fleet(&address).unwrap(), SpreadReport { is_new: true, shards: 32, nodes: 2 });
    assert_eq!(Store::spread_fleet(&address).unwrap(), SpreadReport { is_new: false, shards: 32, nodes: 2 });
    let here = Store::open_fleet(&address).unwrap();
    assert_eq!(backup(&here), before);
    assert_eq!(contents(&here), held);

    let logged =
        "ALTER ROLE tests SET citus.log_remote_commands = on; ALTER ROLE tests SET log_min_messages = notice";
    server.sql("ALTER SYSTEM SET log_min_messages = notice");
    server.sql("SELECT pg_reload_conf()");
    sql(server, &address, logged);
    let (main, line) = (BranchName::main(), branch("line"));
    let mut servers = Vec::new();
    for number in 0..8 {
        let m = name(&format!("spread{number}"));
        let here = Store::open_fleet(&address).unwrap();
        here.create_match(&m, &genesis(), Vec::new()).unwrap();
        here.append(&m, &main, 0, vec![opaque(1)], None).unwrap();
        here.create_branch(&m, &line, &main, 1, Vec::new()).unwrap();
        let mut ask = |act: &dyn Fn()| {
            let sent = sent(server, act);
            assert!(sent.iter().all(|(_, server)| *server == sent[0].1), "{sent:?}");
            servers.push(sent[0].1.clone());
            sent
        };
        let key: IdempotencyKey = "k".parse().unwrap();
        // The query for the end of the branch, and the run itself; also for a branch without runs.
        for (of, head) in [(&main, 1), (&main, 2), (&line, 1)] {
            let sent = ask(&|| assert!(here.append(&m, of, head, vec![opaque(2)], None).is_ok()));
            let runs: Vec<_> = sent.iter().filter(|(sql, _)| sql.starts_with("INSERT")).collect();
            assert_eq!((runs.len(), sent.len()), (1, 2), "{sent:?}");
        }
        ask(&|| assert_eq!(here.read(&m, &main, None).unwrap().entries.len(), 3));
        ask(&|| assert_eq!(here.head(&m, &main).unwrap(), 3));
        ask(&|| assert_eq!(here.find_idempotency_key(&m, &main, &key).unwrap(), None));
        ask(&|| assert!(here.append(&m, &main, 1, vec![opaque(2)], None).is_err()));
    }
    servers.sort();
    servers.dedup();
    assert_eq!(servers.len(), 2, "both have some: {servers:?}");
    assert_eq!(here.check(&mut unobserved()).unwrap().damage, []);
}

#[test]
fn fl_35_what_cannot_be_spread_is_refused_by_name_and_stays_as_it_is() {
    let Some(server) = alone() else { return };
    let (address, store) = super::with_match(server);
    let before = backup(&store);
    let error = Store::spread_fleet(&address).unwrap_err().to_string();
    assert!(error.contains("has no extension `citus`"), "{error}");
    assert_eq!(backup(&Store::open_fleet(&address).unwrap()), before);
    let error = Store::spread_fleet(&server.schema("nothing_here")).unwrap_err().to_string();
    assert!(error.contains("there is no store in its schema"), "{error}");
}

/// Appends keyed entries to a match one after another, repeating each until it is acknowledged. Returns the number of
/// acknowledged entries.
fn append_all(address: &FleetAddress, number: usize, ends: &AtomicBool) -> u64 {
    let (m, main) = (name(&format!("m{number}")), BranchName::main());
    let store = Store::open_fleet(address).unwrap();
    let mut head = 0;
    while !ends.load(Ordering::SeqCst) {
        let key: IdempotencyKey = format!("k{head}").parse().unwrap();
        match store.append(&m, &main, head, vec![opaque(head)], Some(&key)) {
            Ok(appended) => {
                assert_eq!((appended.first, appended.last), (head + 1, head + 1));
                head += 1;
            }
            Err(StoreError::Unavailable { .. }) => {}
            Err(error) => panic!("{m}: {error}"),
        }
    }
    head
}

#[test]
fn fl_36_servers_die_and_runs_move_while_all_append_and_nothing_is_lost_or_doubled() {
    const WRITERS: usize = 8;
    let Some(mut cluster) = Cluster::start(2) else { return };
    let address = cluster.coordinator.address();
    let store = Store::open_or_create_fleet(&address).unwrap();
    for number in 0..WRITERS {
        store.create_match(&name(&format!("m{number}")), &genesis(), Vec::new()).unwrap();
    }
    Store::spread_fleet(&address).unwrap();
    let schema = address.to_string();
    let schema = schema.rsplit_once('=').unwrap().1;
    let shards = cluster.coordinator.sql(&format!(
        "SELECT concat_ws(', ', s.shardid, quote_literal(n.nodename), n.nodeport) FROM pg_dist_shard s \
         JOIN pg_dist_placement p ON p.shardid = s.shardid JOIN pg_dist_node n ON n.groupid = p.groupid \
         WHERE s.logicalrelid = '{schema}.run'::regclass ORDER BY s.shardid LIMIT 3"
    ));
    let ends = AtomicBool::new(false);
    let heads: Vec<u64> = thread::scope(|scope| {
        let (address, ends) = (&address, &ends);
        let writers: Vec<_> =
            (0..WRITERS).map(|number| scope.spawn(move || append_all(address, number, ends))).collect();
        thread::sleep(Duration::from_secs(2));
        for worker in &cluster.workers {
            worker.kill();
            thread::sleep(Duration::from_secs(1));
            worker.begin();
            thread::sleep(Duration::from_secs(2));
        }
        // A third server takes its share of the runs.
        cluster.add().unwrap();
        cluster.coordinator.sql("SELECT replicate_reference_tables()");
        for shard in shards.lines() {
            cluster.coordinator.sql(&format!(
                "SELECT citus_move_shard_placement({shard}, '{}', 5432)",
                cluster.workers[2].dir.display()
            ));
        }
        thread::sleep(Duration::from_secs(1));
        ends.store(true, Ordering::SeqCst);
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    let store = Store::open_fleet(&address).unwrap();
    for (number, head) in heads.iter().enumerate() {
        let found = labels(&store, &format!("m{number}"), "main");
        // The last append may be there although its answer was lost.
        assert!(
            found.len() as u64 == *head || found.len() as u64 == head + 1,
            "{number}: {head}, {}",
            found.len()
        );
        assert_eq!(found, (0..found.len() as u64).collect::<Vec<_>>());
        assert!(*head > 0);
    }
    assert_eq!(store.check(&mut unobserved()).unwrap().damage, []);
    assert_eq!(Store::spread_fleet(&address).unwrap().nodes, 3);
}
