//! A game that two players without keys play to its end through a Maildir, hosted by two commands that a timer could
//! run (PM-38, PM-43, PM-53).

use std::fs;

use turnfold_tests::mailbox::Mailbox;

use super::corpus::{Written, plain_shapes};

const TERMS: &str = "hosted = []\nplain = [\"p1\", \"p2\"]\n";
/// The game of `replays/cycletap/the-last-unit-lost.tfl`: its setup, and the orders of both players in each turn.
pub(super) const SETUP: &str = "radius = 2\n[[units]]\nowner = \"p1\"\nkind = \"captain\"\nat = [0, 1]\n\
                     [[units]]\nowner = \"p2\"\nkind = \"officer\"\nat = [0, 0]\n\
                     [[units]]\nowner = \"p2\"\nkind = \"officer\"\nat = [2, -2]\n";
pub(super) const ORDERS: [[&str; 2]; 3] = [
    ["tap 0,1\ntap 0,0\nswitch\n", "switch\n"],
    ["tap 0,0\ntap 1,-1\nswitch\n", "tap 2,-2\ntap 2,-1\nswitch\n"],
    ["tap 1,-1\ntap 2,-1\nswitch\n", "switch\n"],
];
const PLAYERS: [(&str, &str); 2] = [("ann", "Ann Miller"), ("ben", "Ben")];
/// Puts a letter into the inbox of its reader, as a mail server does.
pub(super) const DELIVER: &str = "cat > letter; to=$(sed -n 's/^To: \\([a-z]*\\)@.*/\\1/p' letter); \
                       mv letter inbox/$to.$(ls inbox | wc -l)";

/// The players, each with only a mail program.
struct Table {
    mailbox: Mailbox,
    /// The number of sent mails.
    sent: usize,
    /// The letters already read.
    read: Vec<String>,
}

impl Table {
    fn opened() -> Self {
        let mailbox = Mailbox::new(TERMS);
        let sandbox = &mailbox.sandbox;
        sandbox.write("setup.toml", SETUP);
        sandbox.write("deliver", DELIVER);
        for folder in ["post/new", "post/cur", "post/tmp", "inbox"] {
            fs::create_dir_all(sandbox.path(folder)).unwrap();
        }
        let to = "--to p1=ann@example.org --to p2=ben@example.org --to host=games@example.org";
        sandbox.ok(&format!(
            "mail open duel --rules cycletap --setup setup.toml --desk desk.toml --key host.key {to}"
        ));
        Self { mailbox, sent: 0, read: Vec::new() }
    }

    /// Runs what the host's timer runs.
    fn host(&self, at: &str) {
        let sandbox = &self.mailbox.sandbox;
        let taken = sandbox.run("mail take duel --maildir post --key host.key");
        assert!(taken.stderr.is_empty(), "{}", String::from_utf8_lossy(&taken.stderr));
        let printed = String::from_utf8(taken.stdout).unwrap();
        assert!(taken.status.success() || printed.contains("needs_admit") || printed.is_empty(), "{printed}");
        sandbox.ok(&format!(
            "mail run duel --key host.key --force --at 2026-12-{at}T12:00:00Z --send \"sh deliver\""
        ));
    }

    /// Returns the unread letters of a player, the oldest first, with only line feeds as line ends.
    fn unread(&mut self, player: &str) -> Vec<String> {
        let inbox = fs::read_dir(self.mailbox.sandbox.path("inbox")).unwrap();
        let names = inbox.map(|file| file.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> =
            names.filter(|name| name.starts_with(player) && !self.read.contains(name)).collect();
        names.sort_by_key(|name| name.rsplit('.').next().unwrap().parse::<usize>().unwrap());
        self.read.extend(names.clone());
        names
            .iter()
            .map(|name| self.mailbox.sandbox.read(&format!("inbox/{name}")).replace('\r', ""))
            .collect()
    }

    /// Answers a letter with its code and some lines, with a different mail program each time.
    fn answer(&mut self, player: usize, letter: &str, lines: &str) {
        let code = letter.lines().find_map(|line| line.trim().strip_prefix("code ")).unwrap();
        let shapes = plain_shapes();
        let (_, shape) = shapes[(self.sent * 7) % shapes.len()];
        self.sent += 1;
        let from = ["ann@example.org", "ben@example.org"][player];
        let paper = format!("code {code}\n{lines}");
        let mail = shape(&Written { paper, from, name: PLAYERS[player].1, index: self.sent });
        self.mailbox.sandbox.write(&format!("post/new/{:04}", self.sent), mail);
    }
}

#[test]
fn pm_43_two_players_without_keys_play_a_game_to_its_end_through_a_maildir() {
    let mut table = Table::opened();
    table.host("01");
    for (player, (address, name)) in PLAYERS.iter().enumerate() {
        let letters = table.unread(address);
        let [invitation] = &letters[..] else { panic!("{letters:#?}") };
        assert!(invitation.contains("Subject: [duel] an invitation to play by mail\n"), "{invitation}");
        table.answer(player, invitation, &format!("join {name}\n"));
    }
    for (round, orders) in ORDERS.iter().enumerate() {
        table.host(&format!("{:02}", 2 + round));
        for (player, order) in orders.iter().enumerate() {
            let letters = table.unread(PLAYERS[player].0);
            let asks = format!("Subject: [duel] turn {}: your order, please\n", round + 1);
            let asking: Vec<_> = letters.iter().filter(|letter| letter.contains(&asks)).collect();
            assert_eq!(asking.len(), 1, "one letter asks for the order of a turn: {letters:#?}");
            table.answer(player, asking[0], order);
        }
    }
    table.host("05");
    for (player, _) in PLAYERS {
        let last = table.unread(player).pop().unwrap();
        assert!(last.contains("Subject: [duel] the match is over\n"), "{last}");
        assert!(last.contains("Thank you for playing."), "{last}");
    }
    assert_eq!(table.sent, 8);
    // PM-64 and PM-105: the invitation, the answer to the join, a letter and a receipt for each turn, and the final
    // letter.
    for (player, _) in PLAYERS {
        let letters = table.read.iter().filter(|name| name.starts_with(player)).count();
        assert_eq!(letters, 2 + 2 * ORDERS.len() + 1, "{player}: {:?}", table.read);
    }
    let sandbox = &table.mailbox.sandbox;
    assert_eq!(fs::read_dir(sandbox.path("post/new")).unwrap().count(), 0, "each mail was taken");
    assert!(sandbox.ok("log duel").contains("match_over"));
    let audit = String::from_utf8(sandbox.run("audit").stdout).unwrap();
    assert!(
        audit.contains("p1, p2 ordered by plain mail: the host vouches") && !audit.contains("FAIL"),
        "{audit}"
    );
}
