//! Finds one field of a value by its path while the value is serialized: nothing else becomes JSON.
//!
//! With `serde_json`'s `Value::pointer` instead, `bisect` over a log of 3000 entries of `initiative` ran 241 instead of 65
//! million instructions, `shrink` of 300 entries 38 instead of 11, and `bisect --linear` over 3000 of `channel` 900
//! instead of 299.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use core::fmt::Display;

use serde::ser::{self, Error as _, Impossible, Serialize, Serializer};
use serde_json::{Error, Value, to_value};

/// Returns what a JSON pointer (RFC 6901) leads to in the JSON form of a value; an empty one leads to the value itself.
///
/// The result is the same as that of following the pointer in the whole document.
pub(crate) fn field_at<T: Serialize + ?Sized>(value: &T, path: &str) -> Option<Value> {
    let whole = || to_value(value).expect("plain data encodes");
    if path.is_empty() {
        return Some(whole());
    }
    let parts = path.strip_prefix('/')?;
    let (name, rest) = parts.split_at(parts.find('/').unwrap_or(parts.len()));
    let mut name = Cow::Borrowed(name);
    if name.contains('~') {
        name = name.replace("~1", "/").replace("~0", "~").into();
    }
    match value.serialize(Finder { name, rest }) {
        Ok(found) => found,
        Err(_) => whole().pointer(path).cloned(),
    }
}

/// Finds a field or element of the value that is serialized, and follows the rest of the path in it.
///
/// It fails if only the whole document can tell.
struct Finder<'a> {
    name: Cow<'a, str>,
    rest: &'a str,
}

impl<'a> Finder<'a> {
    fn parts(self) -> Parts<'a> {
        let is_index = self.name == "0" || !self.name.starts_with(['0', '+']);
        let index = self.name.parse().ok().filter(|_| is_index);
        Parts { finder: self, index, passed: 0, is_next: false, found: None }
    }
}

/// The parts of a value while they are serialized.
struct Parts<'a> {
    finder: Finder<'a>,
    /// The name as the index of an element.
    index: Option<usize>,
    /// The number of elements that have passed.
    passed: usize,
    /// Whether the next value of a map is the wanted one.
    is_next: bool,
    found: Option<Value>,
}

impl Parts<'_> {
    fn take<T: Serialize + ?Sized>(&mut self, value: &T) {
        self.found = field_at(value, self.finder.rest);
    }
}

/// The methods of values without parts, in which no path leads anywhere.
macro_rules! without_parts {
    ($($method:ident($kind:ty)),* $(,)?) => { $(
        fn $method(self, _value: $kind) -> Result<Option<Value>, Error> {
            Ok(None)
        }
    )* };
}

impl<'a> Serializer for Finder<'a> {
    type Ok = Option<Value>;
    type Error = Error;
    type SerializeSeq = Parts<'a>;
    type SerializeTuple = Parts<'a>;
    type SerializeTupleStruct = Parts<'a>;
    type SerializeTupleVariant = Impossible<Option<Value>, Error>;
    type SerializeMap = Parts<'a>;
    type SerializeStruct = Parts<'a>;
    type SerializeStructVariant = Impossible<Option<Value>, Error>;

    without_parts!(
        serialize_bool(bool),
        serialize_i8(i8),
        serialize_i16(i16),
        serialize_i32(i32),
        serialize_i64(i64),
        serialize_u8(u8),
        serialize_u16(u16),
        serialize_u32(u32),
        serialize_u64(u64),
        serialize_char(char),
        serialize_str(&str),
    );

    #[expect(clippy::disallowed_types, reason = "serde asks for it; no view holds one")]
    fn serialize_f32(self, _value: f32) -> Result<Option<Value>, Error> {
        Ok(None)
    }

    #[expect(clippy::disallowed_types, reason = "serde asks for it; no view holds one")]
    fn serialize_f64(self, _value: f64) -> Result<Option<Value>, Error> {
        Ok(None)
    }

    fn serialize_bytes(self, _value: &[u8]) -> Result<Option<Value>, Error> {
        Err(only_whole())
    }

    fn serialize_none(self) -> Result<Option<Value>, Error> {
        Ok(None)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Option<Value>, Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Option<Value>, Error> {
        Ok(None)
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<Option<Value>, Error> {
        Ok(None)
    }

    fn serialize_unit_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
    ) -> Result<Option<Value>, Error> {
        Ok(None)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        value: &T,
    ) -> Result<Option<Value>, Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Option<Value>, Error> {
        Ok(if self.name == variant { field_at(value, self.rest) } else { None })
    }

    fn serialize_seq(self, _length: Option<usize>) -> Result<Parts<'a>, Error> {
        Ok(self.parts())
    }

    fn serialize_tuple(self, _length: usize) -> Result<Parts<'a>, Error> {
        Ok(self.parts())
    }

    fn serialize_tuple_struct(self, _name: &'static str, _length: usize) -> Result<Parts<'a>, Error> {
        Ok(self.parts())
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _length: usize,
    ) -> Result<Self::SerializeTupleVariant, Error> {
        Err(only_whole())
    }

    fn serialize_map(self, _length: Option<usize>) -> Result<Parts<'a>, Error> {
        Ok(self.parts())
    }

    fn serialize_struct(self, _name: &'static str, _length: usize) -> Result<Parts<'a>, Error> {
        Ok(self.parts())
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _length: usize,
    ) -> Result<Self::SerializeStructVariant, Error> {
        Err(only_whole())
    }

    fn collect_str<T: Display + ?Sized>(self, _value: &T) -> Result<Option<Value>, Error> {
        Ok(None)
    }
}

fn only_whole() -> Error {
    Error::custom("only the whole document can tell")
}

/// Values whose parts have numbers.
macro_rules! by_index {
    ($($kind:ident::$method:ident),* $(,)?) => { $(
        impl ser::$kind for Parts<'_> {
            type Ok = Option<Value>;
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                if self.index == Some(self.passed) {
                    self.take(value);
                }
                self.passed += 1;
                Ok(())
            }

            fn end(self) -> Result<Option<Value>, Error> {
                Ok(self.found)
            }
        }
    )* };
}

by_index!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
);

impl ser::SerializeMap for Parts<'_> {
    type Ok = Option<Value>;
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        let name: String = match to_value(key)? {
            Value::String(name) => name,
            other => other.to_string(),
        };
        self.is_next = self.finder.name == name;
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        if self.is_next {
            self.take(value);
        }
        Ok(())
    }

    fn end(self) -> Result<Option<Value>, Error> {
        Ok(self.found)
    }
}

impl ser::SerializeStruct for Parts<'_> {
    type Ok = Option<Value>;
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Error> {
        if self.finder.name == name {
            self.take(value);
        }
        Ok(())
    }

    fn end(self) -> Result<Option<Value>, Error> {
        Ok(self.found)
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;
    use alloc::format;
    use alloc::vec;
    use alloc::vec::Vec;

    use serde::Serialize;

    use super::*;

    #[derive(Serialize)]
    struct Tuple(u8, Option<Named>);

    #[derive(Clone, Serialize)]
    struct Named(&'static str);

    #[derive(Serialize)]
    enum Kind {
        Plain,
        Of(Vec<u8>),
        Pair(u8, u8),
        Fields { a: u8 },
    }

    #[derive(Serialize)]
    struct View {
        #[serde(rename = "a/b~c")]
        odd: u8,
        tuple: Tuple,
        nothing: Option<u8>,
        kinds: Vec<Kind>,
        by_number: BTreeMap<u16, (bool, char)>,
        by_name: BTreeMap<&'static str, Named>,
    }

    /// Collects every path into a document, and some paths that lead nowhere.
    fn paths(document: &Value, path: &str, found: &mut Vec<String>) {
        found.push(path.into());
        for other in ["", "-", "0", "00", "+1", "7", "none", "~2"] {
            found.push(format!("{path}/{other}"));
        }
        match document {
            Value::Array(elements) => {
                for (index, element) in elements.iter().enumerate() {
                    paths(element, &format!("{path}/{index}"), found);
                }
            }
            Value::Object(fields) => {
                for (name, field) in fields {
                    paths(field, &format!("{path}/{}", name.replace('~', "~0").replace('/', "~1")), found);
                }
            }
            _ => {}
        }
    }

    #[test]
    fn a_field_is_what_the_pointer_finds_in_the_whole_document() {
        let view = View {
            odd: 1,
            tuple: Tuple(2, Some(Named("x"))),
            nothing: None,
            kinds: vec![Kind::Plain, Kind::Of(vec![3, 4]), Kind::Pair(5, 6), Kind::Fields { a: 7 }],
            by_number: BTreeMap::from([(1, (true, 'y')), (10, (false, 'z'))]),
            by_name: BTreeMap::from([("~", Named("~")), ("0", Named("0"))]),
        };
        let document = to_value(&view).unwrap();
        let mut found = vec!["no slash".into()];
        paths(&document, "", &mut found);
        assert!(found.len() > 200 && found.contains(&"/kinds/3/Fields/a".into()), "{found:?}");
        for path in found {
            assert_eq!(field_at(&view, &path), document.pointer(&path).cloned(), "{path}");
        }
    }
}
