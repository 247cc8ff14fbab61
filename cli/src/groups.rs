//! The verbs in groups, as help and manual pages list them.

/// The verbs by what they are for.
pub(crate) const GROUPS: [(&str, &[&str]); 8] = [
    ("Play", &["new", "play", "run", "show", "legal", "ask", "rules"]),
    ("Matches in the store", &["matches", "branches", "log", "replay", "rename", "delete"]),
    ("Branch and compare", &["branch", "amend", "diff", "bisect", "blame", "shrink"]),
    ("Files and golden logs", &["export", "import", "bless", "check", "impact"]),
    ("Prove and maintain", &["verify", "store", "selftest", "perft", "simulate"]),
    ("Sign and audit", &["key", "sign", "prove", "cosign", "bundle", "audit"]),
    ("Play over a network and by mail", &["serve", "join", "mail"]),
    ("Get to know turnfold", &["tour", "completions", "man", "help"]),
];
