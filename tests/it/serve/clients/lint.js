// Holds an OpenAPI description against Redocly's recommended rules; prints what is wrong with it.
import { createConfig, lint } from "@redocly/openapi-core";

const config = await createConfig({
  extends: ["recommended"],
  rules: {
    // `/healthz` takes any request and has nothing to refuse.
    "operation-4xx-response": "off",
    "info-license-url": "off",
    "no-server-example.com": "off",
  },
});
const problems = await lint({ ref: process.argv[2], config });
for (const { severity, ruleId, message, location } of problems) {
  console.log(`${severity} ${ruleId} ${location?.[0]?.pointer}: ${message}`);
}
process.exit(problems.length === 0 ? 0 : 1);
