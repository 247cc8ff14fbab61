//! Makes arguments simpler using only the text of a command, because this crate knows no ruleset's grammar.

use turnfold_core::AnyRules;

/// Returns simpler commands: first with fewer arguments, then with coordinates nearer to 0,0 and numbers nearer to 0.
///
/// All of them are canonical commands of the ruleset. Each has fewer words, or as many and a smaller sum of its
/// numbers, so repeated simplification ends.
pub(super) fn simpler(rules: &dyn AnyRules, command: &str) -> Vec<String> {
    let words: Vec<&str> = command.split(' ').collect();
    let mut candidates = Vec::new();
    for index in 1..words.len() {
        let mut others = words.clone();
        others.remove(index);
        candidates.push(others.join(" "));
    }
    for (index, word) in words.iter().enumerate().skip(1) {
        for word in simpler_words(word) {
            let mut words = words.clone();
            if let Some(old) = words.get_mut(index) {
                *old = &word;
            }
            candidates.push(words.join(" "));
        }
    }
    let weight_before = weight(command);
    let mut simpler = Vec::new();
    for candidate in candidates {
        if let Ok(text) = rules.canonical(&candidate)
            && weight(&text) < weight_before
        {
            simpler.push(text);
        }
    }
    simpler
}

fn weight(command: &str) -> (usize, u64) {
    let mut words = 0;
    let mut sum = 0_u64;
    for word in command.split(' ') {
        words += 1;
        for number in numbers(word).unwrap_or_default() {
            sum = sum.saturating_add(number.unsigned_abs());
        }
    }
    (words, sum)
}

fn numbers(word: &str) -> Option<Vec<i64>> {
    word.split(',').map(|number| number.parse().ok()).collect()
}

fn joined(numbers: &[i64]) -> String {
    let texts: Vec<_> = numbers.iter().map(ToString::to_string).collect();
    texts.join(",")
}

/// Returns words with smaller numbers: first with all of them 0, then with one of them nearer to 0. These are 0, then
/// numbers that are each half as far from the number as the previous one, down to its neighbor.
fn simpler_words(word: &str) -> Vec<String> {
    let Some(numbers) = numbers(word) else { return Vec::new() };
    let mut simpler = Vec::new();
    if numbers.len() > 1 {
        simpler.push(joined(&vec![0; numbers.len()]));
    }
    for (index, number) in numbers.iter().enumerate() {
        let mut step = *number;
        while step != 0 {
            let mut numbers = numbers.clone();
            if let Some(old) = numbers.get_mut(index) {
                *old = number - step;
            }
            simpler.push(joined(&numbers));
            step /= 2;
        }
    }
    simpler
}

#[cfg(test)]
mod tests {

    use super::*;

    fn check(ruleset: &str, command: &str, expected: &[&str]) {
        assert_eq!(simpler(&*turnfold_games::find(ruleset).unwrap(), command), expected);
    }

    #[test]
    fn numbers_go_to_zero_and_arguments_go() {
        check("hexcapture", "tick 9", &["tick", "tick 5", "tick 7", "tick 8"]);
        check("hexcapture", "tick", &[]);
        check("cycletap", "tap -3,1", &["tap 0,0", "tap 0,1", "tap -2,1", "tap -3,0"]);
        check("cycletap", "tap 0,0", &[]);
        check("lifecycle", "skill venom ogre-2", &["skill ogre-2", "skill venom"]);
        check(
            "channel",
            "take 2 4 1",
            &["take 4 1", "take 2 1", "take 2 4", "take 0 4 1", "take 1 4 1", "take 2 2 1", "take 2 3 1"],
        );
    }

    #[test]
    fn every_step_is_simpler() {
        let rules = turnfold_games::find("initiative").unwrap();
        let mut tried = vec![String::from("roll 6 -5 4 3"), "move 60,-60".into()];
        while let Some(command) = tried.pop() {
            let simpler = simpler(&*rules, &command);
            assert!(simpler.iter().all(|other| weight(other) < weight(&command)), "{command}");
            tried.extend(simpler.into_iter().next());
        }
    }
}
