import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { attributeOf, startCollector } from "../../test/support/collector.ts";
import { Secret } from "../core/secret.ts";
import { addPart, failSpan, inSpan } from "./spans.ts";
import { startTracing } from "./tracing.ts";

const ID = "11111111-2222-4333-8444-555555555555";
const LINK = { traceId: "11111111222243338444555555555555", spanId: "8444555555555555" };

async function openTraced(token?: Secret) {
  const collector = await startCollector();
  const tracing = startTracing({ url: collector.url, token }, { role: "settler", version: "1" });
  onTestFinished(() => collector.close());
  return { collector, tracing };
}

const part = (name: string) => {
  const durationMs = 5;
  addPart(name, { nowMs: Date.now(), durationMs, attributes: { "db.query.text": name } });
};

test("a step that wrote something is sent with its parts and linked to its settlement", async () => {
  const { collector, tracing } = await openTraced(new Secret("canary-token"));
  const step = (settlementId: string) =>
    inSpan("settlement", { settlementId, chainId: 2 }, async () => {
      part("select settlements");
      await delay(2);
      part("insert settlement_transitions");
      return settlementId;
    });
  // At once, as in a poll.
  const other = ID.replace("1111", "9999");
  expect(await Promise.all([step(ID), step(other)])).toEqual([ID, other]);
  await tracing.stop();
  const { spans, tokens } = collector;
  const steps = spans.filter(({ name }) => name === "settlement");
  expect(steps.map((span) => attributeOf(span, "sluice.settlementId"))).toEqual([ID, other]);
  expect(steps[0]?.links).toMatchObject([LINK]);
  for (const { traceId, spanId } of steps) {
    const parts = spans.filter((span) => span.traceId === traceId && span.spanId !== spanId);
    expect(parts.map(({ name, parentSpanId }) => [name, parentSpanId])).toEqual([
      ["select settlements", spanId],
      ["insert settlement_transitions", spanId],
    ]);
  }
  expect(tokens).toEqual(new Set(["Bearer canary-token"]));
});

test("a poll that changed nothing is not sent, and one that failed is", async () => {
  const { collector, tracing } = await openTraced();
  await inSpan("settlement", { settlementId: ID }, async () => part("select settlements"));
  await inSpan("settlement", { settlementId: ID }, async () => failSpan("NO_ROUTE: none"));
  const thrown = inSpan("delivery", { settlementId: ID }, async () => {
    part("eth_call");
    throw new Error("it reverted");
  });
  await expect(thrown).rejects.toThrow("it reverted");
  await tracing.stop();
  expect(collector.spans.map(({ name, status }) => [name, status.code, status.message])).toEqual([
    ["settlement", 2, "NO_ROUTE: none"],
    ["eth_call", 0, undefined],
    ["delivery", 2, "Error: it reverted"],
  ]);
});

test("without a collector work runs as it is, and one that is away keeps no process from ending", async () => {
  expect(await inSpan("settlement", { settlementId: null }, async () => 7)).toBe(7);
  part("insert outside of any work");
  const tracing = startTracing(
    { url: "http://127.0.0.1:9/v1/traces", token: undefined },
    { role: "settler", version: "1" },
  );
  await inSpan("settlement", { settlementId: ID }, async () => part("insert events"));
  await tracing.stop();
});
