//! A match by mail in a sandbox, hosted with the real binary.

use std::process::Output;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use turnfold_core::paper::SignedPaper;
use turnfold_core::{DicePolicy, Seat};
use turnfold_mail::{DeskHistory, MailMatch, MailedPaper};
use turnfold_store::StoreReader;

use crate::players::{DeskView, Players, key};
use crate::sandbox::Sandbox;

/// The match `duel` and its players. The host's key is `host.key`, and the terms are `desk.toml`.
pub struct Mailbox {
    pub sandbox: Sandbox,
    pub players: Players,
}

impl Mailbox {
    /// Creates the key and the terms, but no match yet.
    pub fn new(terms: &str) -> Self {
        let sandbox = Sandbox::new();
        sandbox.write("desk.toml", terms);
        let mailbox = Self { sandbox, players: Players::default() };
        mailbox.save_key("host");
        mailbox
    }

    /// Saves the key of a label in a file that only its owner can read.
    pub fn save_key(&self, label: &str) {
        let name = format!("{label}.key");
        self.sandbox.write(&name, key(label).to_file());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let private = std::fs::Permissions::from_mode(0o600);
            std::fs::set_permissions(self.sandbox.path(&name), private).unwrap();
        }
    }

    /// Returns the names of the letters in the outbox, in order.
    pub fn letters(&self) -> Vec<String> {
        let Ok(folder) = std::fs::read_dir(self.sandbox.path(".turnfold/outbox")) else { return Vec::new() };
        let mut names: Vec<_> = folder.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Opens a match of a ruleset with a fixture.
    pub fn opened(rules: &str, setup: &str, terms: &str, options: &str) -> Self {
        let mailbox = Self::new(terms);
        mailbox.sandbox.ok(&open_line(rules, setup, options));
        mailbox
    }

    /// Returns what players know of the match now.
    pub fn known(&self) -> DeskView {
        let store = StoreReader::open(&self.sandbox.path(".turnfold")).unwrap();
        let of = MailMatch::find(&store, &"duel".parse().unwrap(), &turnfold_games::standard()).unwrap();
        let is_fair = matches!(of.genesis.dice, DicePolicy::Fair(_));
        DeskView { desk: DeskHistory::read(&store, &of).unwrap(), match_id: of.genesis.match_id, is_fair }
    }

    /// Saves papers in a mail.
    pub fn save(&self, file: &str, papers: &[SignedPaper]) {
        let mails = papers.iter().map(|signed| {
            let name = self.players.key(signed.paper().head().seat).name().clone();
            MailedPaper { signed: signed.clone(), name }.write().unwrap()
        });
        self.sandbox.write(file, mails.collect::<Vec<_>>().join("\nand another\n\n"));
    }

    /// Saves the attachment of a letter in the outbox.
    pub fn save_bundle(&self, letter: &str, file: &str) {
        let letter = self.sandbox.read(&format!(".turnfold/outbox/{letter}"));
        self.sandbox.write(file, opened(&letter).1);
    }

    /// Lets these seats join, in this order.
    pub fn join(&mut self, seats: &[Seat]) {
        for seat in seats {
            let paper = self.players.join(&self.known(), *seat);
            self.save("join.txt", &[paper]);
            self.sandbox.ok(&format!("mail take duel join.txt --admit {seat} --key host.key"));
        }
    }

    /// Writes orders of seats from what they now know of the desk, in one mail.
    pub fn save_orders(&mut self, file: &str, orders: &[(Seat, &[&str])]) {
        let known = self.known();
        let papers: Vec<_> =
            orders.iter().map(|(seat, plays)| self.players.order(&known, *seat, plays)).collect();
        self.save(file, &papers);
    }

    /// Takes a mail.
    pub fn take(&self, file: &str) -> Output {
        self.sandbox.run(&format!("mail take duel {file} --key host.key"))
    }

    /// Runs the desk at a time in December 2026.
    pub fn run(&self, at: &str, options: &str) -> Output {
        self.sandbox.run(&format!("mail run duel --key host.key --force --at 2026-12-{at} {options}"))
    }
}

/// Returns the command that opens `duel`.
pub fn open_line(rules: &str, setup: &str, options: &str) -> String {
    format!(
        "mail open duel --rules {rules} --setup fixtures/{rules}/{setup} --desk desk.toml --key host.key {options}"
    )
}

/// Returns the text of a letter and its bundle.
pub fn opened(letter: &str) -> (String, String) {
    let (_, body) = letter.split_once("\r\n\r\n").unwrap();
    let (_, body) = body.split_once("\r\n\r\n").unwrap();
    let (text, rest) = body.split_once("--turnfold-").unwrap();
    let (_, attached) = rest.split_once("\r\n\r\n").unwrap();
    let (attached, _) = attached.split_once("--turnfold-").unwrap();
    let attached = STANDARD.decode(attached.replace("\r\n", "")).unwrap();
    (text.replace("\r\n", "\n"), String::from_utf8(attached).unwrap())
}
