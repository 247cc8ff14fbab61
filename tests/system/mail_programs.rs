//! Real mail programs carry one letter each: to a player who answers in a terminal, to an address that is not there, and into
//! the box of a player who is away (PM-90, PM-93). A program that is not here is SKIPPED by its name.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use turnfold_tests::mailbox::Mailbox;

const TERMS: &str = "hosted = []\nplain = [\"p1\", \"p2\"]\nhurry = false\n";
const TO: &str = "--to p1=one@example.org --to p2=two@example.org --to host=host@club.example";

/// Two players without keys at turn 1. The letter to p1 is `letter.eml`, and `mbox` a mailbox with it.
fn begun() -> Mailbox {
    let mailbox = Mailbox::opened("cycletap", "ford.toml", TERMS, TO);
    for (seat, name) in [("p1", "One"), ("p2", "Two")] {
        let letter = mailbox.sandbox.read(&format!(".turnfold/outbox/00000001-{seat}.eml"));
        let code = letter.lines().find_map(|line| line.trim().strip_prefix("code ")).unwrap();
        mailbox.sandbox.write("join.eml", format!("code {code}\njoin {name}\n"));
        mailbox.sandbox.ok("mail take duel join.eml --key host.key");
    }
    mailbox.sandbox.ok("mail run duel --key host.key --at 2025-01-06T12:00:00Z");
    let newest =
        mailbox.letters().into_iter().rfind(|name| name.contains("-p1") && name.len() == 15).unwrap();
    let letter = mailbox.sandbox.read(&format!(".turnfold/outbox/{newest}"));
    mailbox.sandbox.write("letter.eml", &letter);
    let plain = letter.replace('\r', "");
    mailbox.sandbox.write("mbox", format!("From host@club.example Mon Jan  6 12:00:00 2025\n{plain}\n"));
    // A list or a provider that drops this line is why players' programs answer all the same.
    let unmarked: Vec<_> = plain.lines().filter(|line| !line.starts_with("Auto-Submitted")).collect();
    mailbox
        .sandbox
        .write("unmarked.eml", format!("Return-Path: <host@club.example>\n{}\n", unmarked.join("\n")));
    // What stands for `sendmail`.
    mailbox
        .sandbox
        .write("capture", format!("#!/bin/sh\ncat > {}/sent.eml\n", mailbox.sandbox.path("").display()));
    let mode = |name: &str, mode| {
        fs::set_permissions(mailbox.sandbox.path(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("capture", 0o755);
    mode("", 0o777);
    mailbox
}

/// Runs a shell script in the folder of a match. Returns `false`, and says so, where a program that it needs is not here.
#[expect(clippy::print_stderr, reason = "a skipped test reports that")]
fn runs(mailbox: &Mailbox, what: &str, needs: &[&str], script: &str) -> bool {
    let path = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:/usr/lib/dovecot";
    let shell = |script: &str| {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", script])
            .current_dir(mailbox.sandbox.path(""))
            .env("PATH", path)
            .env("TERM", "xterm");
        shell.env("HOME", mailbox.sandbox.path("")).output().unwrap()
    };
    for need in needs {
        let question = match *need {
            "root" => "[ $(id -u) = 0 ]".to_owned(),
            "mounts" => "unshare -m mount --bind capture capture".to_owned(),
            program => format!("command -v {program}"),
        };
        if !shell(&question).status.success() {
            eprintln!("SKIPPED: {what}: there is no {need}");
            return false;
        }
    }
    let output = shell(&script.replace("HERE", &mailbox.sandbox.path("").display().to_string()));
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(mailbox.sandbox.path("sent.eml").exists(), "{what}: {said}");
    true
}

/// Requires the answer to be taken as the order of p1.
fn is_ordered(mailbox: &Mailbox, what: &str) {
    let sent = mailbox.sandbox.read("sent.eml");
    let output = mailbox.sandbox.run("mail take duel sent.eml --key host.key");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && printed.contains("p1 order 1: applied"), "{what}: {printed}\n{sent}");
    let log = mailbox.sandbox.ok("log duel.desk");
    assert!(log.contains(" | play: tap 0,1 | play: switch | "), "{what}: {log}\n{sent}");
}

/// Requires a notice to be noted, and not to be answered.
fn is_noted(mailbox: &Mailbox, what: &str, noted: &str) {
    let sent = mailbox.sandbox.read("sent.eml");
    let letters = mailbox.letters();
    let output = mailbox.sandbox.run("mail take duel sent.eml --key host.key");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let start = format!("sent.eml: noted: p1's {noted}");
    assert!(output.status.success() && printed.starts_with(&start), "{what}: {printed}\n{sent}");
    assert_eq!(mailbox.letters(), letters, "{what}");
    assert!(mailbox.sandbox.ok("mail status duel").contains(&format!("p1's {noted}")), "{what}");
}

const NEOMUTT: &str = r##"
cat > editor <<'END'
#!/bin/sh
{ printf 'Hi host,\n\ntap 0,1\nswitch\n\n'; cat "$1"; } > "$1.new"; mv "$1.new" "$1"
END
chmod +x editor
cat > muttrc <<'END'
set sendmail=HERE/capture editor=HERE/editor from=one@example.org use_from
set autoedit fast_reply include=yes record="" folder=HERE spoolfile=HERE/mbox copy=no
set crypt_use_gpgme=no quit=yes abort_unmodified=no header_cache="" wait_key=no
END
timeout 20 script -qec "neomutt -n -F muttrc -f mbox -e 'push <reply><send-message><quit>'" /dev/null < /dev/null
"##;
const ALPINE: &str = r##"
cat > editor <<'END'
#!/bin/sh
printf '\ntap 0,1\nswitch\n' >> "$1"
END
chmod +x editor
cat > pinerc <<'END'
user-domain=example.org
customized-hdrs=From: one@example.org
sendmail-path=HERE/capture
inbox-path=HERE/mbox
feature-list=enable-alternate-editor-implicitly,enable-alternate-editor-cmd,include-text-in-reply,send-without-confirm,quit-without-confirm,reply-always-uses-reply-to
editor=HERE/editor
last-version-used=6.26
default-fcc=""
END
(sleep 3; for key in r y n '\030' y q y; do printf "$key"; sleep 0.7; done; sleep 2) |
    timeout 25 script -qec "stty rows 40 cols 100; alpine -p HERE/pinerc -i" /dev/null
"##;
const S_NAIL: &str = r##"
printf 'reply 1\ntap 0,1\nswitch\n~m 1\n~.\nxit\n' |
    timeout 20 s-nail -:/ -S mta=HERE/capture -S from=one@example.org -S indentprefix='> ' -#f mbox
"##;

#[test]
fn pm_90_what_a_player_types_in_a_terminal_is_the_order() {
    for (what, needs, script) in [
        ("neomutt", ["neomutt", "script"], NEOMUTT),
        ("alpine", ["alpine", "script"], ALPINE),
        ("s-nail", ["s-nail", "timeout"], S_NAIL),
    ] {
        let mailbox = begun();
        if runs(&mailbox, what, &needs, script) {
            is_ordered(&mailbox, what);
        }
    }
}

const EXIM: &str = r##"
mkdir -p spool box/new box/cur box/tmp && chmod -R 777 spool box
cat > exim.conf <<'END'
primary_hostname = club.example
spool_directory = HERE/spool
log_file_path = HERE/spool/%slog
keep_environment =
begin routers
host:
  driver = accept
  local_parts = host
  transport = box
begin transports
box:
  driver = appendfile
  directory = HERE/box
  maildir_format
  delivery_date_add
  return_path_add
  envelope_to_add
END
chmod 644 exim.conf
timeout 20 exim4 -C HERE/exim.conf -odf -t -f host@club.example < letter.eml
cat box/new/* > sent.eml
"##;
const VACATION: &str = r##"
printf 'Subject: away\n\nI am away until Monday.\n' > message
{ echo 'From host@club.example Mon Jan  6 12:00:00 2025'; cat unmarked.eml; } > arrived
unshare -m sh -c 'mount --bind HERE/capture "$(readlink -f /usr/sbin/sendmail)" &&
    vacation -i -f HERE/known -m HERE/message -r 0 root;
    vacation -f HERE/known -m HERE/message -a one -j root < arrived'
for look in 1 2 3 4 5 6 7 8 9 10; do [ -s sent.eml ] || sleep 1; done
printf 'From: one@example.org\nDate: Mon, 6 Jan 2025 12:05:00 +0000\n' | cat - sent.eml > whole && mv whole sent.eml
"##;
const PIGEONHOLE: &str = r##"
mkdir -p home && chmod 777 home
cat > dovecot.conf <<'END'
base_dir = HERE/run
protocols =
mail_location = maildir:HERE/box
postmaster_address = postmaster@example.org
sendmail_path = HERE/capture
submission_host =
log_path = HERE/dovecot.log
mail_uid = nobody
mail_gid = nogroup
protocol lda {
  mail_plugins = sieve
}
plugin {
  sieve = file:HERE/away.sieve
  sieve_vacation_send_from_recipient = yes
}
END
printf 'require ["vacation"];\nvacation :addresses ["one@example.org"] "I am away.";\n' > away.sieve
chmod 644 dovecot.conf away.sieve
setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=HERE/home USER=nobody \
    dovecot-lda -c HERE/dovecot.conf -f host@club.example -a one@example.org < unmarked.eml
cat dovecot.log
"##;

#[test]
fn pm_93_what_mail_programs_send_by_themselves_is_noted_and_not_answered() {
    for (what, needs, script, noted) in [
        ("exim", &["exim4", "timeout"][..], EXIM, "letter 5 bounced: user unknown"),
        ("vacation", &["vacation", "mounts"], VACATION, "mail program sent a notice of absence"),
        (
            "pigeonhole",
            &["dovecot-lda", "sievec", "setpriv", "root"],
            PIGEONHOLE,
            "mail program sent a notice of absence",
        ),
    ] {
        let mailbox = begun();
        if runs(&mailbox, what, needs, script) {
            is_noted(&mailbox, what, noted);
        }
    }
}

/// Dovecot delivers into the Maildir that the host takes, by names of its own.
#[test]
fn pm_92_orders_that_dovecot_delivers_are_taken_by_the_dates_of_their_mails() {
    let mailbox = begun();
    let code = mailbox.sandbox.read("letter.eml");
    let code = code.lines().find_map(|line| line.trim().strip_prefix("code ")).unwrap().to_owned();
    for (name, second, lines) in [("b", 50, "tap 0,1\nswitch"), ("a", 10, "switch")] {
        let head = format!(
            "From: one@example.org\nDate: Mon, 6 Jan 2025 13:00:{second} +0000\nMessage-ID: <{name}@x>\n"
        );
        mailbox.sandbox.write(&format!("{name}.eml"), format!("{head}\ncode {code}\n{lines}\n"));
    }
    let deliver = r##"
mkdir -p home && chmod 777 home
printf 'base_dir = HERE/run\nprotocols =\nmail_location = maildir:HERE/box\nlog_path = HERE/dovecot.log\n' > dovecot.conf
printf 'postmaster_address = postmaster@example.org\nmail_uid = nobody\nmail_gid = nogroup\n' >> dovecot.conf
chmod 644 dovecot.conf
for mail in b a; do
    setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=HERE/home USER=nobody \
        dovecot-lda -c HERE/dovecot.conf -f one@example.org < $mail.eml
done
cat dovecot.log
cp b.eml sent.eml
"##;
    if !runs(&mailbox, "dovecot", &["dovecot-lda", "setpriv", "root"], deliver) {
        return;
    }
    mailbox.sandbox.ok("mail take duel --maildir box --key host.key");
    let log = mailbox.sandbox.ok("log duel.desk");
    let outcomes: Vec<_> = log.lines().filter(|line| line.contains("paper: order")).collect();
    let applied: Vec<_> = outcomes.iter().filter(|line| line.contains("=> ordered ")).collect();
    assert!(outcomes.len() == 2 && applied.len() == 1 && applied[0].contains("tap 0,1"), "{log}");
}
