#!/bin/sh
# Parsers of mail replies take a player's sentence for a signature and drop it, or everything after it.
#
# They separate what somebody wrote from the quoted mail and the signature. For email-reply-parser
# of Python and of npm a paragraph that begins with `Sent from my` is a signature wherever it
# stands, and what follows is hidden too: of a mail with orders, those after "Sent from my camp, two
# units go north" are gone. For node-email-reply-parser a line that begins with a dash and a letter
# is a signature with all behind it, so the second entry of a list without blanks is gone.
# mail-parser-reply keeps both mails. Nothing is reported. Tests with the usual mails pass. Read
# orders from the whole text, and show what was ignored.
#
# email-reply-parser 0.5.12 and mail-parser-reply 1.36 (PyPI), email-reply-parser 2.3.7 and
# node-email-reply-parser 0.1.4 (npm). Seen: one of three paragraphs, and one of three lines. Exits
# with 1 once that changes. Needs node, npm and python3 with venv.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund email-reply-parser@2.3.7 node-email-reply-parser@0.1.4
python3 -m venv env
env/bin/pip install --quiet email-reply-parser==0.5.12 mail-parser-reply==1.36
cat > mails.json <<'J'
{"camp": "The knight waits.\n\nSent from my camp, two units go north.\n\np2: stand\n", "list": "p1: move 2,3\n-e4 is next\np1: end\n"}
J
cat > read.py <<'PY'
import json

from email_reply_parser import EmailReplyParser
from mailparser_reply import EmailReplyParser as ReplyParser

for name, mail in json.load(open("mails.json")).items():
    print(f"PyPI email-reply-parser, {name}:", json.dumps(EmailReplyParser.parse_reply(mail).strip()))
    print(f"PyPI mail-parser-reply, {name}:", json.dumps(ReplyParser(languages=["en"]).parse_reply(mail).strip()))
PY
cat > read.cjs <<'JS'
const { default: EmailReplyParser } = require("email-reply-parser");
const read = require("node-email-reply-parser");

for (const [name, mail] of Object.entries(require("./mails.json"))) {
	const visible = new EmailReplyParser().read(mail).getVisibleText();
	console.log(`npm email-reply-parser, ${name}: ${JSON.stringify(visible.trim())}`);
	console.log(`npm node-email-reply-parser, ${name}: ${JSON.stringify(read(mail).getVisibleText().trim())}`);
}
JS
{ env/bin/python read.py; node read.cjs; } | tee seen
for home in PyPI npm; do grep -qxF "$home email-reply-parser, camp: \"The knight waits.\"" seen; done
grep -qxF 'npm node-email-reply-parser, list: "p1: move 2,3"' seen
grep -qxF 'PyPI mail-parser-reply, list: "p1: move 2,3\n-e4 is next\np1: end"' seen
grep -qxF 'PyPI mail-parser-reply, camp: "The knight waits.\n\nSent from my camp, two units go north.\n\np2: stand"' seen
