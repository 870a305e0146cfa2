/** An attestor's decisions about refunds, each from its own readers and configuration. */
import { describe, expect, test } from "vitest";
import { createStrictChain, hashOf } from "../../../test/support/doubles.ts";
import { NOTHING_REFUNDED } from "../../../test/support/refund-policies.ts";
import type { RefundProof } from "../../chains/port/index.ts";
import type { RefundPolicy } from "../../config/index.ts";
import type { RefundReason } from "../../core/refund-reason.ts";
import { type Commitment, GOVERNED } from "../../core/commitment.ts";
import { NATIVE_TOKEN, padAddress, toEvmAddress, toHex32 } from "../../core/hex.ts";
import { judgeRefundProof, judgeRefundReason, type RefundTerms } from "./judge-refund.ts";

const address = (byte: string) => toEvmAddress(`0x${byte.repeat(20)}`);
const USDC = address("a0");
const DEST = address("b0");
const WALLET = address("3a");
const AUTHORITY = padAddress(address("02"));
const NOW_S = 1_750_000_000n;
const FINAL_S = NOW_S - 30n;
const MINIMUM = 100n;
const DAY_S = 86_400n;

const commitment: Commitment = {
  integrator: toHex32(hashOf("integrator")),
  userId: padAddress(address("01")),
  destChain: 30,
  destWallet: padAddress(address("1e")),
  destToken: padAddress(DEST),
  refundAuthority: AUTHORITY,
  maxFeeBps: 50,
  maxSlippageBps: 100,
  ...GOVERNED,
};

const ALL: RefundPolicy = {
  belowMinimum: true,
  unlisted: true,
  deadAfterS: DAY_S,
  expiredAfterS: 30n * DAY_S,
  automatic: null,
};

/** An attestor whose readers show a wallet with `final` units; block 50 is the first of the asked age. */
function openJudge() {
  const state = {
    final: 40n as bigint | null,
    latest: 40n,
    /** Balance in block 49; null if the node dropped its state. */
    stood: 40n as bigint | null,
    since: 50n,
    outflow: null as bigint | null,
    policy: ALL,
    others: new Map<typeof AUTHORITY, RefundPolicy>(),
    asked: [] as bigint[],
    token: USDC,
  };
  const chain = createStrictChain({
    chainId: 2,
    predictWallet: () => WALLET,
    findBalance: async (token, owner, at) => {
      expect([token, owner]).toEqual([state.token, WALLET]);
      return at === "final" ? state.final : state.latest;
    },
    getTime: async () => FINAL_S,
    findBlockAt: async (timeS) => {
      state.asked.push(timeS);
      return state.since;
    },
    getBlock: async (number) => ({
      number,
      hash: toHex32(hashOf(`block ${number}`)),
      parentHash: toHex32(hashOf("parent")),
    }),
    listTokenBalances: async (hash) => {
      expect(hash).toBe(toHex32(hashOf(`block ${state.since - 1n}`)));
      return state.stood === null ? null : [state.stood];
    },
    listNativeBalances: async () => [state.stood ?? 0n],
    findOutflow: async ({ fromBlock }) =>
      state.outflow !== null && state.outflow >= fromBlock ? state.outflow : null,
  });
  const judge = async (change: Partial<RefundProof> = {}, at = chain) => {
    const terms: RefundTerms = {
      policies: { general: state.policy, byAuthority: state.others },
      isBelowMinimum: async (_chainId, _token, balance) => balance < MINIMUM,
    };
    const pairs = [{ srcChain: 2, srcToken: USDC, destChain: 30, destToken: DEST }];
    const verdict = await judgeRefundProof(
      { chain: at, pairs, terms, nowS: NOW_S },
      {
        commitment,
        token: USDC,
        maxAmount: 40n,
        reason: "below_minimum",
        deadline: NOW_S + 600n,
        ...change,
      },
    );
    return verdict.kind === "refuse" ? verdict.reason : verdict.kind;
  };
  return { state, judge };
}

describe("every refund", () => {
  test("is refused for a reason that the policy of its authority does not allow [T192]", async () => {
    const { state, judge } = openJudge();
    state.policy = NOTHING_REFUNDED;
    for (const reason of ["below_minimum", "unlisted", "dead", "expired"] as const) {
      expect(await judge({ reason })).toBe("not_allowed");
    }
    state.others.set(AUTHORITY, ALL);
    expect(await judge()).toBe("sign");
    state.policy = ALL;
    state.others.set(AUTHORITY, NOTHING_REFUNDED);
    expect(await judge()).toBe("not_allowed");
  });

  test("is never signed for more than the final balance, and waits for it [T193]", async () => {
    const { state, judge } = openJudge();
    state.latest = 99n;
    expect(await judge({ maxAmount: 41n })).toBe("wait");
    expect(await judge({ maxAmount: 40n })).toBe("sign");
    expect(await judge({ maxAmount: 0n })).toBe("no_amount");
    state.final = null;
    expect(await judge()).toBe("no_balance");
  });

  test("is refused with a deadline that the contract would refuse", async () => {
    const { judge } = openJudge();
    expect(await judge({ deadline: NOW_S + 601n })).toBe("deadline_too_late");
  });

  test("is refused on Solana, where the signer pays refunds", async () => {
    const { judge } = openJudge();
    const vaults = createStrictChain({ chainId: 1 });
    Object.assign(vaults, { wallets: { kind: "vault" } });
    expect(await judge({}, vaults)).toBe("unknown_chain");
  });
});

describe("a refund that the signer of vaults pays", () => {
  /** A chain of vaults whose final balance is 40 units, of which some stood. */
  const openVaults = (stood: bigint | "moved_since" | "history_too_long") => {
    const asked: bigint[] = [];
    const chain = createStrictChain({
      chainId: 2,
      getBalance: async () => 40n,
      findBalance: async () => 60n,
      getTime: async () => FINAL_S,
    });
    Object.assign(chain, {
      wallets: {
        kind: "vault",
        readStood: async ({ sinceS }: { readonly sinceS: bigint }) => {
          asked.push(sinceS);
          return stood;
        },
      },
    });
    const judge = async (reason: RefundReason, maxAmount = 40n, minimum = MINIMUM) => {
      const terms: RefundTerms = {
        policies: { general: ALL, byAuthority: new Map() },
        isBelowMinimum: async (_chainId, _token, balance) => balance < minimum,
      };
      const pairs = [{ srcChain: 2, srcToken: USDC, destChain: 30, destToken: DEST }];
      const refund = { commitment, wallet: WALLET, token: USDC, maxAmount, reason };
      const verdict = await judgeRefundReason({ chain, pairs, terms }, refund);
      return verdict.kind === "refuse" ? verdict.reason : verdict.kind;
    };
    return { judge, asked };
  };

  test("is paid for a reason that its own readers show, and refused for one that they contradict [T203]", async () => {
    const { judge, asked } = openVaults(40n);
    expect(await judge("below_minimum")).toBe("sign");
    expect(await judge("below_minimum", 40n, 60n)).toBe("above_minimum");
    expect(await judge("unlisted")).toBe("listed");
    expect(await judge("dead")).toBe("below_minimum");
    expect(await judge("dead", 40n, 40n)).toBe("sign");
    expect(await judge("expired")).toBe("sign");
    expect(asked).toEqual([FINAL_S - DAY_S, FINAL_S - 30n * DAY_S]);
    // Never more than is final.
    expect(await judge("below_minimum", 41n)).toBe("wait");
  });

  test("by age is refused for more than stood, after an outflow, and for a history too long to read [T203]", async () => {
    expect(await openVaults(39n).judge("expired")).toBe("too_recent");
    expect(await openVaults("moved_since").judge("expired")).toBe("moved_since");
    expect(await openVaults("history_too_long").judge("expired")).toBe("history_too_long");
  });
});

describe("a refund below the minimum", () => {
  test("is refused for a balance at the minimum, also of a block that is not final [T193]", async () => {
    const { state, judge } = openJudge();
    state.latest = MINIMUM;
    expect(await judge()).toBe("above_minimum");
    [state.final, state.latest] = [MINIMUM, 0n];
    expect(await judge()).toBe("above_minimum");
    [state.final, state.latest] = [MINIMUM - 1n, MINIMUM - 1n];
    expect(await judge()).toBe("sign");
  });

  test("is refused for a token or destination without a route: that is another reason", async () => {
    const { judge } = openJudge();
    const elsewhere = { ...commitment, destToken: padAddress(address("b1")) };
    expect(await judge({ commitment: elsewhere })).toBe("unlisted");
  });
});

describe("a refund of an unlisted token", () => {
  test("is signed where no route takes it to the committed destination, and refused for a listed pair", async () => {
    const { state, judge } = openJudge();
    expect(await judge({ reason: "unlisted" })).toBe("listed");
    const elsewhere = { ...commitment, destChain: 4 };
    expect(await judge({ reason: "unlisted", commitment: elsewhere })).toBe("sign");
    state.token = address("a1");
    expect(await judge({ reason: "unlisted", token: address("a1") })).toBe("sign");
  });
});

describe("a refund by age", () => {
  test("of a dead deposit is signed once it stood so long unsettled, not for a smaller one", async () => {
    const { state, judge } = openJudge();
    expect(await judge({ reason: "dead" })).toBe("below_minimum");
    [state.final, state.stood] = [MINIMUM, MINIMUM];
    expect(await judge({ reason: "dead", maxAmount: MINIMUM })).toBe("sign");
    expect(state.asked).toEqual([FINAL_S - DAY_S]);
    const elsewhere = { ...commitment, destChain: 4 };
    expect(await judge({ reason: "dead", commitment: elsewhere })).toBe("unlisted");
  });

  test("of an expired deposit is signed for any balance of that age", async () => {
    const { state, judge } = openJudge();
    expect(await judge({ reason: "expired" })).toBe("sign");
    expect(state.asked).toEqual([FINAL_S - 30n * DAY_S]);
    state.token = NATIVE_TOKEN;
    expect(await judge({ reason: "expired", token: NATIVE_TOKEN })).toBe("sign");
  });

  test("covers what stood, never a later deposit [T193]", async () => {
    const { state, judge } = openJudge();
    state.final = 90n;
    expect(await judge({ reason: "expired", maxAmount: 41n })).toBe("too_recent");
    expect(await judge({ reason: "expired", maxAmount: 40n })).toBe("sign");
    state.stood = 0n;
    expect(await judge({ reason: "expired" })).toBe("too_recent");
    [state.since, state.stood] = [0n, 40n];
    expect(await judge({ reason: "expired" })).toBe("too_recent");
  });

  test("is refused after a sweep or refund in that time, whose wallet filled again [T193]", async () => {
    const { state, judge } = openJudge();
    state.outflow = 49n;
    expect(await judge({ reason: "expired" })).toBe("sign");
    state.outflow = 50n;
    expect(await judge({ reason: "expired" })).toBe("moved_since");
  });

  test("is refused where the node dropped the state of that time", async () => {
    const { state, judge } = openJudge();
    state.stood = null;
    expect(await judge({ reason: "expired" })).toBe("state_not_kept");
  });
});
