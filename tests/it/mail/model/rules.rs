//! The toy game as a ruleset.

use serde::Serialize;
use turnfold_core::admission::Issuer;
use turnfold_core::any::erase;
use turnfold_core::declare::{commands, effects};
use turnfold_core::outcome::{EffectSink, Ruled, Ruling, Verdict};
use turnfold_core::picture::Picture;
use turnfold_core::rules::Part;
use turnfold_core::{CommandSource, DicePolicy, Logged, Perspective, Rules, Seat, Secrets, SetupError, Step};
use turnfold_history::Viewer;

use super::relay::{Fault, Move, Relay, Setup};

pub(crate) struct RelayRules;

commands! {
    Move, "`add N`, `done` or `resolve`";
    "add" => Move::Add(value),
    "done" => Move::Done,
    "resolve" => Move::Resolve,
}

effects! {
    pub(crate) enum Effect {
        Moved,
    }
}

/// The game ignores no command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {}

impl Ruled for Reason {
    const ALL: &'static [Self] = &[];

    fn ruling(self) -> Ruling {
        match self {}
    }
}

#[derive(Serialize)]
pub(crate) struct View {
    round: u8,
}

/// Returns the index of a player, or `None` for the host.
pub(crate) fn index(seat: Seat) -> Option<usize> {
    Seat::players(16).iter().position(|player| *player == seat)
}

fn shows(after: &Relay, now: &Relay, part: &Part<'_, RelayRules>, viewer: Perspective) -> bool {
    let Part::Command(seat, Move::Add(_)) = part else { return true };
    !now.setup.secret || viewer.may_know_as(*seat) || now.is_over() || now.round > after.round
}

impl Rules for RelayRules {
    const NAME: &'static str = "relay";
    const VERSION: u32 = 1;
    const SUMMARY: &'static str = "adding in rounds";
    const EXAMPLE: &'static str = "seats = 2\nrounds = 2\nat_once = true\nresolved = true\nsecret = true";
    const RULEBOOK: &'static str = "";
    const SECRETS: Secrets<Self> = Secrets::Kept { shows, setup_seen: |setup, _, _| setup.clone() };

    type Setup = Setup;
    type State = Relay;
    type Command = Move;
    type Plan = (Option<usize>, Move);
    type Effect = Effect;
    type Reason = Reason;
    type Rejection = Fault;
    type View = View;

    fn start(setup: &Setup) -> Result<Relay, SetupError> {
        Ok(Relay::new(setup.clone()))
    }

    fn decide(state: &Relay, seat: Seat, command: &Move) -> Result<Verdict<Self::Plan, Reason>, Fault> {
        state.judge(index(seat), *command)?;
        Ok(Verdict::Applied((index(seat), *command)))
    }

    fn carry_out(state: &mut Relay, (seat, command): Self::Plan, effects: &mut impl EffectSink<Effect>) {
        state.carry_out(seat, command);
        effects.push(|| Effect::Moved);
    }

    fn players(state: &Relay) -> &[Seat] {
        Seat::players(state.setup.seats.into())
    }

    fn issuer(command: &Move) -> Issuer {
        if *command == Move::Resolve { Issuer::Host } else { Issuer::Player }
    }

    fn over(state: &Relay) -> bool {
        state.is_over()
    }

    fn candidates(_state: &Relay, seat: Seat) -> Vec<Move> {
        if seat == Seat::Host { vec![Move::Resolve] } else { vec![Move::Add(1), Move::Add(9), Move::Done] }
    }

    fn view(state: &Relay, _viewer: Perspective) -> View {
        View { round: state.round }
    }

    fn picture(_state: &Relay, _viewer: Perspective) -> Picture {
        Picture { blocks: Vec::new() }
    }
}

/// A spectator is not a seat, so in a match of eight or sixteen players it learns no secret of the last player.
#[test]
fn spectators_learn_nothing_of_the_last_player_however_many_there_are() {
    let rules = erase::<RelayRules>();
    for seats in [2, 8, 16] {
        let setup = format!("seats = {seats}\nrounds = 2\nat_once = true\nresolved = true\nsecret = true");
        let start = rules.start(&rules.read_setup(&setup).unwrap()).unwrap();
        let last = *start.players().last().unwrap();
        assert_eq!(start.players().len(), seats);
        let log = [Logged { seq: 1, seat: last, command: CommandSource::Text("add 1") }];
        let is_shown = |viewer: Viewer| {
            let mut shown = None;
            let observe = &mut |step: &mut dyn Step| shown = Some(!step.concealed());
            viewer.fold(&mut *start.fork(), &log, &DicePolicy::Recorded, None, observe).unwrap();
            shown.unwrap()
        };
        assert!(is_shown(Viewer::of(last)) && is_shown(Viewer::HOST));
        assert!(!is_shown(Viewer::SPECTATOR), "{seats}");
        // A seat without a player counts as a spectator, like `p8` before spectators had a name.
        let others = Seat::ALL.into_iter().filter(|seat| *seat != last && *seat != Seat::Host);
        assert!(others.into_iter().all(|seat| !is_shown(Viewer::of(seat))), "{seats}");
    }
}
