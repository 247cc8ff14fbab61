// Holds an OpenAPI description against Redocly's recommended rules; prints what is wrong with it.
import { createConfig, lint } from "@redocly/openapi-core";

const config = await createConfig({
  extends: ["recommended"],
  rules: {
    // `/healthz` takes any request and has nothing to refuse.
    "operation-4xx-response": "off",
    "info-license-url": "off",
    // The data of the events of a stream, which no schema of OpenAPI 3.1 can refer to.
    "no-unused-components": "off",
  },
});
const problems = await lint({ ref: process.argv[2], config });
for (const { severity, ruleId, message, location } of problems) {
  console.log(`${severity} ${ruleId} ${location?.[0]?.pointer}: ${message}`);
}
process.exit(problems.length === 0 ? 0 : 1);
