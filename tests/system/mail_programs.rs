//! Real mail programs each carry a letter (PM-50, PM-53, PM-90, PM-93). Letters go to a player who answers in a
//! terminal, signed or not, over a mailing list, and into the host's mailbox. They also go to a missing address, and to
//! a player who is away. A missing program is reported as SKIPPED by name.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use turnfold_tests::mailbox::Mailbox;
use turnfold_tests::parts::skipped;

const TERMS: &str = "hosted = []\nplain = [\"p1\", \"p2\"]\nhurry = false\n";
const TO: &str = "--to p1=one@example.org --to p2=two@example.org --to host=host@club.example";

/// Returns a match of two players without keys at turn 1. `letter.eml` is the letter to p1, and `mbox` a mailbox with
/// this letter.
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
    // A list or a provider may drop this line. Then the programs of players answer automatically.
    let unmarked: Vec<_> = plain.lines().filter(|line| !line.starts_with("Auto-Submitted")).collect();
    mailbox
        .sandbox
        .write("unmarked.eml", format!("Return-Path: <host@club.example>\n{}\n", unmarked.join("\n")));
    // A substitute for `sendmail`.
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

/// Runs a shell script in the folder of a match. If a required program is missing, reports that and returns `false`.
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
            skipped(what, format_args!("`{need}` is not here"));
            return false;
        }
    }
    let output = shell(&script.replace("HERE", &mailbox.sandbox.path("").display().to_string()));
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(mailbox.sandbox.path("sent.eml").exists(), "{what}: {said}");
    true
}

/// Requires the desk to accept the answer as the order of p1.
fn is_ordered(mailbox: &Mailbox, what: &str) {
    let sent = mailbox.sandbox.read("sent.eml");
    let output = mailbox.sandbox.run("mail take duel sent.eml --key host.key");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && printed.contains("p1 order 1: applied"), "{what}: {printed}\n{sent}");
    let log = mailbox.sandbox.ok("log duel.desk");
    assert!(log.contains(" | play: tap 0,1 | play: switch | "), "{what}: {log}\n{sent}");
}

/// Requires the desk to record a notice without answering it.
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

const NEOMUTT: &str = r#"
cat > editor <<'END'
#!/bin/sh
{ printf 'Hi host,\n\ntap 0,1\nswitch\n\n'; cat "$1"; } > "$1.new"; mv "$1.new" "$1"
END
chmod +x editor
cat > muttrc <<'END'
set sendmail=HERE/capture editor=HERE/editor from=one@example.org use_from
set autoedit fast_reply include=yes record="" folder=HERE spoolfile=HERE/mbox copy=no
set crypt_use_gpgme=no quit=yes abort_unmodified=no header_cache="" wait_key=no reply_to=yes
END
timeout 20 script -qec "neomutt -n -F muttrc -f mbox -e 'push <reply><send-message><quit>'" /dev/null < /dev/null
"#;
const ALPINE: &str = r#"
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
"#;
const S_NAIL: &str = r"
printf 'reply 1\ntap 0,1\nswitch\n~m 1\n~.\nxit\n' |
    timeout 20 s-nail -:/ -S mta=HERE/capture -S from=one@example.org -S indentprefix='> ' -#f mbox
";

const MAILUTILS: &str = r#"
printf 'set sendmail=HERE/capture\nset indentprefix="> "\n' > mailrc
(sleep 1; echo 'reply 1'; sleep 1; printf 'tap 0,1\nswitch\n~m 1\n~.\n'; sleep 1; echo xit; sleep 1) |
    MAILRC=HERE/mailrc timeout 20 script -qec "mail.mailutils -n -E 'source HERE/mailrc' -f mbox" /dev/null
"#;
const EMACS: &str = r#"
cat > reply.el <<'END'
(setq user-mail-address "one@example.org" user-full-name "One" message-signature nil
      rmail-file-name "HERE/RMAIL" rmail-primary-inbox-list '("HERE/mbox") mail-user-agent 'message-user-agent
      message-send-mail-function 'message-send-mail-with-sendmail sendmail-program "HERE/capture")
(require 'rmail)
(require 'message)
(rmail)
(rmail-show-message 1)
(rmail-reply t)
(message-goto-body)
(message-yank-original)
(message-goto-body)
(insert "tap 0,1\nswitch\n\n")
(message-send)
(kill-emacs)
END
timeout 30 script -qec "emacs -nw -Q -l HERE/reply.el" /dev/null < /dev/null
"#;

#[test]
fn pm_90_what_a_player_types_in_a_terminal_is_the_order() {
    for (what, needs, script) in [
        ("neomutt", ["neomutt", "script"], NEOMUTT),
        ("alpine", ["alpine", "script"], ALPINE),
        ("s-nail", ["s-nail", "timeout"], S_NAIL),
        ("mailutils", ["mail.mailutils", "script"], MAILUTILS),
        ("emacs", ["emacs", "script"], EMACS),
    ] {
        let mailbox = begun();
        if runs(&mailbox, what, &needs, script) {
            is_ordered(&mailbox, what);
        }
    }
}

/// The key and the certificate of p1, and a key of the host.
const S_MIME_KEYS: &str = r"
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 30 -subj /CN=One/emailAddress=one@example.org
cat key.pem cert.pem > one.pem
";
const PGP_KEYS: &str = r#"
export GNUPGHOME=HERE/gnupg
mkdir -m 700 gnupg
for who in 'One <one@example.org>' 'Host <host@club.example>'; do
    gpg --batch --quiet --passphrase '' --quick-gen-key "$who" default default never
done
"#;
const S_NAIL_SIGNS: &str = r"
printf 'reply 1\ntap 0,1\nswitch\n~m 1\n~.\nxit\n' |
    timeout 20 s-nail -:/ -S mta=HERE/capture -S from=one@example.org -S indentprefix='> ' -S smime-sign \
        -S smime-sign-cert=HERE/one.pem -S smime-sign-digest=sha256 -#f mbox
";
const OPENSSL: &str = r"
{ grep -o 'code [A-Z0-9-]*' letter.eml | head -n 1; printf 'tap 0,1\nswitch\n'; } > body
openssl smime OPERATION -text -in body -from one@example.org -to host@club.example -subject 'my move' > sent.eml
";
const CLEAR_SIGNED: &str = r"
{ printf 'tap 0,1\nswitch\n-- \nOne\n\nOn Mon, 6 Jan 2025, the host wrote:\n'; sed 's/^/> /' letter.eml | tr -d '\r'; } > body
{ printf 'From: one@example.org\nTo: host@club.example\nSubject: my move\n\n'
  gpg --batch --clearsign -u one@example.org < body; } > sent.eml
gpgconf --kill all
";

/// Returns a script in which neomutt signs or encrypts each mail.
fn neomutt_with_pgp(does: &str) -> String {
    let settings = format!(
        "crypt-hook host@club.example host@club.example\nset crypt_auto{does}=yes pgp_default_key=one@example.org \
         pgp_self_encrypt=no crypt_confirmhook=no\nset crypt_use_gpgme=yes quit=yes"
    );
    let script = NEOMUTT.replace("set crypt_use_gpgme=no quit=yes", &settings);
    script + "gpgconf --kill all\n"
}

#[test]
fn pm_50_signed_answers_are_read_and_hidden_ones_are_refused_in_words() {
    let signs = "-sign -signer cert.pem -inkey key.pem";
    let openssl = |operation: &str| format!("{S_MIME_KEYS}{}", OPENSSL.replace("OPERATION", operation));
    for (what, needs, script, refused) in [
        ("S/MIME by s-nail", &["s-nail", "openssl"][..], format!("{S_MIME_KEYS}{S_NAIL_SIGNS}"), None),
        ("S/MIME by openssl", &["openssl"], openssl(signs), None),
        (
            "S/MIME that wraps the text",
            &["openssl"],
            openssl(&format!("{signs} -nodetach")),
            Some("signed in a form that hides"),
        ),
        (
            "S/MIME that encrypts",
            &["openssl"],
            openssl("-encrypt -aes256").replace(" > sent.eml", " cert.pem > sent.eml"),
            Some("encrypted"),
        ),
        (
            "PGP/MIME by neomutt",
            &["neomutt", "gpg", "script"],
            format!("{PGP_KEYS}{}", neomutt_with_pgp("sign")),
            None,
        ),
        (
            "PGP/MIME that encrypts",
            &["neomutt", "gpg", "script"],
            format!("{PGP_KEYS}{}", neomutt_with_pgp("encrypt")),
            Some("encrypted"),
        ),
        ("gpg --clearsign", &["gpg"], format!("{PGP_KEYS}{CLEAR_SIGNED}"), None),
    ] {
        let mailbox = begun();
        if !runs(&mailbox, what, needs, &script) {
            continue;
        }
        let Some(refused) = refused else {
            is_ordered(&mailbox, what);
            continue;
        };
        let output = mailbox.sandbox.run("mail take duel sent.eml --key host.key");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let letter = printed.lines().find_map(|line| line.strip_prefix("letter "));
        let letter = mailbox.sandbox.read(&format!(".turnfold/outbox/{}", letter.expect(&printed)));
        assert!(letter.contains(&format!("] turn 1: your mail is {refused}")), "{what}: {letter}");
    }
}

/// A script with a server that accepts mails on a port, and keeps the last one.
const SINK: &str = r#"
cat > sink.py <<'END'
import socketserver, sys
class Sink(socketserver.StreamRequestHandler):
    def handle(self):
        say = lambda line: self.wfile.write((line + '\r\n').encode())
        say('220 sink')
        while line := self.rfile.readline():
            word = line.split()[0].upper() if line.split() else b''
            if word == b'DATA':
                say('354 go on')
                mail = b''
                while (line := self.rfile.readline()).strip(b'\r\n') != b'.':
                    mail += line[1:] if line.startswith(b'..') else line
                open('part', 'wb').write(mail.replace(b'\r\n', b'\n'))
            say('221 bye' if word == b'QUIT' else '250 sink')
            if word == b'QUIT':
                return
with socketserver.TCPServer(('127.0.0.1', 0), Sink) as server:
    open('port', 'w').write(str(server.server_address[1]))
    server.serve_forever()
END
python3 sink.py &
trap "kill $!" EXIT
until [ -s port ]; do sleep 0.1; done
"#;
/// A mailing list for the host and a player, with a footer, `Reply-To` and other headers of lists.
const MLMMJ: &str = r#"
mkdir -p list/control && for folder in incoming queue/discarded archive text subconf unsubconf bounce moderation \
    subscribers.d digesters.d requeue nomailsubs.d; do mkdir -p list/$folder; done
cd list/control
echo duel@lists.example > listaddress
echo host@club.example > owner
echo 127.0.0.1 > relayhost
cp ../../port smtpport
: > noarchive
: > tocc
echo 'Reply-To:' > delheaders
printf '[duel-list]' > prefix
printf 'List-Id: <duel.lists.example>\nList-Post: <mailto:duel@lists.example>\nReply-To: duel@lists.example\nPrecedence: list\n' > customheaders
printf '_______________________________________________\nDuel mailing list -- duel@lists.example\nTo leave it, write to duel+unsubscribe@lists.example\n' > footer
cd ../..
echo 0 > list/index
over_list() {
    echo "$1" > list/subscribers.d/h
    { printf "Return-Path: <$2>\nDelivered-To: duel@lists.example\n"; tr -d '\r' < $3; } | /usr/bin/mlmmj-receive -L HERE/list -F
    for look in 1 2 3 4 5 6 7 8 9 10; do [ -s part ] || sleep 1; done
    sleep 1
    mv part $4
}
over_list one@example.org host@club.example letter.eml listed.eml
{ echo 'From host@club.example Mon Jan  6 12:00:00 2025'; cat listed.eml; echo; } > mbox
"#;

#[test]
fn pm_90_an_answer_over_a_mailing_list_is_the_order() {
    for (what, needs, script) in [("neomutt", "neomutt", NEOMUTT), ("alpine", "alpine", ALPINE)] {
        let what = format!("mlmmj and {what}");
        let mailbox = begun();
        let back = "mv sent.eml reply.eml\nover_list host@club.example one@example.org reply.eml sent.eml\n";
        let script = format!("{SINK}{MLMMJ}{script}{back}");
        if runs(&mailbox, &what, &["mlmmj-receive", "python3", "script", needs], &script) {
            is_ordered(&mailbox, &what);
            assert!(mailbox.sandbox.read("sent.eml").contains("\nDuel mailing list -- "), "{what}");
        }
    }
}

/// A mail whose preview in a spam report has the code and the order on one line.
const TYPED: &str = r#"
code=$(grep -o 'code [A-Z0-9-]*' letter.eml | head -n 1)
{ printf 'From: one@example.org\nTo: host@club.example\nSubject: my move\nMessage-ID: <typed@example.org>\n\n'
  printf 'Hello dear host of our game,\nHere is my order for the turn.\n\n%s\ntap 0,1\nswitch\n' "$code"; } > sent.eml
"#;

/// A spam filter processes the letter and the answer. It adds headers to the mail, or wraps an answer that it regards
/// as spam in a report.
#[test]
fn pm_50_an_order_that_a_filter_of_spam_looked_at_is_taken() {
    let there = "spamassassin --local < letter.eml | tr -d '\\r' > checked.eml\n\
                 { echo 'From host@club.example Mon Jan  6 12:00:00 2025'; cat checked.eml; echo; } > mbox\n";
    for (what, needs, mailer) in [
        ("neomutt", ["spamassassin", "neomutt", "script"], NEOMUTT),
        ("s-nail", ["spamassassin", "s-nail", "timeout"], S_NAIL),
        ("a letter of its own", ["spamassassin", "grep", "head"], TYPED),
    ] {
        for (found, options) in [("No", ""), ("Yes", "--cf='required_score -100'")] {
            let what = format!("spamassassin and {what}, spam: {found}");
            let mailbox = begun();
            let back =
                format!("spamassassin --local {options} < sent.eml > back.eml && mv back.eml sent.eml\n");
            if runs(&mailbox, &what, &needs, &format!("{there}{mailer}{back}")) {
                assert!(mailbox.sandbox.read("mbox").contains("\nX-Spam-Status: No"), "{what}");
                let sent = mailbox.sandbox.read("sent.eml");
                assert!(sent.contains(&format!("\nX-Spam-Status: {found}")), "{what}: {sent}");
                is_ordered(&mailbox, &what);
            }
        }
    }
}

const EXIM: &str = r"
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
";
const POSTFIX: &str = r#"
mkdir -p conf queue data box/new box/cur box/tmp && chmod -R 777 box && chmod 755 . conf queue
cat > conf/main.cf <<'END'
compatibility_level = 3.6
queue_directory = HERE/queue
data_directory = HERE/data
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
mail_owner = postfix
setgid_group = postdrop
myhostname = mx.club.example
myorigin = club.example
mydestination =
inet_interfaces = loopback-only
inet_protocols = ipv4
alias_maps =
alias_database =
maillog_file = HERE/queue/maillog
maillog_file_prefixes = HERE
virtual_mailbox_domains = club.example, example.org
virtual_mailbox_base = HERE
virtual_mailbox_maps = inline:{host@club.example=box/}
virtual_uid_maps = static:65534
virtual_gid_maps = static:65534
virtual_minimum_uid = 1
END
cat > conf/master.cf <<'END'
pickup    unix  n - n 1 1 pickup
cleanup   unix  n - n - 0 cleanup
qmgr      unix  n - n 300 1 qmgr
rewrite   unix  - - n - - trivial-rewrite
bounce    unix  - - n - 0 bounce
defer     unix  - - n - 0 bounce
trace     unix  - - n - 0 bounce
error     unix  - - n - - error
retry     unix  - - n - - error
virtual   unix  - n n - - virtual
smtp      unix  - - n - - smtp
showq     unix  n - n - - showq
flush     unix  n - n 1000? 0 flush
postlog   unix-dgram n - n - 1 postlogd
END
chown postfix data
postfix -c HERE/conf start > started 2>&1
sendmail -C HERE/conf -f host@club.example -t < letter.eml
for look in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do [ -n "$(ls box/new)" ] || sleep 1; done
postfix -c HERE/conf stop > stopped 2>&1
cat queue/maillog
cat box/new/* > sent.eml
"#;
const VACATION: &str = r#"
printf 'Subject: away\n\nI am away until Monday.\n' > message
{ echo 'From host@club.example Mon Jan  6 12:00:00 2025'; cat unmarked.eml; } > arrived
unshare -m sh -c 'mount --bind HERE/capture "$(readlink -f /usr/sbin/sendmail)" &&
    vacation -i -f HERE/known -m HERE/message -r 0 root;
    vacation -f HERE/known -m HERE/message -a one -j root < arrived'
for look in 1 2 3 4 5 6 7 8 9 10; do [ -s sent.eml ] || sleep 1; done
printf 'From: one@example.org\nDate: Mon, 6 Jan 2025 12:05:00 +0000\n' | cat - sent.eml > whole && mv whole sent.eml
"#;
const PIGEONHOLE: &str = r#"
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
"#;

#[test]
fn pm_93_what_mail_programs_send_by_themselves_is_noted_and_not_answered() {
    for (what, needs, script, noted) in [
        ("exim", &["exim4", "timeout"][..], EXIM, "letter 5 bounced: user unknown"),
        ("postfix", &["postfix", "root"], POSTFIX, "letter 5 bounced: user unknown"),
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

/// Dovecot delivers into the host's Maildir, with file names of its own.
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
    let deliver = r"
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
";
    if !runs(&mailbox, "dovecot", &["dovecot-lda", "setpriv", "root"], deliver) {
        return;
    }
    mailbox.sandbox.ok("mail take duel --maildir box --key host.key");
    let log = mailbox.sandbox.ok("log duel.desk");
    let outcomes: Vec<_> = log.lines().filter(|line| line.contains("paper: order")).collect();
    let applied: Vec<_> = outcomes.iter().filter(|line| line.contains("=> ordered ")).collect();
    assert!(outcomes.len() == 2 && applied.len() == 1 && applied[0].contains("tap 0,1"), "{log}");
}

/// A dovecot server with one mail, on a separate port.
const IMAP: &str = r#"
mkdir -p imap/new imap/cur imap/tmp box/new box/cur box/tmp home && cp a.eml imap/new/1.mail && chmod -R 777 imap box home
chmod 755 .
PORT=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat > dovecot.conf <<END
base_dir = HERE/run
state_dir = HERE/run
protocols = imap
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
mail_location = maildir:HERE/imap
log_path = HERE/dovecot.log
default_login_user = nobody
default_internal_user = nobody
default_internal_group = nogroup
first_valid_uid = 1
service imap-login {
  chroot =
  inet_listener imap {
    port = $PORT
  }
  inet_listener imaps {
    port = 0
  }
}
service anvil {
  chroot =
}
service stats {
  chroot =
}
passdb {
  driver = static
  args = password=secret
}
userdb {
  driver = static
  args = uid=65534 gid=65534 home=HERE/home
}
END
dovecot -c HERE/dovecot.conf
trap 'kill $(cat run/master.pid)' EXIT
for look in 1 2 3 4 5 6 7 8 9 10; do [ -s run/master.pid ] || sleep 1; done
sleep 1
"#;
const IMAP_ENDS: &str = "cat dovecot.log\ncp a.eml sent.eml\n";
const MBSYNC: &str = r"
cat > mbsyncrc <<END
IMAPAccount club
Host 127.0.0.1
Port $PORT
User host
Pass secret
SSLType None
AuthMechs LOGIN

IMAPStore far
Account club

MaildirStore near
Inbox HERE/box

Channel mail
Far :far:
Near :near:
Sync Pull
SyncState *
END
timeout 20 mbsync -c mbsyncrc mail
";
const GETMAIL: &str = r"
mkdir getmail
cat > getmail/getmailrc <<END
[retriever]
type = SimpleIMAPRetriever
server = 127.0.0.1
port = $PORT
username = host
password = secret
[destination]
type = Maildir
path = HERE/box/
user = nobody
END
timeout 20 getmail --getmaildir=HERE/getmail < /dev/null
";
const FETCHMAIL_AND_PROCMAIL: &str = r#"
printf 'DEFAULT=HERE/box/\n' > procmailrc
printf '#!/bin/sh\nexec procmail -m HERE/procmailrc\n' > deliver
chmod 755 deliver
cat > fetchmailrc <<END
poll 127.0.0.1 protocol imap port $PORT user host password secret mda "HERE/deliver" keep fetchall sslproto ''
END
chmod 600 fetchmailrc
FETCHMAILHOME=HERE timeout 20 fetchmail -f fetchmailrc --pidfile HERE/fetchmail.pid
"#;
const MAILDROP: &str = r#"
mkdir -p box/new box/cur box/tmp
printf 'to "HERE/box/"\n' > mailfilter
chmod 600 mailfilter
chmod 755 .
maildrop HERE/mailfilter < a.eml
cp a.eml sent.eml
"#;

#[test]
fn pm_53_an_order_that_was_fetched_into_the_maildir_is_taken() {
    let imap = |fetch: &str| format!("{IMAP}{fetch}{IMAP_ENDS}");
    for (what, needs, script) in [
        ("mbsync", &["mbsync", "dovecot", "imap-login", "python3", "root"][..], imap(MBSYNC)),
        ("getmail", &["getmail", "dovecot", "imap-login", "python3", "root"], imap(GETMAIL)),
        (
            "fetchmail and procmail",
            &["fetchmail", "procmail", "dovecot", "imap-login", "python3", "root"],
            imap(FETCHMAIL_AND_PROCMAIL),
        ),
        ("maildrop", &["maildrop"], MAILDROP.into()),
    ] {
        let mailbox = begun();
        let letter = mailbox.sandbox.read("letter.eml");
        let code = letter.lines().find_map(|line| line.trim().strip_prefix("code ")).unwrap();
        let head = "From: one@example.org\nDate: Mon, 6 Jan 2025 13:00:00 +0000\nMessage-ID: <a@x>\n";
        mailbox.sandbox.write("a.eml", format!("{head}\ncode {code}\ntap 0,1\nswitch\n"));
        if !runs(&mailbox, what, needs, &script) {
            continue;
        }
        let taken = mailbox.sandbox.ok("mail take duel --maildir box --key host.key");
        assert!(taken.contains("p1 order 1: applied"), "{what}: {taken}");
        let again = mailbox.sandbox.ok("mail take duel --maildir box --key host.key");
        assert_eq!(again, "", "{what}: it was marked as seen");
    }
}
