import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { GOVERNED } from "../core/commitment.ts";
import { createReadableSigner, createStillClock, LANE } from "../../test/support/doubles.ts";
import type { Payout, RefundProof } from "../chains/port/index.ts";
import { type Hex, padAddress, toEvmAddress, toHex32, toTxHash } from "../core/hex.ts";
import { SignerRefusal, SignerWaits } from "./refusal.ts";
import { type AttestorRules, type Guard, openGuard } from "./guard.ts";
import type { LaneRules } from "./lane-memory.ts";
import type { AttestorSigner, SigningRequest } from "./port.ts";

const DAY_MS = 86_400_000;
const TARGET = toEvmAddress(`0x${"2b".repeat(20)}`);
const TOKEN = toEvmAddress(`0x${"70".repeat(20)}`);
const ID = toHex32(`0x${"1d".repeat(32)}`);
const OTHER_ID = toHex32(`0x${"2d".repeat(32)}`);
const WORD = toHex32(`0x${"01".repeat(32)}`);

let folder: string;
let guard: Guard;
const clock = createStillClock();
const journal = () => join(folder, "settler.jsonl");

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-guard-"));
  guard = openGuard({ journal: journal(), clock });
});
afterEach(() => {
  guard.close();
  rmSync(folder, { recursive: true });
});

/** Restarts as after `kill -9`: only the journal remains. */
function restart(): void {
  guard.close();
  guard = openGuard({ journal: journal(), clock });
}

const countEntries = () => readFileSync(journal(), "utf8").split("\n").length - 1;

describe("a guarded lane", () => {
  const rules: LaneRules = {
    checkCall: () => "settle",
    gasMax: 1_000_000n,
    gasPriceMax: 100n,
    dailyGasBudget: undefined,
    claimReserve: 0n,
  };
  const intent = (change: {
    readonly nonce?: number;
    readonly data?: Hex;
    readonly value?: bigint;
    readonly gas?: bigint;
    readonly fee?: bigint;
    readonly tip?: bigint;
  }): SigningRequest => ({
    call: { to: TARGET, data: change.data ?? "0x01", value: change.value ?? 0n },
    nonce: change.nonce ?? 0,
    gas: change.gas ?? 100_000n,
    fees: {
      gasPriceMax: change.fee ?? 10n,
      tipMax: change.tip ?? 1n,
    },
  });
  const open = (change: Partial<LaneRules> = {}) => {
    const inner = createReadableSigner(2);
    return { inner, lane: guard.guardLane(inner, { ...rules, ...change }) };
  };

  test("journals an allowed transaction and signs it", async () => {
    const { lane, inner } = open();
    await lane.sign(intent({}));
    expect(inner.signed).toHaveLength(1);
    expect(JSON.parse(readFileSync(journal(), "utf8"))).toMatchObject({
      seq: 0,
      entry: {
        kind: "transaction",
        chainId: 2,
        lane: LANE,
        nonce: 0,
        method: "settle",
        to: TARGET,
      },
    });
  });

  test.each([
    ["native coin", { value: 1n }, "carries native coin"],
    ["too much gas", { gas: 1_000_001n }, "gas 1000001 above 1000000"],
    ["too high a fee", { fee: 101n }, "fees above 100 wei"],
    ["a tip above its fee", { tip: 11n }, "priority fee above"],
  ])("refuses %s without a signature or a journal entry [X8]", async (_what, change, reason) => {
    const { lane, inner } = open();
    await expect(lane.sign(intent(change))).rejects.toThrow(reason);
    expect(inner.signed).toEqual([]);
    expect(countEntries()).toBe(0);
  });

  test("lets a claim, and nothing else, offer eight times the cap [T172]", async () => {
    const { lane } = open({ checkCall: ({ data }) => (data === "0xc1" ? "claimMany" : "settle") });
    await lane.sign(intent({ nonce: 0, data: "0xc1", fee: 800n }));
    await expect(lane.sign(intent({ nonce: 1, data: "0xc1", fee: 801n }))).rejects.toThrow(
      "fees above 800 wei",
    );
    await expect(lane.sign(intent({ nonce: 1, fee: 101n }))).rejects.toThrow("fees above 100 wei");
  });

  test("writes the journal entry before the key signs [X8]", async () => {
    const { inner } = open();
    let entries = 0;
    const sign: typeof inner.sign = async (wanted) => {
      entries = countEntries();
      return inner.sign(wanted);
    };
    await guard.guardLane({ ...inner, sign }, rules).sign(intent({}));
    expect(entries).toBe(1);
  });

  test("signs a transfer of nothing to itself for the nonce of another call, and then that call [T155]", async () => {
    const strict = () =>
      open({
        checkCall: ({ to }) => {
          if (to === LANE) throw new SignerRefusal("call to the lane");
          return "settle";
        },
      }).lane;
    const empty = { call: { to: LANE, data: "0x", value: 0n } } as const;
    await strict().sign(intent({ nonce: 7 }));
    await strict().sign({ ...intent({ nonce: 7, fee: 20n }), ...empty });
    restart();
    // Either may be mined, and both may need higher fees.
    await strict().sign(intent({ nonce: 7, fee: 30n }));
    await strict().sign({ ...intent({ nonce: 7, fee: 40n }), ...empty });
    await expect(strict().sign(intent({ nonce: 7, data: "0x02" }))).rejects.toThrow("another call");
    // A nonce that was only filled is no call's.
    await strict().sign({ ...intent({ nonce: 8 }), ...empty });
    await expect(strict().sign(intent({ nonce: 8 }))).rejects.toThrow("another call");
    const methods = readFileSync(journal(), "utf8").match(/"method":"\w+"/g);
    expect(new Set(methods)).toEqual(new Set([`"method":"settle"`, `"method":"cancel"`]));
  });

  test.each([
    ["pays", { call: { to: LANE, data: "0x", value: 1n } }],
    ["carries data", { call: { to: LANE, data: "0x01", value: 0n } }],
    ["goes elsewhere", { call: { to: TARGET, data: "0x", value: 0n } }],
    ["has too much gas", { call: { to: LANE, data: "0x", value: 0n }, gas: 1_000_001n }],
  ] as const)(
    "signs no transfer to itself that %s for another call's nonce [T155]",
    async (_, own) => {
      const { lane } = open({ gasMax: 2_000_000n });
      await lane.sign(intent({ nonce: 7 }));
      await expect(lane.sign({ ...intent({ nonce: 7 }), ...own })).rejects.toThrow(/refuses/);
    },
  );

  test("signs a nonce again at other fees, but never for another call [X8]", async () => {
    const { lane } = open();
    await lane.sign(intent({ nonce: 7 }));
    await lane.sign(intent({ nonce: 7, fee: 20n }));
    // As after a crash between signing and committing, with cheaper gas.
    await lane.sign(intent({ nonce: 7, fee: 5n }));
    await expect(lane.sign(intent({ nonce: 7, data: "0x02" }))).rejects.toThrow(
      "another call was signed for nonce 7",
    );
    restart();
    const again = open();
    await expect(again.lane.sign(intent({ nonce: 7, data: "0x02" }))).rejects.toThrow(
      "another call",
    );
    await again.lane.sign(intent({ nonce: 7 }));
    await again.lane.sign(intent({ nonce: 8, data: "0x02" }));
  });

  test("signs a journaled transaction at the same or a lower cost without a new entry", async () => {
    const { lane, inner } = open();
    for (let count = 0; count < 5; count += 1) await lane.sign(intent({ nonce: 3 }));
    await lane.sign(intent({ nonce: 3, fee: 5n }));
    expect(inner.signed).toHaveLength(6);
    expect(countEntries()).toBe(1);
    await lane.sign(intent({ nonce: 3, fee: 11n }));
    expect(countEntries()).toBe(2);
  });

  test("checks evidence once per nonce and call, and not for replacements [X8]", async () => {
    const asked: string[] = [];
    const { lane, inner } = open({
      async checkEvidence({ data }, hints) {
        asked.push(`${data} ${hints.length}`);
        if (data === "0x0b") throw new SignerRefusal("no lock");
      },
    });
    await lane.sign({ ...intent({ nonce: 1 }), hints: [toTxHash(ID)] });
    await lane.sign(intent({ nonce: 1, fee: 20n }));
    await lane.sign(intent({ nonce: 1, fee: 5n }));
    await lane.sign(intent({ nonce: 2 }));
    expect(asked).toEqual(["0x01 1", "0x01 0"]);
    await expect(lane.sign(intent({ nonce: 3, data: "0x0b" }))).rejects.toThrow("no lock");
    await expect(lane.sign(intent({ nonce: 3, data: "0x0b" }))).rejects.toThrow("no lock");
    expect(inner.signed).toHaveLength(4);
    expect(countEntries()).toBe(3);
  });

  test("signs one of two calls for a nonce whose evidence was read at once [X8]", async () => {
    const { lane } = open({ checkEvidence: () => Promise.resolve() });
    const both = ["0x0a", "0x0b"] as const;
    const signed = await Promise.allSettled(
      both.map((data) => lane.sign(intent({ nonce: 1, data }))),
    );
    expect(signed.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(countEntries()).toBe(1);
  });

  test("refuses a nonce far ahead, after which every real nonce would be too old [X8]", async () => {
    const { lane } = open();
    await lane.sign(intent({ nonce: 5 }));
    await expect(lane.sign(intent({ nonce: Number.MAX_SAFE_INTEGER }))).rejects.toThrow(
      "too far ahead",
    );
    await lane.sign(intent({ nonce: 1_005 }));
    await lane.sign(intent({ nonce: 6 }));
  });

  test("refuses a nonce far behind the highest one", async () => {
    const { lane } = open();
    await lane.sign(intent({ nonce: 20_000 }));
    await lane.sign(intent({ nonce: 10_001 }));
    await expect(lane.sign(intent({ nonce: 10_000 }))).rejects.toThrow("too old");
    await lane.sign(intent({ nonce: 20_001 }));
  });

  test("counts the highest cost of each nonce towards the 24 hour budget, across restarts", async () => {
    // The cost of three transactions at a fee of 10.
    const budget = { dailyGasBudget: 3_000_000n };
    const { lane } = open(budget);
    await lane.sign(intent({ nonce: 0 }));
    await lane.sign(intent({ nonce: 1 }));
    // A replacement adds only the difference; a cheaper one gives nothing back.
    await lane.sign(intent({ nonce: 1, fee: 15n }));
    await lane.sign(intent({ nonce: 1, fee: 12n }));
    await expect(lane.sign(intent({ nonce: 2 }))).rejects.toThrow(
      "daily gas budget of 3000000 wei",
    );
    await lane.sign(intent({ nonce: 2, fee: 5n }));
    restart();
    const again = open(budget);
    await expect(again.lane.sign(intent({ nonce: 3, fee: 1n }))).rejects.toThrow(
      "daily gas budget",
    );
    // A replacement without additional cost is always signed.
    await again.lane.sign(intent({ nonce: 1, fee: 15n }));
    clock.advance(DAY_MS);
    await again.lane.sign(intent({ nonce: 3 }));
  });
});

describe("a guarded lane that sweeps and claims", () => {
  const CLAIM: Hex = "0xc1";
  const rules: LaneRules = {
    checkCall: ({ data }) => (data === CLAIM ? "claim" : "settle"),
    gasMax: 1_000_000n,
    gasPriceMax: 10n,
    dailyGasBudget: 4_000_000n,
    claimReserve: 1_000_000n,
  };
  const request = (nonce: number, data: Hex = "0x01"): SigningRequest => ({
    call: { to: TARGET, data, value: 0n },
    nonce,
    gas: 100_000n,
    fees: { gasPriceMax: 10n, tipMax: 1n },
  });
  const empty = { call: { to: LANE, data: "0x", value: 0n } } as const;

  test("keeps a quarter of its gas budget for claims, and lets other calls wait [T266]", async () => {
    const lane = guard.guardLane(createReadableSigner(2), rules);
    for (const nonce of [0, 1, 2]) await lane.sign(request(nonce));
    const reason = "daily gas budget of 3000000 wei exceeded";
    await expect(lane.sign(request(3))).rejects.toThrow(new SignerWaits(reason));
    await lane.sign(request(3, CLAIM));
    await expect(lane.sign(request(4, CLAIM))).rejects.toThrow(
      "daily gas budget of 4000000 wei exceeded",
    );
  });

  test("lets a transfer of nothing to itself offer as much as a claim [T267]", async () => {
    const lane = guard.guardLane(createReadableSigner(2), rules);
    await lane.sign(request(0));
    const fees = { gasPriceMax: 80n, tipMax: 1n };
    await lane.sign({ ...request(0), ...empty, gas: 21_000n, fees });
    await expect(
      lane.sign({ ...request(0), ...empty, gas: 21_000n, fees: { ...fees, gasPriceMax: 81n } }),
    ).rejects.toThrow("fees above 80 wei");
  });
});

describe("a guarded attestor", () => {
  const order: Payout = {
    commitment: {
      integrator: WORD,
      userId: WORD,
      destChain: 30,
      destWallet: padAddress(TARGET),
      destToken: padAddress(TOKEN),
      refundAuthority: WORD,
      maxFeeBps: 50,
      maxSlippageBps: 100,
      ...GOVERNED,
    },
    srcChain: 2,
    escrow: TARGET,
    srcToken: TOKEN,
    lockedAmount: 1_000n,
    minOut: 1n,
    seq: 0n,
    windowStart: 0n,
    amount: 1_000n,
  };
  const soon = (seconds: number) => BigInt(Math.floor(clock.now() / 1000) + seconds);
  const rules: AttestorRules = {
    identify: (_, { seq }) => ({ deliveryId: seq === 0n ? ID : OTHER_ID, commitment: WORD }),
    isPair: (destChain) => destChain === 30,
    isPricedRoute: (srcChain, token) => srcChain === 2 && token === TOKEN,
    checkRefund(_chainId, { reason }) {
      if (reason !== "below_minimum") throw new SignerRefusal("not allowed");
    },
    hashCommitment: ({ userId }) => userId,
    earlyBoundsOf: () => ({ exposure: 1_000n, acceptedLosses: [] }),
    deliveryOf: () => WORD,
    payoutWindowS: 43_200n,
  };
  /** The number of journal entries at each signature. */
  const written: number[] = [];
  const sign = (signature: Hex) => async () => {
    written.push(countEntries());
    return signature;
  };
  const inner: AttestorSigner = {
    address: LANE,
    signDelivery: sign("0x01"),
    signClaim: sign("0x02"),
    signReturn: sign("0x03"),
    signPrice: sign("0x04"),
    signRefund: sign("0x05"),
  };
  const open = () => guard.guardAttestor(inner, rules);
  const delivery = (change: Partial<Payout> = {}) => ({
    ...order,
    windowStart: soon(-600),
    ...change,
  });
  const claim = { deliveryId: ID, paidAmount: 1_000n, deadline: 0n };
  const giveBack = { deliveryId: ID, deadline: 0n };
  const price = () => ({
    wallet: TARGET,
    token: TOKEN,
    route: TARGET,
    rate: 1n,
    maxAmount: 1n,
    deadline: soon(120),
  });

  test("journals each of its messages before it signs", async () => {
    const attestor = open();
    written.length = 0;
    expect(await attestor.signDelivery(30, delivery())).toBe("0x01");
    expect(await attestor.signClaim(2, claim)).toBe("0x02");
    expect(await attestor.signReturn(2, { ...giveBack, deliveryId: OTHER_ID })).toBe("0x03");
    expect(await attestor.signPrice(2, price())).toBe("0x04");
    expect(await attestor.signRefund(2, refund())).toBe("0x05");
    expect(countEntries()).toBe(5);
    expect(written).toEqual([1, 2, 3, 4, 5]);
  });

  const refund = (change: Partial<RefundProof> = {}): RefundProof => ({
    commitment: order.commitment,
    token: TOKEN,
    maxAmount: 5n,
    reason: "below_minimum",
    deadline: soon(600),
    ...change,
  });

  test("counts early payouts before it signs, up to the exposure, across restarts [T270]", async () => {
    written.length = 0;
    await open().signDelivery(30, delivery(), 600n);
    expect(written).toEqual([1]);
    const other = delivery({ seq: 1n });
    restart();
    await expect(open().signDelivery(30, other, 401n)).rejects.toThrow(
      "early payouts worth 1001, above the exposure of 1000",
    );
    expect(countEntries()).toBe(1);
    // A final lock risks nothing, and the same payout is counted once.
    await open().signDelivery(30, other);
    await open().signDelivery(30, delivery(), 1_000n);
    restart();
    await expect(open().signDelivery(30, other, 1n)).rejects.toThrow("above the exposure");
    expect(await open().early?.list()).toMatchObject([
      { deliveryId: ID, srcChain: 2, destChain: 30, worth: 1_000n, lock: { amount: 1_000n } },
    ]);
    const entries = countEntries();
    await open().early?.cover(OTHER_ID);
    expect(countEntries()).toBe(entries);
    await open().early?.cover(ID);
    restart();
    expect(await open().early?.list()).toEqual([]);
    await open().signDelivery(30, other, 1_000n);
  });

  test("counts payouts that others signed beside its own, across restarts [T315]", async () => {
    const early = () => {
      const count = open().early;
      if (!count) throw new Error("expected a count");
      return count;
    };
    await open().signDelivery(30, delivery(), 600n);
    const [own] = await early().list();
    if (!own) throw new Error("expected a payout");
    const seen = { ...own, deliveryId: OTHER_ID, worth: 700n, deadline: 9n };
    expect(await early().listOthers([ID, OTHER_ID, WORD])).toEqual([OTHER_ID, WORD]);
    await early().countOther(seen);
    await early().countOther({ ...seen, worth: 1n });
    await early().countOther({ ...own, worth: 1n });
    expect(countEntries()).toBe(2);
    restart();
    expect(await early().list()).toEqual([own, { ...seen, signedAtMs: clock.now() }]);
    expect(await early().listOthers([ID, OTHER_ID, WORD])).toEqual([WORD]);
    // Beyond the exposure already: its own payout of the same id is the only one that it may sign.
    await expect(open().signDelivery(30, delivery(), 601n)).rejects.toThrow(
      "early payouts worth 1301, above the exposure of 1000",
    );
    await early().cover(OTHER_ID);
    restart();
    expect(await early().list()).toEqual([own]);
    await open().signDelivery(30, delivery(), 601n);
  });

  test("remembers how far it looked for payouts of others, across restarts [T315]", async () => {
    const { early } = open();
    expect(await early?.getReadTo(30)).toBeNull();
    await early?.recordReadTo(30, 2n ** 60n);
    await early?.recordReadTo(30, 5n);
    restart();
    const { early: again } = open();
    expect([await again?.getReadTo(30), await again?.getReadTo(10)]).toEqual([2n ** 60n, null]);
    expect(countEntries()).toBe(1);
  });

  test("signs no early payout for a chain without an exposure [T270]", async () => {
    const bounds = { exposure: 0n, acceptedLosses: [] };
    const strict = guard.guardAttestor(inner, { ...rules, earlyBoundsOf: () => bounds });
    await expect(strict.signDelivery(30, delivery(), 1n)).rejects.toThrow(
      "above the exposure of 0",
    );
    expect(countEntries()).toBe(0);
  });

  test("signs one refund of a wallet and token at a time, across restarts [T193]", async () => {
    const first = refund();
    expect(await open().signRefund(2, first)).toBe("0x05");
    restart();
    // Asked again after a crash.
    expect(await open().signRefund(2, first)).toBe("0x05");
    for (const change of [{ maxAmount: 6n }, { deadline: soon(601) }]) {
      await expect(open().signRefund(2, { ...first, ...change })).rejects.toThrow(
        "refund while another is valid",
      );
    }
    await open().signRefund(2, refund({ token: TARGET }));
    await open().signRefund(30, refund());
    await open().signRefund(2, refund({ commitment: { ...order.commitment, userId: OTHER_ID } }));
    clock.advance(600_000);
    await expect(open().signRefund(2, refund())).rejects.toThrow("refund while another is valid");
    clock.advance(1_000);
    expect(await open().signRefund(2, refund())).toBe("0x05");
  });

  test("never signs both a claim and a return of one lock, across restarts", async () => {
    await open().signReturn(2, giveBack);
    restart();
    await expect(open().signClaim(2, claim)).rejects.toThrow("claim after the lock's return");
    await expect(open().signDelivery(30, delivery())).rejects.toThrow(
      "delivery after the lock's return",
    );
    await open().signReturn(2, giveBack);
    const other = { ...claim, deliveryId: OTHER_ID };
    await open().signClaim(2, other);
    await expect(open().signReturn(2, other)).rejects.toThrow("return after the lock's claim");
    await expect(open().signDelivery(30, delivery({ seq: 1n }))).rejects.toThrow("claim");
    expect(countEntries()).toBe(3);
  });

  test("refuses to return a lock while its payout is valid, across restarts", async () => {
    await open().signDelivery(30, delivery({ windowStart: soon(-3_200) }));
    // A payout with an earlier window does not shorten the wait.
    await open().signDelivery(30, delivery({ windowStart: soon(-42_600) }));
    restart();
    await expect(open().signReturn(2, giveBack)).rejects.toThrow("return while a payout is valid");
    await open().signReturn(2, { ...giveBack, deliveryId: OTHER_ID });
    clock.advance(40_000_000);
    await open().signReturn(2, giveBack);
  });

  test("remembers the end of a lock for 60 days", async () => {
    await open().signReturn(2, giveBack);
    clock.advance(59 * DAY_MS);
    await open().signPrice(2, price());
    await expect(open().signClaim(2, claim)).rejects.toThrow("return");
    restart();
    await expect(open().signClaim(2, claim)).rejects.toThrow("return");
    clock.advance(2 * DAY_MS);
    await open().signPrice(2, price());
    await open().signClaim(2, claim);
  });

  test("a payout that it claimed is not one of others, and one of a lock that it returned is [T315]", async () => {
    await open().signDelivery(30, delivery());
    const ids = [claim.deliveryId, OTHER_ID];
    expect(await open().early?.listOthers(ids)).toEqual([OTHER_ID]);
    await open().signClaim(2, claim);
    await open().signReturn(2, { ...giveBack, deliveryId: OTHER_ID });
    expect(await open().early?.listOthers(ids)).toEqual([OTHER_ID]);
    restart();
    expect(await open().early?.listOthers(ids)).toEqual([OTHER_ID]);
  });

  test.each([
    [
      "a delivery of a pair without a route",
      () => open().signDelivery(31, delivery()),
      "no inventory route is configured",
    ],
    [
      "a delivery of zero",
      () => open().signDelivery(30, delivery({ amount: 0n })),
      "delivery amount is zero",
    ],
    [
      "a delivery of a lock in the future",
      () => open().signDelivery(30, delivery({ windowStart: soon(3_700) })),
      "is later than",
    ],
    [
      "a refund for a reason that is not allowed",
      () => open().signRefund(2, refund({ reason: "dead" })),
      "not allowed",
    ],
    [
      "a refund whose deadline is too late",
      () => open().signRefund(2, refund({ deadline: soon(4_300) })),
      "is later than",
    ],
    [
      "a price whose deadline is too late",
      () => open().signPrice(2, { ...price(), deadline: soon(3_800) }),
      "is later than",
    ],
    ["a price of zero", () => open().signPrice(2, { ...price(), rate: 0n }), "price is zero"],
    [
      "a price for a route that is not priced",
      () => open().signPrice(3, price()),
      "not configured as priced",
    ],
  ])("refuses %s [X8]", async (_what, sign, reason) => {
    await expect(sign()).rejects.toThrow(reason);
    expect(countEntries()).toBe(0);
  });
});
