//! Calls to players who have no page open when their turn comes (SV-44).

use std::fs;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::http::{Call, Events, create, grant, main_of};
use super::terms::play;
use turnfold_tests::sandbox::Sandbox;
use turnfold_tests::service::Running;

const SETUP: &str = "players = 2\nseed = 7";

fn serve(sandbox: &Sandbox, command: &str) -> Running {
    let listen = ["serve", "--listen", "127.0.0.1:0"];
    let notify = ["--notify", command, "--notify-after", "0"];
    Running::start_by(sandbox.command([listen.as_slice(), notify.as_slice()].concat()))
}

/// Joins as a seat under a player's name, and returns the token.
pub(super) fn join(service: &Running, name: &str, seat: &str, player: &str) -> String {
    let invitation = grant(service, name, &json!({"kind": "invitation", "seat": seat}));
    let joined = Call::post("/v1/join", &invitation, &json!({"name": player})).to(service).is(201).json();
    joined["token"].as_str().unwrap().to_owned()
}

/// Sets the address at which the player of a token wants to be called.
fn ask_for(service: &Running, name: &str, token: &str, to: &str) {
    let asked = Call::post(&format!("/v1/matches/{name}/call"), token, &json!({"to": to}));
    assert_eq!(asked.to(service).is(200).json(), json!({"to": to}));
}

/// Waits until this number of calls was made, and returns them.
fn calls(sandbox: &Sandbox, count: usize) -> Vec<Value> {
    let mut read = String::new();
    for _ in 0..1200 {
        read = fs::read_to_string(sandbox.path("calls.txt")).unwrap_or_default();
        if read.ends_with('\n') && read.lines().count() >= count {
            break;
        }
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(read.lines().count(), count, "{read}");
    assert!(!read.contains("tf_"), "no call gives access: {read}");
    read.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn ids(calls: &[Value]) -> Vec<&str> {
    calls.iter().map(|call| call["id"].as_str().unwrap()).collect()
}

#[test]
fn sv_44_a_player_without_an_open_page_is_called_once_for_each_turn() {
    let sandbox = Sandbox::new();
    let service = serve(&sandbox, "cat >> calls.txt");
    let [mut p1, mut p2] = [Vec::new(), Vec::new()];
    // The service checks matches by name, so a call for the second match proves that it checked the first, too.
    for name in ["alpha", "zeta"] {
        create(&service, name, "channel", SETUP);
        p1.push(join(&service, name, "p1", "Ann"));
        p2.push(join(&service, name, "p2", "Bo"));
    }
    // SV-47: if the service hosts, a call contains the deadline.
    let terms = json!({"terms": "hours = 24"});
    Call::post("/v1/matches/zeta/terms", service.admin(), &terms).to(&service).is(200);
    for (name, token) in ["alpha", "zeta"].into_iter().zip(&p1) {
        ask_for(&service, name, token, "ann@example.org");
    }
    let made = calls(&sandbox, 2);
    assert_eq!(
        made[0],
        json!({
            "event": "your_turn", "id": "alpha/p1/0", "match": "alpha", "title": "", "ruleset": "channel",
            "seat": "p1", "name": "Ann", "happened": [], "to": "ann@example.org", "link": format!("{}/m/alpha", service.origin()),
            "deadline": null,
        })
    );
    assert!(made[1]["deadline"].as_str().unwrap().ends_with('Z'), "{}", made[1]);
    // A turn that ends and comes again between two checks.
    play(&service, "alpha", &p1[0], "take 1 1");
    play(&service, "alpha", &p2[0], "meditate blue");
    let made = calls(&sandbox, 3);
    assert_eq!(ids(&made)[2], "alpha/p1/2");
    // VW-80: a call lists what others did since the player's last command, with their names.
    let happened = made[2]["happened"].as_array().unwrap();
    assert!(happened.len() == 1 && happened[0].as_str().unwrap().starts_with("Bo "), "{happened:?}");
    // The service is killed and the match continues without it. No call is lost or repeated.
    drop(service);
    sandbox.ok("play zeta \"p1: take 1 1\" \"p2: meditate blue\"");
    let service = serve(&sandbox, "cat >> calls.txt");
    assert_eq!(ids(&calls(&sandbox, 4))[3], "zeta/p1/2");
    // While a page is open, the page itself calls the player.
    let page = Events::open(&service, &Call::get(&main_of("alpha", "events"), &p1[0]));
    play(&service, "alpha", &p1[0], "meditate blue");
    play(&service, "alpha", &p2[0], "meditate blue");
    // A player who cancels calls gets no more, and others do not learn that.
    ask_for(&service, "alpha", &p2[0], "bo");
    let path = "/v1/matches/alpha/call";
    assert_eq!(Call::get(path, &p2[0]).to(&service).is(200).json(), json!({"to": "bo"}));
    Call::new("DELETE", path, &p2[0]).to(&service).is(204);
    assert_eq!(Call::get(path, &p2[0]).to(&service).is(200).json(), json!({"to": null}));
    assert_eq!(Call::get(path, &p1[0]).to(&service).is(200).json(), json!({"to": "ann@example.org"}));
    let host = grant(&service, "alpha", &json!({"kind": "host"}));
    Call::get(path, &host).to(&service).problem(403, "forbidden");
    Call::get(path, &p1[1]).to(&service).problem(404, "not_found");
    for wrong in ["", "a\nb", &"x".repeat(201)] {
        Call::post(path, &p1[0], &json!({"to": wrong})).to(&service).problem(422, "content");
    }
    play(&service, "zeta", &p1[1], "meditate blue");
    play(&service, "zeta", &p2[1], "meditate blue");
    assert_eq!(ids(&calls(&sandbox, 5))[4], "zeta/p1/4");
    drop(page);
    // The host revokes the seat. Its next player is not called at the previous address.
    let grants = Call::get("/v1/matches/zeta/grants", service.admin()).to(&service).is(200).json();
    let seat = grants["items"].as_array().unwrap().iter().find(|one| one["name"] == "Ann").unwrap();
    let id = seat["id"].as_str().unwrap();
    Call::new("DELETE", &format!("/v1/matches/zeta/grants/{id}"), service.admin()).to(&service).is(204);
    let next = join(&service, "zeta", "p1", "Cy");
    assert_eq!(Call::get("/v1/matches/zeta/call", &next).to(&service).is(200).json(), json!({"to": null}));
}

/// Another token of the same seat, or a later match of the same name, neither shows nor inherits a wish for calls.
#[test]
fn sv_44_a_wish_is_of_one_token_and_goes_with_it() {
    let sandbox = Sandbox::new();
    let service = serve(&sandbox, "cat >> calls.txt");
    create(&service, "alpha", "channel", SETUP);
    let path = "/v1/matches/alpha/call";
    let seat = json!({"kind": "seat", "seat": "p1"});
    let [ann, cy] = [grant(&service, "alpha", &seat), grant(&service, "alpha", &seat)];
    ask_for(&service, "alpha", &ann, "ann@example.org");
    assert_eq!(calls(&sandbox, 1)[0]["to"], "ann@example.org");
    assert_eq!(Call::get(path, &cy).to(&service).is(200).json(), json!({"to": null}));
    let file = sandbox.path(".turnfold/calls.json");
    assert!(!fs::read_to_string(&file).unwrap().contains("tf_s_"), "no token is kept");
    #[cfg(unix)]
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&file).unwrap().permissions()) & 0o77,
        0
    );
    drop(service);
    sandbox.ok("delete --force alpha");
    let service = serve(&sandbox, "cat >> calls.txt");
    create(&service, "alpha", "channel", SETUP);
    let other = join(&service, "alpha", "p1", "Bo");
    ask_for(&service, "alpha", &other, "bo@example.org");
    assert_eq!(calls(&sandbox, 2)[1]["to"], "bo@example.org");
    // By now the service also checked the wish of the deleted match.
    assert!(!fs::read_to_string(&file).unwrap().contains("ann@example.org"));
}

#[test]
fn sv_44_a_command_that_fails_is_tried_again_until_it_takes_the_call() {
    let sandbox = Sandbox::new();
    let service = serve(&sandbox, "test -e ready && cat >> calls.txt");
    create(&service, "alpha", "channel", SETUP);
    let p1 = join(&service, "alpha", "p1", "Ann");
    ask_for(&service, "alpha", &p1, "ann@example.org");
    service.logged("a player was not called");
    sandbox.write("ready", "");
    assert_eq!(ids(&calls(&sandbox, 1)), ["alpha/p1/0"]);
}

#[test]
fn sv_44_without_the_option_no_one_is_called() {
    let service = Running::alone();
    create(&service, "alpha", "channel", SETUP);
    let p1 = join(&service, "alpha", "p1", "Ann");
    Call::get("/v1/matches/alpha/call", &p1).to(&service).problem(404, "not_found");
    Call::post("/v1/matches/alpha/call", &p1, &json!({"to": "ann"})).to(&service).problem(404, "not_found");
}

/// SV-65: calls are for turns on the current branch of the match.
#[test]
fn sv_44_a_turn_that_comes_back_is_called() {
    let sandbox = Sandbox::new();
    let service = serve(&sandbox, "cat >> calls.txt");
    let host = create(&service, "alpha", "channel", SETUP);
    let [p1, p2] = [("p1", "Ann"), ("p2", "Bo")].map(|(seat, player)| join(&service, "alpha", seat, player));
    for (token, to) in [(&p1, "ann"), (&p2, "bo")] {
        ask_for(&service, "alpha", token, to);
    }
    calls(&sandbox, 1);
    play(&service, "alpha", &p1, "take 1 1");
    assert_eq!(ids(&calls(&sandbox, 2))[1], "alpha/p2/1");
    Call::new("POST", "/v1/matches/alpha/takeback", &host).to(&service).is(200);
    assert_eq!(ids(&calls(&sandbox, 3))[2], "alpha/p1/takeback-1:0");
    let path = "/v1/matches/alpha/branches/takeback-1/entries";
    Call::post(path, &p1, &json!({"commands": ["take 1 1"]})).to(&service).is(201);
    let made = calls(&sandbox, 4);
    assert_eq!(ids(&made)[3], "alpha/p2/takeback-1:1");
    assert!(made[3]["happened"][0].as_str().unwrap().starts_with("Ann "), "{}", made[3]);
}
