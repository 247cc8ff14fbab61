//! The click targets of legal commands are in the picture of the player who gives them, and in the host's.

use std::collections::BTreeSet;

use turnfold_core::picture::{Block, Picture};
use turnfold_core::targets::TargetPart;
use turnfold_core::{Perspective, Seat};

use super::Moment;
use super::law_report::{Law, LawReport};

/// VW-54: every piece, hex and square of a legal command can be clicked.
pub(super) fn check(report: &mut LawReport<'_>, moment: &Moment<'_>) {
    let state = moment.state;
    for command in &moment.tried {
        let now = state.targets(command);
        let first = moment.start.targets(command);
        report.doing(format_args!("`{command}`"));
        report.expect(Law::Clicks, now == first, || format!("first it is {first:?}, then {now:?}"));
    }
    for seat in [Seat::Host].iter().chain(state.players()).copied() {
        let legal = state.legal(seat);
        if legal.is_empty() {
            continue;
        }
        for viewer in BTreeSet::from([Perspective::Seat(seat), Perspective::HOST]) {
            let picture = state.picture(viewer);
            let named = names(&picture);
            let mut boards: Vec<&Block> = picture.blocks.iter().collect();
            boards.retain(|block| matches!(block, Block::Hexes(_) | Block::Grid(_)));
            for command in &legal {
                report.doing(format_args!("{seat} `{command}`"));
                let targets = state.targets(command);
                // A seat that lists its commands also learns their targets.
                report.expect(Law::Clicks, targets == moment.start.targets(command), || {
                    format!("it is {targets:?}, and was another when the match began")
                });
                for part in targets.parts {
                    let is_there = is_shown(&part, seat, &named, &boards);
                    report.expect(Law::Targets, is_there, || {
                        format!("the picture of {viewer} has no {part:?}")
                    });
                }
            }
        }
    }
}

/// Returns `true` if a part of a command can be clicked; `names` and `boards` are those of the picture.
fn is_shown(part: &TargetPart, seat: Seat, names: &BTreeSet<&str>, boards: &[&Block]) -> bool {
    match part {
        TargetPart::Word(_) => true,
        TargetPart::Piece { piece } => {
            names.contains(piece.as_str()) || names.contains(format!("{seat} {piece}").as_str())
        }
        TargetPart::Hex(number, hex) => match boards.get(usize::from(*number)) {
            Some(Block::Hexes(board)) => board.board.contains(*hex),
            _ => false,
        },
        TargetPart::Square(number, square) => match boards.get(usize::from(*number)) {
            Some(Block::Grid(board)) => board.board.contains(*square),
            _ => false,
        },
    }
}

fn names(picture: &Picture) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for block in &picture.blocks {
        match block {
            Block::Hexes(board) => {
                for (_, name) in &board.targets {
                    names.insert(name.as_str());
                }
            }
            Block::Rows(rows) => {
                for row in rows {
                    names.insert(row.target.as_str());
                    names.extend(row.pieces.iter().map(|piece| piece.target.as_str()));
                }
            }
            Block::Bars(bars) => {
                for bar in bars {
                    names.insert(bar.target.as_str());
                    names.extend(bar.chips.iter().map(|chip| chip.target.as_str()));
                }
            }
            Block::Grid(_) | Block::Lines(_) => {}
        }
    }
    names
}
