//! Names, key files and verifier keys: their canonical form, and what is refused (TR-6, TR-7, TR-9).

use turnfold_core::trust::{BranchOrigin, KeyName, PrivateKey, VerifierKey};

use super::vectors::{KEY_FILE, ORIGIN, VKEY, signer, witness};

#[test]
fn tr_7_names_are_parts_joined_by_slashes() {
    for name in ["a", "0", "games.example/ann", "a-b_c.d/e/f", &"x".repeat(100)] {
        assert_eq!(name.parse::<KeyName>().map(|name| name.to_string()), Ok(name.into()));
    }
    for name in ["", "/a", "a/", "a//b", ".a", "a/-b", "A", "a b", "a+b", "é", &"x".repeat(101)] {
        assert!(name.parse::<KeyName>().is_err(), "{name}");
    }
}

#[test]
fn tr_9_a_key_file_has_one_form() {
    for key in [signer(), witness()] {
        let read = PrivateKey::read(&key.to_file()).unwrap();
        assert_eq!((read.to_file(), read.kind(), read.name()), (key.to_file(), key.kind(), key.name()));
    }
    let line = KEY_FILE.trim_end();
    let wrong = [
        line.to_owned(),
        format!("{line}\r\n"),
        format!("{line}\n\n"),
        KEY_FILE.replace("f74b7821", "f74b7822"),
        KEY_FILE.replace("f74b7821", "F74B7821"),
        KEY_FILE.replace("ann", "bob"),
        KEY_FILE.replace("+AQAB", "+AgAB"),
        KEY_FILE.replace("+AQAB", "+BAAB"),
        KEY_FILE.replace("HR4f", "HR4g"),
        KEY_FILE.replace("HR4f", "HR4fAA=="),
        KEY_FILE.replace("games.example/ann", "Games"),
        KEY_FILE.replace("PRIVATE", "private"),
        String::new(),
    ];
    for file in wrong {
        let error = PrivateKey::read(&file).unwrap_err().to_string();
        assert!(!error.contains("AQAB"), "the key is not quoted: {error}");
    }
    assert!(PrivateKey::read(&KEY_FILE.replace("+AQAB", "+AgAB")).unwrap_err().to_string().contains("0x02"));
    assert!(!format!("{:?}", signer()).contains("secret"));
}

#[test]
fn tr_6_a_verifier_key_has_one_form_and_is_no_weak_key() {
    let key: VerifierKey = VKEY.parse().unwrap();
    assert_eq!(key.to_string(), VKEY);
    let witness = witness().verifier().to_string();
    assert_eq!(witness.parse::<VerifierKey>().map(|key| key.to_string()), Ok(witness));
    let wrong = [
        String::new(),
        VKEY.replace("f74b7821", "f74b7820"),
        VKEY.replace("+AQOh", "+AgOh"),
        VKEY.replace("games", "g ames"),
        VKEY.replace("games.example/ann", ""),
        format!("{VKEY}="),
        format!("{VKEY}\n"),
        // The identity, a point of small order, with its correct key id.
        "a+0f2b9a0b+AQEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA".to_owned(),
    ];
    for text in wrong {
        assert!(text.parse::<VerifierKey>().is_err(), "{text}");
    }
}

#[test]
fn tr_17_a_key_stands_for_its_name_and_for_the_lines_of_matches_exactly_under_it() {
    let key: VerifierKey = VKEY.parse().unwrap();
    let id = "5f0c9d3e1a2b4c6d8e9f0a1b2c3d4e5f";
    for origin in ["games.example/ann", ORIGIN, &format!("games.example/ann/{id}/flank-2")] {
        assert!(key.stands_for(origin), "{origin}");
    }
    let line = format!("{id}/main");
    for origin in [
        "games.example/anna",
        "games.example",
        "x/games.example/ann",
        "",
        "games.example/ann/x",
        "games.example/ann/x/y",
        // A key of the same seed with a longer name is another log.
        &format!("games.example/ann/b/{line}"),
        &format!("games.example/ann/{line}/{line}"),
        &format!("games.example/anna/{line}"),
        &format!("games.example/{line}"),
        &format!("games.example/ann/{}/main", id.to_uppercase()),
        &format!("games.example/ann/{}/main", &id[1..]),
        &format!("games.example/ann/{id}/"),
        &format!("games.example/ann/{id}/Main"),
        &format!("games.example/ann/{id}"),
    ] {
        assert!(!key.stands_for(origin), "{origin}");
    }
    assert_eq!(
        BranchOrigin::read(ORIGIN),
        Some(BranchOrigin {
            name: "games.example/ann",
            match_id: 0x5f0c_9d3e_1a2b_4c6d_8e9f_0a1b_2c3d_4e5f_u128.to_be_bytes(),
            branch: "main"
        })
    );
}
