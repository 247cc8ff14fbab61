//! Papers: what players of a match by mail sign (`mail.md`, PM-4, PM-4a, PM-5).
//!
//! A [`Paper`] is a text of strict form: `Display` writes it, `FromStr` reads it back and nothing else, so a paper has one
//! text, one [`digest`](Paper::digest) and one [`tag`](Paper::order_tag). A [`SignedPaper`] is a paper with the signature
//! of a C2SP note over that text; written in one line, it is what the desk's command `paper` holds. Nothing here reads
//! a clock or makes a nonce: the caller brings both.
//!
//! A player with a key signs:
//!
//! ```
//! use turnfold_core::Seat;
//! use turnfold_core::paper::{Nonce, Order, Paper, PaperContent, PaperHead, SeatKey, SeenRoot, SignedPaper};
//! use turnfold_core::trust::{KeyKind, PrivateKey, TreeHash};
//!
//! let key = PrivateKey::of_seed("ann.example".parse()?, KeyKind::Signer, &[7; 32]);
//! let head = PaperHead {
//!     match_id: "5f0c9d3e1a2b4c6d8e9f0a1b2c3d4e5f".parse()?,
//!     seat: Seat::P1,
//!     number: 7,
//!     turn: 2,
//!     seen: SeenRoot { size: 7, root: TreeHash::new([9; 32]) },
//!     nonce: Nonce::new([1; 16]),
//! };
//! let link = "826f618eed31aac0826f618eed31aac0826f618eed31aac0826f618eed31aac0".parse()?;
//! let plays = vec!["move 2,-3".parse()?, "stand".parse()?];
//! let order = PaperContent::Order(Order::new(link, false, None, plays)?);
//! let signed = SignedPaper::sign(Paper::new(head, order)?, &key);
//!
//! // A reader has the text and the signature, and the key that the seat named in its `join`.
//! let read = SignedPaper::new(signed.paper().to_string().parse()?, signed.signature().to_string().parse()?);
//! assert!(read.is_by(&SeatKey::of(&key)?));
//! assert_eq!(read.paper().digest(), signed.paper().digest());
//! let command = format!("paper {signed}");
//! # assert!(command.starts_with("paper paper: order | match: 5f0c"));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

mod content;
mod signed;
mod text;
mod time;
mod values;

pub use content::{
    AHEAD_TURNS_MAX, Ending, Join, LINES_MAX, Offer, Order, OrdersAhead, PAPER_BYTES_MAX, PLAYS_MAX,
    PRESS_LINES_MAX, Paper, PaperContent, PaperHead, Press, Reply,
};
pub use signed::{PaperSignature, PlainPaper, SignedPaper};
pub use text::{FIRST_LINE, KEYWORDS};
pub use time::DeskTime;
pub use values::{Audience, MatchId, Nonce, PaperLine, Player, SeatKey, SeenRoot, is_control};
pub(crate) use values::{read_seats, write_seats};
