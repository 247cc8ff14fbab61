//! Size limits for files that come by mail.

use turnfold_history::Limits;

/// Addresses of at most sixteen players, and comments.
pub(crate) const MAIL_ADDRESSES: Limits =
    Limits { what: "file of addresses", bytes_max: 1 << 16, lines_max: 1 << 10, line_bytes_max: 1 << 10 };

/// Mails with papers (PM-26).
pub const MAIL: Limits =
    Limits { what: "mail", bytes_max: 1 << 20, lines_max: 1 << 20, line_bytes_max: 1 << 20 };

/// Letters with the bundle of a whole match, or such a bundle (PM-111).
pub(crate) const LETTER: Limits =
    Limits { what: "letter", bytes_max: 1 << 28, lines_max: 1 << 23, line_bytes_max: 1 << 26 };
