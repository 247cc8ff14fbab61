//! Policies: whose signatures count, how many cosignatures suffice, and which lines are refused (TR-17, TR-25).

use turnfold_core::trust::{KeyKind, PrivateKey, SignatureLine, SignedNote, TrustPolicy};

use super::vectors::{ORIGIN, VKEY, seed, signed, signer};

fn witness(number: u8) -> PrivateKey {
    PrivateKey::of_seed(format!("w{number}.example").parse().unwrap(), KeyKind::Witness, &seed(100 + number))
}

fn witnesses(count: u8) -> String {
    (1..=count)
        .map(|number| format!("witness w{number} {}\n", witness(number).verifier()))
        .collect::<Vec<_>>()
        .concat()
}

fn cosigned(by: &[u8]) -> SignedNote {
    let lines = by
        .iter()
        .zip(1..)
        .map(|(number, time)| SignatureLine::cosign(&witness(*number), signed(7).text(), time));
    signed(7).with(lines).unwrap()
}

#[test]
fn tr_25_quorums_count_each_witness_once() {
    let three = witnesses(3);
    for (quorum, by, is_met) in [
        ("quorum none\n", &[][..], true),
        ("quorum w1\n", &[][..], false),
        ("quorum w1\n", &[2, 3], false),
        ("quorum w1\n", &[1], true),
        ("group g 2 w1 w2 w3\nquorum g\n", &[1, 3], true),
        ("group g 2 w1 w2 w3\nquorum g\n", &[1, 1], false),
        ("group g any w1 w2 w3\nquorum g\n", &[2], true),
        ("group g all w1 w2 w3\nquorum g\n", &[1, 2], false),
        ("group g all w1 w2 w3\nquorum g\n", &[3, 1, 2], true),
        ("group g any w1 w2\ngroup h all g w3\nquorum h\n", &[2, 3], true),
        ("group g any w1 w2\ngroup h all g w3\nquorum h\n", &[1, 2], false),
        // A single member of a group may be the quorum.
        ("group g any w1 w2\nquorum w1\n", &[1], true),
    ] {
        let policy = TrustPolicy::read(&format!("{three}{quorum}")).unwrap();
        assert_eq!(policy.cosigned(&cosigned(by)).unwrap().is_met, is_met, "{quorum} by {by:?}");
        assert_eq!(policy.has_quorum(), quorum != "quorum none\n");
    }
    let policy = TrustPolicy::read(&format!("{three}quorum w1\n")).unwrap();
    assert_eq!(policy.cosigned(&cosigned(&[3, 1])).unwrap().times, [2, 1], "in the order of the policy");
    let wrong = SignatureLine::cosign(&witness(2), signed(4).text(), 5);
    assert!(policy.cosigned(&signed(7).with([wrong]).unwrap()).is_err(), "a known witness's wrong signature");
}

#[test]
fn tr_17_keys_of_logs_sign_under_the_names_of_what_they_stand_for() {
    let policy =
        TrustPolicy::read(&format!("# ours\n\n \t log\t{VKEY} https://x.example \nquorum none\n")).unwrap();
    assert_eq!(policy.is_signed(&signed(7), ORIGIN), Ok(true));
    assert_eq!(policy.keys_of("games.example/bob/x/main").count(), 0);
    let line = SignatureLine::sign(&signer(), ORIGIN, signed(4).text());
    let wrong = SignedNote::new(signed(7).text().into(), vec![line]).unwrap();
    assert!(policy.is_signed(&wrong, ORIGIN).is_err());
    // The key of a single branch, as `key show FILE REV` prints it.
    let of_line = signer().verifier().for_origin(ORIGIN);
    let policy = TrustPolicy::read(&format!("log {of_line}\nquorum none\n")).unwrap();
    assert_eq!(policy.is_signed(&signed(7), ORIGIN), Ok(true));
}

#[test]
fn tr_17_what_is_wrong_is_named_by_its_line() {
    let (two, log, own) = (witnesses(2), format!("log {VKEY}\n"), witness(1).verifier());
    let many = (0..33).map(|number| {
        let name = format!("n{number}.example").parse().unwrap();
        format!("log {}\n", PrivateKey::of_seed(name, KeyKind::Signer, &seed(number)).verifier())
    });
    let groups = (0..33).map(|number| {
        format!(
            "group g{number} any {}\n",
            match number {
                0 => "w1".into(),
                number => format!("g{}", number - 1),
            }
        )
    });
    for (policy, line, reason) in [
        (String::new(), 1, "expected a line `quorum NAME`"),
        (log.clone(), 2, "expected a line `quorum NAME`"),
        ("quorum none".into(), 1, "expected a line feed"),
        ("quorum none\nquorum none\n".into(), 2, "a second"),
        ("quorum w1\n".into(), 1, "`w1` is not defined above this line"),
        (format!("{two}group g 1 w1 w9\nquorum g\n"), 3, "`w9` is not defined"),
        (format!("{two}group g 3 w1 w2\nquorum g\n"), 3, "expected 1 to 2 members"),
        (format!("{two}group g 0 w1 w2\nquorum g\n"), 3, "found 0"),
        (format!("{two}group g all\nquorum g\n"), 3, "expected 1 to 0"),
        (format!("{two}group g any h\ngroup h any w1\nquorum g\n"), 3, "`h` is not defined"),
        (format!("{two}group g any w1 w1\nquorum g\n"), 3, "`w1` is a member of a group already"),
        (format!("{two}group w1 any w2\nquorum w1\n"), 3, "the name `w1` is taken"),
        (format!("{two}group none any w2\nquorum none\n"), 3, "the name `none` is taken"),
        (format!("{two}group g any none\nquorum g\n"), 3, "`none` is not defined"),
        (format!("{log}{log}quorum none\n"), 2, "listed twice"),
        (format!("{two}witness w3 {own}\nquorum none\n"), 3, "listed twice"),
        (format!("witness a {VKEY}\nquorum none\n"), 1, "another type"),
        (format!("log {own}\nquorum none\n"), 1, "another type"),
        ("log x\nquorum none\n".into(), 1, "expected a verifier key"),
        ("logs x\nquorum none\n".into(), 1, "expected `log KEY`"),
        ("quorum none\r\n".into(), 1, "control characters"),
        (format!("{}quorum none\n", many.collect::<String>()), 33, "at most 32"),
        (format!("{two}{}quorum none\n", groups.collect::<String>()), 35, "at most 32"),
    ] {
        let error = TrustPolicy::read(&policy).expect_err(reason);
        assert_eq!(error.line, line, "{error}");
        assert!(error.to_string().contains(reason), "{error}");
    }
}
