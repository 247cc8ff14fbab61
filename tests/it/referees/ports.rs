//! Ports: a referee that claims to be a game of this build is compared with the game, log by log (RF-20).

use std::fs;

use snapbox::str;
use turnfold_tests::sandbox::workspace;

use super::sandbox;

/// RF-20: a port reproduces every golden log. The report about a port with a wrong rule names the log and the entry.
#[test]
fn rf_20_a_port_is_compared_with_the_game_that_it_claims_to_be() {
    let sandbox = sandbox();
    fs::create_dir(sandbox.path("logs")).unwrap();
    for log in ["action-points", "death-of-the-target", "ignored"] {
        let file = format!("{log}.tfl");
        fs::copy(workspace().join("replays/lifecycle").join(&file), sandbox.path("logs").join(&file))
            .unwrap();
    }
    sandbox.check(str![[r#"
$ turnfold --referee "./sums port lifecycle" game impact logs --rules referee:lifecycle
lifecycle version 1: 3 of 3 logs fold the same (50 entries)
in all, 3 of 3 logs fold the same (50 entries)
the port is the referee `./sums port lifecycle`; outcomes, effects and views are compared, hashes are not
$ turnfold --referee "lifecycle=./sums port lifecycle damage" game impact logs --rules referee:lifecycle
lifecycle version 1: 1 of 3 logs fold the same, 2 differ (50 entries)
effect damaged differs: 2 logs of lifecycle version 1
  logs/death-of-the-target.tfl: entry 4 (p1 skill mercy guard), /effects/1/hp 0 → 1
  logs/ignored.tfl: entry 14 (p1 attack rat), /effects/0/hp 0 → 1
in all, 1 of 3 logs fold the same, 2 differ (50 entries)
the port is the referee `./sums port lifecycle damage`; outcomes, effects and views are compared, hashes are not
exit 1
$ turnfold --referee "./sums port lifecycle attack" game impact logs --rules referee:lifecycle
lifecycle version 1: 1 of 3 logs fold the same, 2 differ (50 entries)
ignored bad_target → rejected wrong_seat: 1 log of lifecycle version 1
  logs/death-of-the-target.tfl: entry 6 (p1 attack guard)
ignored unknown_unit → rejected wrong_seat: 1 log of lifecycle version 1
  logs/ignored.tfl: entry 10 (p1 attack nobody)
in all, 1 of 3 logs fold the same, 2 differ (50 entries)
the port is the referee `./sums port lifecycle attack`; outcomes, effects and views are compared, hashes are not
exit 1
$ turnfold --referee "./sums port lifecycle time" game impact logs --rules referee:lifecycle
lifecycle version 1: 1 of 3 logs fold the same, 2 differ (50 entries)
same outcomes, another view: /global_time: 2 logs of lifecycle version 1
  logs/death-of-the-target.tfl: entry 1 (host advance), /global_time 1 → 0
  logs/ignored.tfl: entry 23 (host advance), /global_time 20 → 0
in all, 1 of 3 logs fold the same, 2 differ (50 entries)
the port is the referee `./sums port lifecycle time`; outcomes, effects and views are compared, hashes are not
exit 1
$ turnfold --referee "./sums port lifecycle damage" --format json game impact logs/ignored.tfl --rules referee:lifecycle
{"compared":"port","referee":"./sums port lifecycle damage","logs":1,"same":0,"differ":1,"unreadable":0,"entries":26,"rulesets":[{"ruleset":"lifecycle","version":1,"build_version":1,"logs":1,"same":0,"differ":1,"unreadable":0,"entries":26}],"groups":[{"ruleset":"lifecycle","version":1,"cause":"effect damaged differs","reason":null,"rules":[],"logs":[{"log":"logs/ignored.tfl","seq":14,"attempt":false,"seat":"p1","command":"attack rat","old":"damaged unit=rat amount=4 hp=0; died unit=rat","new":"damaged amount=4 hp=1 unit=rat; died unit=rat","field":{"path":"/effects/0/hp","old":0,"new":1}}]}],"unreadable_logs":[]}
exit 1
$ turnfold --referee "./sums port lifecycle" game impact logs
unreadable
  logs/action-points.tfl:3:11: the referee of `lifecycle`: `./sums port lifecycle` has the name of a ruleset that is built in; `game impact` compares the two
  logs/death-of-the-target.tfl:3:11: the referee of `lifecycle`: `./sums port lifecycle` has the name of a ruleset that is built in; `game impact` compares the two
  logs/ignored.tfl:3:11: the referee of `lifecycle`: `./sums port lifecycle` has the name of a ruleset that is built in; `game impact` compares the two
in all, 0 of 3 logs fold the same, 3 unreadable (0 entries)
exit 1
$ turnfold game impact logs --rules referee:lifecycle
exit 2| error: no referee is named for `lifecycle`; name one with `--referee 'lifecycle=COMMAND'`
$ turnfold --referee ./sums game impact logs --rules referee:lifecycle
exit 2| error: no referee is named for `lifecycle`; name one with `--referee 'lifecycle=COMMAND'`
$ turnfold --referee ./sums game impact logs --rules referee:sums
exit 2| error: no game `sums` is built in, so there is nothing to compare with; `turnfold game list` lists the games
$ turnfold --referee lifecycle=./sums game impact logs --rules referee:lifecycle
exit 2| error: the referee of `lifecycle`: `./sums` is a referee of `sums`, not of `lifecycle`

"#]]);
}

/// RF-20: a port of a game with dice receives rolls as `roll`, and stored matches are compared like golden logs.
#[test]
fn rf_20_a_port_of_a_game_with_dice_keeps_all_golden_logs() {
    let sandbox = sandbox();
    for game in ["cycletap", "hexcapture"] {
        let logs = workspace().join("replays").join(game);
        let line =
            format!("--referee \"./sums port {game}\" game impact {} --rules referee:{game}", logs.display());
        let printed = sandbox.ok(&line);
        assert!(printed.contains("the same"), "{printed}");
    }
}
