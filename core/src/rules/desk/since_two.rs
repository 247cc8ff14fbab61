//! A struct of the desk with the fields of version 1 and fields that are new in version 2.

/// Makes a struct of version 2, and one of its fields in version 1, which come first.
macro_rules! since_two {
    (
        $(#[$doc:meta])* $of:vis struct $name:ident;
        $(#[$one_doc:meta])* struct $one:ident;
        one { $($(#[$meta:meta])* $vis:vis $field:ident: $type:ty,)* }
        two { $($(#[$new_meta:meta])* $new_vis:vis $new:ident: $new_type:ty,)* }
    ) => {
        $(#[$doc])*
        $of struct $name {
            $($(#[$meta])* $vis $field: $type,)*
            $($(#[$new_meta])* $new_vis $new: $new_type,)*
        }

        $(#[$one_doc])*
        pub(super) struct $one {
            $($(#[$meta])* $field: $type,)*
        }

        impl From<$one> for $name {
            fn from(one: $one) -> Self {
                Self { $($field: one.$field,)* $($new: Default::default(),)* }
            }
        }

        impl From<$name> for $one {
            fn from(new: $name) -> Self {
                Self { $($field: new.$field,)* }
            }
        }
    };
}
pub(super) use since_two;
