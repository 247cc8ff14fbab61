//! Numbers and bytes as sled writes them; `None` is what cannot be read.

/// Reads a byte.
pub(in crate::local::backend) fn byte(rest: &mut &[u8]) -> Option<u8> {
    let (first, after) = rest.split_first()?;
    *rest = after;
    Some(*first)
}

/// Reads so many bytes.
pub(super) fn array<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (found, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*found)
}

/// Reads a length and so many bytes.
pub(in crate::local::backend) fn bytes<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(number(rest)?).ok()?;
    let (found, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(found)
}

/// Reads a number of variable length.
pub(in crate::local::backend) fn number(rest: &mut &[u8]) -> Option<u64> {
    let first = byte(rest)?;
    match first {
        0..=240 => Some(u64::from(first)),
        241..=248 => Some(240 + 256 * (u64::from(first) - 241) + u64::from(byte(rest)?)),
        249 => Some(2288 + 256 * u64::from(byte(rest)?) + u64::from(byte(rest)?)),
        250..=255 => {
            let (little_endian, after) = rest.split_at_checked(usize::from(first) - 247)?;
            *rest = after;
            Some(little_endian.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
        }
    }
}

/// Writes a number of variable length.
pub(super) fn put_number(number: u64, out: &mut Vec<u8>) {
    let low = |number: u64| number.to_le_bytes().first().copied().unwrap_or_default();
    match number {
        0..=240 => out.push(low(number)),
        241..=2287 => out.extend([low((number - 240) / 256 + 241), low(number - 240)]),
        2288..=67_823 => out.extend([249, low((number - 2288) / 256), low(number - 2288)]),
        _ => {
            let length = (8 - number.leading_zeros() as usize / 8).max(3);
            out.push(low(247 + length as u64));
            out.extend(number.to_le_bytes().iter().take(length));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_sled_writes_them() {
        let read = |bytes: &[u8]| number(&mut &*bytes);
        assert_eq!(read(&[240]), Some(240));
        assert_eq!(read(&[241, 1]), Some(241));
        assert_eq!(read(&[248, 255]), Some(2287));
        assert_eq!(read(&[249, 0, 0]), Some(2288));
        assert_eq!(read(&[250, 1, 2, 3]), Some(0x03_02_01));
        assert_eq!(read(&[255, 1, 0, 0, 0, 0, 0, 0, 128]), Some(1 << 63 | 1));
        assert_eq!(read(&[250, 1]), None);
        assert_eq!(read(&[]), None);
    }

    #[test]
    fn numbers_come_back_from_their_bytes() {
        let powers = (0..64).flat_map(|power| [(1_u64 << power) - 1, 1 << power]);
        for expected in powers.chain([240, 241, 2287, 2288, 67_823, 67_824, u64::MAX]) {
            let mut bytes = Vec::new();
            put_number(expected, &mut bytes);
            let mut rest = bytes.as_slice();
            assert_eq!((number(&mut rest), rest), (Some(expected), &[][..]));
        }
    }
}
