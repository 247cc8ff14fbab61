//! The text and the line of any paper read back as the same paper, and any text that reads as a paper is written as it
//! was read.

use proptest::prelude::*;
use turnfold_core::paper::{
    DeskTime, Ending, Join, MatchId, Nonce, Offer, Order, Paper, PaperContent, PaperHead, PaperLine, Player,
    SeatKey, SeenRoot, SignedPaper,
};
use turnfold_core::trust::{KeyKind, PrivateKey, TreeHash};
use turnfold_core::{Digest, Seat};

use super::VECTOR;

fn digest() -> impl Strategy<Value = Digest> {
    any::<[u8; 32]>().prop_map(Digest::new)
}

fn private_key() -> impl Strategy<Value = PrivateKey> {
    // At most 64 characters, as a seat's key has.
    let name = "[a-z0-9][a-z0-9._-]{0,19}(/[a-z0-9][a-z0-9._-]{0,19}){0,2}";
    (name, any::<[u8; 32]>())
        .prop_map(|(name, seed)| PrivateKey::of_seed(name.parse().unwrap(), KeyKind::Signer, &seed))
}

fn key() -> impl Strategy<Value = SeatKey> {
    private_key().prop_map(|key| SeatKey::of(&key).unwrap())
}

fn seat() -> impl Strategy<Value = Seat> {
    (0_usize..8).prop_map(|index| Seat::ALL[index])
}

fn play() -> impl Strategy<Value = PaperLine> {
    let word = "[!-<>-{}~]{1,12}".prop_filter("no word begins with `#`", |word| !word.starts_with('#'));
    proptest::collection::vec(word, 1..5).prop_map(|words| words.join(" ").parse().unwrap())
}

fn offer() -> impl Strategy<Value = Offer> {
    let ending = prop_oneof![Just(Ending::Draw), Just(Ending::Void), seat().prop_map(Ending::Won)];
    prop_oneof![
        ("[a-z0-9][a-z0-9._-]{0,63}", any::<u64>())
            .prop_map(|(line, seq)| Offer::Takeback { branch: line.parse().unwrap(), seq }),
        ending.prop_map(Offer::End),
        (0..=DeskTime::MAX.unix_seconds())
            .prop_map(|seconds| Offer::Extend(DeskTime::of_unix_seconds(seconds).unwrap())),
        (seat(), key()).prop_map(|(seat, key)| Offer::Replace { seat, player: Player::Signing(key) }),
    ]
}

fn content() -> impl Strategy<Value = PaperContent> {
    let order =
        (digest(), any::<bool>(), proptest::option::of(digest()), proptest::collection::vec(play(), 1..6));
    prop_oneof![
        (key(), proptest::option::of(digest()))
            .prop_map(|(key, dice)| PaperContent::Join(Join { key, dice })),
        order.prop_map(|(link, wait, dice, plays)| {
            PaperContent::Order(Order::new(link, wait, dice, plays).unwrap())
        }),
        (digest(), digest()).prop_map(|(link, digest)| PaperContent::Seal { link, digest }),
        offer().prop_map(PaperContent::Offer),
        (digest(), any::<bool>()).prop_map(|(to, agree)| PaperContent::Answer { to, agree }),
        Just(PaperContent::Resign),
        key().prop_map(PaperContent::Rekey),
    ]
}

fn paper() -> impl Strategy<Value = Paper> {
    let head =
        (any::<[u8; 16]>(), seat(), any::<[u32; 2]>(), any::<u64>(), any::<[u8; 32]>(), any::<[u8; 16]>());
    (head, content()).prop_map(|((match_id, seat, counts, size, root, nonce), content)| {
        let [number, turn] = if matches!(content, PaperContent::Join(_)) { [0, 0] } else { counts };
        let seen = SeenRoot { size, root: TreeHash::new(root) };
        let (match_id, nonce) = (MatchId::new(match_id), Nonce::new(nonce));
        Paper::new(PaperHead { match_id, seat, number, turn, seen, nonce }, content).unwrap()
    })
}

proptest! {
    #[test]
    fn pm_4_every_paper_reads_back_from_its_text_and_from_its_line(paper in paper(), key in private_key()) {
        prop_assert_eq!(paper.to_string().parse(), Ok(paper.clone()));
        let signed = SignedPaper::sign(paper, &key);
        prop_assert_eq!(signed.to_string().parse(), Ok(signed.clone()));
        prop_assert!(signed.is_by(&SeatKey::of(&key).unwrap()));
        prop_assert!(!signed.to_string().contains('='));
        let bytes = postcard::to_allocvec(&signed).unwrap();
        prop_assert_eq!(postcard::from_bytes(&bytes), Ok(signed));
    }

    #[test]
    fn pm_4_what_reads_is_written_as_it_was(place in 0..VECTOR.len(), byte in 0_u8..128, cut in any::<bool>()) {
        let mut text = VECTOR.as_bytes().to_vec();
        if cut { text.remove(place); } else { text[place] = byte; }
        let text = String::from_utf8(text).unwrap();
        if let Ok(paper) = text.parse::<Paper>() {
            prop_assert_eq!(paper.to_string(), text);
        }
    }
}
