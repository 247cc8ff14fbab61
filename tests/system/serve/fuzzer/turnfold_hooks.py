"""What schemathesis does not know of the service: the seeded matches, and which refusals no schema can foretell."""

import re

import schemathesis

# The last is played by mail, and hosted by the service.
MATCHES = ["dice", "secrets", "duel"]
BRANCHES = ["main", "side"]

# A request that fits the schema may still be refused with 400 or 415 for one of these reasons, and for no other.
REASONS = [
    (None, r"has no entry \d+"),
    (None, r"there is no entry \d+ yet or any more"),
    # It does not always make headers that match their patterns.
    (None, r"expected tags such as|expected `Idempotency-Key`"),
    ("/ask", r""),
    # A condition has a grammar of its own.
    ("/find", r"^`when`: |is nowhere in the view|compares .* with"),
    ("/grants", r"only seats and invitations have a `seat`|expected a `seat`|the match has no player"),
    ("/grants", r"expected a time such as|a game of eight players"),
    ("/grants", r"label"),
    ("/v1/matches", r"expected a body of type|title|a seed needs"),
    ("/join", r"expected `token`"),
]


@schemathesis.hook
def map_path_parameters(ctx, path_parameters):
    """Four in five requests are about what is there."""
    if path_parameters:
        for name, known in (("match", MATCHES), ("branch", BRANCHES)):
            given = path_parameters.get(name)
            if isinstance(given, str) and re.fullmatch("[a-z0-9][a-z0-9._-]*", given) and sum(map(ord, given)) % 5:
                path_parameters[name] = known[len(given) % len(known)]
    return path_parameters


@schemathesis.hook
def map_query(ctx, query):
    """Every other number is the number of an entry which is there; a stream from the start has something at once."""
    for name in ("at", "after"):
        number = (query or {}).get(name)
        if isinstance(number, int) and number % 2 == 0:
            query[name] = 0 if ctx.operation.path.endswith("/events") else number % 4
    return query


@schemathesis.check
def refusals_have_reasons(ctx, response, case):
    if response.status_code not in (400, 415) or case.meta is None:
        return
    if not case.meta.generation.mode.is_positive:
        return
    detail = response.json()["detail"]
    path = case.operation.path
    if not any((part is None or part in path) and re.search(reason, detail) for part, reason in REASONS):
        raise AssertionError(f"refused although it fits the schema: {detail}")
