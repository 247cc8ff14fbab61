//! Answers requests by a ruleset.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::Serialize;
use turnfold_core::any::{AnyRules, AnyState};
use turnfold_core::{CommandSource, FoldError, Logged, Outcome, Step};

use crate::message::{
    Bytes, Description, ENTRIES_MAX, EntryCommand, Fold, Folded, FoldedStep, GivenState, Never, Op, OpReply,
    Request, RuledCode, Secrecy, Started, StateStatus,
};

/// How large the answer of a fold may become before it ends early.
const FOLDED_BYTES: usize = 1 << 20;

/// Answers a request, whatever it is.
///
/// MD-4: nothing is remembered, so the answer follows from the request alone.
#[must_use]
pub fn answer(rules: &dyn AnyRules, request: &[u8]) -> Vec<u8> {
    let reply = Request::read(request).and_then(|request| perform(rules, request));
    reply.unwrap_or_else(|why| encode(&OpReply::<Never, Never>::Refused(why)))
}

fn encode(reply: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(reply).expect("plain data encodes")
}

/// Encodes what an operation answers; its type says what that may be.
fn reply<O: Op>(_: &O, result: Result<O::Answer, O::Error>) -> Vec<u8> {
    encode(&result.map_or_else(OpReply::Error, OpReply::Answer))
}

fn perform(rules: &dyn AnyRules, request: Request) -> Result<Vec<u8>, String> {
    Ok(match request {
        Request::Describe(op) => reply(&op, Ok(describe(rules))),
        Request::ReadSetup(op) => reply(&op, rules.read_setup(&op.toml).map(Bytes)),
        Request::ReadSetupOf(op) => reply(&op, rules.read_setup_of(&op.document).map(Bytes)),
        Request::WriteSetup(op) => reply(&op, rules.write_setup(&op.setup.0)),
        Request::Canonical(op) => reply(&op, rules.canonical(&op.command)),
        Request::CommandText(op) => reply(&op, rules.command_text(&op.command.0)),
        Request::Start(op) => reply(&op, rules.start(&op.setup.0).map(|state| started(&*state))),
        Request::Resume(op) => {
            reply(&op, rules.resume(&op.at.state.0, op.at.rolls).map(|state| started(&*state)))
        }
        Request::Read(op) => reply(&op, resume(rules, &op.at)?.read(&op.command)),
        Request::Judge(op) => reply(&op, resume(rules, &op.at)?.judge(op.seat, &op.command)),
        Request::Legal(op) => reply(&op, Ok(resume(rules, &op.at)?.legal(op.seat))),
        Request::Choices(op) => reply(&op, Ok(resume(rules, &op.at)?.choices(op.seat))),
        Request::Candidates(op) => reply(&op, Ok(resume(rules, &op.at)?.candidates(op.seat))),
        Request::Targets(op) => reply(&op, Ok(resume(rules, &op.at)?.targets(&op.command))),
        Request::RollCommand(op) => {
            let roll = resume(rules, &op.at)?.roll_command(op.values.clone());
            reply(&op, Ok(roll))
        }
        Request::DefaultSeat(op) => reply(&op, Ok(resume(rules, &op.at)?.default_seat(&op.command))),
        Request::SetupSeen(op) => {
            reply(&op, resume(rules, &op.at)?.setup_seen(&op.setup.0, op.viewer).map(Bytes))
        }
        Request::View(op) => reply(&op, Ok(resume(rules, &op.at)?.view(op.viewer))),
        Request::Query(op) => reply(&op, resume(rules, &op.at)?.query(op.viewer, &op.question)),
        Request::Picture(op) => reply(&op, Ok(resume(rules, &op.at)?.picture(op.viewer))),
        Request::Fold(op) => reply(&op, Ok(fold(rules, &op)?)),
    })
}

fn resume(rules: &dyn AnyRules, at: &GivenState) -> Result<Box<dyn AnyState>, String> {
    rules.resume(&at.state.0, at.rolls).map_err(|error| error.to_string())
}

fn describe(rules: &dyn AnyRules) -> Description {
    let codes_of = |codes: Vec<&str>| {
        let rules_of = |code| rules.rule_ids(code).into_iter().map(String::from).collect();
        codes.into_iter().map(|code| RuledCode { code: code.into(), rules: rules_of(code) }).collect()
    };
    Description {
        name: rules.name().into(),
        version: rules.version(),
        summary: rules.summary().into(),
        example: rules.example().into(),
        rulebook: rules.rulebook().into(),
        mail_terms: rules.mail_terms().into(),
        secrets: if rules.has_secrets() { Secrecy::Kept } else { Secrecy::None },
        ignored: codes_of(rules.ignored_codes()),
        rejected: codes_of(rules.rejected_codes()),
    }
}

fn started(state: &dyn AnyState) -> Started {
    Started { state: Bytes(state.state_bytes()), status: status(state) }
}

fn status(state: &dyn AnyState) -> StateStatus {
    StateStatus {
        players: state.players().to_vec(),
        over: state.over(),
        result: state.result(),
        turn: state.turn(),
        due: state.due_roll(),
        rolls: state.rolls(),
    }
}

/// Folds entries part by part, each as long as the answer has room for steps like the last ones.
fn fold(rules: &dyn AnyRules, op: &Fold) -> Result<Folded, String> {
    if op.entries.len() > ENTRIES_MAX {
        return Err("expected at most 1000 entries".into());
    }
    let mut state = resume(rules, &op.at)?;
    let log: Vec<Logged<'_>> = op.entries.iter().map(logged).collect();
    let (mut rest, mut steps, mut used, mut error) = (log.as_slice(), Vec::new(), 0, None);
    while error.is_none() && used < FOLDED_BYTES && !rest.is_empty() {
        let one = used.checked_div(steps.len()).unwrap_or(FOLDED_BYTES).max(1);
        let room = FOLDED_BYTES.saturating_sub(used) / one;
        let (part, after) = rest.split_at(room.clamp(1, rest.len()));
        rest = after;
        let done = fold_part(&mut *state, op, part, &mut |step| {
            used += step.state.0.len() + step.effects_json.len() + 2 * step.command.len();
            steps.push(step);
        });
        error = done.err();
    }
    Ok(Folded { steps, status: status(&*state), error })
}

fn fold_part(
    state: &mut dyn AnyState,
    op: &Fold,
    log: &[Logged<'_>],
    observe: &mut dyn FnMut(FoldedStep),
) -> Result<(), FoldError> {
    let observe = &mut |step: &mut dyn Step| observe(folded(step));
    match &op.viewed {
        None => state.fold(log, &op.dice, observe),
        Some(viewed) => state.fold_as_at(viewed.viewer, &viewed.now.0, log, &op.dice, observe),
    }
}

fn logged(entry: &crate::message::FoldEntry) -> Logged<'_> {
    let command = match &entry.command {
        EntryCommand::Text(text) => CommandSource::Text(text),
        EntryCommand::Bytes(bytes) => CommandSource::Bytes(&bytes.0),
    };
    Logged { seq: entry.seq, seat: entry.seat, command }
}

fn folded(step: &dyn Step) -> FoldedStep {
    let (command, stand_in) = (step.command(), step.stand_in());
    let effects = if let Outcome::Applied(effects) = step.outcome() { effects } else { <_>::default() };
    FoldedStep {
        stand_in: (stand_in != command).then_some(stand_in),
        command,
        command_bytes: Bytes(step.command_bytes()),
        concealed: step.concealed(),
        wholly_shown: step.wholly_shown(),
        verdict: step.verdict(),
        effects,
        effects_json: step.effects_json(),
        state: Bytes(step.state_bytes()),
        players: step.players().to_vec(),
        result: step.result(),
        turn: step.turn(),
    }
}
