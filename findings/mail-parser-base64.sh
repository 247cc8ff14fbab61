#!/bin/sh
# mail-parser drops the last bytes of base64 without padding, and makes replacement signs of GB 2312, and flags neither.
#
# RFC 2045 pads base64 with `=`, and not every program does. The last one or two bytes are then missing from the body, and
# `is_encoding_problem` is false: an amount or a coordinate at the end of a mail becomes another valid one. A charset of China,
# Japan or Korea becomes U+FFFD unless the feature `full_encoding` is on, again without a flag.
#
# mail-parser 0.11.9, Rust 1.95: `click 0,10` in base64 without its `==` is read as `click 0,1`, is_encoding_problem=false.
# Exits with 1 once that changes.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/src"
cat > "$dir/src/main.rs" <<'RUST'
use mail_parser::MessageParser;

fn main() {
    let base64 = b"Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\nY2xpY2sgMCwxMA\r\n";
    let chinese = b"Content-Type: text/plain; charset=gb2312\r\n\r\n\xc4\xe3\xba\xc3\r\n";
    for mail in [base64.as_slice(), chinese] {
        let read = MessageParser::default().parse(mail).unwrap();
        let text = read.body_text(0).unwrap();
        println!("{} is_encoding_problem={}", text.trim_end(), read.parts[0].is_encoding_problem);
    }
}
RUST
printf '[package]\nname = "finding"\nversion = "0.1.0"\nedition = "2024"\n[dependencies]\nmail-parser = { version = "=0.11.9", default-features = false }\n' > "$dir/Cargo.toml"
found=$(CARGO_TARGET_DIR="$dir/target" cargo run --quiet --manifest-path "$dir/Cargo.toml")
echo "$found"
[ "$(echo "$found" | head -n 1)" = "click 0,1 is_encoding_problem=false" ]
echo "$found" | tail -n 1 | grep -q "$(printf '\357\277\275').* is_encoding_problem=false"
