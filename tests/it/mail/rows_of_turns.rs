//! Rows of the table of play by mail: how turns proceed and end in matches that the host executes, each audited (PM-13
//! to PM-21, PM-27, PM-32). Decisions of the desk alone are tested in `tests/rulings/desk/` and by the model.

use turnfold_core::{CommandSource, DicePolicy, Logged};
use turnfold_store::NewEntry;

use super::post::{Post, day, fixture};

/// Returns a match in which p1 and p2 order at once, with the first turn open.
pub(super) fn siege(terms: &str) -> Post {
    let terms = format!("default = [\"stay\"]\nbetween = [\"next\"]\n{terms}");
    let mut post = Post::begun("siege", "begins_with_roll = false", &terms);
    post.play("run 1");
    post
}

/// Returns the same match with fair dice. It begins with a roll.
pub(super) fn fair() -> Post {
    let terms = "fair\ndefault = [\"stay\"]\nbetween = [\"next\"]";
    let mut post = Post::begun("siege", "begins_with_roll = true", terms);
    post.play("run 1");
    post
}

/// Returns a match of three with the first turn open.
fn relay(at_once: bool, terms: &str) -> Post {
    let terms = format!("seats = 3\ndefault = [\"done\"]\nbetween = [\"resolve\"]\n{terms}");
    let setup = format!("seats = 3\nrounds = 4\nat_once = {at_once}\nresolved = true\nsecret = false");
    let mut post = Post::begun("relay", &setup, &terms);
    post.play("run 1");
    post
}

fn initiative() -> Post {
    let terms = "default = [\"cycle\", \"confirm\", \"stand\"]\nbetween = [\"next-turn\"]";
    Post::begun("initiative", &fixture("initiative/small-board.toml"), terms)
}

fn cycletap(terms: &str) -> Post {
    let terms = format!("together = true\ndefault = [\"switch\"]\nbetween = [\"resolve\"]\n{terms}");
    let mut post = Post::begun("cycletap", &fixture("cycletap/ford.toml"), &terms);
    post.play("run 1");
    post
}

#[test]
fn pm_27_and_32_a_game_in_alternation_with_recorded_dice() {
    initiative().play(
        "audited
        # The roll is due before the first position.
        run 1 1 1 2 2 => clocked … stood …
        game main => host roll 1 1 2 2 (turn:0:host)
        stands => main:1 p1 / p2: confirm => ignored not_due
        p1: confirm; stand / audited / run 1 / stands => main:3 p2
        p2: click 0,-2; stand / run 2 / stands => main:5 p1
        # p1 misses, and its default plays all there is to play.
        run 3 => nothing
        run 6 / stands => … p2 / game main => … p1 stand (turn:3:p1) …
        # With the last unit the turn of the game ends, and the next begins with a roll.
        p2: click 1,-2; stand / run 7 6 6 1 1
        game main => … host next-turn (turn:4:host), host roll 6 6 1 1 (turn:4:host)
        audited",
    );
}

#[test]
fn pm_27_and_32_a_game_together_with_plans_in_secret() {
    cycletap("").play(
        "stands => main:0 p1,p2
        p2: tap 1,-2; switch / p1: tap 0,2; switch / audited / run 1 / audited
        game main => p1 tap 0,2 (order 1), p1 switch (order 1), p2 tap 1,-2 (order 1), p2 switch (order 1), host resolve (turn:1:host)
        stands => main:5 p1,p2
        # p1 forgets `switch`: the default is played behind its order, so that of p2 is carried out (PM-80).
        p1: tap 0,2 / p2: switch / audited / run 2 / audited
        game main => … p1 tap 0,2 (order 2), p1 switch (turn:2:p1), p2 switch (order 2), host resolve (turn:2:host)
        stands => main:9 p1,p2
        # p1 misses, p2 has ordered: the default of p1 first, then the order of p2.
        p2: switch / run 9 / audited
        game main => … p1 switch (turn:3:p1), p2 switch (order 3), host resolve (turn:3:host)
        # p2 alone forgets it: the turn ends for both.
        p1: switch / p2: tap 1,-2 / run 9 / stands => … p1,p2 / audited
        p1: switch / run 16 / audited / p1: switch / p2: switch / audited / run 17 / audited",
    );
}

#[test]
fn pm_32_a_game_that_is_taken_back_left_and_ended() {
    for (begin, values) in [("fair\n", ""), ("", "1 2 1 3 2 2 2")] {
        let terms = format!("{begin}default = [\"stay\"]\nbetween = [\"next\"]\npatience = 2");
        let mut post = Post::begun("siege", "begins_with_roll = true", &terms);
        post.play(&format!("run 1 {values}"));
        let first = post.desk().position().unwrap().game_seq;
        post.play(&format!(
            "p1: attack; stay / p2: attack; stay / run 2 {values} / audited
            p1: attack; stay / p1 offer @back takeback main {first} / p2 agree @back / audited
            run 3 {values} / stands => takeback-1:… / audited
            p1: stay / p2: attack; stay / run 3 {values}
            # p2 is silent until it is gone, and so p1 has won.
            p1: stay / run 8 {values} / audited / p1: stay / run 12 {values} / asked => p1 / audited"
        ));
    }
}

#[test]
fn fd_10_a_game_with_fair_dice() {
    let mut post = fair();
    for turn in 2..=4 {
        post.play(&format!("p1: attack; stay / p2: attack; stay / run {turn}"));
    }
    let made = post.game("main").iter().filter(|entry| entry.contains(" roll ")).count();
    assert_eq!(usize::from(post.desk().state().last_roll().unwrap()), made);
    post.play("asked => played / audited");
}

#[test]
fn pm_19_fd_11a_an_order_is_refused_whole_and_asked_again_but_not_behind_a_roll() {
    // Played commands are not taken back after a roll.
    siege("").play(
        "p1: attack; stay; stay / p2: stay; stay; stay
        run 2 2 => … carried seat=p1 … count=2; … code=day_ended; …
        # The default is played for p2, whose order was refused (PM-80).
        game main => p1 attack (order 1), host roll 2 (order 1), p1 stay (order 1), p2 stay (turn:1:p2), host next (turn:1:host)
        stands => main:5 p1,p2 / audited",
    );
}

#[test]
fn pm_27_a_run_every_minute_without_anything_to_do_appends_nothing() {
    let mut post = siege("");
    let head = post.desk().head();
    for minute in 1..60 {
        post.play(&format!("run 2026-12-01T12:{minute:02}:00Z => nothing"));
    }
    post.play("run 2026-12-04T11:59:59Z => nothing");
    assert_eq!(post.desk().head(), head);
    // The deadline passes. A clock that goes back is not recorded.
    post.play("run 2026-12-04T12:00:00Z => clocked …");
    let head = post.desk().head();
    post.play("run 1970-01-01T00:00:00Z => nothing");
    assert_eq!(post.desk().head(), head);
}

#[test]
fn pm_14_a_takeback_asks_the_seats_of_its_position_that_still_play() {
    for (at_once, terms, stands) in [(false, "together = true", "1"), (true, "", "0")] {
        relay(at_once, terms).play(&format!(
            "p1: done / p2: done / p3: done / run 2
            p1 resign / p2 offer @back takeback main 0 / p3 agree @back / run 3
            stands => takeback-1:{stands} p2,p3 / audited"
        ));
    }
    // The turn asked only a seat that is gone, so its default is played and then others are asked.
    relay(false, "").play(
        "p1: done / run 2 / p1 resign / p2 offer @back takeback main 0 / p3 agree @back / run 3
        game takeback-1 => p1 done (turn:2:host) / stands => takeback-1:1 p2 / audited",
    );
}

#[test]
fn pm_21_and_27_the_host_plays_for_a_seat_that_leaves_and_the_last_one_wins() {
    relay(false, "together = true").play(
        "p1 resign / asked => p1=defaulted p2=none p3=none
        p2: done / p3: done / run 2
        # The gone seat opens the next round, and is never asked.
        game main => p1 done (turn:1:p1), … host resolve (turn:1:host), p1 done (turn:1:host)
        stands => main:5 p2,p3 / audited
        p1: done => ignored gone
        p3 resign / asked => p2 / audited",
    );
    relay(true, "patience = 1").play("run 9 / asked => void");
    initiative().play("run 1 1 1 2 2 / p1 resign / asked => p2");
}

#[test]
fn pm_20_takebacks() {
    siege("").play(
        "p1 offer @none takeback main 0 => ignored no_such_stand
        p1: stay / p2: stay / run 2
        p1 offer @declined takeback main 0 / p2 decline @declined / p2 agree @declined => ignored no_such_offer
        p1 offer @lapsed takeback main 0 / p1: stay / p2: stay / run 3 / p2 agree @lapsed => ignored no_such_offer
        p1 offer @first takeback main 0 / p2 agree @first / run 4 / stands => takeback-1:0 p1,p2 / audited
        p1 offer @second takeback main 0 / p2 agree @second / run 5 / stands => takeback-2:0 p1,p2 / audited
        # The old line stays.
        game main => p1 stay (order 1), p2 stay (order 1), host next (turn:1:host), p1 stay (order 2), p2 stay (order 2), host next (turn:2:host)
        p1: attack; stay / p2: stay / run 6 3 / game takeback-2 => p1 attack (order 5) … / audited",
    );
}

#[test]
fn pm_20_a_name_that_another_branch_has_is_not_taken() {
    let mut post = siege("");
    post.play("p1: stay / p2: stay / run 2");
    let (main, name) = ("main".parse().unwrap(), post.name.clone());
    // A branch that begins elsewhere, and a branch on which another program played.
    post.store.create_branch(&name, &"takeback-1".parse().unwrap(), &main, 1, Vec::new()).unwrap();
    post.store.create_branch(&name, &"takeback-2".parse().unwrap(), &main, 0, Vec::new()).unwrap();
    post.append("takeback-2", "p1 stay");
    post.play(
        "p1 offer @back takeback main 0 / p2 agree @back / run 3 / stands => takeback-3:0 p1,p2 / audited",
    );
}

#[test]
fn pm_20_all_living_seats_agree_to_a_draw_or_a_later_deadline() {
    siege("").play(
        "p2 offer @draw end draw / p1 agree @draw / asked => draw / run 9 => nothing
        p1: stay => rejected match_over",
    );
    siege("").play(
        "p2 offer @year extend 2027-12-01T12:00:00Z / p1 agree @year / run 2027-12-01T11:59:59Z => nothing
        run 2027-12-01T12:00:00Z => … missed seat=p1 … missed seat=p2 … / audited",
    );
    relay(true, "").play(
        "p1 offer @draw end draw / p2 agree @draw / asked => p1=none p2=none p3=none
        p3 agree @draw / asked => draw",
    );
    // A seat that is gone has no vote.
    relay(true, "").play("p1 offer @draw end draw / p2 agree @draw / p3 resign / asked => draw / audited");
}

#[test]
fn pm_27_an_entry_of_another_program_on_the_line_stops_the_run() {
    for (orders, played) in [("p1: stay / p2: stay", "p1 attack"), ("p1: stay / p2: stay", "p2 stay")] {
        let mut post = siege("");
        post.play(orders);
        post.append("main", played);
        let error = post.try_run(day(2), &[]).unwrap_err();
        assert!(error.to_string().contains("another program played on this branch"), "{error}");
        assert_eq!(post.game("main").len(), 1);
    }
}

impl Post {
    /// Appends a command to a branch of the game as another program would.
    pub(super) fn append(&self, line: &str, given: &str) {
        let (seat, command) = given.split_once(' ').unwrap();
        let (of, branch) = (self.mail_match(), line.parse().unwrap());
        let (mut state, seat) = (of.rules.start(&of.genesis.setup).unwrap(), seat.parse().unwrap());
        let mut bytes = Vec::new();
        let entry = Logged { seq: 1, seat, command: CommandSource::Text(command) };
        state.fold(&[entry], &DicePolicy::Recorded, &mut |step| bytes = step.command_bytes()).unwrap();
        let entry = NewEntry { seat, command: bytes, recorded_at_ms: 1 };
        let head = self.store.head(&self.name, &branch).unwrap();
        self.store.append(&self.name, &branch, head, vec![entry], None).unwrap();
    }
}
