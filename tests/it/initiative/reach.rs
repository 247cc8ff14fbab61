//! IN-11: compares reachable hexes with a search written for these tests, on random boards.

use std::collections::BTreeSet;

use turnfold_core::dice::DiceStream;
use turnfold_core::{AnyState, Seat};

use crate::script::{outcome_of, start};

const BOARDS: u64 = 60;

type Place = (i32, i32);

struct Machine {
    owner: Seat,
    at: Place,
    mp: u32,
}

struct Field {
    radius: i32,
    blocked: BTreeSet<Place>,
    machines: Vec<Machine>,
}

impl Field {
    /// Draws a board of radius 1 to 5, with up to half of it blocked, and up to ten machines on the rest.
    fn draw(stream: &mut DiceStream) -> Self {
        let radius = stream.draw(1, 5);
        let density = stream.draw(0, 5);
        let mut field = Self { radius, blocked: BTreeSet::new(), machines: Vec::new() };
        for q in -radius..=radius {
            for r in -radius..=radius {
                let at = (q, r);
                if !field.contains(at) {
                    continue;
                }
                if stream.draw(1, 10) <= density {
                    field.blocked.insert(at);
                } else if stream.draw(1, 6) == 1 && field.machines.len() < 10 {
                    let owner = if stream.draw(0, 1) == 0 { Seat::P1 } else { Seat::P2 };
                    field.machines.push(Machine { owner, at, mp: stream.draw(0, 7).unsigned_abs() });
                }
            }
        }
        field
    }

    fn contains(&self, (q, r): Place) -> bool {
        q.abs().max(r.abs()).max((q + r).abs()) <= self.radius
    }

    fn toml(&self) -> String {
        let blocked: Vec<String> = self.blocked.iter().map(|(q, r)| format!("[{q}, {r}]")).collect();
        let top = format!("radius = {}\nblocked = [{}]\n", self.radius, blocked.join(", "));
        let unit = |(number, Machine { owner, at: (q, r), mp }): (usize, &Machine)| {
            format!("[[units]]\nid = \"m{number}\"\nowner = \"{owner}\"\nat = [{q}, {r}]\nmp = {mp}\n")
        };
        [top].into_iter().chain(self.machines.iter().enumerate().map(unit)).collect()
    }

    /// Returns the places that a machine reaches, found one step at a time, sorted by q and then r.
    fn reach(&self, machine: &Machine) -> BTreeSet<Place> {
        let open = |place: Place| {
            let opponent =
                self.machines.iter().any(|other| other.owner != machine.owner && other.at == place);
            self.contains(place) && !self.blocked.contains(&place) && !opponent
        };
        let mut reached = BTreeSet::from([machine.at]);
        for _ in 0..machine.mp {
            let rim: Vec<Place> = reached
                .iter()
                .flat_map(|(q, r)| {
                    [(0, -1), (1, -1), (1, 0), (0, 1), (-1, 1), (-1, 0)].map(|(dq, dr)| (q + dq, r + dr))
                })
                .filter(|place| open(*place))
                .collect();
            reached.extend(rim);
        }
        reached.retain(|place| self.machines.iter().all(|other| other.at != *place));
        reached
    }
}

fn written(places: &BTreeSet<Place>) -> String {
    places.iter().map(|(q, r)| format!("{q},{r}")).collect::<Vec<_>>().join(" ")
}

#[test]
fn in_11_reach_and_the_legal_moves_are_what_a_plain_search_finds() {
    let mut stream = DiceStream::new(&[11; 32], 0);
    let mut compared = 0;
    for board in 0..BOARDS {
        let field = Field::draw(&mut stream);
        let mut state = start("initiative", &field.toml());
        for (number, machine) in field.machines.iter().enumerate() {
            let expected = field.reach(machine);
            // The answer does not depend on the turn; here a roll is due.
            let answer = state.query(Seat::P1.into(), &format!("reach m{number}")).unwrap();
            assert_eq!(answer.text, written(&expected), "board {board}, m{number}:\n{}", field.toml());
            let json: Vec<Place> = serde_json::from_str(&answer.json).unwrap();
            assert_eq!(json, expected.iter().copied().collect::<Vec<_>>());
            compared += expected.len();
        }
        outcome_of(&mut *state, 1, Seat::Host, "roll 1 1 6 6");
        let active =
            if field.machines.iter().any(|machine| machine.owner == Seat::P1) { Seat::P1 } else { Seat::P2 };
        for machine in field.machines.iter().filter(|machine| machine.owner == active) {
            let (q, r) = machine.at;
            outcome_of(&mut *state, 2, active, &format!("click {q},{r}"));
            assert_eq!(
                legal_moves(&*state, active),
                written(&field.reach(machine)),
                "board {board} at {q},{r}"
            );
        }
    }
    assert!(compared > 500, "the boards leave too little room: {compared} hexes reached");
}

fn legal_moves(state: &dyn AnyState, seat: Seat) -> String {
    let legal = state.legal(seat);
    legal.iter().filter_map(|command| command.strip_prefix("move ")).collect::<Vec<_>>().join(" ")
}
