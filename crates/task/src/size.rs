//! Determining whether a value is large, without visiting all of it.

use serde::ser::{self, Serialize, Serializer};
use std::fmt;

/// The largest size as JSON that is not large, in bytes.
const LARGE: usize = 64 * 1024;

/// The cost of a value in addition to its text, in bytes.
const MIN_VALUE_SIZE: usize = 8;

/// Returns whether serializing the value would block the thread that serves clients. It visits the value up to that size, and not the
/// contents of strings: `serde_json` would search all of them for characters to escape.
pub fn is_large<T: Serialize + ?Sized>(value: &T) -> bool {
    value.serialize(&mut SizeBudget(LARGE)).is_err()
}

/// The remaining size, in bytes.
struct SizeBudget(usize);

impl SizeBudget {
    fn take(&mut self, bytes: usize) -> Result<(), BudgetExceeded> {
        let left = self.0.checked_sub(bytes.saturating_add(MIN_VALUE_SIZE));
        self.0 = left.ok_or(BudgetExceeded)?;
        Ok(())
    }
}

/// The size is exceeded.
#[derive(Debug)]
struct BudgetExceeded;

impl fmt::Display for BudgetExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it is large")
    }
}

impl std::error::Error for BudgetExceeded {}

impl ser::Error for BudgetExceeded {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self
    }
}

macro_rules! scalars {
    ($($method:ident($($argument:ty),*))*) => {
        $(fn $method(self, $(_: $argument),*) -> Result<(), BudgetExceeded> {
            self.take(0)
        })*
    };
}

macro_rules! containers {
    ($($method:ident($($argument:ty),*))*) => {
        $(fn $method(self, $(_: $argument),*) -> Result<Self, BudgetExceeded> {
            self.take(0).map(|()| self)
        })*
    };
}

impl Serializer for &mut SizeBudget {
    type Ok = ();
    type Error = BudgetExceeded;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    scalars! {
        serialize_bool(bool) serialize_char(char) serialize_f32(f32) serialize_f64(f64)
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_i128(i128)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_u128(u128)
        serialize_unit_struct(&'static str) serialize_unit() serialize_none()
        serialize_unit_variant(&'static str, u32, &'static str)
    }

    containers! {
        serialize_seq(Option<usize>) serialize_map(Option<usize>)
        serialize_tuple(usize) serialize_tuple_struct(&'static str, usize)
        serialize_tuple_variant(&'static str, u32, &'static str, usize)
        serialize_struct(&'static str, usize)
        serialize_struct_variant(&'static str, u32, &'static str, usize)
    }

    fn serialize_str(self, text: &str) -> Result<(), BudgetExceeded> {
        self.take(text.len())
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), BudgetExceeded> {
        self.take(bytes.len())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), BudgetExceeded> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), BudgetExceeded> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), BudgetExceeded> {
        value.serialize(self)
    }
}

macro_rules! lists {
    ($($kind:ident $method:ident)*) => {
        $(impl ser::$kind for &mut SizeBudget {
            type Ok = ();
            type Error = BudgetExceeded;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), BudgetExceeded> {
                value.serialize(&mut **self)
            }

            fn end(self) -> Result<(), BudgetExceeded> {
                Ok(())
            }
        })*
    };
}

lists! {
    SerializeSeq serialize_element
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
    SerializeTupleVariant serialize_field
}

macro_rules! structs {
    ($($kind:ident)*) => {
        $(impl ser::$kind for &mut SizeBudget {
            type Ok = ();
            type Error = BudgetExceeded;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), BudgetExceeded> {
                self.take(name.len())?;
                value.serialize(&mut **self)
            }

            fn end(self) -> Result<(), BudgetExceeded> {
                Ok(())
            }
        })*
    };
}

structs! { SerializeStruct SerializeStructVariant }

impl ser::SerializeMap for &mut SizeBudget {
    type Ok = ();
    type Error = BudgetExceeded;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), BudgetExceeded> {
        key.serialize(&mut **self)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), BudgetExceeded> {
        value.serialize(&mut **self)
    }

    fn end(self) -> Result<(), BudgetExceeded> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::cell::Cell;

    #[test]
    fn values_with_much_text_or_many_members_are_large() {
        assert!(!is_large(
            &json!({ "text": "x".repeat(1_000), "list": [1, 2.5, null, true] })
        ));
        assert!(is_large(&json!({ "text": "x".repeat(LARGE) })));
        assert!(is_large(&json!({ "x".repeat(LARGE): 1 })));
        assert!(is_large(&json!([vec![0; LARGE]])));
        assert!(is_large(&vec![Some(()); LARGE]));
    }

    #[test]
    fn measuring_stops_at_the_limit() {
        struct Counted<'a>(&'a Cell<usize>);
        impl Serialize for Counted<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.0.set(self.0.get() + 1);
                serializer.serialize_bool(true)
            }
        }
        let seen = Cell::new(0);
        let many: Vec<_> = (0..LARGE).map(|_| Counted(&seen)).collect();
        assert!(is_large(&many));
        assert!(seen.get() <= LARGE / MIN_VALUE_SIZE);
    }
}
