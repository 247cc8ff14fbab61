//! Mutations of inputs that are the same on every machine.

use turnfold_core::dice::DiceStream;

/// The maximum number of changes to one input.
const CHANGES_MAX: usize = 4;

/// The maximum number of bytes that one change inserts, removes or copies.
const SLICE_MAX: usize = 32;

/// Bytes with a special meaning in one of the formats.
const ODD_BYTES: [u8; 12] = [0, 1, 0x7f, 0x80, 0xff, b'\n', b' ', b'"', b'#', b'-', b'0', b'9'];

/// Changes inputs at random places.
pub(super) struct Mutator<'a> {
    inputs: &'a [Vec<u8>],
    chance: DiceStream,
}

impl<'a> Mutator<'a> {
    pub(super) fn new(inputs: &'a [Vec<u8>]) -> Self {
        Self { inputs, chance: DiceStream::new(&[10; 32], 0) }
    }

    /// Makes the next mutation.
    pub(super) fn next(&mut self) -> Vec<u8> {
        let mut input = self.pick().to_vec();
        for _ in 0..=self.below(CHANGES_MAX) {
            let place = self.below(input.len() + 1);
            let end = input.len().min(place + self.below(SLICE_MAX));
            match self.below(5) {
                0 => input.insert(place, ODD_BYTES[self.below(ODD_BYTES.len())]),
                1 => drop(input.drain(place..end)),
                2 => {
                    let other = self.pick();
                    let from = self.below(other.len() + 1);
                    let slice = other.iter().skip(from).take(self.below(SLICE_MAX)).copied();
                    input.splice(place..end, slice);
                }
                3 => {
                    let copied = input[place..end].to_vec();
                    input.splice(place..place, copied);
                }
                _ => {
                    let byte = u8::try_from(self.below(256)).unwrap();
                    input.iter_mut().skip(place).take(1).for_each(|old| *old = byte);
                }
            }
        }
        input
    }

    fn pick(&mut self) -> &'a [u8] {
        let place = self.below(self.inputs.len());
        &self.inputs[place]
    }

    /// Draws a number less than `count`, or 0.
    fn below(&mut self, count: usize) -> usize {
        let last = i32::try_from(count).unwrap() - 1;
        usize::try_from(self.chance.draw(0, last.max(0))).unwrap()
    }
}
