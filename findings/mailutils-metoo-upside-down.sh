#!/bin/sh
# GNU mailutils' `mail` has the option `metoo` upside down: `reply` addresses your own addresses unless it is set.
#
# The manual says of `alternates`: "When you reply to messages, mail will not send a copy of the message to any of the addresses
# listed on the alternates list." `metoo`, which is off, is to include the sender all the same. But mail/reply.c leaves an address
# out if `metoo` is set and it is yours. So a reply to a letter that came to you alone goes to its sender and to you.
#
# mailutils 3.15 of Debian 12: a reply to a mail by host@club.example to one@example.org, with `alternates one@example.org`.
#   without metoo:   To: <host@club.example>,<one@example.org>
#   with metoo:      To: <host@club.example>
# Exits with 1 once one of the two differs. SKIPPED where the packages cannot be downloaded or need other libraries.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
packages="mailutils=1:3.15-4 libmailutils9=1:3.15-4 libgsasl18 libgssglue1 libntlm0 libpq5 libldap-2.5-0"
if ! (cd "$dir" && apt-get download $packages > downloaded 2>&1); then
    echo "SKIPPED: apt-get cannot download $packages"
    exit 0
fi
for package in "$dir"/*.deb; do dpkg -x "$package" "$dir/root"; done
LD_LIBRARY_PATH=$(echo "$dir"/root/usr/lib/*-linux-gnu)
export LD_LIBRARY_PATH
mail="$dir/root/usr/bin/mail.mailutils"
if ! "$mail" --version > "$dir/version" 2>&1; then
    echo "SKIPPED: $(head -n 1 "$dir/version")"
    exit 0
fi
head -n 1 "$dir/version"
printf '#!/bin/sh\ncat > %s/sent\n' "$dir" > "$dir/sendmail"
chmod 755 "$dir/sendmail"
printf 'set sendmail=%s/sendmail\nalternates one@example.org\n' "$dir" > "$dir/rc"
replied() {
    printf 'From host@club.example Mon Jan  6 12:00:00 2025\nFrom: host@club.example\nTo: one@example.org\nSubject: hello\nMessage-ID: <1@club.example>\n\nHello!\n\n' > "$dir/mbox"
    printf "$1reply 1\nyes\n.\nxit\n" | "$mail" -n -E "source $dir/rc" -f "$dir/mbox" > "$dir/out" 2>&1
    grep '^To:' "$dir/sent"
}
replied '' | tee "$dir/unset"
replied 'set metoo\n' | tee "$dir/set"
[ "$(cat "$dir/unset")" = 'To: <host@club.example>,<one@example.org>' ]
[ "$(cat "$dir/set")" = 'To: <host@club.example>' ]
