//! What a viewer sees, without the other side's plans: the rulings' JSON document, and the answer to `suggest Q,R`.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::Serialize;

use super::order::{Order, PathKind};
use super::state::{OrderNumber, Phase, Pool, State, Tap, Unit, UnitId, UnitKind};
use turnfold_core::prelude::*;
use turnfold_core::text::split_verb;

/// The view; fields are named and ordered as in the ruling.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
pub struct View {
    pub turn: u64,
    pub phase: &'static str,
    pub planning: Option<Seat>,
    pub winner: Option<Seat>,
    pub tap: Option<TapView>,
    pub pools: Pools,
    pub units: Vec<UnitView>,
    pub orders: Vec<OrderView>,
    pub water: Vec<Hex>,
}

/// The tap state and the path being built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
pub struct TapView {
    pub state: &'static str,
    pub origin: Option<Hex>,
    pub path: Vec<Hex>,
    pub kind: Option<PathKind>,
}

/// The pools of orders; `None` for a pool that the viewer may not see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
pub struct Pools {
    pub p1: Option<Pool>,
    pub p2: Option<Pool>,
}

/// A unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
pub struct UnitView {
    pub id: UnitId,
    pub owner: Seat,
    pub kind: UnitKind,
    pub at: Hex,
    pub strength: u32,
}

/// An order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fields are named as in the ruling and typed")]
pub struct OrderView {
    pub seat: Seat,
    pub number: OrderNumber,
    pub unit: UnitId,
    pub kind: &'static str,
    pub from: Option<Hex>,
    pub path: Vec<Hex>,
}

impl View {
    pub(super) fn of(state: &State, viewer: Perspective) -> Self {
        let [p1, p2] = state.pools_seen_by(viewer);
        let mut orders = Vec::new();
        for (seat, number, order) in state.orders_seen_by(viewer) {
            orders.push(order_view(state, seat, number, order));
        }
        Self {
            turn: state.turn,
            phase: phase_name(&state.phase),
            planning: state.planning().map(|planning| planning.seat),
            winner: match state.phase {
                Phase::Over { winner } => winner,
                Phase::Planning(_) | Phase::Execution => None,
            },
            tap: state.tap_seen_by(viewer).map(|tap| tap_view(state, tap)),
            pools: Pools { p1, p2 },
            units: state.units.iter().map(unit_view).collect(),
            orders,
            water: state.water.iter().copied().collect(),
        }
    }
}

pub(super) const fn phase_name(phase: &Phase) -> &'static str {
    match phase {
        Phase::Planning(_) => "planning",
        Phase::Execution => "execution",
        Phase::Over { .. } => "over",
    }
}

pub(super) const fn tap_name(tap: &Tap) -> &'static str {
    match tap {
        Tap::Idle => "idle",
        Tap::OriginSelected(_) => "origin_selected",
        Tap::DefensePending(_) => "defense_pending",
        Tap::AttackPlaced(_) => "attack_placed",
        Tap::PathBuilding(_) => "path_building",
    }
}

fn tap_view(state: &State, tap: &Tap) -> TapView {
    let origin = state.origin(tap).map(|(_, unit)| unit.at);
    let mut path = Vec::new();
    let mut kind = None;
    if let Tap::PathBuilding(built) = tap {
        path.clone_from(&built.waypoints);
        kind = Some(built.kind);
    }
    TapView { state: tap_name(tap), origin, path, kind }
}

fn unit_view((id, unit): (&UnitId, &Unit)) -> UnitView {
    let &Unit { owner, kind, at, strength } = unit;
    UnitView { id: *id, owner, kind, at, strength }
}

fn order_view(state: &State, seat: Seat, number: OrderNumber, order: &Order) -> OrderView {
    OrderView {
        seat,
        number,
        unit: order.unit,
        kind: order.task.kind(),
        from: state.units.get(&order.unit).map(|unit| unit.at),
        path: order.task.path().to_vec(),
    }
}

pub(super) fn query(state: &State, viewer: Perspective, question: &str) -> Result<Option<Answer>, Malformed> {
    match split_verb(question) {
        ("suggest", Some(hex)) => {
            let kind = suggest(state, viewer, hex)?;
            Ok(Some(Answer::new(kind.to_string(), &kind)))
        }
        _ => Ok(None),
    }
}

/// Returns the kind of path that suits the distance of a hex from the origin. Errors do not depend on what is concealed
/// from the viewer (CT-19).
fn suggest(state: &State, viewer: Perspective, hex: &str) -> Result<PathKind, Malformed> {
    let hex: Hex = hex.parse()?;
    if !state.board.contains(hex) {
        return Err(Malformed(format!("hex {hex} is off the board of radius {}", state.board.radius())));
    }
    let tap = state.tap_seen_by(viewer);
    if tap.is_none() && state.planning().is_some() {
        return Err(Malformed(format!(
            "{viewer} may not see what is selected: only the planning seat and `host` do"
        )));
    }
    let Some((_, origin)) = tap.and_then(|tap| state.origin(tap)) else {
        return Err(Malformed(String::from("no origin is selected")));
    };
    match origin.at.distance(hex) {
        0 => Err(Malformed(format!("hex {hex} is the origin itself"))),
        1 => Ok(PathKind::Deploy),
        _ => Ok(PathKind::Movement),
    }
}
