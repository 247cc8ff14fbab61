// Plays a match by a client that is made of the description: the types are `openapi-typescript`'s.
import createClient from "openapi-fetch";
import type { components, paths } from "./description.js";

declare const process: { argv: string[]; exit(code: number): never };

const [, , origin, admin, setup] = process.argv as [string, string, string, string, string];

function client(token: string) {
  return createClient<paths, "application/json" | "application/problem+json">({ baseUrl: origin, headers: { authorization: `Bearer ${token}` } });
}

/** Returns the data of an answer, or ends with its problem. */
function need<T>(answer: { data?: T; error?: unknown; response: Response }): T {
  if (answer.data === undefined) {
    console.log(answer.response.status, JSON.stringify(answer.error));
    process.exit(1);
  }
  return answer.data;
}

const rulesets = need(await client(admin).GET("/v1/rulesets"));
if (!rulesets.items.some(({ ruleset }) => ruleset === "channel")) throw new Error("channel is missing");
const made = need(
  await client(admin).POST("/v1/matches", { body: { name: "typed", ruleset: "channel", setup, dice: "recorded" } }),
);
const host = client(made.token);
const main = { path: { match: "typed", branch: "main" } };
const seats = await Promise.all(
  made.players.map(async (seat) => {
    const invited = await host.POST("/v1/matches/{match}/grants", {
      params: { path: { match: "typed" } },
      body: { kind: "invitation", seat },
    });
    const joined = need(await client(need(invited).token).POST("/v1/join", { body: {} }));
    return { seat: joined.seat, client: client(joined.token) };
  }),
);
let head = 0;
for (let turn = 0; turn < 6; turn++) {
  for (const { seat, client } of seats) {
    const legal = need(await client.GET("/v1/matches/{match}/branches/{branch}/legal", { params: main }));
    const first: components["schemas"]["LegalCommand"] | undefined = legal.items[turn % (legal.items.length || 1)];
    if (first === undefined) continue;
    if (first.seat !== seat) throw new Error(`${first.seat} is not ${seat}`);
    const key = { "Idempotency-Key": `${seat}-${turn}` };
    const played = need(
      await client.POST("/v1/matches/{match}/branches/{branch}/entries", {
        params: { ...main, header: key },
        body: { commands: [first.command] },
      }),
    );
    const record: components["schemas"]["Record"] | undefined = played.entries[0];
    if (record?.outcome !== "applied") throw new Error(JSON.stringify(played));
    head = played.head;
  }
}
const view = need(await host.GET("/v1/matches/{match}/branches/{branch}/view", { params: main }));
const log = need(await host.GET("/v1/matches/{match}/branches/{branch}/entries", { params: main }));
if (log.items.length !== head || Object.keys(view).length === 0) throw new Error("the log is not what was played");
const missing = await host.GET("/v1/matches/{match}", { params: { path: { match: "missing" } } });
const problem: components["schemas"]["Problem"] | undefined = missing.error;
if (problem?.type !== "urn:turnfold:problem:not_found") throw new Error(JSON.stringify(problem));
const paper = await host.POST("/v1/matches/{match}/papers", {
  params: { path: { match: "typed" } },
  body: "none",
  bodySerializer: (body) => body,
  headers: { "content-type": "text/plain" },
});
if (paper.error?.status !== 403) throw new Error("a service without a desk takes no papers");
console.log(`played ${head} entries`);
