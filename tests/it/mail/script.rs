//! Scripts of a match by mail: actions of players and host, with their results.

use turnfold_core::Seat;
use turnfold_core::paper::{PaperContent, SeatKey};

use super::post::{Post, day, time};
use turnfold_tests::players::{Unlike, key};

impl Post {
    /// Plays a script of actions, one on each line or separated by ` / `. The result of an action follows ` => `, where
    /// `…` stands for any text. Without a result, each paper must be applied.
    ///
    /// - `run DAY` or `run TIME`, then values of the dice; the result is what happens at the desk, or `nothing`
    /// - `p1: attack; stay` orders, and `p1 wait: stay` waits for the deadline; `let @NAME` only writes the order, and
    ///   `send @NAME` hands it in; `turn=N` and `number=N` replace the next ones
    /// - `p1 seal @ORDER`, `p1 resign`, `p1 offer @NAME end draw`, `p2 agree @NAME`, `p2 decline @NAME`, `p1 rekey LABEL`
    /// - `asked`, `stands`, `game LINE` and `audited` call the functions with these names
    pub(super) fn play(&mut self, script: &str) {
        let lines = script.lines().map(str::trim).filter(|line| !line.starts_with('#'));
        for action in lines.flat_map(|line| line.split(" / ")).filter(|action| !action.is_empty()) {
            let (action, expected) = action.split_once(" => ").unwrap_or((action, ""));
            let found = self.act(action);
            let is_paper = action.starts_with(['p', 's']) && action != "stands";
            let expected = if expected.is_empty() && is_paper { "applied" } else { expected };
            assert!(
                expected.is_empty() || is_like(&found, expected),
                "{action} => {expected}\nfound {found}"
            );
        }
    }

    fn act(&mut self, action: &str) -> String {
        let (head, body) = action.split_once(": ").unwrap_or((action, ""));
        let words: Vec<&str> = head.split_whitespace().collect();
        match words[..] {
            ["run", at, ref values @ ..] => {
                let values: Vec<i32> = values.iter().map(|value| value.parse().unwrap()).collect();
                let happened = self.run(at.parse().map_or_else(|_| time(at), day), &values);
                if happened.is_empty() { "nothing".into() } else { happened.join("; ") }
            }
            ["asked"] => self.asked(),
            ["stands"] => self.stands(),
            ["game", line] => self.game(line).join(", "),
            ["audited"] => self.audited().into_iter().map(|row| row.reason + "\n").collect(),
            ["send", name] => self.give(&self.named[name].clone()),
            [seat, ref words @ ..] => self.paper(seat.parse().unwrap(), words, body),
            [] => unreachable!("there are words"),
        }
    }

    fn paper(&mut self, seat: Seat, words: &[&str], body: &str) -> String {
        let name = words.iter().find(|word| word.starts_with('@')).copied();
        let number = |key| words.iter().find_map(|word| word.strip_prefix(key)?.parse().ok());
        let unlike = Unlike { turn: number("turn="), number: number("number="), ..Unlike::default() };
        let named = || self.named[name.unwrap()].paper().digest();
        let content = match words {
            ["seal", ..] => {
                PaperContent::Seal { link: self.desk().position().unwrap().link, digest: named() }
            }
            ["resign"] => PaperContent::Resign,
            ["offer", _, offer @ ..] => PaperContent::Offer(offer.join(" ").parse().unwrap()),
            [answer @ ("agree" | "decline"), _] => {
                PaperContent::Answer { to: named(), agree: *answer == "agree" }
            }
            ["rekey", label] => PaperContent::Rekey(SeatKey::of(&key(label)).unwrap()),
            _ => {
                let plays: Vec<_> = body.split("; ").collect();
                let waits = words.contains(&"wait");
                PaperContent::Order(self.players.order_with(&self.desk_view(), seat, &plays, waits))
            }
        };
        let is_made = matches!(content, PaperContent::Order(_) | PaperContent::Offer(_));
        let paper = self.write(seat, content, unlike);
        if let Some(name) = name.filter(|_| is_made) {
            self.named.insert(name.into(), paper.clone());
        }
        if words.contains(&"let") {
            return "applied".into();
        }
        let outcome = self.give(&paper);
        if let ["rekey", label] = words {
            self.players.use_key(seat, key(label));
        }
        outcome
    }
}

/// Returns `true` if a text is as expected, where `…` stands for any text.
fn is_like(text: &str, expected: &str) -> bool {
    let parts: Vec<&str> = expected.split('…').map(str::trim).collect();
    let [first, between @ ..] = parts.as_slice() else { return false };
    let Some(mut rest) = text.trim().strip_prefix(first) else { return false };
    let Some((last, between)) = between.split_last() else { return rest.is_empty() };
    for part in between {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}
