#!/bin/sh
# serde_json reads one decimal in eleven as the double next to it, unless its feature `float_roundtrip` is on.
#
# JSON that another program wrote from a double, with the fewest digits that mean it, comes back as another double: parsed
# and printed again it is another text. Whoever compares, hashes or counts such values sees differences that nobody made.
#
# serde_json 1.0.149, Rust 1.95: `99.37135890470127` is printed as `99.37135890470128`, and 9,222 of 100,000 random doubles
# in 0..100 come back as another. With `float_roundtrip` none does. Exits with 1 once that changes.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/src"
cat > "$dir/src/main.rs" <<'RUST'
fn main() {
    let mut seed: u64 = 88172645463325252;
    let (mut changed, count) = (0, 100_000);
    for _ in 0..count {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        let number = (seed >> 11) as f64 / (1_u64 << 53) as f64 * 100.0;
        let read: serde_json::Value = serde_json::from_str(&number.to_string()).unwrap();
        changed += u32::from(read.as_f64() != Some(number));
    }
    let one: serde_json::Value = serde_json::from_str("99.37135890470127").unwrap();
    println!("99.37135890470127 -> {one}; {changed} of {count} changed");
}
RUST
run() {
    printf '[package]\nname = "finding"\nversion = "0.1.0"\nedition = "2024"\n[dependencies]\nserde_json = { version = "=1.0.149", features = [%s] }\n' "$1" > "$dir/Cargo.toml"
    CARGO_TARGET_DIR="$dir/target" cargo run --quiet --manifest-path "$dir/Cargo.toml"
}
plain=$(run '')
exact=$(run '"float_roundtrip"')
echo "default:         $plain"
echo "float_roundtrip: $exact"
[ "$plain" = "99.37135890470127 -> 99.37135890470128; 9222 of 100000 changed" ]
[ "$exact" = "99.37135890470127 -> 99.37135890470127; 0 of 100000 changed" ]
