//! The stepper on a real terminal (VW-4, VW-7, VW-9). The tests read the screen as a terminal would show it.

use std::num::NonZero;
use std::process::ExitStatus;

use rustix::process::{Pid, Signal, kill_process};

use crate::terminal::{Running, is_ignored};
use turnfold_tests::sandbox::Sandbox;

/// A running stepper and the size of its terminal.
struct Stepping {
    running: Running,
    size: (u16, u16),
}

impl Stepping {
    /// Starts a command on a terminal with these rows and columns, or returns `None` if no terminal can be opened.
    fn start(sandbox: &Sandbox, line: &str, size: (u16, u16), variables: &[(&str, &str)]) -> Option<Self> {
        let mut command = sandbox.command(line.split(' '));
        command.envs(variables.iter().copied());
        Some(Self { running: Running::start_in(command, "", size)?, size })
    }

    fn screen(&self) -> vt100::Screen {
        screen(self.running.sent(), self.size)
    }

    /// Waits until the screen shows a text, and returns the screen.
    fn wait_for(&mut self, text: &str) -> vt100::Screen {
        loop {
            let screen = self.screen();
            if screen.contents().contains(text) {
                return screen;
            }
            assert!(self.running.read(), "{text} was not shown: {}", screen.contents());
        }
    }

    /// Types keys and waits until the screen shows a text.
    fn press(&mut self, keys: &str, text: &str) -> vt100::Screen {
        self.running.type_in(keys);
        self.wait_for(text)
    }

    /// Types the last keys. Returns the final screen, its text, and the exit status of the program.
    fn leave(self, keys: &str) -> (vt100::Screen, String, ExitStatus) {
        let Self { mut running, size } = self;
        running.type_in(keys);
        let (sent, status) = running.finish();
        (screen(sent.as_bytes(), size), sent, status)
    }
}

/// Returns the screen of a terminal of this size after it received these bytes.
fn screen(sent: &[u8], (rows, columns): (u16, u16)) -> vt100::Screen {
    let length = |length| NonZero::new(length).unwrap();
    let mut parser = vt100::Parser::new(length(rows), length(columns), 0);
    parser.process(sent);
    parser.screen().clone()
}

const SIZE: (u16, u16) = (24, 80);

/// Returns a sandbox with a match of two players and two branches.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.ok("new duel --rules initiative --setup fixtures/initiative/small-board.toml");
    sandbox.ok("play duel \"roll 1 2 3 4\" \"p1: confirm\" \"p1: move 0,1\"");
    sandbox.ok("branch duel:2 other");
    sandbox
}

#[test]
fn vw_4_the_stepper_fills_the_terminal_and_gives_it_back() {
    let sandbox = sandbox();
    let Some(mut stepping) = Stepping::start(&sandbox, "replay duel --step", SIZE, &[]) else { return };
    let screen = stepping.wait_for("entry 0 of 3");
    assert!(screen.alternate_screen());
    assert!(screen.contents().contains("duel  entry 0 of 3  as host  initiative"), "{}", screen.contents());
    stepping.press("l", "entry 1 of 3");
    stepping.press("\x1b[C", "entry 2 of 3");
    stepping.press("\x1b[D", "entry 1 of 3");
    stepping.press("G", "entry 3 of 3");
    stepping.press(":2\r", "entry 2 of 3");
    stepping.press("?", "next where it holds");
    stepping.press("x", "entry 2 of 3");
    stepping.press("v", "\"active_player\": \"p1\"");
    stepping.press("v", "turn 1, movement");
    let screen = stepping.press("s", "as p1 sees it");
    assert!(screen.hide_cursor());
    assert!(screen.contents().contains("as p1  initiative"));
    let (screen, _, status) = stepping.leave("q");
    assert!(!screen.alternate_screen() && !screen.hide_cursor());
    assert_eq!((screen.contents().as_str(), status.code()), ("", Some(0)));
}

#[test]
fn vw_7_the_keys_are_whole_on_a_narrow_terminal() {
    let sandbox = sandbox();
    let Some(mut stepping) = Stepping::start(&sandbox, "replay duel --step", (20, 40), &[]) else { return };
    stepping.wait_for("← → step  : go to  ? keys  q leave");
    let screen = stepping.press("?", "these keys · leave").contents();
    for whole in ["w CONDITION Enter next where it holds │", "b   y             branches · print REV│"] {
        assert!(screen.contains(whole), "{screen}");
    }
    stepping.leave("?q");
}

#[test]
fn vw_4_an_entry_that_a_file_records_otherwise_is_marked() {
    let sandbox = sandbox();
    sandbox.ok("export duel -o duel.tfl");
    let bent = sandbox.read("duel.tfl").replace("=> selected unit=atlas", "=> selected unit=zeus");
    sandbox.write("bent.tfl", bent);
    let Some(mut stepping) = Stepping::start(&sandbox, "replay bent.tfl --step", SIZE, &[]) else { return };
    stepping.wait_for("entry 0 of 3");
    let shown = stepping.press(":2\r", "entry 2 of 3").contents();
    assert_eq!(shown.matches("[recorded: selected unit=zeus]").count(), 1, "{shown}");
    stepping.leave("q");
}

#[test]
fn vw_7_a_branch_is_chosen_and_the_revision_is_printed_on_leaving() {
    let sandbox = sandbox();
    let Some(mut stepping) = Stepping::start(&sandbox, "replay duel --step", SIZE, &[]) else { return };
    stepping.wait_for("entry 0 of 3");
    let screen = stepping.press("b", "branches, Enter goes there");
    assert!(screen.contents().contains("other  2 entries, from main:2"), "{}", screen.contents());
    stepping.press("\x1b[B\r", "duel@other  entry 0 of 2");
    stepping.press("Gy", "is printed on leaving");
    let (screen, _, status) = stepping.leave("\x03");
    assert_eq!((screen.contents().trim(), status.code()), ("duel@other:2", Some(0)));
}

#[test]
fn vw_5_a_terminal_that_changes_its_size_is_filled_again() {
    let sandbox = sandbox();
    let Some(mut stepping) = Stepping::start(&sandbox, "replay duel --step", SIZE, &[]) else { return };
    stepping.wait_for("entry 0 of 3");
    stepping.press("l", "entry 1 of 3");
    stepping.size = (11, 39);
    resize(&mut stepping);
    stepping.wait_for("39x11 is too small; 40x12 is needed");
    stepping.size = (40, 120);
    resize(&mut stepping);
    stepping.wait_for("entry 1 of 3");
    assert_eq!(stepping.leave("q").2.code(), Some(0));
}

#[test]
fn vw_4_a_signal_gives_the_terminal_back_first() {
    let sandbox = sandbox();
    // A program started by `nohup` inherits that hang-ups are ignored.
    for (signal, ends) in
        [(Signal::TERM, 15), (Signal::HUP, 1)].into_iter().filter(|(_, ends)| !is_ignored(*ends))
    {
        let Some(mut stepping) = Stepping::start(&sandbox, "replay duel --step", SIZE, &[]) else { return };
        stepping.wait_for("entry 0 of 3");
        // Each key causes a redraw, so the signal arrives during a redraw.
        stepping.press(&"lh".repeat(200), "entry 1 of 3");
        kill_process(pid(&stepping), signal).unwrap();
        let (screen, _, status) = stepping.leave("");
        assert!(!screen.alternate_screen() && !screen.hide_cursor());
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(ends));
    }
}

#[test]
fn vw_4_a_closed_terminal_ends_the_stepper() {
    let sandbox = sandbox();
    let Some(mut stepping) = Stepping::start(&sandbox, "replay duel --step", SIZE, &[]) else { return };
    stepping.wait_for("entry 0 of 3");
    assert_eq!(stepping.running.close().code(), Some(0));
}

#[test]
fn vw_9_a_stopped_stepper_leaves_the_terminal_to_the_shell_and_comes_back() {
    let sandbox = sandbox();
    let Some(mut stepping) = Stepping::start(&sandbox, "replay duel --step", SIZE, &[]) else { return };
    stepping.wait_for("entry 0 of 3");
    stepping.press("l", "entry 1 of 3");
    for by_key in [true, false] {
        if by_key {
            stepping.running.type_in("\x1a");
        } else {
            kill_process(pid(&stepping), Signal::TSTP).unwrap();
        }
        while stepping.screen().alternate_screen() {
            assert!(stepping.running.read());
        }
        wait_until_stopped(&stepping);
        kill_process(pid(&stepping), Signal::CONT).unwrap();
        while !stepping.screen().alternate_screen() {
            assert!(stepping.running.read());
        }
        stepping.wait_for("entry 1 of 3");
    }
    assert_eq!(stepping.leave("q").2.code(), Some(0));
}

/// Resizes the terminal, and sends the signal that reports the new size to the process.
fn resize(stepping: &mut Stepping) {
    stepping.running.resize(stepping.size);
    kill_process(pid(stepping), Signal::WINCH).unwrap();
}

fn pid(stepping: &Stepping) -> Pid {
    Pid::from_child(&stepping.running.child)
}

/// Waits until the system reports that the process is stopped.
fn wait_until_stopped(stepping: &Stepping) {
    use rustix::process::{WaitOptions, waitpid};
    let (_, status) = waitpid(Some(pid(stepping)), WaitOptions::UNTRACED).unwrap().unwrap();
    assert!(status.stopped());
}

#[test]
fn vw_6_without_color_nothing_is_colored_and_changes_are_still_marked() {
    let sandbox = sandbox();
    for (variables, is_colored) in [(&[][..], true), (&[("NO_COLOR", "1")][..], false)] {
        let Some(mut stepping) = Stepping::start(&sandbox, "replay duel --step", SIZE, variables) else {
            return;
        };
        stepping.wait_for("entry 0 of 3");
        let screen = stepping.press("lll", "entry 3 of 3");
        let cells = (0..SIZE.0).flat_map(|row| (0..SIZE.1).map(move |column| (row, column)));
        let cells: Vec<_> = cells.filter_map(|(row, column)| screen.cell(row, column)).collect();
        let colored = cells.iter().any(|cell| cell.fgcolor() != vt100::Color::Default);
        assert_eq!(colored, is_colored);
        assert!(cells.iter().any(|cell| cell.inverse()));
        assert_eq!(stepping.leave("q").2.code(), Some(0));
    }
}

#[test]
fn vw_4_where_no_terminal_can_be_filled_everything_comes_at_once() {
    let sandbox = sandbox();
    let piped = sandbox.ok("replay duel --step");
    assert_eq!(piped.matches("q above its column").count(), 4, "{piped}");
    let command = sandbox.command("replay duel --step".split(' '));
    let Some(running) = Running::start_as(command, "dumb", "", SIZE) else { return };
    let (shown, status) = running.finish();
    assert!(!shown.contains("\x1b[?1049h") && shown.contains("3 entries, state"), "{shown}");
    assert_eq!(status.code(), Some(0));
}

#[test]
fn vw_4_a_line_of_play_that_cannot_be_read_leaves_the_terminal_alone() {
    let sandbox = sandbox();
    let Some(stepping) = Stepping::start(&sandbox, "replay nobody --step", SIZE, &[]) else { return };
    let (screen, sent, status) = stepping.leave("");
    assert!(!sent.contains("\x1b[?1049h"));
    assert!(screen.contents().starts_with("error: no match `nobody`"), "{}", screen.contents());
    assert_eq!(status.code(), Some(2));
}
