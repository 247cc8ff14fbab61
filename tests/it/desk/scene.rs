//! A scene: a short script of what players and host do at a desk, with real keys, signatures and dice.
//!
//! Lines are `SEAT WORDS => OUTCOME`, where the result must begin with OUTCOME. The words of `host` are its commands.
//! The words of a player are a kind of paper, `@NAME` for later references, options, and the commands or the offer
//! after ` : `:
//!
//! - `p1 join`, `p1 resign`, `p1 rekey key=LABEL`, `p1 seal @ORDER`, `p1 answer @OFFER agree`
//! - `p1 order @NAME wait : move 2,-3; stand`; with `let` before it, it is written but not handed in; `p1 send @NAME`
//! - `p1 offer @NAME : end draw`
//! - `p1 enter name=NAME`, `p1 absent until=TIME`, `p1 press to=p2 : WORDS`, `p1 ahead : 4 stand; 5 move 2,-3; 5 stand`
//! - `p2 ahead : after stand; if move 2,-3 then stand, if stand then move 0,0`: lines of answers (PM-122)
//! - the option `plain` makes a paper without a signature (PM-38)
//! - options: `turn=N`, `number=N`, `link=Ln`, `match=other`, `dice=N` or `dice=none`, `by=LABEL` (who signs), `as=SEAT` (who
//!   hands it in)
//!
//! `@NAME` stands for a digest, `Ln` for a link, `Sn` for a state hash, `En` for an element of the host's chain, and
//! `KEY(LABEL)` for name and key of a label.

use std::collections::BTreeMap;

use turnfold_core::any::AnyState;
use turnfold_core::dice::fair::Owner;
use turnfold_core::paper::{
    Join, MatchId, Nonce, Order, OrdersAhead, Paper, PaperContent, PaperHead, PlainPaper, Press, Reply,
    SeatKey, SeenRoot, SignedPaper,
};
use turnfold_core::trust::{KeyKind, PrivateKey, TreeHash};
use turnfold_core::{CommandSource, DicePolicy, Digest, FoldError, Logged, Seat};

use super::seat;

const MATCH: &str = "5f0c9d3e1a2b4c6d8e9f0a1b2c3d4e5f";

#[derive(Clone, Debug)]
pub(super) struct Scene {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// Keys of the setup, after the first four.
    pub(super) setup: &'static str,
    pub(super) script: &'static str,
}

/// A line of a scene, with its command for the desk.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) seat: Seat,
    pub(super) command: String,
    pub(super) expected: String,
    pub(super) line: String,
}

fn seed(label: &str) -> [u8; 32] {
    blake3::derive_key("turnfold tests desk key", label.as_bytes())
}

pub(super) fn private_key(label: &str) -> PrivateKey {
    PrivateKey::of_seed(format!("{label}.example").parse().unwrap(), KeyKind::Signer, &seed(label))
}

fn element(party: Seat, label: &str, index: u16) -> Digest {
    let match_id = *MATCH.parse::<MatchId>().unwrap().as_bytes();
    Owner { match_id, party }.chain(&seed(label)).element(index)
}

fn digest(kind: &str, number: &str) -> Digest {
    Digest::new(blake3::derive_key("turnfold tests desk", format!("{kind}{number}").as_bytes()))
}

impl Scene {
    /// Reads the scenes of a file: `== NAME: TITLE`, keys of the setup between two lines `+++`, and the script.
    pub(super) fn read_all(text: &'static str) -> Vec<Self> {
        let read = |scene: &'static str| {
            let (head, rest) = scene.split_once('\n').unwrap();
            let (name, title) = head.split_once(": ").unwrap();
            let setup = rest.strip_prefix("+++\n").and_then(|rest| rest.split_once("+++\n"));
            let (setup, script) = setup.unwrap_or(("", rest));
            assert!(script.contains(" => "), "{name} asserts nothing");
            Self { name, title, setup, script }
        };
        let scenes: Vec<Self> = text.split("\n== ").skip(1).map(read).collect();
        assert!(!scenes.is_empty(), "there is no scene");
        scenes
    }

    fn is_fair(&self) -> bool {
        self.setup.contains("fair = true")
    }

    pub(super) fn toml(&self) -> String {
        let host = private_key("host").verifier();
        let head = element(Seat::Host, "host", 0);
        let head = if self.is_fair() { format!("head = \"{head}\"\n") } else { String::new() };
        let rest = self.setup.replace("fair = true\n", "").replace("fair = true", "");
        let game = digest("L", "0");
        format!("match = \"{MATCH}\"\ngame = \"{game}\"\nhost = \"{host}\"\n{head}{rest}\n")
    }

    pub(super) fn given(&self) -> Vec<Given> {
        let mut writer = Writer { is_fair: self.is_fair(), ..Writer::default() };
        let lines = self.script.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.filter(|line| !line.starts_with('#')).filter_map(|line| writer.line(line)).collect()
    }

    pub(super) fn start(&self) -> Box<dyn AnyState> {
        let rules = turnfold_games::find("desk").unwrap();
        rules.start(&rules.read_setup(&self.toml()).unwrap()).unwrap()
    }

    /// Folds the scene and requires every line to have its result. Returns the state at the end.
    pub(super) fn play(&self) -> Box<dyn AnyState> {
        let mut state = self.start();
        let mut wrong = Vec::new();
        for given in self.given() {
            let found = outcome(&mut *state, &given);
            if !found.starts_with(&given.expected) {
                let Given { line, expected, .. } = &given;
                wrong.push(format!("{line}\n  expected {expected}\n  found    {found}"));
            }
        }
        assert!(wrong.is_empty(), "{}:\n{}", self.name, wrong.join("\n"));
        state
    }
}

/// Reads `COMMAND then COMMAND` of a line of answers.
fn reply(words: &str) -> Reply {
    let (on, play) = words.split_once(" then ").unwrap();
    Reply { on: on.parse().unwrap(), play: play.parse().unwrap() }
}

/// Returns the outcome of a command, and requires that an ignored or rejected command changes nothing.
pub(super) fn outcome(state: &mut dyn AnyState, given: &Given) -> String {
    let before = state.state_bytes();
    let entry = Logged { seq: 1, seat: given.seat, command: CommandSource::Text(&given.command) };
    let mut outcome = String::new();
    let observe = &mut |step: &mut dyn turnfold_core::Step| outcome = step.outcome().to_string();
    match state.fold(&[entry], &DicePolicy::Recorded, observe) {
        Ok(()) => {}
        Err(FoldError::Rejected { rejected, .. }) => outcome = format!("rejected {}", rejected.code),
        Err(FoldError::Malformed { message, .. }) => panic!("{}: {message}", given.line),
        Err(error) => panic!("{error}"),
    }
    if outcome.starts_with("ignored ") || outcome.starts_with("rejected ") {
        assert_eq!(state.state_bytes(), before, "{} is {outcome} and changed the state", given.line);
    }
    outcome
}

#[derive(Default)]
struct Writer {
    is_fair: bool,
    turn: u32,
    link: String,
    numbers: BTreeMap<Seat, u32>,
    keys: BTreeMap<Seat, String>,
    named: BTreeMap<String, (Paper, String)>,
    papers: u32,
    /// Whether the current paper will be accepted, so that its key becomes the key of the seat.
    takes_key: bool,
}

/// The words of a paper's line.
struct Options<'a>(Vec<&'a str>);

impl<'a> Options<'a> {
    fn get(&self, key: &str) -> Option<&'a str> {
        self.0.iter().find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
    }

    fn has(&self, word: &str) -> bool {
        self.0.contains(&word)
    }

    fn name(&self) -> Option<&'a str> {
        self.0.iter().find_map(|word| word.strip_prefix('@'))
    }
}

impl Writer {
    fn line(&mut self, line: &str) -> Option<Given> {
        let (words, expected) = line.split_once(" => ").unwrap_or((line, ""));
        let (is_kept, words) = words.strip_prefix("let ").map_or((false, words), |words| (true, words));
        let (who, words) = words.split_once(' ').unwrap();
        self.takes_key = ["joined", "rekeyed"].iter().any(|effect| expected.starts_with(effect));
        if who == "host" {
            let command = self.replaced(words);
            if words.starts_with("stand ") && expected.starts_with("stood") {
                self.turn += 1;
                self.link = command.split(' ').nth(3).unwrap().into();
            }
            let expected = self.replaced(expected);
            return Some(Given { seat: Seat::Host, command, expected, line: line.into() });
        }
        let (head, body) = words.split_once(" : ").unwrap_or((words, ""));
        let options = Options(head.split(' ').skip(1).collect());
        let kind = head.split(' ').next().unwrap();
        let (paper, command) = if kind == "send" {
            self.named[options.name().unwrap()].clone()
        } else {
            self.paper(seat(who), kind, &options, body)
        };
        if let Some(name) = options.name().filter(|_| matches!(kind, "order" | "offer" | "ahead")) {
            self.named.insert(name.into(), (paper, command.clone()));
        }
        let by = options.get("as").map_or_else(|| seat(who), seat);
        let expected = self.replaced(expected);
        (!is_kept).then(|| Given { seat: by, command, expected, line: line.into() })
    }

    fn replaced(&self, text: &str) -> String {
        let word = |word: &str| -> String {
            if let Some(name) = word.strip_prefix("digest=@") {
                let (name, end) = name.strip_suffix(';').map_or((name, ""), |name| (name, ";"));
                return format!("digest={}{end}", self.named[name].0.digest());
            }
            if let Some(name) = word.strip_prefix('@') {
                return self.named[name].0.digest().to_string();
            }
            if let Some(label) = word.strip_prefix("KEY(").and_then(|rest| rest.strip_suffix(')')) {
                let key = SeatKey::of(&private_key(label)).unwrap();
                return format!("{} {}", key.name(), key.to_base64());
            }
            let (kind, number) = word.split_at(word.len().min(1));
            let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
            match kind {
                "L" | "S" if is_number => digest(kind, number).to_string(),
                "E" if is_number => element(Seat::Host, "host", number.parse().unwrap()).to_string(),
                _ => word.into(),
            }
        };
        text.split(' ').map(word).collect::<Vec<_>>().join(" ")
    }

    /// Returns a paper, and the command that hands it in.
    fn paper(&mut self, seat: Seat, kind: &str, options: &Options<'_>, body: &str) -> (Paper, String) {
        self.papers += 1;
        let next = self.numbers.entry(seat).or_default();
        let joins = matches!(kind, "join" | "enter");
        *next += u32::from(!joins);
        let [number, turn] = match kind {
            _ if joins => [0, 0],
            _ => [("number", *next), ("turn", self.turn)]
                .map(|(key, usual)| options.get(key).map_or(usual, |value| value.parse().unwrap())),
        };
        *next = (*next).max(number);
        let match_id = if options.has("match=other") { "0".repeat(32) } else { MATCH.into() };
        let nonce = blake3::derive_key("turnfold tests desk nonce", &self.papers.to_le_bytes());
        let head = PaperHead {
            match_id: match_id.parse().unwrap(),
            seat,
            number,
            turn,
            seen: SeenRoot { size: 1, root: TreeHash::new([7; 32]) },
            nonce: Nonce::new(nonce[..16].try_into().unwrap()),
        };
        let label = options.get("key").map_or_else(|| seat.to_string(), String::from);
        let key = SeatKey::of(&private_key(&label)).unwrap();
        let link = options.get("link").map_or_else(|| self.link.clone(), |link| self.replaced(link));
        let link = || link.parse().unwrap();
        let dice = |usual: u32| match options.get("dice") {
            Some("none") => None,
            Some(index) => Some(element(seat, seat.name(), index.parse().unwrap())),
            None => self.is_fair.then(|| element(seat, seat.name(), u16::try_from(usual).unwrap())),
        };
        let named = || self.named[options.name().unwrap()].0.digest();
        let content = match kind {
            "join" => PaperContent::Join(Join { key, dice: dice(0) }),
            "order" => {
                let plays = body.split("; ").map(|play| play.parse().unwrap()).collect();
                PaperContent::Order(Order::new(link(), options.has("wait"), dice(turn), plays).unwrap())
            }
            "seal" => PaperContent::Seal { link: link(), digest: named() },
            "offer" => PaperContent::Offer(self.replaced(body).parse().unwrap()),
            "answer" => PaperContent::Answer { to: named(), agree: options.has("agree") },
            "resign" => PaperContent::Resign,
            "rekey" => PaperContent::Rekey(key),
            "enter" => PaperContent::Enter(options.get("name").unwrap().parse().unwrap()),
            "absent" => PaperContent::Absent(options.get("until").unwrap().parse().unwrap()),
            "press" => {
                let to = options.get("to").unwrap().parse().unwrap();
                PaperContent::Press(Press::new(to, vec![body.parse().unwrap()]).unwrap())
            }
            "ahead" => {
                let mut turns = BTreeMap::<u32, Vec<_>>::new();
                let (mut after, mut lines) = (None, Vec::new());
                for (word, rest) in body.split("; ").filter_map(|part| part.split_once(' ')) {
                    match word {
                        "after" => after = Some(rest.parse().unwrap()),
                        "if" => lines.push(rest.split(", if ").map(reply).collect()),
                        turn => turns.entry(turn.parse().unwrap()).or_default().push(rest.parse().unwrap()),
                    }
                }
                PaperContent::Ahead(OrdersAhead::new(turns).unwrap().with_lines(after, lines).unwrap())
            }
            _ => panic!("`{kind}` is no kind of paper"),
        };
        let usual = self.keys.get(&seat).cloned().unwrap_or_else(|| seat.to_string());
        let by = match (options.get("by"), kind) {
            (Some(by), _) => by.to_owned(),
            (None, "join") => label.clone(),
            (None, _) => usual,
        };
        if matches!(kind, "join" | "rekey") && self.takes_key {
            self.keys.insert(seat, label);
        }
        let paper = Paper::new(head, content).unwrap();
        let command = if options.has("plain") {
            format!("plain {}", PlainPaper::new(paper.clone(), options.get("code").unwrap_or("CODE")))
        } else {
            format!("paper {}", SignedPaper::sign(paper.clone(), &private_key(&by)))
        };
        (paper, command)
    }
}
