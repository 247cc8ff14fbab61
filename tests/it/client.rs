//! The command line as a client of the service (SV-40).

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Output;
use std::thread;
use std::time::Duration;

use snapbox::{assert_data_eq, str};
use ureq::http::Request;

use turnfold_tests::sandbox::{Sandbox, words};
use turnfold_tests::service::Running;
use turnfold_tests::transcript;

/// Returns a sandbox whose store contains `ford`, a match with secrets in which every roll is known.
fn ford() -> Sandbox {
    let sandbox = Sandbox::new();
    let seed = "ab".repeat(32);
    sandbox.ok(&format!(
        "new ford --rules cycletap --setup fixtures/cycletap/ford.toml --dice seeded --seed {seed}"
    ));
    sandbox
}

/// Writes tokens for both seats, the host and the admin to files.
fn write_tokens(sandbox: &Sandbox, service: &Running) {
    for seat in ["p1", "p2"] {
        let grant = service.grant("ford", &format!(r#"{{"kind":"seat","seat":"{seat}"}}"#));
        sandbox.write(&format!("{seat}.token"), grant["token"].as_str().unwrap());
    }
    let grant = service.grant("ford", r#"{"kind":"host"}"#);
    sandbox.write("host.token", format!("{}\n", grant["token"].as_str().unwrap()));
    sandbox.write("admin.token", service.admin());
}

/// SV-40: a search has more hits than the requests that a player may send in a second, so the client has to wait.
#[test]
fn sv_40_a_search_with_many_hits_works_with_a_players_token() {
    let sandbox = ford();
    let taps: String =
        (0..900).map(|place| if place % 2 == 0 { "p1: tap 0,1\n" } else { "p1: back\n" }).collect();
    sandbox.write("taps.txt", taps);
    sandbox.ok("play ford --script taps.txt");
    let service = Running::start(&sandbox);
    write_tokens(&sandbox, &service);
    let find = "find ford --when \"/tap/state != idle\"";
    for token in ["p1", "host"] {
        for format in ["", "--format json "] {
            let there = run(&sandbox, service.origin(), token, &format!("{format}{find}"));
            assert_eq!(text(&there.stderr), "");
            assert!(text(&there.stdout).lines().count() >= 100, "{}", text(&there.stdout));
        }
    }
    // The last of these requests have to wait.
    for _ in 0..12 {
        let log = run(&sandbox, service.origin(), "p1", "log ford");
        assert!(log.status.success(), "{}", text(&log.stderr));
    }
}

/// SV-40: `export` writes the files that the service has.
#[test]
fn sv_40_export_writes_the_files_of_a_service() {
    let sandbox = ford();
    sandbox.ok("play ford \"p1: tap 0,1\"");
    let [replay, page] = ["export ford", "export ford --html"].map(|line| sandbox.ok(line));
    let seen = sandbox.ok("export ford --html --as p1");
    let service = Running::start(&sandbox);
    write_tokens(&sandbox, &service);
    let there = |token: &str, line: &str| {
        let output = run(&sandbox, service.origin(), token, line);
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    assert_eq!(there("host", "export ford"), (Some(0), replay.clone(), String::new()));
    assert_eq!(there("host", "export ford --html"), (Some(0), page, String::new()));
    assert_eq!(there("host", "export ford --html --as p1"), (Some(0), seen.clone(), String::new()));
    assert_eq!(there("p1", "export ford --html"), (Some(0), seen, String::new()));
    let (code, _, line) = there("host", "export ford -o there.tfl");
    assert_eq!(code, Some(0), "{line}");
    assert_eq!(sandbox.read("there.tfl"), replay);
    let seen = sandbox.ok("export ford --as p1");
    assert_eq!(there("host", "export ford --as p1"), (Some(0), seen.clone(), String::new()));
    assert_eq!(
        there("p1", "export ford"),
        (Some(0), seen, String::new()),
        "a player may not have the seed yet"
    );
    // The member has the same type as without a service.
    let listed = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap()["branches"].clone();
    assert_eq!(listed(&there("p1", "--format json matches").1), 1);
}

/// Runs a command with a token on a service.
fn run(sandbox: &Sandbox, origin: &str, token: &str, line: &str) -> Output {
    sandbox.run(&format!("--store {origin} --token {token}.token {line}"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Removes the values of `recorded_at_ms` from JSON lines.
fn without_times(text: &str) -> String {
    let mut parts = text.split("\"recorded_at_ms\":");
    let first = parts.next().unwrap().to_string();
    parts.fold(first, |text, part| text + part.trim_start_matches(|digit: char| digit.is_ascii_digit()))
}

#[test]
fn sv_40_a_seats_session_on_a_service_prints_what_it_prints_on_a_store() {
    let session = "
        p1 show ford
        p1 legal ford
        p1 ask ford suggest 0,0
        p1 play ford
        p1 play ford \"tap 0,1\"
        p1 play ford \"p1: tap 0,0\" --once k
        p1 play ford \"tap 0,0\" --once k
        p2 play ford back
        p2 --format json play ford back
        p2 play ford \"p1: switch\"
        p2 show ford
        p2 log ford
        p1 log ford
        p1 --format json play ford switch
        p2 --format json play ford
        p2 play ford \"tap 1,-2\" --no-auto-roll
        p2 play ford \"tap 1,-3\" --no-auto-roll
        p2 play ford switch
        host play ford resolve
        p1 play ford
        p2 log ford
        p2 log ford:4..
        p1 --format json log ford
        p1 show ford:2
        p2 show ford:99
        p2 --format json show ford
        p2 --format svg show ford:1
        p1 --format json legal ford
        p1 --format json ask ford suggest 0,0
        p1 show ford:1 ford:99 ford
        p2 --format json show ford:1 ford
        p2 log ford:4.. ford ford@nowhere
        p1 --format json log ford ford:3..
        p1 find ford --seat p1
        p2 find ford --command \"tap *\"
        p2 --format json find ford --effect order_placed
        p2 --format json find ford --effect order_placed --first
        p1 --format json find ford --when \"count(/orders/*) > 0\"
        p2 find ford --when \"count(/orders/*) > 0\"
        p1 find ford --when \"/turn == 1\"
        p1 find ford --when \"/turn >= 1 && /tap/state != idle\" --seat p1
        p1 find ford --when \"/turn >= 1 && /tap/state != idle\" --seat p1 --first
        p1 find ford --when \"/turn >= 1\" --first
        p2 find ford --when \"/trun == 1\"
        p1 find ford --reason no_friendly_unit
        p2 find --matches --seat p2
        p1 find ford nowhere --seat p1
        p1 ask ford nonsense
        p1 legal ford@nowhere";
    let (on_store, on_service) = (ford(), ford());
    let service = Running::start(&on_service);
    write_tokens(&on_service, &service);
    for line in session.trim().lines().map(str::trim) {
        let (seat, line) = line.split_once(' ').unwrap();
        let named = if line.contains("play ") { "--seat" } else { "--as" };
        let expected = on_store.run(&format!("{line} {named} {seat}"));
        let found = run(&on_service, service.origin(), seat, line);
        let (expected_text, found_text) = (text(&expected.stdout), text(&found.stdout));
        if seat == "host" {
            assert!(found.status.success(), "{line}: {}", text(&found.stderr));
            continue;
        }
        assert_eq!(without_times(&found_text), without_times(&expected_text), "{seat} {line}");
        assert_eq!(found.status.code(), expected.status.code(), "{seat} {line}: {}", text(&found.stderr));
        assert_eq!(found.stderr.is_empty(), expected.stderr.is_empty(), "{seat} {line}");
        // The output is the same if the player names their own seat.
        if !line.contains("play") {
            let named = run(&on_service, service.origin(), seat, &format!("{line} --as {seat}"));
            assert_eq!(text(&named.stdout), found_text, "{seat} {line}");
        }
    }
}

/// SV-69: turns are listed on a service, for its matches or for those of a seat, and a seat sees only its own match.
#[test]
fn sv_69_a_service_lists_whose_turn_it_is() {
    let sandbox = ford();
    sandbox.ok("new due --rules initiative --setup fixtures/initiative/small-board.toml");
    sandbox.ok("simulate --rules lifecycle --seed 1 --steps 5000 --into ended");
    sandbox.ok("play ford \"p1: switch\"");
    let service = Running::start(&sandbox);
    write_tokens(&sandbox, &service);
    let origin = service.origin();
    transcript::check(
        |lines| sandbox.transcript(&lines.replace("SERVICE", origin)).replace(origin, "SERVICE"),
        str![[r#"
$ turnfold --store SERVICE --token admin.token matches --long
due  initiative  0 entries  turn 1 of host
ended  lifecycle  53 entries  over: p1 won  random play, seed 1
ford  cycletap  1 entry  turn 1 of p2
$ turnfold --store SERVICE --token admin.token matches --mine p2
ford  cycletap  1 entry  turn 1 of p2
$ turnfold --store SERVICE --token admin.token matches --mine host --limit 1
due  initiative  0 entries  turn 1 of host
$ turnfold --store SERVICE --token admin.token matches --mine host --limit 1 --after due
$ turnfold --store SERVICE --token p2.token matches --long
ford  cycletap  1 entry  turn 1 of p2
$ turnfold --store SERVICE --token p1.token matches --mine p1

"#]],
    );
    let json = text(&run(&sandbox, origin, "admin", "--format json matches --mine host").stdout);
    let seats: Vec<serde_json::Value> =
        json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(seats.iter().all(|listed| listed["now"]["turn"] == serde_json::json!(["host"])), "{json}");
    assert!(!seats.is_empty());
}

/// SV-69: a verb makes, lists and deletes branches on a service as in a store.
#[test]
fn sv_69_branches_are_made_and_deleted_near_and_far() {
    let session = "\
        branch ford:1 flank
        branch ford flank
        branch ford wing
        --format json branch ford@flank:1 rear
        branch ford:99 none
        branch nowhere none
        branch ford
        --format json branch ford
        branch --delete ford@wing
        branch --delete --force ford@wing
        branch --delete --force ford@main
        branch --delete --force ford@nowhere
        --format json branch --delete --force ford@rear
        branch ford";
    let (on_store, on_service) = (ford(), ford());
    for sandbox in [&on_store, &on_service] {
        sandbox.ok("play ford \"p1: tap 0,1\" \"p1: tap 0,0\"");
    }
    // Links cover the match id, which is random.
    let linkless = |text: &str| {
        let text = turnfold_tests::sandbox::without_links(text);
        text.lines().filter(|line| !line.contains("\"link\":\"")).collect::<Vec<_>>().join("\n")
    };
    let service = Running::start(&on_service);
    write_tokens(&on_service, &service);
    for line in session.lines().map(str::trim) {
        let expected = on_store.run(line);
        let found = run(&on_service, service.origin(), "host", line);
        assert_eq!(found.status.success(), expected.status.success(), "{line}: {}", text(&found.stderr));
        assert_eq!(linkless(&text(&found.stdout)), linkless(&text(&expected.stdout)), "{line}");
        assert!(text(&found.stderr).lines().count() <= 1, "{line}: {}", text(&found.stderr));
    }
    let refused = run(&on_service, service.origin(), "p1", "branch ford side");
    assert_eq!(text(&refused.stderr), "error: only the host token of the match permits that\n");
    assert_eq!(refused.status.code(), Some(2));
    // A player has the numbers of entries that it knows, and no links.
    let listed = text(&run(&on_service, service.origin(), "p2", "branch ford").stdout);
    assert_eq!(listed, "main   0 entries\nflank  0 entries, from main:0\n");
}

#[test]
fn sv_40_what_cannot_be_done_has_its_exit_code_and_one_line() {
    let sandbox = ford();
    let service = Running::start(&sandbox);
    write_tokens(&sandbox, &service);
    sandbox.write("revoked.token", format!("tf_s_{}", "A".repeat(43)));
    sandbox.write("junk.token", "junk");
    let origin = service.origin();
    transcript::check(
        |lines| sandbox.transcript(&lines.replace("SERVICE", origin)).replace(origin, "SERVICE"),
        str![[r#"
$ turnfold --store SERVICE --token p1.token play ford "tap 0,1" "tap 0,0"
exit 2| error: a call with several commands of a seat needs the store itself, and `--store` names a service
$ turnfold --store SERVICE --token p1.token play ford "tap 99,99"
1 p1 tap 99,99 => ignored no_friendly_unit
$ turnfold --store SERVICE --token p1.token play ford nonsense
! p1 nonsense => rejected malformed (expected `tap Q,R`, `back`, `switch` or `resolve`, found `nonsense`)
exit 2| error: the command was rejected; nothing was recorded; `turnfold rules cycletap malformed` explains it
$ turnfold --store SERVICE --token p1.token play ford "p2: back"
exit 2| error: `p2: back` is a command of p2, not of p1
$ turnfold --store SERVICE --token p1.token play ford back --seat p2
exit 2| error: `p2: back` is a command of p2, not of p1
$ turnfold --store SERVICE --token p1.token play ford --seat p2
exit 2| error: only the host can view the match as another seat
$ turnfold --store SERVICE --token p1.token show ford --as p2
exit 2| error: only the host can view the match as another seat
$ turnfold --store SERVICE --token p1.token play ford back --expect 7
exit 2| error: only the host can use `expect`; a seat uses `If-Match`
$ turnfold --store SERVICE --token host.token play ford "p1: tap 0,1"
exit 2| error: seat p1 is taken; only its player can issue its commands
$ turnfold --store SERVICE --token host.token play ford --seat p1 "tap 0,1"
exit 2| error: `--seat p1` without that seat's token needs the store itself, and `--store` names a service
$ turnfold --store SERVICE --token host.token play ford:7 resolve
exit 1| error: expected `ford` at entry 7, but its last entry is 1; look at what is new and try again
$ turnfold --store SERVICE --token host.token play ford:7 resolve --expect 8
exit 2| error: `--expect` and `ford:7` name two entries as the last
$ turnfold --store SERVICE --token host.token play ford --dice system
exit 2| error: `--dice` needs the store itself, and `--store` names a service
$ turnfold --store SERVICE --token host.token show nowhere
exit 2| error: no match `nowhere` in this store
$ turnfold --store SERVICE --token host.token log ford:99
exit 2| error: `ford@main` has no entry 99: its head is 1
$ turnfold --store SERVICE --token host.token play ford resolve --once "two words"
exit 2| error: invalid value 'two words' for '--once <KEY>': expected a key of 1 to 128 printable ASCII characters without spaces, found `two words`; see `--help`
$ turnfold --store SERVICE --token p1.token diff ford:0 ford --as p2
exit 2| error: expected what `p2` may know, found what `p1` may know
$ turnfold --store SERVICE --token p1.token shrink ford --when "/turn == 1"
exit 2| error: expected what `host` may know, found what `p1` may know
$ turnfold --store SERVICE --token host.token replay ford@nowhere
exit 2| error: match `ford` has no branch `nowhere`
$ turnfold --store SERVICE --token host.token --format json new other --rules cycletap
exit 2| {"error":{"kind":"usage","message":"this needs the store itself, and `SERVICE` is a service","hint":null,"exit_code":2}}
$ turnfold --store SERVICE --token revoked.token show ford
exit 2| error: expected a valid token that has not expired or been revoked
$ turnfold --store SERVICE --token junk.token show ford
exit 2| error: `junk.token` holds no token
$ turnfold --store SERVICE --token missing.token show ford
exit 2| error: cannot read token file `missing.token`: No such file or directory (os error 2)

"#]],
    );
}

/// SV-67: a search of any form finds only what the token may read.
#[test]
fn sv_40_a_search_finds_only_what_the_token_may_read() {
    let sandbox = ford();
    sandbox.ok("new other --rules lifecycle");
    sandbox.ok("play ford \"p1: tap 0,1\" \"p1: tap 0,0\"");
    sandbox.ok("branch ford:1 flank");
    sandbox.ok("export ford -o ford.tfl");
    let service = Running::start(&sandbox);
    write_tokens(&sandbox, &service);
    let origin = service.origin();
    transcript::check(
        |lines| sandbox.transcript(&lines.replace("SERVICE", origin)).replace(origin, "SERVICE"),
        str![[r#"
$ turnfold --store SERVICE --token p1.token find ford --effect order_placed
ford:2 p1 tap 0,0 => order_placed number=1 unit=u3 kind=attack path=0,0
$ turnfold --store SERVICE --token p2.token find ford --effect order_placed
exit 1
$ turnfold --store SERVICE --token p2.token find ford --effect order_placed --as p1
exit 2| error: ford: only the host can view the match as another seat
$ turnfold --store SERVICE --token host.token find ford --effect order_placed --as p2
exit 1
$ turnfold --store SERVICE --token host.token find ford --effect order_placed
ford:2 p1 tap 0,0 => order_placed number=1 unit=u3 kind=attack path=0,0
$ turnfold --store SERVICE --token host.token find ford:1 --command "tap *"
ford:1 p1 tap 0,1 => origin_selected at=0,1
$ turnfold --store SERVICE --token p1.token find ford:1 --command "tap *"
ford:1 p1 tap 0,1 => origin_selected at=0,1
$ turnfold --store SERVICE --token p1.token find other --seat p1
exit 2| error: no match `other` in this store
$ turnfold --store SERVICE --token p1.token find --matches --when "/turn == 1"
ford:0 setup
ford@flank:0 setup
$ turnfold --store SERVICE --token admin.token find --matches --when "/tap/state == idle"
ford:0 setup
ford@flank:0 setup
$ turnfold --store SERVICE --token admin.token find --matches --when "/trun == 1"
exit 2| error: `/trun` is nowhere in the view, after any entry: the view has `ruleset`, `turn`, `phase`, `planning`, `winner`, `tap`, `pools`, `units`, `orders`, `water`
$ turnfold --store SERVICE --token p1.token find ford ford.tfl --seat p1
ford:1 p1 tap 0,1 => origin_selected at=0,1
ford:2 p1 tap 0,0 => order_placed number=1 unit=u3 kind=attack path=0,0
ford.tfl:1 p1 tap 0,1 => origin_selected at=0,1
ford.tfl:2 p1 tap 0,0 => order_placed number=1 unit=u3 kind=attack path=0,0
$ turnfold --store SERVICE --token missing.token find ford.tfl --seat p1
ford.tfl:1 p1 tap 0,1 => origin_selected at=0,1
ford.tfl:2 p1 tap 0,0 => order_placed number=1 unit=u3 kind=attack path=0,0

"#]],
    );
}

#[test]
fn sv_40_tokens_go_nowhere_unencrypted_and_are_never_shown() {
    let sandbox = ford();
    let service = Running::start(&sandbox);
    write_tokens(&sandbox, &service);
    let secret = service.admin().to_string();
    for (line, reason) in [
        ("--store http://play.example --token admin.token show ford", "by `https` only"),
        ("--store http://127.0.0.1.example --token admin.token show ford", "by `https` only"),
        ("--store ftp://play.example --token admin.token show ford", "expected an origin"),
        ("--token admin.token show ford", "`--token` is for a service"),
        (&format!("--store {} show ford", service.origin()), "requires a token"),
        ("--store https://play.example branch --rename ford@x y", "needs the store itself"),
        (&format!("--store {} --token {secret} show ford", service.origin()), "not the token itself"),
        (&format!("join {}/m/ford#t={secret} -o x", service.origin()), "is no seat's"),
        (&format!("join {}/m/ford#i={secret} -o x", service.origin()), "expected the link"),
        (&format!("join http://play.example/m/ford#i={secret} -o x"), "by `https` only"),
    ] {
        let output = sandbox.run(line);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}: {stderr}");
        assert!(stderr.contains(reason) && stderr.lines().count() == 1, "{line}: {stderr}");
        assert!(!stderr.contains(&secret), "{stderr}");
    }
    let traced = run(&sandbox, service.origin(), "admin", "-vvv show ford");
    assert!(traced.status.success() && !text(&traced.stderr).contains(&secret));
    // The client does not retry if it expects TLS from a server without TLS.
    let tls = service.origin().replace("http:", "https:");
    let output = run(&sandbox, &tls, "admin", "play ford resolve");
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
}

#[test]
fn sv_40_lists_are_read_page_after_page() {
    let sandbox = Sandbox::new();
    sandbox.ok("new long --rules hexcapture --setup fixtures/hexcapture/generated-world.toml");
    sandbox.write("script", "tick\n".repeat(2_500));
    sandbox.ok("play long --script script");
    sandbox.ok("branch long:10 flank");
    for name in ["ant", "bee"] {
        sandbox.ok(&format!("new {name} --rules cycletap"));
    }
    let lines = [
        "log long",
        "--format json log long",
        "log long:900..2100",
        "log long:1000",
        "log long:..1001",
        "log long:2400..",
        "log long@flank --as p1",
        "branch long",
        "--format json branch long",
    ];
    let on_store = lines.map(|line| sandbox.ok(line));
    let service = Running::start(&sandbox);
    sandbox.write("admin.token", service.admin());
    for (line, expected) in lines.iter().zip(on_store) {
        assert_eq!(text(&run(&sandbox, service.origin(), "admin", line).stdout), expected, "{line}");
    }
    let names = |line: &str| {
        let listed = text(&run(&sandbox, service.origin(), "admin", line).stdout);
        let names: Vec<_> = listed.lines().map(|line| line.split(' ').next().unwrap().to_string()).collect();
        names.join(" ")
    };
    assert_eq!(names("matches"), "ant bee long");
    assert_eq!(names("matches --limit 2"), "ant bee");
    assert_eq!(names("matches --after ant"), "bee long");
    assert_eq!(names("matches --limit 0"), "");
    let request = Request::get(format!("{}/v1/matches?limit=2", service.origin()))
        .header("authorization", format!("Bearer {}", service.admin()))
        .header("accept", "text/plain");
    let page = service.run(request.body(String::new()).unwrap());
    assert_eq!(page.headers["link"], "</v1/matches?after=bee&limit=2>; rel=\"next\"");
    let json = text(&run(&sandbox, service.origin(), "admin", "--format json matches --limit 1").stdout);
    assert!(json.starts_with("{\"match\":\"ant\",") && json.lines().count() == 1, "{json}");
}

/// Starts a proxy to a service and returns its origin. It withholds the answers of the first `lost` connections and
/// closes them.
fn losing_answers(service: &Running, lost: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let address = service.origin().strip_prefix("http://").unwrap().to_string();
    thread::spawn(move || {
        for (index, client) in listener.incoming().enumerate() {
            let (mut client, mut server) = (client.unwrap(), TcpStream::connect(&address).unwrap());
            let (mut requests, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || std::io::copy(&mut requests, &mut to));
            if index < lost {
                assert!(server.read(&mut [0; 1]).unwrap() > 0, "the service answered");
                let _ = client.shutdown(Shutdown::Both);
            } else {
                let mut answer = vec![0; 1 << 16];
                while let Ok(count @ 1..) = server.read(&mut answer) {
                    client.write_all(&answer[..count]).unwrap();
                }
            }
        }
    });
    origin
}

#[test]
fn sv_40_a_command_whose_answer_is_lost_is_recorded_once() {
    let sandbox = ford();
    let service = Running::start(&sandbox);
    write_tokens(&sandbox, &service);
    let through = losing_answers(&service, 2);
    let played = run(&sandbox, &through, "p1", "play ford \"tap 0,1\"");
    assert!(played.status.success(), "{}", text(&played.stderr));
    let log = run(&sandbox, service.origin(), "p1", "log ford");
    assert_eq!(text(&log.stdout), text(&played.stdout));
    assert_eq!(text(&log.stdout).lines().count(), 1, "it is recorded once");
}

#[test]
fn sv_40_a_command_waits_for_a_service_that_is_started_again() {
    let sandbox = ford();
    let service = Running::start(&sandbox);
    write_tokens(&sandbox, &service);
    let origin = service.origin().to_string();
    drop(service);
    let words = words(&format!("--store {origin} --token p1.token play ford \"tap 0,1\""));
    let mut playing = sandbox.command(words.iter().map(String::as_str));
    let playing = thread::spawn(move || playing.output().unwrap());
    thread::sleep(Duration::from_millis(600));
    let address = origin.strip_prefix("http://").unwrap();
    let service = Running::start_by(sandbox.command(["serve", "--listen", address]));
    let played = playing.join().unwrap();
    assert!(played.status.success(), "{}", text(&played.stderr));
    let log = run(&sandbox, service.origin(), "p1", "log ford");
    assert_eq!(text(&log.stdout), text(&played.stdout));
    // A request that only reads is not repeated.
    drop(service);
    let output = run(&sandbox, &origin, "p1", "show ford");
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("no answer from"), "{}", text(&output.stderr));
}

#[test]
fn sv_25_sv_40_an_invitation_is_spent_once_and_a_lost_answer_locks_no_one_out() {
    let sandbox = ford();
    let as_p1 = sandbox.ok("show ford --as p1");
    let service = Running::start(&sandbox);
    let invite = |seat: &str| {
        let grant = service.grant("ford", &format!(r#"{{"kind":"invitation","seat":"{seat}"}}"#));
        grant["link"].as_str().unwrap().to_string()
    };
    let link = invite("p1");
    let join = format!("join {link} -o p1.token");
    let joined = sandbox.ok(&join);
    assert_data_eq!(
        joined.replace(service.origin(), "SERVICE"),
        str![[r#"
you are p1 of ford; `turnfold --store SERVICE --token p1.token show ford` shows it

"#]]
    );
    let token = sandbox.read("p1.token");
    assert!(token.starts_with("tf_s_") && token.len() == 49, "a line");
    assert!(!joined.contains(token.trim_end()));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(sandbox.path("p1.token")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let shown = run(&sandbox, service.origin(), "p1", "show ford");
    assert_eq!(text(&shown.stdout), as_p1);
    // The same file joins the same seat again. Another file is too late and is not left behind.
    assert_eq!(sandbox.ok(&join), joined);
    assert_eq!(sandbox.read("p1.token"), token);
    let late = sandbox.run(&format!("join {link} -o late.token"));
    assert_eq!(late.status.code(), Some(2), "{}", text(&late.stderr));
    assert!(!sandbox.path("late.token").exists());
    // A seat's token is not used for another seat, and no other file is overwritten.
    let other = invite("p2");
    let twice = sandbox.run(&format!("join {other} -o p1.token"));
    assert_eq!(twice.status.code(), Some(1), "{}", text(&twice.stderr));
    assert_eq!(sandbox.read("p1.token"), token);
    sandbox.write("notes", "mine");
    assert_eq!(sandbox.run(&format!("join {other} -o notes")).status.code(), Some(2));
    assert_eq!(sandbox.read("notes"), "mine");
    // The first answer is lost on the way.
    let through = losing_answers(&service, 1);
    let joined = sandbox.ok(&format!("join {} -o p2.token", other.replace(service.origin(), &through)));
    assert!(joined.starts_with("you are p2 of ford; "), "{joined}");
    assert!(run(&sandbox, service.origin(), "p2", "show ford").status.success());
}

/// All players see the name, the first to join gets the seat, and the saved link opens it on a second device.
#[test]
fn sv_41_a_player_joins_under_a_name_and_takes_the_seat_to_another_device() {
    let sandbox = ford();
    let service = Running::start(&sandbox);
    let link = |seat: &str| {
        let grant = service.grant("ford", &format!(r#"{{"kind":"invitation","seat":"{seat}"}}"#));
        grant["link"].as_str().unwrap().to_string()
    };
    let [first, second, other] = ["p1", "p1", "p2"].map(link);
    let answer = sandbox.ok(&format!("--format json join {first} --name Ann -o p1.token"));
    assert!(answer.contains(r#""name":"Ann""#), "{answer}");
    let refused = |line: &str, reason: &str, code| {
        let output = sandbox.run(line);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{line}: {stderr}");
        assert!(stderr.contains(reason), "{stderr}");
    };
    refused(&format!("join {second} -o late.token"), "the seat p1 is taken", 1);
    refused(&format!("join {other} --name ANN -o p2.token"), "the name `ANN` is taken", 1);
    refused(&format!("join {other} --name p7 -o p2.token"), "names no seat", 2);
    assert!(!sandbox.path("late.token").exists() && !sandbox.path("p2.token").exists());
    let token = sandbox.read("p1.token");
    let saved = format!("{}/m/ford#t={}", service.origin(), token.trim_end());
    for _ in 0..2 {
        let answered = sandbox.ok(&format!("--format json join {saved} -o phone.token"));
        assert_eq!(answered, answer, "the same seat");
        assert_eq!(sandbox.read("phone.token"), token);
    }
    refused(&format!("join {saved} --name Bo -o more.token"), "`--name` is for an invitation", 2);
    sandbox.write("notes", "mine");
    refused(&format!("join {saved} -o notes"), "`notes`", 2);
    assert_eq!(sandbox.read("notes"), "mine");
    let unknown = saved.replace(token.trim_end(), &format!("tf_s_{}A", "x".repeat(42)));
    refused(&format!("join {unknown} -o more.token"), "expected a valid token", 2);
    assert!(!sandbox.path("more.token").exists());
}
