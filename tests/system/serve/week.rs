//! A week of six matches without a host (SV-44, SV-46, SV-47, SV-50). Every deadline is kept, every call is made once,
//! and no one needs the admin. `TURNFOLD_SERVE_LONG=1` takes smaller steps, and players open pages on phones and
//! desktops.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use turnfold_show::render::WhoseTurn;

use super::calendars::{calendar_token, join_calendar, read_calendar};
use super::http::{Call, main_of};
use super::terms::{ADMIN, DAY, HOUR, START, Simulated, join};
use super::{Random, times};
use crate::page::browser::Browser;
use crate::page::live::{LIVE, give};
use turnfold_tests::fixture;
use turnfold_tests::goldens::seat_history;
use turnfold_tests::sandbox::workspace;
use turnfold_tests::service::Running;

const NAMES: [&str; 4] = ["Ann", "Bo", "Cy", "Di"];
const ANN: usize = 0;
const BO: usize = 1;
const CY: usize = 2;
const DI: usize = 3;

/// The window sizes of the players, two of whom have phones.
const WINDOWS: [(u32, u32); 4] = [(360, 740), (1440, 900), (740, 360), (1024, 768)];

/// Calls are written to a file. The service has no other options.
const NOTIFY: [&str; 4] = ["--notify", "cat >> calls.txt", "--notify-after", "0"];

/// What happens when a seat misses a deadline.
#[derive(Clone, Copy, PartialEq)]
enum Missed {
    /// The default is played.
    Default,
    /// The default is played from the second miss in a row.
    Second,
    /// Nothing is played.
    Wait,
}

/// A match as its players know it.
struct Table {
    name: &'static str,
    missed: Missed,
    /// The player and the token of each seat.
    players: [(usize, String); 2],
    /// The last known deadline of each seat's turn.
    deadlines: BTreeMap<String, i64>,
    misses: BTreeMap<String, u32>,
    /// The defaults that were due: the seat and the time.
    due: Vec<(String, i64)>,
    /// Whether each seat was without a turn since its last call, and how many calls the seat got.
    is_new: [bool; 2],
    called: [usize; 2],
    /// The steps in which a page of a seat was open, which replaces a call.
    opened: BTreeSet<(usize, i64)>,
}

fn seat_of(index: usize) -> String {
    format!("p{}", index + 1)
}

impl Table {
    fn document(&self, service: &Running, index: usize) -> Value {
        Call::get(&format!("/v1/matches/{}", self.name), &self.players[index].1).to(service).is(200).json()
    }

    /// Waits until a player is due or the match is over, and returns the match as its first player sees it.
    fn settled(&self, service: &Running) -> Value {
        for _ in 0..600 {
            let document = self.document(service, 0);
            let now = &document["now"];
            if now["over"] == true
                || now["turn"].as_array().is_some_and(|turn| turn.iter().any(|seat| seat != "host"))
            {
                return document;
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("{} waits for no one: {}", self.name, self.document(service, 0));
    }

    /// Returns how many entries of a seat its player sees.
    fn entries_of(&self, service: &Running, index: usize) -> usize {
        let read = Call::get(&main_of(self.name, "entries?limit=1000"), &self.players[index].1).to(service);
        let seat = seat_of(index);
        read.is(200).json()["items"].as_array().unwrap().iter().filter(|one| one["seat"] == *seat).count()
    }

    /// Updates the turns and deadlines from a document of the match.
    fn note(&mut self, document: &Value) {
        for index in 0..2 {
            self.is_new[index] |= !has_turn(document, &seat_of(index));
        }
        self.deadlines.clear();
        if document["now"]["over"] == true {
            return;
        }
        for (seat, at) in document["hosting"]["deadlines"].as_object().unwrap() {
            self.deadlines.insert(seat.clone(), at.as_i64().unwrap());
        }
    }

    /// Plays a few commands of a player, and returns how many were recorded.
    fn play(&mut self, service: &Running, index: usize, random: &mut Random) -> usize {
        let mut played = 0;
        for _ in 0..3 {
            let document = self.settled(service);
            if !has_turn(&document, &seat_of(index)) {
                break;
            }
            let command = self.choose(service, index, random);
            let token = &self.players[index].1;
            let body = json!({"commands": [command]});
            Call::post(&main_of(self.name, "entries"), token, &body).to(service).is(201);
            played += 1;
        }
        if played > 0 {
            self.misses.remove(&seat_of(index));
        }
        played
    }

    /// Returns a legal command of a player that does not end the match.
    fn choose(&self, service: &Running, index: usize, random: &mut Random) -> String {
        let legal =
            Call::get(&main_of(self.name, "legal"), &self.players[index].1).to(service).is(200).json();
        let all = legal["items"].as_array().unwrap().iter();
        let commands: Vec<_> = all.map(|one| one["command"].as_str().unwrap().to_owned()).collect();
        let is_quiet = |command: &&String| {
            !["resign", "draw", "claim", "offer"].iter().any(|word| command.contains(word))
        };
        let quiet: Vec<_> = commands.iter().filter(is_quiet).collect();
        assert!(!quiet.is_empty(), "{}: {legal}", self.name);
        quiet[random.below(quiet.len())].clone()
    }
}

fn has_turn(document: &Value, seat: &str) -> bool {
    let now = &document["now"];
    now["over"] != true && now["turn"].as_array().is_some_and(|turn| turn.iter().any(|one| one == seat))
}

/// Creates a match of two players, who join and ask for calls.
fn create(
    service: &Running,
    (name, ruleset): (&'static str, &str),
    (setup, terms): (&str, &str),
    missed: Missed,
    players: [usize; 2],
) -> Table {
    let new = json!({"name": name, "ruleset": ruleset, "setup": setup, "dice": "seeded", "terms": terms, "title": format!("{name}; friends, and so on")});
    Call::post("/v1/matches", ADMIN, &new).to(service).is(201);
    let players = [0, 1].map(|index| (players[index], join(service, name, &seat_of(index))));
    Table {
        name,
        missed,
        players,
        deadlines: BTreeMap::new(),
        misses: BTreeMap::new(),
        due: Vec::new(),
        is_new: [true; 2],
        called: [0; 2],
        opened: BTreeSet::new(),
    }
}

fn create_all(service: &Running) -> Vec<Table> {
    let taps = fixture("cycletap", "ford");
    let duel = fixture("lifecycle", "duel");
    let board = fixture("initiative", "small-board");
    vec![
        create(service, ("chess", "chess"), ("", "hours = 24"), Missed::Second, [ANN, DI]),
        create(service, ("taps", "cycletap"), (&taps, "hours = 24\npatience = 0"), Missed::Default, [CY, DI]),
        create(
            service,
            ("fight", "lifecycle"),
            (&duel, "hours = 24\npatience = 0"),
            Missed::Default,
            [ANN, CY],
        ),
        create(
            service,
            ("mechs", "initiative"),
            (&board, "hours = 12\npatience = 0"),
            Missed::Default,
            [BO, DI],
        ),
        create(
            service,
            ("tour", "channel"),
            ("players = 2\nseed = 7", "hours = 24"),
            Missed::Wait,
            [ANN, BO],
        ),
        create(service, ("heaps", "nim"), ("heaps = [40, 41, 42]", "hours = 24"), Missed::Wait, [BO, CY]),
    ]
}

/// Waits until all due defaults are played, and counts them (SV-47).
fn keep_deadlines(service: &Running, table: &mut Table, before: [usize; 2], now: i64) {
    let due: Vec<_> =
        table.deadlines.iter().filter(|(_, at)| **at <= now).map(|(seat, at)| (seat.clone(), *at)).collect();
    for (seat, at) in due {
        let index = usize::from(seat == "p2");
        let misses = table.misses.entry(seat.clone()).or_default();
        *misses += 1;
        let is_due = match table.missed {
            Missed::Default => true,
            Missed::Second => *misses >= 2,
            Missed::Wait => false,
        };
        if !is_due {
            // The match waits for the seat, which gets the time of another turn.
            let moved = table.document(service, 0)["hosting"]["deadlines"][&seat].as_i64().unwrap();
            assert!(
                moved > now && (moved - at) % (12 * HOUR) == 0,
                "{} {seat}: {at}, then {moved}",
                table.name
            );
            assert_eq!(table.entries_of(service, index), before[index], "{} {seat}", table.name);
            continue;
        }
        table.due.push((seat.clone(), now));
        for tries in 0.. {
            if table.entries_of(service, index) > before[index] {
                break;
            }
            assert!(tries < 600, "{}: no default for {seat}, whose turn ended at {at}", table.name);
            thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Returns the calls that were made, and requires each to be made once.
fn read_calls(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    assert!(!text.contains("tf_"), "no call gives access: {text}");
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn ids(calls: &[Value]) -> BTreeSet<String> {
    let ids: BTreeSet<_> = calls.iter().map(|call| call["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids.len(), calls.len(), "no call is made twice: {calls:?}");
    ids
}

/// Waits until the due seats are called.
fn wait_for_calls(service: &Running, table: &mut Table, path: &Path, now: i64) {
    for index in 0..2 {
        let document = table.document(service, index);
        if !has_turn(&document, &seat_of(index)) || !table.is_new[index] {
            continue;
        }
        table.is_new[index] = false;
        if table.opened.contains(&(index, now)) {
            continue;
        }
        let of_seat = format!("{}/{}/", table.name, seat_of(index));
        for tries in 0.. {
            let made = ids(&read_calls(path)).iter().filter(|id| id.starts_with(&of_seat)).count();
            if made > table.called[index] {
                table.called[index] = made;
                break;
            }
            assert!(tries < 600, "{of_seat} is not called");
            thread::sleep(Duration::from_millis(50));
        }
    }
}

/// Returns the entry number in a line of a replay file.
fn number_of(line: &str) -> Option<u64> {
    line.split(' ').next()?.parse().ok()
}

/// Returns whether a player had a turn after an entry of a replay file.
fn had_turn(table: &Table, index: usize, replay: &str, seq: u64) -> bool {
    let is_kept = |line: &&str| !line.starts_with("= ") && number_of(line).is_none_or(|number| number <= seq);
    let mut text = replay.lines().filter(is_kept).collect::<Vec<_>>().join("\n");
    text.push('\n');
    if ["chess", "heaps"].contains(&table.name) {
        // The rules of these games are modules. White, or the first player, moves after an even number of entries,
        // until the match is over.
        let last = text.lines().last().unwrap();
        let is_over = seq > 0 && ["match_over", "game_over", "resign"].iter().any(|word| last.contains(word));
        return usize::try_from(seq % 2).unwrap() == index && !is_over;
    }
    let history = seat_history(Path::new("week.tfl"), &text, &seat_of(index));
    match WhoseTurn::of_history(&history).unwrap() {
        WhoseTurn::Of(seats, _) => seats.iter().any(|one| one.to_string() == seat_of(index)),
        WhoseTurn::Over(_) | WhoseTurn::Unknown => false,
    }
}

/// The calls that the log of a match permits, one for each turn that begins. The needed calls are for turns that lasted
/// until the clock advanced.
#[derive(Default)]
struct Turns {
    permitted: BTreeSet<String>,
    needed: BTreeSet<String>,
}

impl Turns {
    fn add(&mut self, simulated: &Simulated, table: &Table, log: &[Value]) {
        let replay = simulated.sandbox.ok(&format!("export {}", table.name));
        let time_of = |seq: u64| match seq {
            0 => 0,
            seq => log[usize::try_from(seq - 1).unwrap()]["recorded_at_ms"].as_i64().unwrap() - START,
        };
        let head = u64::try_from(log.len()).unwrap();
        for index in 0..2 {
            let mut began = None;
            for seq in 0..=head {
                if !had_turn(table, index, &replay, seq) {
                    began = None;
                    continue;
                }
                let first = *began.get_or_insert(seq);
                let id = format!("{}/{}/{first}", table.name, seat_of(index));
                let has_lasted = seq == head || time_of(seq + 1) > time_of(seq);
                if has_lasted && !table.opened.contains(&(index, time_of(first))) {
                    self.needed.insert(id.clone());
                }
                self.permitted.insert(id);
            }
        }
    }
}

/// Compares the calendar of a player with the deadlines of the matches.
fn check_calendar(service: &Running, tables: &[Table], player: usize) {
    let mut expected = BTreeSet::new();
    for table in tables {
        for (index, (own, _)) in table.players.iter().enumerate() {
            let seat = seat_of(index);
            let document = table.document(service, index);
            if *own == player && has_turn(&document, &seat) {
                let at = document["hosting"]["deadlines"][&seat].as_i64().unwrap();
                expected.insert((table.name.to_owned(), at));
            }
        }
    }
    let calendar = read_calendar(service, &calendar_token(u8::try_from(player).unwrap()));
    let mut found = BTreeSet::new();
    let mut at = 0;
    for line in calendar.replace("\r\n ", "").split("\r\n") {
        if let Some(time) = line.strip_prefix("DTSTART:202612") {
            let number = |from: usize, to: usize| time[from..to].parse::<i64>().unwrap();
            at = START - 18 * HOUR
                + (number(0, 2) - 1) * DAY
                + number(3, 5) * HOUR
                + number(5, 7) * 60_000
                + number(7, 9) * 1000;
        }
        if let Some(page) = line.strip_prefix("URL:") {
            found.insert((page.rsplit('/').next().unwrap().to_owned(), at));
        }
    }
    assert_eq!(found, expected, "{}: {calendar}", NAMES[player]);
}

/// Opens a page of a match as a player, and gives a command there.
fn play_on_page(browser: &Browser, service: &Running, table: &Table, index: usize, random: &mut Random) {
    let token = &table.players[index].1;
    let document = table.settled(service);
    if !has_turn(&document, &seat_of(index)) {
        return;
    }
    let command = table.choose(service, index, random);
    browser.open(&format!("{}/m/{}#t={token}", service.origin(), table.name));
    browser.wait_until(LIVE);
    browser.wait_until("return document.querySelector('.turn').textContent.startsWith('Your turn: ')");
    let line = browser.text(".turn");
    assert!(line.contains(", until "), "{}: {line}", table.name);
    if browser.run("return document.querySelector('#command').checkVisibility()") == false {
        browser.click(".unfold");
    }
    let head = table.document(service, index)["head"].as_u64().unwrap();
    give(browser, &command);
    wait_for_entry_after(browser, head);
    browser.open("about:blank");
}

/// Waits until a page shows an entry after this one.
fn wait_for_entry_after(browser: &Browser, head: u64) {
    browser.wait_until(&format!(
        "return Number(document.querySelector('.status strong')?.textContent) > {head}"
    ));
}

/// The running service, its matches, and the counts so far.
struct Week {
    simulated: Simulated,
    service: Running,
    tables: Vec<Table>,
    browsers: Vec<Browser>,
    random: Random,
    kills: usize,
    commands: usize,
    on_pages: usize,
}

impl Week {
    /// Creates the matches, whose players ask for calls and calendars. Then the admin token is lost.
    fn begin(windows: &[(u32, u32)]) -> Self {
        let simulated = Simulated::new();
        for module in ["chess", "nim-1"] {
            let path = workspace().join(format!("fixtures/modules/{module}.wasm"));
            simulated.sandbox.ok(&format!("game add {}", path.display()));
        }
        let service = simulated.serve_with(&NOTIFY);
        let tables = create_all(&service);
        let browsers = windows.iter().map_while(|(width, height)| {
            let browser = Browser::start_online("pages of players in a week")?;
            let screen =
                json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": *width < 1000 });
            browser.command("Emulation.setDeviceMetricsOverride", &screen);
            Some(browser)
        });
        let browsers = browsers.collect();
        let random = Random(0x1234_5678_9abc_def1);
        let mut week =
            Self { simulated, service, tables, browsers, random, kills: 0, commands: 0, on_pages: 0 };
        for table in &mut week.tables {
            let document = table.settled(&week.service);
            table.note(&document);
            for (player, token) in &table.players {
                let path = format!("/v1/matches/{}/call", table.name);
                Call::post(&path, token, &json!({"to": NAMES[*player]})).to(&week.service).is(200);
                let calendar = calendar_token(u8::try_from(*player).unwrap());
                join_calendar(&week.service, table.name, token, &calendar);
            }
        }
        week.wait_for_calls(0);
        // From now on no one has the admin token, and no host token was kept.
        week.simulated.sandbox.write("admin.token", "tf_a_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA");
        week.kill();
        Call::get("/v1/matches", ADMIN).to(&week.service).problem(401, "no_token");
        week
    }

    /// Kills the service, and starts it again.
    fn kill(&mut self) {
        self.service.kill();
        self.kills += 1;
        self.service = self.simulated.serve_with(&NOTIFY);
    }

    fn wait_for_calls(&mut self, now: i64) {
        let calls = self.simulated.sandbox.path("calls.txt");
        for table in &mut self.tables {
            wait_for_calls(&self.service, table, &calls, now);
        }
    }

    /// Advances the clock while the service keeps deadlines. Twice a day the service is down meanwhile, or dies as it
    /// starts.
    fn pass_to(&mut self, now: i64) {
        let service = &self.service;
        let entries = |table: &Table| [0, 1].map(|index| table.entries_of(service, index));
        let before: Vec<_> = self.tables.iter().map(entries).collect();
        match (now % (12 * HOUR), now % DAY) {
            (0, 0) => {
                self.simulated.set(now);
                self.kill();
            }
            (0, _) => {
                self.service.kill();
                self.simulated.set(now);
                self.kill();
            }
            _ => self.simulated.set(now),
        }
        for (table, before) in self.tables.iter_mut().zip(before) {
            keep_deadlines(&self.service, table, before, START + now);
            let document = table.settled(&self.service);
            table.note(&document);
        }
    }

    /// Announces an absence of two days for Cy.
    fn leave(&mut self) {
        for (name, index) in [("fight", 1), ("heaps", 1), ("taps", 0)] {
            let table = self.tables.iter_mut().find(|table| table.name == name).unwrap();
            let absence = json!({"until": "2026-12-05T18:00:00Z"});
            let path = format!("/v1/matches/{name}/absence");
            Call::post(&path, &table.players[index].1, &absence).to(&self.service).is(200);
            table.misses.remove(&seat_of(index));
            let document = table.settled(&self.service);
            table.note(&document);
        }
    }

    /// Plays for the players who are present, once a day on their pages.
    fn play(&mut self, now: i64) {
        let mut has_opened = false;
        for table in &mut self.tables {
            for index in 0..2 {
                let player = table.players[index].0;
                // Bo plays in the evenings. Cy does not play while away, and Di not after the first day.
                let is_awake = match player {
                    ANN => now % (12 * HOUR) == 0,
                    BO => now % DAY == 0,
                    CY => now % (12 * HOUR) == 0 && !(2..4).contains(&(now / DAY)),
                    _ => now <= DAY && now % (12 * HOUR) == 0,
                };
                let document = table.settled(&self.service);
                if !is_awake || !has_turn(&document, &seat_of(index)) {
                    continue;
                }
                match self.browsers.get(player) {
                    Some(browser) if now % DAY == 0 => {
                        play_on_page(browser, &self.service, table, index, &mut self.random);
                        table.opened.insert((index, now));
                        table.misses.remove(&seat_of(index));
                        self.on_pages += 1;
                        has_opened = true;
                    }
                    _ => self.commands += table.play(&self.service, index, &mut self.random),
                }
            }
            let document = table.settled(&self.service);
            table.note(&document);
        }
        if has_opened {
            // The service regards a closed page as open until it writes to the page's stream.
            self.kill();
        }
    }

    /// Checks the logs, and returns how many deadlines and calls there were. Each deadline was kept once and on time,
    /// and nothing else was played for a player. Each call was made once, and only for a turn that began.
    fn audit(mut self) -> (usize, usize) {
        self.service.kill();
        let mut turns = Turns::default();
        let mut kept = 0;
        for table in &self.tables {
            let log = self.simulated.sandbox.ok(&format!("log {} --format json", table.name));
            let log: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            turns.add(&self.simulated, table, &log);
            let mut defaults = BTreeMap::new();
            for entry in &log {
                let key = entry["key"].as_str().unwrap_or_default();
                if let Some(seat) = key.strip_prefix("missed:").and_then(|rest| rest.split(':').next()) {
                    let at = entry["recorded_at_ms"].as_i64().unwrap();
                    defaults.insert(key.to_owned(), (seat.to_owned(), at));
                }
            }
            let mut played: Vec<_> = defaults.into_values().collect();
            played.sort();
            let mut due = table.due.clone();
            due.sort();
            assert_eq!(played, due, "{}", table.name);
            kept += due.len();
        }
        let made = ids(&read_calls(&self.simulated.sandbox.path("calls.txt")));
        let Turns { permitted, needed } = turns;
        // Turns that ended at once need no call.
        assert!(needed.is_subset(&made), "{:?}", needed.difference(&made).collect::<Vec<_>>());
        assert!(made.is_subset(&permitted), "{:?}", made.difference(&permitted).collect::<Vec<_>>());
        self.simulated.sandbox.ok("verify");
        (kept, made.len())
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "how much happened is worth knowing")]
fn sv_47_a_week_of_six_matches_without_a_host() {
    let is_long = times(0, 1) == 1;
    let step = if is_long { 3 * HOUR } else { 12 * HOUR };
    let mut week = Week::begin(if is_long { &WINDOWS } else { &[] });
    for number in 1..=7 * DAY / step {
        let now = number * step;
        week.pass_to(now);
        if now == 2 * DAY {
            week.leave();
        }
        week.play(now);
        // The due players are called before the clock advances, and their calendars show the deadlines.
        week.wait_for_calls(now);
        for player in [ANN, BO, CY, DI] {
            check_calendar(&week.service, &week.tables, player);
        }
    }
    let Week { kills, commands, on_pages, .. } = week;
    let (kept, calls) = week.audit();
    assert!(kept > 10 && kills >= 15, "{kept} deadlines, {kills} kills");
    eprintln!(
        "a week: {kills} kills, {kept} defaults, {calls} calls, {commands} commands by HTTP, {on_pages} on pages"
    );
}
