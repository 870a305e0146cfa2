/** Traces of a deposit on real nodes, sent to a collector: every step of its settlement, by whichever role. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { attributeOf, type CollectedSpan, startCollector } from "./support/collector.ts";
import { deposit, expectDelivered, USDC } from "./support/deposits.ts";
import { openWorld, type World } from "./support/world.ts";

let world: World;
let collector: Awaited<ReturnType<typeof startCollector>>;
beforeAll(async () => {
  collector = await startCollector();
  world = await openWorld({
    configure(config) {
      config["tracing"] = { url: collector.url };
    },
  });
});
afterAll(async () => {
  await world.close();
  collector.close();
});

const linkedTo = (id: string) => (span: CollectedSpan) =>
  attributeOf(span, "sluice.settlementId") === id;

test("a deposit has a trace of each step, with its queries and requests, until its lock is claimed", async () => {
  const made = await deposit(world, 20n * USDC);
  const { id } = await expectDelivered(world, made);
  const intents = () =>
    new Set(
      collector.spans
        .filter(linkedTo(id))
        .flatMap((span) => attributeOf(span, "sluice.intent")?.split(":")[0] ?? []),
    );
  await world.until("the claim is traced", async () => intents().has("claim"));
  expect(intents()).toEqual(new Set(["sweep", "deliver", "claim"]));
  const steps = collector.spans.filter(linkedTo(id));
  expect(new Set(steps.map(({ name }) => name))).toEqual(
    new Set(["settlement", "delivery", "transaction"]),
  );
  const traceId = id.replaceAll("-", "");
  expect(steps.every(({ links }) => links[0]?.traceId === traceId)).toBe(true);
  // Its parts are reads, requests to the node, and writes.
  const traces = new Set(steps.map((span) => span.traceId));
  const parts = new Set(
    collector.spans.filter((span) => traces.has(span.traceId)).map(({ name }) => name),
  );
  for (const part of [
    "select settlements",
    "insert settlement_transitions",
    "insert transactions",
    "insert attempts",
    "eth_call",
    "eth_sendRawTransaction",
  ]) {
    expect(parts).toContain(part);
  }
  const signed = collector.spans.filter(({ name }) => name === "attestation");
  const delivered = steps.map((span) => attributeOf(span, "sluice.deliveryId"));
  expect(signed.map((span) => attributeOf(span, "sluice.kind"))).toContain("claim");
  for (const span of signed) expect(delivered).toContain(attributeOf(span, "sluice.deliveryId"));
  // Waiting polls are not sent.
  expect(steps.length).toBeLessThan(60);
});

test("no secret, and no value of a query, is in a trace", () => {
  const sent = JSON.stringify(collector.spans);
  expect(collector.spans.length).toBeGreaterThan(20);
  expect(sent).toMatch(/"db.query.text".{0,400}\$1/);
  for (const secret of [world.apiKeyOf(0), "127.0.0.1"]) expect(sent).not.toContain(secret);
});
