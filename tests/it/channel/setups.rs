//! CH-1: setups, dealt or described, and those that cannot be.

use std::collections::BTreeSet;

use turnfold_core::dice::DiceStream;
use turnfold_core::{Seat, registry};

use super::{Table, fixture, start, view};

fn error(toml: &str) -> String {
    registry::find("channel").unwrap().read_setup(toml).unwrap_err().to_string()
}

/// Fisher–Yates as the ruling writes it.
fn shuffle<T>(stream: &mut DiceStream, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        let drawn = stream.draw(0, i32::try_from(last).unwrap());
        items.swap(last, usize::try_from(drawn).unwrap());
    }
}

#[test]
fn ch_1_a_seed_deals_energies_then_plenitude_then_what_is_known() {
    const COLORS: [&str; 9] =
        ["purple", "darkblue", "blue", "green", "yellow", "orange", "red", "black", "white"];
    for (players, yinyang, seed) in
        [(1, false, 0), (2, false, 7), (4, true, i64::MAX.unsigned_abs()), (3, true, 1)]
    {
        let state = start(&format!("players = {players}\nyinyang = {yinyang}\nseed = {seed}"));
        let mut stream = DiceStream::for_setup(seed);
        let colors = &COLORS[..if yinyang { 9 } else { 8 }];
        let mut dealt: Vec<&str> = colors.iter().flat_map(|color| vec![*color; 3 * players]).collect();
        shuffle(&mut stream, &mut dealt);
        let mut plenitude = [1, 1, 2, 2, 3, 3, 4, 4];
        shuffle(&mut stream, &mut plenitude);
        let view = view(&*state, Seat::Host);
        assert_eq!(view["maya"], serde_json::json!([[1, 2, 3], [4, 5, 6], [7, 8, 9]]));
        for (id, color) in (1..=9).zip(&dealt) {
            assert_eq!(view["energies"][id.to_string()], *color, "energy {id} of seed {seed}");
        }
        assert_eq!(view["bag"]["total"], dealt.len() - 9);
        for (color, value) in colors.iter().zip(&plenitude).take(7) {
            assert_eq!(view["plenitude"][*color], *value, "{color} of seed {seed}");
        }
        for player in view["players"].as_array().unwrap() {
            let known = COLORS[usize::try_from(stream.draw(0, 6)).unwrap()];
            let known_colors =
                player["known"].as_object().unwrap().iter().filter(|(_, value)| !value.is_null());
            assert_eq!(known_colors.map(|(color, _)| color.as_str()).collect::<Vec<_>>(), [known]);
            assert_eq!(player["tokens"], "b1b2b3b4b5");
        }
    }
}

#[test]
fn ch_1_seeds_differ() {
    let deals: BTreeSet<String> = (0..20)
        .map(|seed| start(&format!("players = 2\nseed = {seed}")).view(Seat::Host).to_string())
        .collect();
    assert_eq!(deals.len(), 20);
}

#[test]
fn ch_1b_the_active_player_and_harmonised_rows_are_as_described() {
    let mut table = Table::default().board("b1b2b3b4b5", "").board("k1k2k3c8b1", "known = [\"red\"]");
    table.active = Some(Seat::P2);
    let script = r#"
        view active => "p2"
        view players/0/score => 0
        view players/1/score => 1
        view players/1/tokens => "k1k2k3c8b1"
        view maya => [[0,0,0],[0,0,9],[0,0,0]]
    "#;
    table.energies("1 red p2 8 1, 2 red p2 8 2, 3 red p2 8 3, 9 blue maya 2 3").check(script);
}

#[test]
fn ch_1b_a_bad_value_is_an_error_that_names_its_field() {
    let board = "[[boards]]\ntokens = \"b1b2b3b4b5\"\nknown = []\n";
    let plenitude =
        "plenitude = { purple = 1, darkblue = 4, blue = 2, green = 3, yellow = 1, orange = 2, red = 3 }\n";
    let table = |energies: &str| Table::alone("b1b2b3b4b5", energies).toml();
    let tokens = |tokens: &str| Table::alone(tokens, "").toml();
    let more = |more: &str| Table::default().board("b1b2b3b4b5", more).toml();
    let of_tokens = "expected five tokens such as `b1b2k3c4b3`, none of them twice, found";
    let a_token = "expected a token `b1` to `b5`, `k1` to `k7` or `c1` to `c8`, found";
    let cases = [
        ("players = 0\nseed = 1".into(), "players: expected 1 to 4, found 0".to_owned()),
        ("players = 5\nseed = 1".into(), "players: expected 1 to 4, found 5".into()),
        (
            "players = 1\nseed = 1\nactive = \"p2\"".into(),
            "active: expected a player of the match, found `p2`".into(),
        ),
        ("players = 1\nseed = 1\nenergies = []".into(), "energies: expected none besides `seed`".into()),
        (format!("players = 1\nseed = 1\n{plenitude}"), "plenitude: expected none besides `seed`".into()),
        (format!("players = 1\nseed = 1\n{board}"), "boards: expected none besides `seed`".into()),
        ("players = 1".into(), "plenitude: required where there is no `seed`".into()),
        (format!("players = 1\n{plenitude}"), "boards: required where there is no `seed`".into()),
        (format!("players = 1\n{plenitude}{board}"), "energies: required where there is no `seed`".into()),
        (
            format!("players = 2\nenergies = []\n{plenitude}{board}"),
            "boards: expected one for each of 2 players, found 1".into(),
        ),
        (
            tokens("b1").replace("purple = 1", "purple = 5"),
            "plenitude.purple: expected 1 to 4, found 5".into(),
        ),
        (tokens("b1b2b3b4"), format!("boards[0].tokens: {of_tokens} `b1b2b3b4`")),
        (tokens("b1b2b3b4b5b6"), format!("boards[0].tokens: {of_tokens} `b1b2b3b4b5b6`")),
        (tokens("b1b2b3b4b4"), format!("boards[0].tokens: {of_tokens} `b1b2b3b4b4`")),
        (tokens("c1k2k2c3b1"), format!("boards[0].tokens: {of_tokens} `c1k2k2c3b1`")),
        (
            tokens("b1b3k2c3k1"),
            "boards[0].tokens: expected board places `b1`, `b2`… without a gap, found `b1b3k2c3k1`".into(),
        ),
        (tokens("k8b1b2b3b4"), format!("boards[0].tokens: {a_token} `k8`")),
        (tokens("c9b1b2b3b4"), format!("boards[0].tokens: {a_token} `c9`")),
        (more("known = [\"red\", \"red\"]"), "boards[0].known: `red` is listed twice".into()),
        (more("yinyang_halves = 1"), "boards[0].yinyang_halves: expected 0 to 0, found 1".into()),
        (table("0 red bag"), "energies[0].id: expected a number of 1 to 1000, found `0`".into()),
        (table("1001 red bag"), "energies[0].id: expected a number of 1 to 1000, found `1001`".into()),
        (table("1 red bag, 1 blue bag"), "energies[1].id: energy 1 is listed twice".into()),
        (table("1 white bag"), "energies[0].color: expected no white energies without `yinyang`".into()),
        (table("1 red bag 1 1"), "energies[0].row: expected none in the bag".into()),
        (table("1 red maya"), "energies[0].row: required except in the bag".into()),
        (table("1 red maya 4 1"), "energies[0].row: expected 1 to 3, found 4".into()),
        (table("1 red maya 1 0"), "energies[0].col: expected 1 to 3, found 0".into()),
        (table("1 red p1 10 1"), "energies[0].row: expected a number of 1 to 9, found `10`".into()),
        (table("1 red p1 1 4"), "energies[0].col: expected 1 to 3, found 4".into()),
        (table("1 black p1 9 9"), "energies[0].col: expected 1 to 8, found 9".into()),
        (table("1 red p1 9 1"), "energies[0].row: expected black or white in row 9, found `red`".into()),
        (table("1 red p2 1 1"), "energies[0].at: expected a player of the match, found `p2`".into()),
        (
            table("1 red maya 2 1, 2 blue maya 2 1"),
            "energies[1].row: another energy is in row 2, column 1 already".into(),
        ),
        (
            table("1 red p1 2 1, 2 blue p1 2 1"),
            "energies[1].row: another energy is in row 2, column 1 already".into(),
        ),
        (
            table("1 red p1 2 1, 2 red p1 3 1, 3 red p1 4 1, 4 red p1 5 1"),
            "energies[3].color: expected at most three `red` on a board".into(),
        ),
    ];
    for (toml, message) in cases {
        assert_eq!(error(&toml), format!("setup: {message}"), "{toml}");
    }
    let many: Vec<String> = (1..=1001).map(|id| format!("{id} black bag")).collect();
    assert_eq!(error(&table(&many.join(", "))), "setup: energies: expected 0 to 1000, found 1001");
    start(&table(&many[..1000].join(", ")));
}

#[test]
fn ch_1b_text_that_is_no_setup_is_an_error_with_its_place_and_key() {
    let small = fixture("small-table");
    let cases = [
        ("players = 2\nseed = -1".to_owned(), "-1"),
        ("players = 2\nseed = 7\nspeed = 1".into(), "speed"),
        ("seed = 7".into(), "players"),
        (small.replace("known = [\"purple\"]", ""), "known"),
        (small.replace("tokens = \"b1b2k7c4k2\"", ""), "tokens"),
        (small.replace("known = [\"purple\"]", "known = [\"black\"]"), "black"),
        (small.replace("color = \"green\"", "color = \"pink\""), "pink"),
        (small.replace("at = \"maya\"", "at = \"p5\""), "p5"),
        (small.replace("purple = 1, ", ""), "purple"),
    ];
    for (toml, word) in cases {
        let error = error(&toml);
        assert!(error.starts_with("setup:") && error.contains(word), "expected …{word}…, found {error}");
    }
}

#[test]
fn ch_1b_the_full_range_of_halves_needs_yinyang() {
    let toml = |halves: u32| {
        Table::default().with_white().board("b1b2b3b4b5", &format!("yinyang_halves = {halves}")).toml()
    };
    start(&toml(1000));
    assert_eq!(error(&toml(1001)), "setup: boards[0].yinyang_halves: expected 0 to 1000, found 1001");
}
