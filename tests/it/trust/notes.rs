//! Signed notes: what is refused, what is ignored, and which signatures count (TR-5, TR-6, TR-8, TR-16).

use turnfold_core::trust::{
    Checkpoint, ConsistencyRequest, InclusionProof, KeyKind, PrivateKey, ProofBuilder, SignatureLine,
    SignedNote,
};

use super::vectors::{ORIGIN, leaves, seed, signed, signer, witness};

fn refused(note: &str, why: &str) {
    let error = SignedNote::read(note.as_bytes()).expect_err(why).to_string();
    assert!(error.starts_with("expected ") && !error.contains('\n'), "{why}: {error}");
}

#[test]
fn tr_8_a_note_has_one_form() {
    let note = signed(7).to_string();
    assert_eq!(SignedNote::read(note.as_bytes()).map(|note| note.to_string()), Ok(note.clone()));
    refused(&note.replace('\n', "\r\n"), "CRLF");
    refused(note.trim_end(), "no final line feed");
    refused(&format!("{note}\n"), "an empty line at the end");
    refused(&note.replace("7\n", "7\t\n"), "a control character");
    refused(&note.replace("7\n", "7\u{85}\n"), "a control character beyond ASCII");
    let signature = signed(7).signatures()[0].to_string();
    refused(&format!("{note}{}", format!("{signature}\n").repeat(64)), "65 signatures");
    let most = format!("{note}{}", format!("{signature}\n").repeat(63));
    assert!(SignedNote::read(most.as_bytes()).is_ok(), "64 signatures");
    refused(&note.replace("3Qk=", "3Ql="), "base64 that is not canonical");
    refused(&note.replace("3Qk=", "3Qk"), "base64 without padding");
    refused(&note.replace("\u{2014} games.example", "\u{2014} games.\u{a0}example"), "a name with a space");
    refused(&note.replace("\u{2014} games.example", "\u{2014} games+example"), "a name with a plus");
    refused(&note.replace('\u{2014}', "-"), "a hyphen for a dash");
    refused(&note.replace("\n\n", "\n"), "no empty line");
    refused(&format!("{}\n", signed(7).text()), "no signature");
    refused("x\n\n\u{2014} a AAAAAA==\n", "a signature of no bytes");
    refused(&format!("{}\n\n\u{2014} a AAAAAAA=\n", "x".repeat(64 * 1024)), "more than 64 KiB");
    assert!(SignedNote::read(b"\xff\n\n\xe2\x80\x94 a AAAAAAA=\n").is_err(), "no UTF-8");
}

#[test]
fn tr_8_unknown_lines_are_kept_and_ignored_and_known_ones_must_verify() {
    let known = signer().verifier().for_origin(ORIGIN);
    // A key with the same name, another name with our id, and a signature of another type (ML-DSA-44) and length.
    let same_name = PrivateKey::of_seed(signer().name().clone(), KeyKind::Signer, &seed(9));
    let unknown = SignatureLine::sign(&same_name, ORIGIN, signed(7).text());
    let note = signed(7).with([unknown, "\u{2014} pq.example AAAAAAYA".parse().unwrap()]).unwrap();
    assert_eq!(note.signatures().len(), 3);
    assert_eq!(note.is_signed_by(&known), Ok(true));
    assert_eq!(SignedNote::read(note.to_string().as_bytes()).as_ref(), Ok(&note));

    // A signature line with our name and id, but of another text, invalidates the note, in any position.
    let wrong = SignatureLine::sign(&signer(), ORIGIN, signed(4).text());
    assert!(signed(7).with([wrong.clone()]).unwrap().is_signed_by(&known).is_err());
    let only_wrong = SignedNote::new(signed(7).text().into(), vec![wrong]).unwrap();
    assert!(only_wrong.is_signed_by(&known).is_err());
    // Under its bare name, the key signs no checkpoint of a log.
    assert_eq!(note.is_signed_by(&signer().verifier()), Ok(false));
}

#[test]
fn tr_6_a_second_form_of_a_signature_is_none() {
    // S + L is the same signature for a verifier that reduces S; RFC 8032 forbids it.
    const ORDER: [u8; 32] = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ];
    let line = signed(7).signatures()[0].to_string();
    let (name, signature) = line.rsplit_once(' ').unwrap();
    let mut bytes = super::from_base64(signature);
    let mut carry = 0;
    for (byte, order) in bytes[36..].iter_mut().zip(ORDER) {
        let sum = u16::from(*byte) + u16::from(order) + carry;
        *byte = sum.to_le_bytes()[0];
        carry = sum >> 8;
    }
    let second = format!("{name} {}", super::to_base64(&bytes)).parse().unwrap();
    let note = SignedNote::new(signed(7).text().into(), vec![second]).unwrap();
    assert!(note.is_signed_by(&signer().verifier().for_origin(ORIGIN)).is_err());
}

#[test]
fn tr_5_a_checkpoint_has_three_lines() {
    let text = signed(7).text().to_owned();
    assert_eq!(text.parse::<Checkpoint>().map(|checkpoint| checkpoint.to_string()), Ok(text.clone()));
    for wrong in [
        format!("{text}extension\n"),
        text.replace("\n7\n", "\n07\n"),
        text.replace("\n7\n", "\n+7\n"),
        text.replace("\n7\n", "\n-7\n"),
        text.replace("\n7\n", "\n18446744073709551616\n"),
        text.replace("games.example", "games example"),
        text.replace("=\n", "\n"),
        text.trim_end().to_owned(),
        text.split_inclusive('\n').take(2).collect(),
    ] {
        assert!(wrong.parse::<Checkpoint>().is_err(), "{wrong}");
    }
}

#[test]
fn tr_16_a_cosignature_is_of_one_witness_at_a_time_that_exists() {
    let (note, key) = (signed(7), witness().verifier());
    let cosign = |key: &PrivateKey, time| SignatureLine::cosign(key, signed(7).text(), time);
    let with = |line: SignatureLine| note.clone().with([line]).unwrap().cosigned_by(&key);
    assert_eq!(with(cosign(&witness(), i64::MAX.unsigned_abs())), Ok(Some(i64::MAX.unsigned_abs())));
    assert!(with(cosign(&witness(), 1 << 63)).is_err(), "a time of 2^63");
    assert_eq!(cosign(&witness(), 1 << 63).cosignature(), None);
    // By a witness with the name of the log, and by a signing key with the name of the witness.
    let log_name = PrivateKey::of_seed(signer().name().clone(), KeyKind::Witness, &seed(0x20));
    assert_eq!(with(cosign(&log_name, 5)), Ok(None));
    let signing = PrivateKey::of_seed(witness().name().clone(), KeyKind::Signer, &seed(0x20));
    assert_eq!(with(cosign(&signing, 5)), Ok(None));
    assert_eq!(with(SignatureLine::sign(&signing, "witness.example/w", note.text())), Ok(None));
    // The latest of several times counts, and a signing key is not a witness.
    let twice = note.clone().with([cosign(&witness(), 5), cosign(&witness(), 7)]).unwrap();
    assert_eq!(twice.cosigned_by(&key), Ok(Some(7)));
    assert_eq!(twice.cosigned_by(&signer().verifier().for_origin(ORIGIN)), Ok(None));
    assert_eq!(twice.is_signed_by(&key), Ok(false));
    // Of another tree.
    let other = SignatureLine::cosign(&witness(), signed(4).text(), 5);
    assert!(with(other).is_err());
}

#[test]
fn tr_13_and_tr_14_proofs_are_files_that_read_back() {
    let mut builder = ProofBuilder::inclusion(5, 7).unwrap();
    leaves(7).for_each(|leaf| builder.push(leaf));
    let (record, hashes, note) = (b"leaf 5".to_vec(), builder.hashes(), signed(7));
    let proof = InclusionProof { record, index: 5, hashes, note };
    let text = proof.to_string();
    assert!(text.starts_with("c2sp.org/tlog-proof@v1\nextra bGVhZiA1\nindex 5\ngxFfiUeV"), "{text}");
    assert_eq!(InclusionProof::read(text.as_bytes()).as_ref(), Ok(&proof));
    assert_eq!(proof.checkpoint().map(|checkpoint| checkpoint.size), Ok(7));
    for (index, record) in [(4, b"leaf 5"), (5, b"leaf 6")] {
        let wrong = InclusionProof { record: record.to_vec(), index, ..proof.clone() };
        assert!(wrong.checkpoint().is_err());
    }
    for wrong in [
        text.replace("@v1", "@v2"),
        text.replace("index 5", "index 05"),
        text.replace("extra ", ""),
        text.replace("gxFf", "gx+f "),
        text.replacen("\n\n", "\n", 1),
        text.replacen('\n', "\r\n", 1),
    ] {
        assert!(InclusionProof::read(wrong.as_bytes()).is_err(), "{wrong}");
    }

    let mut builder = ProofBuilder::consistency(4, 7).unwrap();
    leaves(7).for_each(|leaf| builder.push(leaf));
    let request = ConsistencyRequest { old: 4, hashes: builder.hashes(), note: signed(7) };
    let text = request.to_string();
    assert!(
        text.starts_with("old 4\nAVcbVXvHBnJlDUZ8e62DN+CafzVKcgUfI7Q6eCwPSOY=\n\ngames.example/"),
        "{text}"
    );
    assert_eq!(ConsistencyRequest::read(text.as_bytes()), Ok(request));
    let many = text.replacen(
        "\n\n",
        &format!("\n{}\n", "AVcbVXvHBnJlDUZ8e62DN+CafzVKcgUfI7Q6eCwPSOY=\n".repeat(64)),
        1,
    );
    for wrong in [many, text.replace("old 4", "old"), text.replace("old", "older")] {
        assert!(ConsistencyRequest::read(wrong.as_bytes()).is_err(), "{wrong}");
    }
}
