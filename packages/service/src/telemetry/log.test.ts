import { expect, test } from "vitest";
import { Secret } from "../core/secret.ts";
import { createLog } from "./log.ts";

function capture() {
  const lines: string[] = [];
  const log = createLog({ level: "trace", role: "test", write: (line) => lines.push(line) });
  return { log, lines };
}

test("escapes untrusted text, so that it cannot break lines, control terminals or forge fields [T102]", () => {
  const { log, lines } = capture();
  const hostile = '\r\n{"level":60,"msg":"forged"}\u001b[2J\u009b31m\u0000\u007f\u2028\u202e"}\\';
  log.warn({ symbol: hostile, err: new Error(hostile) }, hostile);
  log.child({ name: hostile }).info(hostile);
  expect(lines).toHaveLength(2);
  for (const line of lines) {
    expect(line.indexOf("\n")).toBe(line.length - 1);
    expect(line.slice(0, -1)).not.toMatch(/\p{Cc}|\p{Zl}|\p{Zp}|\u202e/u);
    expect(JSON.parse(line)).toMatchObject({ role: "test", msg: hostile });
  }
});

test("redacts API keys and secrets at any depth [T89]", () => {
  const { log, lines } = capture();
  const canary = "canary-0b5e";
  const request = { apiKey: canary, query: { apiKey: canary }, headers: { "x-api-key": canary } };
  log.error({ request, ...request, auth: { apiKey: canary } }, "asked");
  log.error({ secret: new Secret(canary), privateKey: canary, held: { privateKey: canary } });
  log.error(new Secret(canary), "%s %o", new Secret(canary), { deep: new Secret(canary) });
  expect(lines.join("")).not.toContain(canary);
  expect(lines.join("")).toContain("[redacted]");
});
