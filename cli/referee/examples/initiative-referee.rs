//! The ruleset `initiative` as a program that is asked over its standard input and output (RF-2).

use turnfold_games::initiative::Initiative;

fn main() -> std::io::Result<()> {
    turnfold_guest::serve::<Initiative>()
}
