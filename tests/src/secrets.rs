//! Games with a secret, and a viewer who may not know it. The viewer must get the same bytes whatever the secret.
//! `it/cli/concealment.rs` compares the output of the verbs, and `system/serve/secrets.rs` the answers of a service.

pub struct SecretCase {
    /// A seat, or `p8` for spectators.
    pub viewer: &'static str,
    pub ruleset: &'static str,
    /// The setup, in which SECRET stands for the secret. Empty for the ford.
    pub setup: &'static str,
    pub before: &'static [&'static str],
    /// The secrets: commands, or values for the setup.
    pub secrets: &'static [&'static [&'static str]],
    /// Commands appended together with the secret, and commands after it.
    pub end: &'static [&'static str],
    pub after: &'static [&'static str],
    /// Commands of the viewer.
    pub own: [&'static str; 2],
    pub question: &'static str,
    /// A field of the view with a value that it gets.
    pub field: [&'static str; 2],
    pub secret_field: &'static str,
}

impl SecretCase {
    /// Returns `true` if the secret is in the setup.
    pub fn is_in_setup(&self) -> bool {
        !self.setup.is_empty()
    }

    /// Returns the setup with a secret, unless it is the ford.
    pub fn setup_with(&self, secret: &[&str]) -> Option<String> {
        self.is_in_setup().then(|| self.setup.replace("SECRET", secret[0]))
    }
}

/// Plans of different lengths, including the empty plan.
const PLANS_OF_P1: &[&[&str]] = &[
    &[],
    &["p1: tap 0,1", "p1: tap 0,0"],
    &["p1: back", "p1: back", "p1: tap 3,3", "p1: tap 0,1", "p1: tap 0,0", "p1: tap 0,0", "p1: back"],
    &["p1: tap 0,2", "p1: tap 0,2", "p1: tap 0,1", "p1: tap 0,0"],
    &["p1: tap 0,1", "p1: tap 0,0", "p1: tap 0,0", "p1: tap 0,1", "p1: tap 0,2", "p1: tap 1,1"],
];
const PLANS_OF_P2: &[&[&str]] = &[
    &[],
    &["p2: tap 0,-2", "p2: tap -1,-1", "p2: tap -1,-1", "p2: tap -2,0"],
    &["p2: tap 0,-1", "p2: tap 0,0", "p2: tap 0,0", "p2: tap 0,-1", "p2: tap 0,-1"],
    &["p2: tap 1,-2", "p2: tap 1,-2", "p2: tap 0,-1", "p2: tap 0,0"],
    &["p2: back", "p2: back", "p2: tap 3,3", "p2: tap 1,-2"],
];

/// CT-19: p2 plans while the plan of p1 is secret.
const BEHIND_P1: SecretCase = SecretCase {
    viewer: "p2",
    ruleset: "cycletap",
    setup: "",
    before: &[],
    secrets: PLANS_OF_P1,
    end: &["p1: switch"],
    after: &["p2: tap 1,-2", "p2: tap 1,-3"],
    own: ["tap 0,-2", "tap -1,-1"],
    question: "suggest 0,0",
    field: ["/planning", "p2"],
    secret_field: "/pools/p1/used",
};

/// CH-18: a player knows the seen part of the plenitude; here that is purple.
const PLENITUDE: SecretCase = SecretCase {
    viewer: "p1",
    ruleset: "channel",
    setup: r#"players = 2
plenitude = { purple = 2, SECRET }
[[boards]]
tokens = "b1b2b3b4b5"
known = ["purple", "blue", "red"]
[[boards]]
tokens = "b1b2b3b4b5"
known = ["green"]
[[energies]]
id = 1
color = "red"
at = "bag"
"#,
    before: &["p1: meditate purple", "p2: meditate red"],
    secrets: &[
        &["darkblue = 4, blue = 2, green = 3, yellow = 1, orange = 1, red = 3"],
        &["darkblue = 1, blue = 2, green = 4, yellow = 2, orange = 2, red = 3"],
        &["darkblue = 2, blue = 2, green = 1, yellow = 3, orange = 3, red = 3"],
        &["darkblue = 3, blue = 2, green = 2, yellow = 4, orange = 4, red = 3"],
        &["darkblue = 4, blue = 2, green = 4, yellow = 4, orange = 4, red = 3"],
    ],
    end: &[],
    after: &[],
    own: ["meditate blue", "meditate red"],
    question: "possible 1",
    field: ["/active", "p2"],
    secret_field: "/plenitude",
};

pub const CASES: &[SecretCase] = &[
    BEHIND_P1,
    SecretCase { viewer: "p8", ..BEHIND_P1 },
    // In the second turn; p2 waits.
    SecretCase {
        before: &["p1: tap 0,1", "p1: switch", "p2: tap 0,-1", "p2: tap 0,-1", "p2: switch", "host: resolve"],
        end: &["p1: back"],
        after: &[],
        ..BEHIND_P1
    },
    SecretCase {
        viewer: "p1",
        before: &["p1: tap 0,1", "p1: tap 0,0", "p1: switch"],
        secrets: PLANS_OF_P2,
        end: &["p2: back"],
        after: &[],
        ..BEHIND_P1
    },
    PLENITUDE,
    // CH-18: the order of the bag.
    SecretCase {
        setup: r#"players = 2
SECRET
[[boards]]
tokens = "b1b2b3b4b5"
known = ["red"]
[[boards]]
tokens = "b1b2b3b4b5"
known = ["red"]
"#,
        before: &["p1: meditate red", "p2: meditate red"],
        secrets: BAGS,
        own: ["meditate red", "meditate red"],
        question: "possible 4",
        ..PLENITUDE
    },
];

/// Energies in another order, with another plenitude of purple.
const BAGS: &[&[&str]] = &[
    &[r#"plenitude = { purple = 1, darkblue = 2, blue = 2, green = 3, yellow = 1, orange = 1, red = 3 }
energies = [{ id = 4, color = "red", at = "bag" }, { id = 2, color = "blue", at = "bag" }, { id = 7, color = "black", at = "bag" }]"#],
    &[r#"plenitude = { purple = 4, darkblue = 2, blue = 2, green = 3, yellow = 1, orange = 1, red = 3 }
energies = [{ id = 4, color = "blue", at = "bag" }, { id = 2, color = "black", at = "bag" }, { id = 7, color = "red", at = "bag" }]"#],
    &[r#"plenitude = { purple = 2, darkblue = 2, blue = 2, green = 3, yellow = 1, orange = 1, red = 3 }
energies = [{ id = 4, color = "black", at = "bag" }, { id = 2, color = "red", at = "bag" }, { id = 7, color = "blue", at = "bag" }]"#],
];
