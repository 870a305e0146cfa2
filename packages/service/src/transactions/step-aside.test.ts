/** Calls that the signer does not sign, and nonces that an operator cancels or fills. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createStrictChain, LANE } from "../../test/support/doubles.ts";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import { openLaneOn } from "../../test/support/lane.ts";
import type { Hex } from "../core/hex.ts";
import { STEP_ASIDE_RETRY_MS } from "../jobs/delays.ts";
import { SignerRefusal, SignerWaits } from "../signers/refusal.ts";
import { cancelNonce, fillNonce } from "./operator.ts";
import { getByIntent } from "./store.ts";
import type { IntentName } from "./types.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.pool.query("alter table lane_actions disable trigger user");
  await database.pool.query(
    "truncate lane_actions, lanes, transactions, attempts, breaches cascade",
  );
  await database.pool.query("alter table lane_actions enable trigger user");
});

const BY = { operator: "ann", reason: "the lane is stuck" };
const at = (nonce: number) => ({ chainId: 2, lane: LANE, nonce, ...BY });
const placeOf = async (intent: IntentName) => {
  const transaction = await getByIntent(database.db, intent);
  return `${transaction?.state} ${transaction?.nonce}`;
};

/** Opens a lane whose signer throws for some calls. */
function openRefusing(refusals: Record<string, Error>) {
  const lane = openLaneOn(database.db);
  const { signer } = lane;
  const refusing = {
    ...signer,
    sign: async (request: Parameters<typeof signer.sign>[0]) => {
      const error = refusals[request.call.data];
      if (error) throw error;
      return signer.sign(request);
    },
  };
  const pollRefused = () => lane.poll({ signer: refusing });
  return { ...lane, refusals, pollRefused };
}
const REFUSED = new SignerRefusal("the route is not configured");

describe("a call that the signer refuses", () => {
  test("gives its nonce to the calls behind it, and is abandoned [T154]", async () => {
    const { signer, changes, submit, pollRefused } = openRefusing({ "0x01": REFUSED });
    await submit("sweep:a:1", "0x01");
    await submit("claim:b:1", "0x02");
    await submit("claim:c:1", "0x03");
    await pollRefused();
    await pollRefused();
    expect(signer.signed).toEqual(["0|0x02|100", "1|0x03|100"]);
    expect(await placeOf("sweep:a:1")).toBe("abandoned null");
    expect(changes).toEqual(["sweep:a:1 abandoned"]);
  });

  test("is sent after the calls behind it if the signer only waits", async () => {
    const { signer, clock, refusals, submit, pollRefused } = openRefusing({
      "0x01": new SignerWaits("no such final lock"),
    });
    await submit("deliver:a:1", "0x01");
    await submit("deliver:b:1", "0x02");
    await pollRefused();
    await pollRefused();
    expect(signer.signed).toEqual(["0|0x02|100"]);
    delete refusals["0x01"];
    await pollRefused();
    expect(signer.signed).toHaveLength(1);
    clock.advance(STEP_ASIDE_RETRY_MS);
    await pollRefused();
    expect(signer.signed).toEqual(["0|0x02|100", "1|0x01|100"]);
  });

  test("has its nonce filled if a later one is signed already [T154]", async () => {
    const { node, signer, refusals, submit, pollRefused } = openRefusing({});
    await submit("sweep:a:1", "0x01");
    await submit("sweep:b:1", "0x02");
    await pollRefused();
    // The attempt of the first is lost, as if its process had died before the commit.
    const first = await getByIntent(database.db, "sweep:a:1");
    await database.db
      .deleteFrom("attempts")
      .where("transaction_id", "=", first?.id ?? "")
      .execute();
    node.forgetPool();
    refusals["0x01"] = REFUSED;
    await pollRefused();
    await pollRefused();
    expect(signer.signed.at(-1)).toBe("0|0x|100");
    expect([await placeOf("sweep:a:1"), await placeOf("sweep:b:1")]).toEqual([
      "abandoned null",
      "assigned 1",
    ]);
  });

  test("keeps its place, under a new nonce, if the signer knows another call for the nonce", async () => {
    const taken = new SignerRefusal("another call was signed for nonce 0", "nonce");
    const { signer, refusals, submit, pollRefused } = openRefusing({ "0x01": taken });
    await submit("sweep:a:1", "0x01");
    await pollRefused();
    delete refusals["0x01"];
    await pollRefused();
    expect(signer.signed.toSorted()).toEqual(["0|0x|100", "1|0x01|100"]);
  });

  test("blocks the lane if every other call would be refused too", async () => {
    const spent = new SignerRefusal("daily gas budget of 5 wei exceeded", "lane");
    const { signer, submit, pollRefused } = openRefusing({ "0x01": spent });
    await submit("sweep:a:1", "0x01");
    await submit("sweep:b:1", "0x02");
    await expect(pollRefused()).rejects.toThrow("daily gas budget");
    expect(signer.signed).toEqual([]);
    expect(await placeOf("sweep:a:1")).toBe("assigned 0");
  });

  test("leaves its batch, whose other calls are sent one by one [T154]", async () => {
    const { node, signer, submit, pollRefused } = openRefusing({
      "0x010203": REFUSED,
      "0x02": REFUSED,
    });
    node.combineFrom(2);
    for (const i of [1, 2, 3]) await submit(`sweep:${i}:1`, `0x0${i}`);
    for (let i = 0; i < 3; i++) await pollRefused();
    expect(signer.signed).toEqual(["0|0x01|100", "1|0x03|100"]);
    expect(await placeOf("sweep:2:1")).toBe("abandoned null");
  });
});

describe("a cancelled nonce", () => {
  const offers = (bytes: readonly string[]) =>
    bytes.map((raw) => Buffer.from(raw.slice(2), "hex").toString());

  test("is taken by a transfer of nothing at higher fees, and the owner sees its call fail", async () => {
    const { node, deps, told, submit, poll } = openLaneOn(database.db);
    await submit("sweep:a:1", "0x01");
    await poll();
    expect(await cancelNonce(database.db, at(0))).toEqual({ intent: "sweep:a:1", changed: true });
    expect(await cancelNonce(database.db, at(0))).toEqual({ intent: "sweep:a:1", changed: false });
    await poll();
    expect(offers(node.sent)).toEqual(["0|0x01|100", "0|0x|113"]);
    node.pool.delete([...node.pool.keys()][0] as never);
    node.mine();
    await poll();
    expect(told).toMatchObject([{ intent: "sweep:a:1", mined: { succeeded: false } }]);
    const { rows } = await database.pool.query("select action, nonce, operator from lane_actions");
    expect(rows).toEqual([{ action: "cancel", nonce: 0, operator: "ann" }]);
    expect(deps.signer.address).toBe(LANE);
  });

  test("still counts as the call if the call is mined first", async () => {
    const { node, told, submit, poll } = openLaneOn(database.db);
    await submit("sweep:a:1", "0x01");
    await poll();
    await cancelNonce(database.db, at(0));
    node.mine();
    await poll();
    expect(told).toMatchObject([{ intent: "sweep:a:1", mined: { succeeded: true } }]);
  });

  test("fails every call of its batch", async () => {
    const { node, told, submit, poll } = openLaneOn(database.db);
    node.combineFrom(2);
    await submit("sweep:1:1", "0x01");
    await submit("sweep:2:1", "0x02");
    await poll();
    await cancelNonce(database.db, at(0));
    await poll();
    node.pool.delete([...node.pool.keys()][0] as never);
    node.mine();
    await poll();
    expect(told.map(({ mined }) => mined?.succeeded)).toEqual([false, false, false]);
  });

  test("is refused if nothing waits for it", async () => {
    const { node, submit, poll } = openLaneOn(database.db);
    await expect(cancelNonce(database.db, at(0))).rejects.toThrow(/No lane of chain 2/);
    await submit("sweep:a:1");
    await poll();
    await expect(cancelNonce(database.db, at(1))).rejects.toThrow(/fill it instead/);
    node.mine();
    await poll();
    await expect(cancelNonce(database.db, at(0))).rejects.toThrow(/is mined, not waiting/);
  });
});

describe("a filled nonce", () => {
  test("is used up by a transfer of nothing, and the calls behind it follow", async () => {
    const { node, deps, submit, poll } = openLaneOn(database.db);
    await poll();
    const fill = await fillNonce(database.db, deps.random, at(0));
    expect(fill.changed).toBe(true);
    await submit("sweep:a:1", "0x02");
    await poll();
    node.mine();
    await poll();
    expect(await placeOf("sweep:a:1")).toBe("mined 1");
    expect((await fillNonce(database.db, deps.random, at(0))).changed).toBe(false);
  });

  test("is refused if a transaction has it, or it is not the next one", async () => {
    const { deps, submit, poll } = openLaneOn(database.db);
    await submit("sweep:a:1", "0x02");
    await poll();
    const fill = (nonce: number) => fillNonce(database.db, deps.random, at(nonce));
    await expect(fill(0)).rejects.toThrow(/cancel it instead/);
    await expect(fill(2)).rejects.toThrow(/up to 1/);
  });
});

test("bytes for a nonce that was taken back are never sent", async () => {
  const { node, signer, submit, poll } = openLaneOn(database.db);
  await submit("sweep:a:1", "0x01");
  const slow = {
    ...signer,
    sign: async (request: Parameters<typeof signer.sign>[0]) => {
      // Meanwhile another process takes the nonce back.
      await database.pool.query("update transactions set state = 'queued', nonce = null");
      await database.pool.query("update lanes set next_nonce = 0");
      return signer.sign(request);
    },
  };
  await poll({ signer: slow, chain: createStrictChain(node.members) });
  expect(node.sent).toEqual([] satisfies Hex[]);
});
