//! `turnfold mail write`: writes a player's paper (PM-28).

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;

use clap::ValueEnum;
use serde_json::json;
use turnfold_core::Malformed;
use turnfold_core::paper::{Nonce, OrdersAhead, PaperContent, PaperLine, Press};
use turnfold_mail::{PaperRequest, PaperWords, press_line, write_paper};
use turnfold_proof::signing::KeyFile;

use crate::context::Context;
use crate::failure::{ExitStatus, Failure, Result};
use crate::files::{self, NewFile};
use crate::output::{Line, warn};
use crate::{clock, random};

/// The most seconds that the host's clock may be ahead of this machine's without a warning (PM-12).
const CLOCK_AHEAD_MAX: u64 = 3600;

/// Write a paper for the host, such as a join or an order
///
/// The bundle is the attachment of the newest letter, as it was saved. `mail write` audits it first, against what the key
/// remembers, and writes nothing if a row is FAIL. Seat, turn and history come from the bundle. Paste the paper into a mail as
/// it is; quoting, line wrapping and text around it do no harm.
///
/// With `join`, the host's key is printed: compare it with the key that the host publishes elsewhere. From then on, no other
/// host is accepted. Keep the folder FILE.seen next to the key: it holds what the key has seen and written, and the order
/// behind a `seal`, which `write order` sends later.
///
/// If the bundle holds the whole game, commands are tried on it first: a command that the game would reject is not written, and
/// one that would change nothing is reported.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  turnfold mail write join p1 --from duel-1-p1.bundle --key ann.key -o reply.txt
  turnfold mail write order \"move 2,-3\" stand --from duel-5-p1.bundle --key ann.key -o reply.txt
  turnfold mail write order e4 \"if e5 then Nf3, if Nc6 then Bb5\" --from duel-1-p1.bundle --key ann.key -o reply.txt
  turnfold mail write offer end draw --from duel-5-p1.bundle --key ann.key -o reply.txt
  turnfold mail write answer 3 agree --from duel-7-p1.bundle --key ann.key -o reply.txt")]
pub(crate) struct Args {
    /// What to write
    #[arg(value_enum, value_name = "KIND")]
    kind: Kind,

    /// SEAT to join; commands to order or seal; an offer in its words; digits of an offer and `agree` or `decline`; a time;
    /// readers (`all` or `p1,p3`) and words; `TURN: COMMAND; COMMAND` for each later turn; with `order` and `ahead` also lines
    /// `if COMMAND then COMMAND, if …` that answer the other player at once
    #[arg(value_name = "ARG")]
    words: Vec<String>,

    /// The bundle that came with the newest letter
    #[arg(long, value_name = "BUNDLE")]
    from: PathBuf,

    /// The player's key
    #[arg(long, value_name = "FILE", env = "TURNFOLD_KEY")]
    key: PathBuf,

    /// Make the turn wait for its deadline, so that this order can still be replaced
    #[arg(long)]
    wait: bool,

    /// Confirm the turn number yourself; required when your last order was many turns ago
    #[arg(long, value_name = "T")]
    turn: Option<u32>,

    /// Do not try the commands on the game first
    #[arg(long)]
    untried: bool,

    /// The key to sign with from now on, with `rekey`
    #[arg(long, value_name = "FILE")]
    new_key: Option<PathBuf>,

    #[command(flatten)]
    output: NewFile,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Take a free seat
    Join,
    /// Play commands in this turn
    Order,
    /// Commit to an order without showing it
    Seal,
    /// Offer something to the others
    Offer,
    /// Agree to an offer or decline it
    Answer,
    /// Leave the match
    Resign,
    /// Sign with another key from now on
    Rekey,
    /// Announce an absence until a time
    Absent,
    /// Write to players
    Press,
    /// Order for later turns, in place of such orders before
    Ahead,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Result<ExitStatus> {
    let path = args.output.path()?;
    if path.is_none() {
        context.output.refuse_json_next_to("paper")?;
    }
    let words = args.words()?;
    let key = KeyFile::open(&args.key)?;
    let request = PaperRequest {
        bundle: &args.from,
        key: &key,
        words,
        turn: args.turn,
        is_untried: args.untried,
        nonces: [nonce()?, nonce()?],
        registry: &context.registry,
    };
    // The lines of replies come before the order, because the order may make the turn ready.
    let mut mail = String::new();
    if args.kind == Kind::Order
        && let (plays, lines) = args.plays_and_lines()?
        && !lines.is_empty()
    {
        let words = PaperWords::Lines { plays, lines };
        let nonces = [nonce()?, nonce()?];
        mail = write_paper(&PaperRequest { words, nonces, ..request.clone() })?.mail;
    }
    let written = write_paper(&request)?;
    mail += &written.mail;
    // The bundle has only the host's word for its clock (PM-12).
    let now = u64::try_from(clock::now_ms()? / 1000).unwrap_or_default();
    if let Some(clock) = written.clock
        && clock.unix_seconds() > now.saturating_add(CLOCK_AHEAD_MAX)
    {
        warn(&format!("the host's clock shows {clock}, more than an hour later than this machine's"));
    }
    for command in &written.without_effect {
        warn(command);
    }
    let Some(path) = path else {
        context.output.bytes()?.write_all(mail.as_bytes())?;
        return Ok(ExitStatus::Yes);
    };
    files::write_private(path, args.output.is_forced(), |file| {
        file.write_all(mail.as_bytes()).map_err(|error| files::unwritable(path, &error))
    })?;
    let paper = written.paper.signed.paper();
    let head = paper.head();
    let kind = paper.content().kind();
    let file = path.display().to_string();
    let wrote = json!({
        "file": file, "match": written.game, "seat": head.seat, "kind": kind, "number": head.number,
        "turn": head.turn, "digest": paper.digest().to_string(), "host": written.host.to_string(),
        "is_first": written.is_first, "without_effect": written.without_effect,
    });
    context.output.answer(&wrote, || {
        let of = format!("{} of {} for {}, turn {}", head.number, head.seat, written.game, head.turn);
        let mut lines = vec![Line::from(format!("wrote `{file}`: {kind} {of}"))];
        if written.is_first {
            lines.push(format!("the host signs with {}", written.host).into());
            lines.push("compare that with the key that the host publishes elsewhere".into());
        }
        lines
    })
}

impl Args {
    /// Splits the words of an order into commands and lines of replies, the latter without their `if` (PM-123).
    fn plays_and_lines(&self) -> Result<(Vec<PaperLine>, Vec<String>)> {
        let mut plays = Vec::new();
        let mut lines = Vec::new();
        for word in &self.words {
            match word.strip_prefix("if ") {
                Some(line) => lines.push(line.to_owned()),
                None => plays.push(word.parse::<PaperLine>()?),
            }
        }
        Ok((plays, lines))
    }

    fn words(&self) -> Result<PaperWords> {
        for (option, is_given, kind) in
            [("--wait", self.wait, Kind::Order), ("--new-key", self.new_key.is_some(), Kind::Rekey)]
        {
            if is_given && self.kind != kind {
                return Err(Failure::usage(format!("`{option}` does not apply to this kind of paper")));
            }
        }
        let expected = match (self.kind, self.words.as_slice()) {
            (Kind::Join, [seat]) => match seat.parse() {
                Ok(seat) => return Ok(PaperWords::Join(seat)),
                Err(_) => "a seat such as `p1`",
            },
            (Kind::Join, _) => "the seat to join, such as `join p1`",
            (Kind::Order, _) => {
                return Ok(PaperWords::Order { plays: self.plays_and_lines()?.0, wait: self.wait });
            }
            (Kind::Ahead, words) if !words.is_empty() && words.iter().all(|word| word.starts_with("if ")) => {
                return Ok(PaperWords::Lines { plays: Vec::new(), lines: self.plays_and_lines()?.1 });
            }
            (Kind::Seal, []) => "the commands to seal",
            (Kind::Seal, words) => {
                let plays = words.iter().map(|play| play.parse()).collect::<Result<_, Malformed>>()?;
                return Ok(PaperWords::Seal { plays });
            }
            (Kind::Offer | Kind::Absent | Kind::Press | Kind::Ahead, words) => {
                return Ok(PaperWords::Announced(announced(self.kind, words)?));
            }
            (Kind::Answer, [to, answer]) if matches!(answer.as_str(), "agree" | "decline") => {
                return Ok(PaperWords::Answer { to: to.clone(), agree: answer == "agree" });
            }
            (Kind::Answer, _) => "digits of an offer and `agree` or `decline`, as the letter has them",
            (Kind::Resign | Kind::Rekey, [_, ..]) => "no words after this kind of paper",
            (Kind::Resign, []) => return Ok(PaperWords::Announced(PaperContent::Resign)),
            (Kind::Rekey, []) => match &self.new_key {
                Some(path) => return Ok(PaperWords::Rekey(KeyFile::open(path)?)),
                None => "the new key as `--new-key FILE`",
            },
        };
        Err(Failure::usage(format!("expected {expected}")))
    }
}

fn announced(kind: Kind, words: &[String]) -> Result<PaperContent, Malformed> {
    match (kind, words) {
        (Kind::Offer, words) => words.join(" ").parse().map(PaperContent::Offer),
        (Kind::Absent, [until]) => until.parse().map(PaperContent::Absent),
        (Kind::Absent, _) => Err(Malformed("expected a time such as `2026-12-24T00:00:00Z`".into())),
        (Kind::Press, [to, lines @ ..]) => {
            let lines = lines.iter().map(|line| press_line(line, 4000).map_err(Malformed));
            let lines = lines.collect::<Result<_, _>>()?;
            Press::new(to.parse()?, lines).map(PaperContent::Press)
        }
        (Kind::Press, []) => Err(Malformed("expected `all` or seats such as `p1,p3`, and the words".into())),
        (_, turns) => {
            let mut ahead = BTreeMap::<u32, Vec<PaperLine>>::new();
            for turn in turns {
                let expected = Malformed(format!("expected `TURN: COMMAND; COMMAND`, found `{turn}`"));
                let Some((number, commands)) = turn.split_once(':') else { return Err(expected) };
                let Ok(number) = number.trim().parse() else { return Err(expected) };
                let mut parsed = Vec::new();
                for command in commands.split(';') {
                    parsed.push(command.trim().parse()?);
                }
                ahead.entry(number).or_default().extend(parsed);
            }
            OrdersAhead::new(ahead).map(PaperContent::Ahead)
        }
    }
}

fn nonce() -> Result<Nonce> {
    random::bytes().map(Nonce::new)
}
