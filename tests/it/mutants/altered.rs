//! A ruleset with one rule altered.

use std::marker::PhantomData;

use serde_json::Value;
use turnfold_core::admission::Issuer;
use turnfold_core::outcome::{EffectSink, Verdict};
use turnfold_core::picture::Picture;
use turnfold_core::rules::{Judged, Part};
use turnfold_core::{Answer, DueRoll, Malformed, Perspective, Rules, Seat, Secrets, SetupError};

/// An alteration of a ruleset; by default it does nothing.
pub(super) trait Alteration: Send + Sync + 'static {
    type Base: Rules;
    /// The version of the base, as if its author forgot to increase it.
    const VERSION: u32 = <Self::Base as Rules>::VERSION;

    /// Called when a match starts.
    fn begin() {}

    /// Replaces a command with another.
    fn read(command: &<Self::Base as Rules>::Command) -> <Self::Base as Rules>::Command {
        command.clone()
    }

    /// Returns a reason to ignore a command that the rules would accept, given the host's view before it.
    fn overrule(view: &Value, seat: Seat, command: &str) -> Option<<Self::Base as Rules>::Reason> {
        let _ = (view, seat, command);
        None
    }

    /// Changes the state before the rules read it, as JSON.
    fn prepare(state: &mut Value) {
        let _ = state;
    }

    /// Changes the state after the rules, as JSON.
    fn settle(before: &Value, after: &mut Value) {
        let _ = (before, after);
    }

    /// Returns `true` if an effect is shown, given the effects before it.
    fn is_shown(earlier: &[String], effect: &str) -> bool {
        let _ = (earlier, effect);
        true
    }
}

/// The altered ruleset. It has the name and state of its base.
pub(super) struct Altered<A>(PhantomData<fn() -> A>);

type Base<A> = <A as Alteration>::Base;
type State<A> = <Base<A> as Rules>::State;

/// Converts a state to JSON, or returns `None` if JSON cannot represent it because its maps have keys that are not
/// text. Such a state stays unchanged.
fn to_json<A: Alteration>(state: &State<A>) -> Option<Value> {
    serde_json::to_value(state).ok()
}

fn prepared<A: Alteration>(state: &State<A>) -> State<A> {
    let Some(mut json) = to_json::<A>(state) else { return state.clone() };
    A::prepare(&mut json);
    serde_json::from_value(json).unwrap()
}

/// Passes on the effects that are shown.
struct Shown<'a, A, S> {
    sink: &'a mut S,
    earlier: Vec<String>,
    alteration: PhantomData<A>,
}

impl<A: Alteration, S: EffectSink<E>, E: ToString> EffectSink<E> for Shown<'_, A, S> {
    fn push(&mut self, make: impl FnOnce() -> E) {
        let effect = make();
        let text = effect.to_string();
        if A::is_shown(&self.earlier, &text) {
            self.sink.push(|| effect);
        }
        self.earlier.push(text);
    }
}

fn shows<A: Alteration>(
    after: &State<A>,
    now: &State<A>,
    part: &Part<'_, Altered<A>>,
    viewer: Perspective,
) -> bool {
    let part = match part {
        Part::Command(seat, command) => Part::Command(*seat, *command),
        Part::Effect(seat, effect) => Part::Effect(*seat, *effect),
    };
    Base::<A>::SECRETS.shows(after, now, &part, viewer)
}

fn setup_seen<A: Alteration>(
    setup: &<Base<A> as Rules>::Setup,
    now: &State<A>,
    viewer: Perspective,
) -> <Base<A> as Rules>::Setup {
    Base::<A>::SECRETS.setup_seen(setup, now, viewer)
}

impl<A: Alteration> Rules for Altered<A> {
    const NAME: &'static str = <Base<A> as Rules>::NAME;
    const VERSION: u32 = A::VERSION;
    const SUMMARY: &'static str = <Base<A> as Rules>::SUMMARY;
    const EXAMPLE: &'static str = <Base<A> as Rules>::EXAMPLE;
    const RULEBOOK: &'static str = <Base<A> as Rules>::RULEBOOK;
    const SECRETS: Secrets<Self> = match <Base<A> as Rules>::SECRETS {
        Secrets::None => Secrets::None,
        Secrets::Rolls => Secrets::Rolls,
        Secrets::Kept { .. } => Secrets::Kept { shows: shows::<A>, setup_seen: setup_seen::<A> },
    };
    const QUERIES: &'static str = <Base<A> as Rules>::QUERIES;

    type Setup = <Base<A> as Rules>::Setup;
    type State = State<A>;
    type Command = <Base<A> as Rules>::Command;
    type Plan = <Base<A> as Rules>::Plan;
    type Effect = <Base<A> as Rules>::Effect;
    type Reason = <Base<A> as Rules>::Reason;
    type Rejection = <Base<A> as Rules>::Rejection;
    type View = <Base<A> as Rules>::View;

    fn start(setup: &Self::Setup) -> Result<Self::State, SetupError> {
        A::begin();
        Base::<A>::start(setup)
    }

    fn decide(
        state: &Self::State,
        seat: Seat,
        command: &Self::Command,
    ) -> Result<Verdict<Self::Plan, Self::Reason>, Self::Rejection> {
        Base::<A>::decide(&prepared::<A>(state), seat, &A::read(command))
    }

    fn judge(state: &Self::State, seat: Seat, command: &Self::Command) -> Judged<Self> {
        let verdict = Base::<A>::judge(&prepared::<A>(state), seat, &A::read(command))?;
        let view = serde_json::to_value(Base::<A>::view(state, Seat::Host.into())).unwrap();
        let overruled = A::overrule(&view, seat, &command.to_string());
        Ok(match (verdict, overruled) {
            (_, Some(reason)) => Verdict::Ignored(reason),
            (verdict, None) => verdict,
        })
    }

    fn carry_out(state: &mut Self::State, plan: Self::Plan, effects: &mut impl EffectSink<Self::Effect>) {
        let before = to_json::<A>(state);
        *state = prepared::<A>(state);
        let mut shown = Shown { sink: effects, earlier: Vec::new(), alteration: PhantomData::<A> };
        Base::<A>::carry_out(state, plan, &mut shown);
        if let Some((before, mut after)) = before.zip(to_json::<A>(state)) {
            A::settle(&before, &mut after);
            *state = serde_json::from_value(after).unwrap();
        }
    }

    fn players(state: &Self::State) -> &[Seat] {
        Base::<A>::players(state)
    }

    fn over(state: &Self::State) -> bool {
        Base::<A>::over(state)
    }

    fn due_roll(state: &Self::State) -> Option<DueRoll> {
        Base::<A>::due_roll(state)
    }

    fn roll(values: Vec<i32>) -> Option<Self::Command> {
        Base::<A>::roll(values)
    }

    fn rolled(command: &Self::Command) -> Option<&[i32]> {
        Base::<A>::rolled(command)
    }

    fn issuer(command: &Self::Command) -> Issuer {
        Base::<A>::issuer(command)
    }

    fn active_seat(state: &Self::State) -> Option<Seat> {
        Base::<A>::active_seat(state)
    }

    fn candidates(state: &Self::State, seat: Seat) -> Vec<Self::Command> {
        Base::<A>::candidates(state, seat)
    }

    fn view(state: &Self::State, viewer: Perspective) -> Self::View {
        Base::<A>::view(state, viewer)
    }

    fn query(state: &Self::State, viewer: Perspective, question: &str) -> Result<Option<Answer>, Malformed> {
        Base::<A>::query(state, viewer, question)
    }

    fn picture(state: &Self::State, viewer: Perspective) -> Picture {
        Base::<A>::picture(state, viewer)
    }
}
