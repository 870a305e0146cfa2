/**
 * `npm run audit:dependencies`: known vulnerabilities of the shipped packages, as the registry lists them. Fails for a high or critical one.
 * Where the registry answers no such question, it says so and fails nothing: an audit that was not made is no vulnerability.
 */
import { spawnSync } from "node:child_process";
import { judgeAudit } from "./audit-answer.ts";

const { stdout } = spawnSync("npm", ["audit", "--omit=dev", "--json"], {
  encoding: "utf8",
  maxBuffer: 1 << 26,
});
const { isBad, text } = judgeAudit(stdout);
console.log(text);
process.exitCode = isBad ? 1 : 0;
