//! CH-1 and CH-18: the deal of a seed, and the order of the bag, which no player sees.

use turnfold_core::Seat;
use turnfold_core::dice::DiceStream;

use super::{Table, start, view};

/// Fisher–Yates as in the ruling.
fn shuffle<T>(stream: &mut DiceStream, items: &mut [T]) {
    for last in (1..items.len()).rev() {
        let drawn = stream.draw(0, i32::try_from(last).unwrap());
        items.swap(last, usize::try_from(drawn).unwrap());
    }
}

#[test]
fn ch_1_a_seed_deals_energies_then_plenitude_then_what_is_known() {
    const COLORS: [&str; 9] =
        ["purple", "darkblue", "blue", "green", "yellow", "orange", "red", "black", "white"];
    for (players, yinyang, seed) in
        [(1, false, 0), (2, false, 7), (4, true, i64::MAX.unsigned_abs()), (3, true, 1)]
    {
        let state = start(&format!("players = {players}\nyinyang = {yinyang}\nseed = {seed}"));
        let mut stream = DiceStream::for_setup(seed);
        let colors = &COLORS[..if yinyang { 9 } else { 8 }];
        let mut dealt: Vec<&str> = colors.iter().flat_map(|color| vec![*color; 3 * players]).collect();
        shuffle(&mut stream, &mut dealt);
        let mut plenitude = [1, 1, 2, 2, 3, 3, 4, 4];
        shuffle(&mut stream, &mut plenitude);
        let view = view(&*state, Seat::Host);
        assert_eq!(view["maya"], serde_json::json!([[1, 2, 3], [4, 5, 6], [7, 8, 9]]));
        for (id, color) in (1..=9).zip(&dealt) {
            assert_eq!(view["energies"][id.to_string()], *color, "energy {id} of seed {seed}");
        }
        assert_eq!(view["bag"]["total"], dealt.len() - 9);
        for (color, value) in colors.iter().zip(&plenitude).take(7) {
            assert_eq!(view["plenitude"][*color], *value, "{color} of seed {seed}");
        }
        for player in view["players"].as_array().unwrap() {
            let known = COLORS[usize::try_from(stream.draw(0, 6)).unwrap()];
            let known_colors =
                player["known"].as_object().unwrap().iter().filter(|(_, value)| !value.is_null());
            assert_eq!(known_colors.map(|(color, _)| color.as_str()).collect::<Vec<_>>(), [known]);
            assert_eq!(player["tokens"], "b1b2b3b4b5");
        }
    }
}

#[test]
fn ch_18_no_seat_sees_the_order_of_the_bag() {
    let with_bag = |bag: &str| Table::alone("b1b2b3b4b5", "1 red maya 1 1").energies(bag).start();
    let (one, other) = (with_bag("2 red bag, 3 blue bag"), with_bag("2 blue bag, 9 red bag"));
    for seat in Seat::ALL {
        assert_eq!(one.view(seat.into()), other.view(seat.into()), "{seat}");
        assert_eq!(one.picture(seat.into()), other.picture(seat.into()), "{seat}");
        assert_eq!(one.legal(seat), other.legal(seat), "{seat}");
    }
}
