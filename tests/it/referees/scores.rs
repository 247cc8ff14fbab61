//! Scores are numbers of any kind, and keep their exact spelling (RF-11).

use snapbox::str;

use super::sandbox;

#[test]
fn rf_11_scores_may_have_fractions() {
    sandbox().check(str![[r#"
$ turnfold --referee "./sums scores" new duel --rules sums
created match duel in `.turnfold` (sums version 1, recorded dice) #bb164dc1e4ba68be
the setup is the example of sums; `turnfold rules sums` explains how to write another for `--setup`
$ turnfold --referee "./sums scores" play duel "add 20" "add 10"
1 p1 add 20 => added number=20; said list=[1,2] words="a b" #d2706c8e56a575bb
2 p2 add 10 => added number=10; said list=[1,2] words="a b" #54daefe323abfa19
$ turnfold --referee "./sums scores" show duel
turn: "p1"
sum: 31

p2 won: p1 0.5, p2 -1 (30)
$ turnfold --referee "./sums scores" matches --long
duel  sums  2 entries, 1 branch  [TIME]  over: p2 won: p1 0.5, p2 -1 (30)
$ turnfold --referee "./sums scores" --format json table groups duel
{"group":"sums 1","matches":1,"over":1,"draws":0,"wins":[{"seat":"p1","wins":0,"of":1,"share":0.0,"low":0.0,"high":0.7934506856227626},{"seat":"p2","wins":1,"of":1,"share":1.0,"low":0.20654931437723745,"high":1.0}],"lengths":{"sum":2,"least":2,"median":2,"most":2},"histogram":[{"from":2,"to":2,"matches":1}],"durations_ms":{"sum":0,"least":0,"median":0,"most":0},"commands":[{"name":"add","count":2}],"outcomes":[{"name":"applied","count":2}],"reasons":[]}

"#]]);
}
