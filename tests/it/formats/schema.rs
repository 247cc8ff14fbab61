//! Reads the fields that a page names from bytes in postcard format.

use std::collections::BTreeMap;

/// The types that a page describes by their fields.
#[derive(Default)]
pub(super) struct Schema {
    types: BTreeMap<String, String>,
}

/// Bytes being read.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn take(&mut self, count: usize) -> Result<(), String> {
        self.at += count;
        if self.at <= self.bytes.len() { Ok(()) } else { Err("the bytes end too early".into()) }
    }

    /// Reads an unsigned number with seven bits in each byte.
    fn number(&mut self) -> Result<usize, String> {
        let mut number = 0;
        for shift in 0.. {
            let byte = *self.bytes.get(self.at).ok_or("the bytes end too early")?;
            self.at += 1;
            number |= usize::from(byte & 0x7f).checked_shl(7 * shift).unwrap_or_default();
            if byte < 0x80 {
                break;
            }
        }
        Ok(number)
    }
}

impl Schema {
    pub(super) fn add(&mut self, name: &str, fields: &str) {
        self.types.insert(name.to_owned(), fields.to_owned());
    }

    /// Reads the fields that a cell names, and requires that no byte is left. Returns the bytes of each field; those of
    /// type `bytes` without their length.
    pub(super) fn read_all(&self, cell: &str, bytes: &[u8]) -> Result<BTreeMap<String, Vec<u8>>, String> {
        let mut reader = Reader { bytes, at: 0 };
        let mut found = BTreeMap::new();
        for (name, kind) in fields(cell) {
            let mut from = reader.at;
            self.read(&kind, &mut reader).map_err(|wrong| format!("`{name}`: {wrong}"))?;
            if kind == "bytes" {
                let mut length = Reader { bytes, at: from };
                length.number()?;
                from = length.at;
            }
            found.insert(name, bytes[from..reader.at].to_vec());
        }
        if found.is_empty() {
            return Err(format!("no fields in {cell}"));
        }
        let left = bytes.len() - reader.at;
        if left == 0 { Ok(found) } else { Err(format!("{left} bytes are left over")) }
    }

    fn read(&self, kind: &str, reader: &mut Reader<'_>) -> Result<(), String> {
        if let Some(inner) = kind.strip_prefix("option of ") {
            return match reader.number()? {
                0 => Ok(()),
                1 => self.read(inner, reader),
                other => Err(format!("an option begins with {other}")),
            };
        }
        if let Some(inner) = kind.strip_suffix(" or nothing") {
            return if reader.at == reader.bytes.len() { Ok(()) } else { self.read(inner, reader) };
        }
        if let Some(inner) = kind.strip_prefix("list of ") {
            return (0..reader.number()?).try_for_each(|_| self.read(inner, reader));
        }
        if let Some(fields) = kind.strip_prefix('(').and_then(|kind| kind.strip_suffix(')')) {
            let kinds =
                fields.split(", ").map(|field| field.split_once(": ").map_or(field, |(_, kind)| kind));
            return kinds.into_iter().try_for_each(|kind| self.read(kind, reader));
        }
        match kind {
            "u8" | "bool" => reader.take(1),
            "u16" | "u32" | "u64" | "i64" => reader.number().map(|_| ()),
            "Seat" => match reader.number()? {
                0..=8 => Ok(()),
                other => Err(format!("seat {other}")),
            },
            "GrantKind" => match reader.number()? {
                0 => Ok(()),
                1 | 3 | 4 => self.read("Seat", reader),
                2 => self.read("u64", reader),
                other => Err(format!("kind {other}")),
            },
            "string" | "bytes" => {
                let length = reader.number()?;
                reader.take(length)
            }
            "digest" => reader.take(32),
            "16 bytes" => reader.take(16),
            "DicePolicy" => match reader.number()? {
                0 => Ok(()),
                1 | 2 => reader.take(32),
                other => Err(format!("dice {other}")),
            },
            named => {
                let described = self.types.get(named).ok_or_else(|| format!("unknown type `{named}`"))?;
                fields(described).into_iter().try_for_each(|(_, kind)| self.read(&kind, reader))
            }
        }
    }
}

/// Returns the fields in the backticks of a cell, with their types. The last backtick of the cell may be missing.
fn fields(cell: &str) -> Vec<(String, String)> {
    let cell = format!("`{}", cell.trim_start_matches('`'));
    let parts = cell.split('`').skip(1).step_by(2);
    parts.filter_map(|part| part.split_once(": ")).map(|(name, kind)| (name.into(), kind.into())).collect()
}
