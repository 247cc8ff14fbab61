//! Fair dice: chains of secrets that are opened backwards, and the rolls that follow from them (FD-1 to FD-5).
//!
//! Every party of a match, the host and each player, fixes a [`Chain`] by publishing its head before play. Anyone can
//! check an element that is opened later ([`Owner::follows`]) and recompute a roll ([`RollKey`]).

use alloc::vec::Vec;

use super::{DiceStream, DueRoll};
use crate::digest::Digest;
use crate::seat::Seat;

/// The owner of a chain. Match and party are in every step, so no element belongs to two chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The id of the game's match.
    pub match_id: [u8; 16],
    /// The host or a player.
    pub party: Seat,
}

impl Owner {
    /// Returns the chain of this owner whose signing key has the seed `secret`.
    #[must_use]
    pub fn chain(self, secret: &[u8; 32]) -> Chain {
        // FD-1: the top follows from key and match, so no file has to store it.
        let mut top = blake3::Hasher::new_derive_key("turnfold v1 dice top");
        top.update(secret).update(&self.match_id).update(&[party_byte(self.party)]);
        Chain { owner: self, top: top.finalize().into() }
    }

    /// Returns `true` if `element` for `index` follows `known`, which is the element for `known_index` (FD-3).
    ///
    /// That costs a hash for each step between the two, at most 65,535. An index that is not greater never follows.
    #[must_use]
    pub fn follows(self, element: &Digest, index: u16, known: &Digest, known_index: u16) -> bool {
        index > known_index && self.descend(*element, index, known_index) == *known
    }

    /// Returns the element for `target` that follows from `element`, which is the one for `index`.
    fn descend(self, element: Digest, index: u16, target: u16) -> Digest {
        let step = blake3::Hasher::new_derive_key("turnfold v1 dice step");
        // FD-2: an element is the hash of the one above it, so one element is enough to check all below it.
        let mut element = element;
        for below in (target..index).rev() {
            let index = u64::from(below) + 1;
            let mut step = step.clone();
            step.update(&self.match_id).update(&[party_byte(self.party)]);
            element = step.update(&index.to_le_bytes()).update(element.as_bytes()).finalize().into();
        }
        element
    }
}

/// The 65,535 secrets of an owner. `Debug` conceals them, as it does the key that they follow from.
#[derive(Clone)]
pub struct Chain {
    owner: Owner,
    top: Digest,
}

impl Chain {
    /// The index of the last element; there is no turn and no roll of a higher number (FD-17).
    pub const LAST: u16 = u16::MAX;

    /// Returns the element for `index`, from the top: up to 65,535 hashes, some 10 ms.
    #[must_use]
    pub fn element(&self, index: u16) -> Digest {
        self.owner.descend(self.top, Self::LAST, index)
    }

    /// Returns the elements of a range of indices, in one walk from the top.
    #[must_use]
    pub fn elements(&self, range: core::ops::RangeInclusive<u16>) -> Vec<Digest> {
        if range.is_empty() {
            return Vec::new();
        }
        let mut element = self.element(*range.end());
        let mut elements = Vec::from([element]);
        for index in (*range.start()..*range.end()).rev() {
            element = self.owner.descend(element, index + 1, index);
            elements.push(element);
        }
        elements.reverse();
        elements
    }

    /// Returns the head, which is published before play: the element for index 0.
    #[must_use]
    pub fn head(&self) -> Digest {
        self.element(0)
    }
}

impl core::fmt::Debug for Chain {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        out.debug_struct("Chain").field("owner", &self.owner).finish_non_exhaustive()
    }
}

/// A player's part in a roll: the newest element of its orders (FD-9), at first the head for index 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contribution {
    /// The player's seat.
    pub seat: Seat,
    /// The index of the element.
    pub index: u16,
    /// The element.
    pub element: Digest,
}

/// The key from which the values of one roll follow (FD-4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RollKey {
    number: u16,
    key: [u8; 32],
}

impl RollKey {
    /// Returns the key of roll `number`, for which the host opens its `element` of that index.
    ///
    /// The contributions come from all seats, in the order of seats.
    #[must_use]
    pub fn new(match_id: &[u8; 16], number: u16, element: &Digest, contributions: &[Contribution]) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("turnfold v1 dice roll");
        hasher.update(match_id).update(&u64::from(number).to_le_bytes()).update(element.as_bytes());
        for contribution in contributions {
            hasher.update(&[party_byte(contribution.seat)]);
            hasher.update(&u64::from(contribution.index).to_le_bytes());
            hasher.update(contribution.element.as_bytes());
        }
        Self { number, key: hasher.finalize().into() }
    }

    /// Returns the bytes of the key.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.key
    }

    /// Returns the values that answer `due` (FD-5).
    #[must_use]
    pub fn values(&self, due: &DueRoll) -> Vec<i32> {
        DiceStream::new(&self.key, u64::from(self.number)).values(due)
    }
}

/// Returns a party as hashes have it: 0 to 7 for `p1` to `p8`, 8 for the host, 9 to 16 for `p9` to `p16`, as in a stored Seat.
const fn party_byte(party: Seat) -> u8 {
    party as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::tests::assert_nothing_is_favored;

    const MATCH_ID: [u8; 16] = *b"\x5f\x0c\x9d\x3e\x1a\x2b\x4c\x6d\x8e\x9f\x0a\x1b\x2c\x3d\x4e\x5f";

    fn owner(party: Seat) -> Owner {
        Owner { match_id: MATCH_ID, party }
    }

    /// The chain of the specification's vectors, whose secret counts up from `first`.
    fn chain(party: Seat, first: u8) -> Chain {
        owner(party).chain(&core::array::from_fn(|at| first + u8::try_from(at).unwrap()))
    }

    fn digest(hex: &str) -> Digest {
        hex.parse().unwrap()
    }

    /// `e(65535)`, `e(0)`, `e(1)` and `e(2)`, made with another implementation of blake3.
    const CHAINS: [(Seat, u8, [&str; 4]); 3] = [
        (
            Seat::Host,
            0x00,
            [
                "30aede8f936eb3099d7ce0d32fc4d6708dd47516bba4a53e54343682efebc5a6",
                "aae1ec56c7f26e2bcf89200629efdf3c799c36af0ce36f9cfddfd5d1ad6b5158",
                "37145054cccdccfd843fc1fc53c3c840a7227e5198c096fc3c91abb804a7da6b",
                "1e8d9a20198fdb707598e157fb3bbfc7f2295a196bf227a23608c197b194bfac",
            ],
        ),
        (
            Seat::P1,
            0x20,
            [
                "a4d89c0969f642a273da794357c3b4d822d3c959004a37e405d48416210b2369",
                "c92737e7279c7feb0bfb37835b34e86686113e7c3636eb4a845eafb4897af8ce",
                "b6f4024775775d005be45d82099a7d68d2df7245a228aab359008749ccd8956f",
                "f756d1c1a1e0137d9f59ce52f215d5693cf7672c5c32a46a73b1f7591b82af29",
            ],
        ),
        (
            Seat::P2,
            0x40,
            [
                "deee459a2f2c1d421a7388bea7fc9d99de73a7738fdefefa12913d5c28179553",
                "0cb1c88b75d837abaa790f70d892711796941b5c0141cf6ce091f594e5ae4c4c",
                "9de74654fb8cb664cbe32928c2a5afb6baaa54cacf3e57d23a3f9bd2d6e8a7ea",
                "148726440f73c2e44878437a29cd628f965d120b9641a98f047309a96cefcbff",
            ],
        ),
    ];

    #[test]
    fn fd_1_and_2_chains_are_those_of_the_vectors() {
        for (party, first, elements) in CHAINS {
            let chain = chain(party, first);
            let [top, head, one, two] = elements.map(digest);
            assert_eq!(chain.element(Chain::LAST), top, "{party}");
            assert_eq!((chain.head(), chain.element(1), chain.element(2)), (head, one, two), "{party}");
        }
    }

    #[test]
    fn elements_of_a_range_are_those_one_by_one() {
        let chain = chain(Seat::P1, 0x20);
        let expected: Vec<_> = (3..=6).map(|index| chain.element(index)).collect();
        assert_eq!(chain.elements(3..=6), expected);
        assert_eq!(chain.elements(Chain::LAST..=Chain::LAST), [chain.element(Chain::LAST)]);
        assert!(chain.elements(core::ops::RangeInclusive::new(4, 3)).is_empty());
    }

    #[test]
    fn fd_3_the_head_is_recomputed_from_every_element_that_is_opened() {
        let (owner, chain) = (owner(Seat::P1), chain(Seat::P1, 0x20));
        let head = chain.head();
        for index in (1..=100).chain([Chain::LAST]) {
            assert!(owner.follows(&chain.element(index), index, &head, 0), "{index}");
        }
        assert!(owner.follows(&chain.element(9), 9, &chain.element(2), 2), "seven steps after a silence");
    }

    #[test]
    fn fd_3_nothing_else_follows() {
        let (of_p1, chain) = (owner(Seat::P1), chain(Seat::P1, 0x20));
        let (known, element) = (chain.element(2), chain.element(5));
        assert!(of_p1.follows(&element, 5, &known, 2));
        let other_match = Owner { match_id: [0; 16], ..of_p1 };
        assert!(!other_match.follows(&element, 5, &known, 2), "another match");
        assert!(!owner(Seat::P2).follows(&element, 5, &known, 2), "another party");
        for (index, known_index) in [(4, 2), (6, 2), (5, 1), (5, 3), (6, 3), (4, 1)] {
            assert!(!of_p1.follows(&element, index, &known, known_index), "{index} after {known_index}");
        }
        for (index, known_index) in [(2, 2), (2, 5), (0, 0), (0, Chain::LAST)] {
            assert!(!of_p1.follows(&known, index, &known, known_index), "{index} after {known_index}");
        }
        for bit in 0..256_usize {
            let mut bytes = *element.as_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(!of_p1.follows(&Digest::new(bytes), 5, &known, 2), "bit {bit}");
        }
    }

    /// Returns the contributions of `p1` and `p2` with elements of these indices.
    fn contributions(p1: u16, p2: u16) -> [Contribution; 2] {
        [(Seat::P1, 0x20, p1), (Seat::P2, 0x40, p2)].map(|(seat, first, index)| {
            let element = chain(seat, first).element(index);
            Contribution { seat, index, element }
        })
    }

    #[test]
    fn fd_4_and_5_rolls_are_those_of_the_vectors() {
        let due = DueRoll { purpose: "test".into(), count: 4, low: 1, high: 6, owner: None };
        let host = chain(Seat::Host, 0x00);
        for (number, contributions, key, values) in [
            (
                1,
                contributions(0, 0),
                "0f13b3e6360de7ca6a1a39c24db25d2cd02df02116a6178010443e9b40b771af",
                [5, 3, 3, 3],
            ),
            (
                2,
                contributions(1, 0),
                "9b7989a6dd75bb9fcaab7188b35f416b9909746f4ca78e0f304a82a13308729c",
                [2, 6, 2, 6],
            ),
            (
                3,
                contributions(1, 2),
                "8de4653fe88af79609f7ee0588a6c2194ce66a9adb7be3ded62db0e5fcf4dbfb",
                [4, 1, 3, 6],
            ),
        ] {
            let roll = RollKey::new(&MATCH_ID, number, &host.element(number), &contributions);
            assert_eq!(Digest::new(*roll.as_bytes()), digest(key), "roll {number}");
            assert_eq!(roll.values(&due), values, "roll {number}");
        }
    }

    #[test]
    fn fd_7_rolls_of_one_turn_differ_by_their_number_alone() {
        let (host, contributions) = (chain(Seat::Host, 0x00), contributions(1, 1));
        let keys =
            [7, 8, 9].map(|number| RollKey::new(&MATCH_ID, number, &host.element(number), &contributions));
        assert!(keys[0] != keys[1] && keys[1] != keys[2] && keys[0] != keys[2]);
    }

    #[test]
    fn a_chain_prints_nothing_secret() {
        let chain = chain(Seat::Host, 0x00);
        assert!(!alloc::format!("{chain:?}").contains("30aede"));
    }

    #[test]
    fn fd_5_no_value_is_favored_in_100_000_rolls() {
        const HALF: u16 = 50_000;
        let mut rolls = Vec::new();
        for match_id in [[1; 16], [2; 16]] {
            let host = Owner { match_id, party: Seat::Host };
            let mut element = host.chain(&[3; 32]).element(HALF);
            for number in (1..=HALF).rev() {
                let contribution = Contribution { seat: Seat::P1, index: number, element };
                rolls.push(RollKey::new(&match_id, number, &element, &[contribution]));
                element = host.descend(element, number, number - 1);
            }
        }
        assert_nothing_is_favored(|due| rolls.iter().flat_map(|roll| roll.values(due)).collect());
    }
}
