"""Plays a match by the client that `openapi-python-client` makes of the description."""

import io
import sys

from client import AuthenticatedClient
from client.api.entries import append_entries, list_entries
from client.api.grants import create_grant, join_match
from client.api.matches import create_match, show_match
from client.api.papers import submit_paper
from client.api.positions import get_view, list_legal_commands
from client.models import Appended, Commands, Created, Join, NewMatch, Problem, Record
from client.models import NewGrantJsonType3 as Invitation
from client.models import NewGrantJsonType3Kind as InvitationKind
from client.types import File

ORIGIN, ADMIN, SETUP = sys.argv[1:]


def client(token):
    return AuthenticatedClient(base_url=ORIGIN, token=token)


made = create_match.sync(client=client(ADMIN), body=NewMatch(name="typed", ruleset="channel", setup=SETUP, dice="recorded"))
assert isinstance(made, Created), made
host = client(made.token)
seats = []
for seat in made.players:
    invited = create_grant.sync("typed", client=host, body=Invitation(kind=InvitationKind.INVITATION, seat=seat))
    joined = join_match.sync(client=client(invited.token), body=Join())
    assert joined.seat == seat, joined
    seats.append((seat, client(joined.token)))
head = 0
for turn in range(6):
    for seat, own in seats:
        legal = list_legal_commands.sync("typed", "main", client=own).items
        if not legal:
            continue
        first = legal[turn % len(legal)]
        assert first.seat == seat, first
        played = append_entries.sync(
            "typed", "main", client=own, body=Commands(commands=[first.command]), idempotency_key=f"{seat}-{turn}"
        )
        assert isinstance(played, Appended), played
        assert isinstance(played.entries[0], Record) and played.entries[0].outcome == "applied", played
        head = played.head
log = list_entries.sync("typed", "main", client=host)
assert len(log.items) == head and log.items[-1].seq == head, log
assert get_view.sync("typed", "main", client=host).to_dict(), "the view is empty"
missing = show_match.sync("missing", client=host)
assert isinstance(missing, Problem) and missing.type_ == "urn:turnfold:problem:not_found", missing
paper = submit_paper.sync("typed", client=host, body=File(payload=io.BytesIO(b"none")))
assert isinstance(paper, Problem) and paper.status == 403, paper
print(f"played {head} entries")
