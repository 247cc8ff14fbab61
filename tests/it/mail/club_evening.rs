//! Three weeks of a club: six players without keys, three matches, one Maildir, and one command that the host runs
//! every day (PM-100, PM-101, PM-105, PM-107).

use std::collections::BTreeMap;
use std::fs;

use turnfold_tests::mailbox::Mailbox;

use super::postal_game::{DELIVER, ORDERS, SETUP};

const TERMS: &str = "plain = [\"p1\", \"p2\"]\nhours = 144\nhurry = false\nremind = [\"24h\"]\n";
const MATCHES: [(&str, [&str; 2]); 3] =
    [("alpha", ["ann", "ben"]), ("beta", ["cleo", "dan"]), ("gamma", ["eve", "fay"])];

/// The letters of a day by player, with only line feeds as line ends.
type Letters = BTreeMap<String, Vec<String>>;

struct Weeks {
    mailbox: Mailbox,
    /// The number of mails sent to the host.
    sent: usize,
}

impl Weeks {
    fn begin() -> Self {
        let mailbox = Mailbox::new(TERMS);
        let sandbox = &mailbox.sandbox;
        sandbox.write("setup.toml", SETUP);
        sandbox.write("deliver", DELIVER);
        for folder in ["post/new", "post/cur", "post/tmp", "inbox"] {
            fs::create_dir_all(sandbox.path(folder)).unwrap();
        }
        // The two steps of the host: create a key, and open a match.
        for (name, [one, two]) in MATCHES {
            sandbox.ok(&format!(
                "mail open {name} --rules cycletap --setup setup.toml --desk desk.toml --key host.key \
                 --to p1={one}@example.org --to p2={two}@example.org --to host=games@example.org"
            ));
        }
        Self { mailbox, sent: 0 }
    }

    /// Runs the host's command, and returns the letters that it sent.
    fn day(&self, day: u32, mailer: &str) -> Letters {
        let line = format!(
            "mail run --maildir post --key host.key --at 2025-03-{day:02}T18:00:00Z --send \"{mailer}\""
        );
        let output = self.mailbox.sandbox.run(&line);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() || mailer == "false", "day {day}: {stderr}");
        let mut letters = Letters::new();
        let inbox = self.mailbox.sandbox.path("inbox");
        let mut names: Vec<_> = fs::read_dir(&inbox)
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort_by_key(|name| name.rsplit('.').next().unwrap().parse::<usize>().unwrap());
        for name in names {
            let letter = fs::read_to_string(inbox.join(&name)).unwrap().replace('\r', "");
            letters.entry(name.split('.').next().unwrap().into()).or_default().push(letter);
            fs::remove_file(inbox.join(&name)).unwrap();
        }
        letters
    }

    /// Sends a player's answer to a letter. Later mails get earlier names, so the order of names is of no use.
    fn answer(&mut self, player: &str, letter: &str, lines: &str) {
        let code = letter.lines().find_map(|line| line.trim().strip_prefix("code ")).unwrap();
        let id = letter.lines().find_map(|line| line.strip_prefix("Message-ID: ")).unwrap();
        self.sent += 1;
        let mail = format!(
            "From: {player}@example.org\nTo: games@example.org\nMessage-ID: <{}@example.net>\nIn-Reply-To: {id}\n\n\
             code {code}\n{lines}(end)\n",
            self.sent
        );
        self.mailbox.sandbox.write(&format!("post/new/{}.M1.host", 1_700_000_000 - self.sent), mail);
    }
}

#[test]
fn pm_100_six_players_and_three_matches_play_three_weeks_in_one_maildir() {
    let mut weeks = Weeks::begin();
    let invited = weeks.day(1, "sh deliver");
    for (_, players) in MATCHES {
        for player in players {
            let invitation = &invited[player][0];
            assert!(invitation.contains("an invitation to play by mail") && invitation.contains("\nDate: "));
            weeks.answer(player, invitation, &format!("join {player}\n"));
        }
    }
    // Spam, which belongs to no match, stays in the Maildir all the time.
    weeks.mailbox.sandbox.write("post/new/1.M1.host", "From: spam@example.com\nSubject: Buy\n\nnow\n");
    let (mut receipts, mut reminders, mut summaries, mut overs) = (0, 0, 0, 0);
    for day in 2..=23 {
        // The mailer is down for two days, at the end of the first turn.
        let mailer = if (8..=9).contains(&day) { "false" } else { "sh deliver" };
        let letters = weeks.day(day, mailer);
        summaries += letters.get("games").map_or(0, Vec::len);
        for (name, players) in MATCHES {
            for (seat, player) in players.iter().enumerate() {
                for letter in letters.get(*player).into_iter().flatten() {
                    assert!(letter.contains(&format!("Subject: [{name}] ")), "{letter}");
                    receipts += usize::from(letter.contains("The game after your order"))
                        + usize::from(letter.contains("What it leads to depends"));
                    reminders += usize::from(letter.contains(": a reminder, your order is due "));
                    overs += usize::from(letter.contains("the match is over"));
                    let asks = |turn: usize| letter.contains(&format!("] turn {turn}: your order, please"));
                    let asked = (1..=ORDERS.len()).find(|turn| asks(*turn));
                    if let Some(turn) = asked.filter(|_| !letter.contains("Your order is in")) {
                        weeks.answer(player, letter, ORDERS[turn - 1][seat]);
                    }
                }
            }
        }
    }
    assert_eq!(overs, 6, "every player reads of the end");
    assert!(receipts >= 18 && summaries >= 3, "{receipts} {summaries}");
    assert_eq!(reminders, 0, "everyone ordered in time");
    let sandbox = &weeks.mailbox.sandbox;
    assert_eq!(fs::read_dir(sandbox.path("post/new")).unwrap().count(), 1, "all but the spam was taken");
    for (name, _) in MATCHES {
        assert!(sandbox.ok(&format!("log {name}")).contains("match_over"), "{name}");
        let desk = sandbox.ok(&format!("log {name}.desk"));
        assert!(!desk.contains("missed seat="), "{desk}");
    }
}
