//! Calendars of a player's deadlines (SV-50 to SV-52), read as bytes and with `icalendar`, an independent library.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::http::{Answer, Call, grant};
use super::terms::{ADMIN, HOUR, START, Simulated, join, play};
use turnfold_tests::fixture;
use turnfold_tests::parts::{python, skipped};
use turnfold_tests::sandbox::workspace;
use turnfold_tests::service::Running;

const LIBRARY: &str = "icalendar==7.3.0";

/// Returns a token like those that pages create.
pub(super) fn calendar_token(number: u8) -> String {
    format!("tf_c_{}", char::from(b'A' + number).to_string().repeat(42) + "A")
}

fn to_join(name: &str, player: &str, calendar: &str) -> Call {
    Call::post(&format!("/v1/matches/{name}/calendar"), player, &json!({"token": calendar}))
}

pub(super) fn join_calendar(service: &Running, name: &str, player: &str, calendar: &str) {
    let joined = to_join(name, player, calendar).to(service).is(200).json();
    assert_eq!(joined, json!({"link": format!("{}/v1/calendars/{calendar}.ics", service.origin())}));
}

fn read(service: &Running, calendar: &str) -> Answer {
    // No header, since calendar programs send no token.
    Call::get(&format!("/v1/calendars/{calendar}.ics"), "").to(service)
}

/// Returns a calendar, and requires its lines to be within the length limit.
pub(super) fn read_calendar(service: &Running, calendar: &str) -> String {
    let answer = read(service, calendar).is(200);
    assert_eq!(answer.header("content-type"), Some("text/calendar; charset=utf-8"));
    let text = answer.body;
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "{text}");
    assert!(text.ends_with("\r\nEND:VCALENDAR\r\n"), "{text}");
    assert!(text.split("\r\n").all(|line| line.len() <= 75), "{text}");
    text
}

/// Returns a property of each event, unfolded.
fn all(text: &str, property: &str) -> Vec<String> {
    let text = text.replace("\r\n ", "");
    let named = |line: &str| line.strip_prefix(property)?.strip_prefix(':').map(str::to_owned);
    text.split("\r\n").filter_map(named).collect()
}

fn create(service: &Running, name: &str, title: &str) {
    let setup = fixture("cycletap", "ford");
    let new = json!({"name": name, "title": title, "ruleset": "cycletap", "setup": setup, "dice": "recorded", "terms": "hours = 24"});
    Call::post("/v1/matches", ADMIN, &new).to(service).is(201);
}

/// Reads a calendar with another library. Returns uid, sequence, stamp, start, summary and address of each event.
fn events_by_library(text: &str) -> Option<Vec<Value>> {
    let bin = match python(LIBRARY, "TURNFOLD_ICALENDAR") {
        Ok(bin) => bin,
        Err(why) => {
            skipped("the calendar as icalendar reads it", &why);
            return None;
        }
    };
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), text).unwrap();
    let script = workspace().join("tests/system/serve/clients/deadlines.py");
    let output = Command::new(bin.join("python")).arg(script).arg(file.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn sv_50_one_link_has_the_deadlines_of_a_player_in_all_matches() {
    let simulated = Simulated::new();
    let service = simulated.serve();
    // A title that calendars must escape, and longer than a calendar line.
    let title = "Forde; \\ „Über die Brücken“, drittes Spiel 李李李李李李李李李李李李李李李李李李李李";
    create(&service, "alpha", title);
    create(&service, "zeta", "");
    let ann = ["alpha", "zeta"].map(|name| join(&service, name, "p1"));
    let bo = ["alpha", "zeta"].map(|name| join(&service, name, "p2"));
    let calendar = calendar_token(1);
    read(&service, &calendar).problem(404, "not_found");
    join_calendar(&service, "alpha", &ann[0], &calendar);
    join_calendar(&service, "alpha", &ann[0], &calendar);
    let host = &service.origin()["http://".len()..];
    let event = |name: &str, summary: &str| {
        format!(
            "BEGIN:VEVENT\r\nUID:{name}-p1-{START}@{host}\r\nDTSTAMP:20261201T180000Z\r\nSEQUENCE:0\r\n\
             DTSTART:20261202T180000Z\r\nSUMMARY:{summary}\r\nDESCRIPTION:http://{host}/m/{name}\r\n\
             URL:http://{host}/m/{name}\r\nTRANSP:TRANSPARENT\r\nEND:VEVENT\r\n"
        )
    };
    let begin = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//turnfold//serve//EN\r\nNAME:turnfold\r\nX-WR-CALNAME:turnfold\r\n\
                 REFRESH-INTERVAL;VALUE=DURATION:PT1H\r\nX-PUBLISHED-TTL:PT1H\r\n";
    let folded = "Forde\\; \\\\ „Über die Brücken“\\, drittes Spiel 李李李李李\r\n \
                  李李李李李李李李李李李李李李李: your turn ends";
    let mut expected = format!("{begin}{}END:VCALENDAR\r\n", event("alpha", folded));
    assert_eq!(read_calendar(&service, &calendar), expected);
    // A second match joins the same calendar.
    join_calendar(&service, "zeta", &ann[1], &calendar);
    expected = format!(
        "{begin}{}{}END:VCALENDAR\r\n",
        event("alpha", folded),
        event("zeta", "zeta: your turn ends")
    );
    assert_eq!(read_calendar(&service, &calendar), expected);
    // The calendar does not depend on the time of reading.
    simulated.set(5 * HOUR);
    assert_eq!(read_calendar(&service, &calendar), expected);
    if let Some(events) = events_by_library(&expected) {
        let event = |name: &str, title: &str| {
            json!({
                "uid": format!("{name}-p1-{START}@{host}"), "sequence": 0, "stamp": "2026-12-01T18:00:00+00:00",
                "start": "2026-12-02T18:00:00+00:00", "summary": format!("{title}: your turn ends"),
                "url": format!("http://{host}/m/{name}"),
            })
        };
        assert_eq!(events, [event("alpha", title), event("zeta", "zeta")]);
    }
    // SV-52: a deadline that moves keeps its event, with a higher sequence.
    let absence = json!({"until": "2026-12-05T18:00:00Z"});
    Call::post("/v1/matches/alpha/absence", &ann[0], &absence).to(&service).is(200);
    let moved = read_calendar(&service, &calendar);
    assert_eq!(all(&moved, "UID"), all(&expected, "UID"));
    assert_eq!(all(&moved, "SEQUENCE"), ["1000", "0"]);
    assert_eq!(all(&moved, "DTSTAMP"), ["20261201T230000Z", "20261201T180000Z"]);
    assert_eq!(all(&moved, "DTSTART"), ["20261206T180000Z", "20261202T180000Z"]);
    // A turn that is over has no event, and the other player has a different calendar.
    play(&service, "zeta", &ann[1], "switch");
    assert_eq!(all(&read_calendar(&service, &calendar), "UID"), [format!("alpha-p1-{START}@{host}")]);
    let other = calendar_token(2);
    join_calendar(&service, "zeta", &bo[1], &other);
    let later = START + 5 * HOUR;
    assert_eq!(all(&read_calendar(&service, &other), "UID"), [format!("zeta-p2-{later}@{host}")]);
    // Without deadlines, a calendar is empty but valid.
    play(&service, "zeta", &bo[1], "switch");
    let empty = read_calendar(&service, &other);
    assert_eq!(all(&empty, "UID"), [""; 0]);
    assert!(events_by_library(&empty).is_none_or(|events| events.is_empty()));
}

#[test]
fn sv_51_a_calendar_ends_with_its_players_access_or_by_its_link_and_opens_nothing() {
    let simulated = Simulated::new();
    let mut service = simulated.serve();
    create(&service, "alpha", "");
    create(&service, "zeta", "");
    let ann = ["alpha", "zeta"].map(|name| join(&service, name, "p1"));
    let [calendar, second] = [calendar_token(1), calendar_token(2)];
    for (name, token) in ["alpha", "zeta"].into_iter().zip(&ann) {
        join_calendar(&service, name, token, &calendar);
        join_calendar(&service, name, token, &second);
    }
    // A calendar token gives no access to a match, and only players can have a calendar.
    Call::get("/v1/matches/alpha", &calendar).to(&service).problem(401, "no_token");
    for kind in ["host", "spectator"] {
        let token = grant(&service, "alpha", &json!({"kind": kind}));
        to_join("alpha", &token, &calendar).to(&service).problem(403, "forbidden");
    }
    to_join("alpha", &ann[1], &calendar).to(&service).problem(404, "not_found");
    to_join("alpha", "", &calendar).to(&service).problem(401, "no_token");
    for wrong in ["", "tf_c_A", &ann[0]] {
        to_join("alpha", &ann[0], wrong).to(&service).problem(400, "bad_request");
    }
    for number in 3..=8 {
        join_calendar(&service, "alpha", &ann[0], &calendar_token(number));
    }
    to_join("alpha", &ann[0], &calendar_token(9)).to(&service).problem(422, "content");
    // The host sees the player of each calendar, and revokes a calendar.
    let calendars_of = |service: &Running, name: &str| {
        let grants = Call::get(&format!("/v1/matches/{name}/grants"), ADMIN).to(service).is(200).json();
        let grants = grants["items"].as_array().unwrap().clone();
        grants.into_iter().filter(|one| one["kind"] == "calendar").collect::<Vec<_>>()
    };
    let listed = calendars_of(&service, "zeta");
    assert!(listed.iter().all(|one| one["seat"] == "p1" && one["live"] == true), "{listed:?}");
    for one in &listed {
        let path = format!("/v1/matches/zeta/grants/{}", one["id"].as_str().unwrap());
        Call::new("DELETE", &path, ADMIN).to(&service).is(204);
    }
    assert_eq!(all(&read_calendar(&service, &calendar), "SUMMARY"), ["alpha: your turn ends"]);
    // The calendar survives a restart.
    service.kill();
    service = simulated.serve();
    assert_eq!(all(&read_calendar(&service, &calendar), "SUMMARY"), ["alpha: your turn ends"]);
    // Anyone with the link may delete the calendar.
    Call::new("DELETE", &format!("/v1/calendars/{second}.ics"), "").to(&service).is(204);
    read(&service, &second).problem(404, "not_found");
    Call::new("DELETE", &format!("/v1/calendars/{second}.ics"), "").to(&service).problem(404, "not_found");
    // The seat is revoked. Its calendar is empty, and the turns of the next player do not appear in it.
    let grants = Call::get("/v1/matches/alpha/grants", ADMIN).to(&service).is(200).json();
    let seat = grants["items"].as_array().unwrap().iter().find(|one| one["kind"] == "seat").unwrap();
    let path = format!("/v1/matches/alpha/grants/{}", seat["id"].as_str().unwrap());
    Call::new("DELETE", &path, ADMIN).to(&service).is(204);
    let next = join(&service, "alpha", "p1");
    assert_eq!(all(&read_calendar(&service, &calendar), "UID"), [""; 0]);
    assert!(calendars_of(&service, "alpha").iter().all(|one| one["live"] == false));
    // A player who joins again can use the same calendar.
    join_calendar(&service, "alpha", &next, &calendar);
    assert_eq!(all(&read_calendar(&service, &calendar), "SUMMARY"), ["alpha: your turn ends"]);
}
