#!/bin/sh
# vacation of Debian marks its notice of absence by no header at all.
#
# RFC 3834 asks for `Auto-Submitted: auto-replied`, and vacation itself answers no mail that has this header. Its own notice has
# neither that nor `Precedence`, `In-Reply-To`, `Message-ID` or `From`: only `To` and what the message of its owner begins with.
# A program that answers mails and looks for headers alone answers it, and takes the notice for a mail of the person.
#
# vacation 3.3.3: the notice is `To:` and the owner's `Subject:`. Exits with 1 once it has another header. Needs root and
# `unshare`, because the path of sendmail is compiled in; SKIPPED elsewhere.
set -eu
if [ "$(id -u)" != 0 ] || ! unshare -m true 2>/dev/null; then
    echo "SKIPPED: only root can put a program in the place of sendmail"
    exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
vacation=$(command -v vacation || true)
if [ -z "$vacation" ]; then
    if ! command -v apt-get >/dev/null || ! (cd "$dir" && apt-get download vacation >/dev/null 2>&1); then
        echo "SKIPPED: vacation cannot be downloaded here"
        exit 0
    fi
    dpkg -x "$dir"/vacation_*.deb "$dir/root"
    vacation="$dir/root/usr/bin/vacation"
fi
mkdir "$dir/sbin"
printf '#!/bin/sh\ncat > %s/sent\n' "$dir" > "$dir/sbin/sendmail"
chmod 755 "$dir" "$dir/sbin/sendmail"
printf 'Subject: away\n\nI am away until Monday.\n' > "$dir/message"
printf 'From ann@example.org Mon Jan  6 12:00:00 2025\nReturn-Path: <ann@example.org>\nFrom: ann@example.org\nTo: root@example.org\nSubject: hello\nMessage-ID: <1@example.org>\n\nHello!\n' > "$dir/mail"
unshare -m sh -c "mount --bind '$dir/sbin' /usr/sbin || exit
    '$vacation' -i -f '$dir/known' -m '$dir/message' -r 0 root || true
    '$vacation' -f '$dir/known' -m '$dir/message' -j root < '$dir/mail'"
cat "$dir/sent"
[ "$(sed '/^$/q' "$dir/sent" | grep -c ':')" = 2 ]
! grep -qi '^\(auto-submitted\|precedence\|in-reply-to\|message-id\|from\):' "$dir/sent"
