/** The calls of `sluice rescue`, decoded by the ABI of the contracts. */
import { depositFactoryAbi, escrowAbi } from "@sluice/contracts/abi";
import { isRouteProven, predictWallet, rootOfRoutes } from "@sluice/sdk/address";
import { decodeFunctionData, isHex } from "viem";
import { describe, expect, test } from "vitest";
import { hashCommitment } from "../chains/evm/commitment.ts";
import { type Commitment, NO_ROUTE_SET } from "../core/commitment.ts";
import { padAddress, toEvmAddress, toHex32 } from "../core/hex.ts";
import { formatRescue, planRescue } from "./rescue.ts";

const FACTORY = toEvmAddress(`0x${"fa".repeat(20)}`);
const ESCROW = `0x${"e5".repeat(20)}`;
const TOKEN = `0x${"50".repeat(20)}`;
const ROUTE = `0x${"a1".repeat(20)}`;
const AUTHORITY = `0x${"7a".repeat(20)}`;
const FIELDS: Commitment = {
  integrator: toHex32(`0x${"1".repeat(64)}`),
  userId: padAddress(toEvmAddress(`0x${"02".repeat(20)}`)),
  destChain: 30,
  destWallet: padAddress(toEvmAddress(`0x${"03".repeat(20)}`)),
  destToken: padAddress(toEvmAddress(`0x${"04".repeat(20)}`)),
  refundAuthority: padAddress(toEvmAddress(AUTHORITY)),
  maxFeeBps: 50,
  maxSlippageBps: 100,
  routes: NO_ROUTE_SET,
  flags: 0,
};
const routeSet = [
  { evmChainId: 1, route: ROUTE },
  { evmChainId: 8453, route: ROUTE },
];
const FIXED: Commitment = { ...FIELDS, routes: toHex32(rootOfRoutes(routeSet)), flags: 1 };

const input = {
  token: TOKEN,
  amount: undefined,
  route: undefined,
  evmChainId: undefined,
  escrow: undefined,
  lock: undefined,
};

function fileOf(fields: Commitment, more: object = {}): string {
  return JSON.stringify({
    id: "any",
    walletAddress: predictWallet({ factory: FACTORY, commitment: fields }),
    payDepositCommitment: {
      version: 1,
      walletKind: 1,
      ...fields,
      factory: FACTORY,
      commitment: hashCommitment(fields),
      ...more,
    },
  });
}

function decode(abi: typeof depositFactoryAbi | typeof escrowAbi, data: string) {
  if (!isHex(data)) throw new TypeError("expected calldata");
  return decodeFunctionData({ abi: [...abi], data });
}

describe("sluice rescue", () => {
  test("gives the refund authority the refund of any address", () => {
    const { calls } = planRescue(fileOf(FIELDS), input);
    expect(calls).toMatchObject([{ name: "refund", from: AUTHORITY, to: FACTORY }]);
    const { functionName, args } = decode(depositFactoryAbi, calls[0]?.data ?? "");
    expect(functionName).toBe("refund");
    expect(args).toEqual([FIELDS, expect.stringMatching(new RegExp(TOKEN, "i")), 2n ** 256n - 1n]);
  });

  test("refunds a part of the balance with --amount", () => {
    const { calls } = planRescue(fileOf(FIELDS), { ...input, amount: 7n });
    expect(calls).toMatchObject([{ name: "refund", when: "at any time; at most 7 base units" }]);
    expect(decode(depositFactoryAbi, calls[0]?.data ?? "").args?.[2]).toBe(7n);
  });

  test("finds the routes of an unattended settlement in the commitment", () => {
    const plan = (evmChainId?: number) =>
      planRescue(fileOf(FIXED, { routeSet }), { ...input, evmChainId }).calls.slice(2);
    expect(plan().map(({ name }) => name)).toEqual([
      `settle on EVM chain 1 through ${ROUTE}`,
      `settle on EVM chain 8453 through ${ROUTE}`,
    ]);
    const [settle, ...others] = plan(8453);
    expect(others).toEqual([]);
    // CAST: the arguments of that function.
    const [, , route, proof] = decode(depositFactoryAbi, settle?.data ?? "").args as unknown as [
      Commitment,
      string,
      string,
      string[],
    ];
    expect(isRouteProven(FIXED.routes, { evmChainId: 8453, route }, proof)).toBe(true);
    expect(() => plan(10)).toThrow("--evm-chain-id: expected a chain");
  });

  test("lets anybody announce and settle where the commitment allows it, with the proof of the route", () => {
    const { calls } = planRescue(fileOf(FIXED, { routeSet }), {
      ...input,
      route: ROUTE,
      evmChainId: 1,
    });
    expect(calls.map(({ name, from }) => [name, from])).toEqual([
      ["refund", AUTHORITY],
      ["announce the settlement", null],
      [`settle on EVM chain 1 through ${ROUTE}`, null],
    ]);
    const [, announce, settle] = calls.map(({ data }) => decode(depositFactoryAbi, data));
    expect(announce).toMatchObject({ functionName: "announceSettlement", args: [FIXED, {}] });
    expect(settle?.functionName).toBe("settleUnattended");
    // CAST: the arguments of that function.
    const [c, , route, proof] = (settle?.args ?? []) as unknown as [
      Commitment,
      string,
      string,
      string[],
    ];
    expect(c).toEqual(FIXED);
    expect(isRouteProven(FIXED.routes, { evmChainId: 1, route }, proof)).toBe(true);
  });

  test("needs no proof for a governed address that anybody may settle", () => {
    const { calls } = planRescue(fileOf({ ...FIELDS, flags: 1 }), {
      ...input,
      route: ROUTE,
    });
    const settle = decode(depositFactoryAbi, calls[2]?.data ?? "");
    expect(settle.args?.[3]).toEqual([]);
  });

  test("prints the steps of a take-back for the escrow", () => {
    const delivery = `0x${"d1".repeat(32)}`;
    const lock = `${delivery},1000,990,7`;
    const { address, calls } = planRescue(fileOf(FIELDS), { ...input, escrow: ESCROW, lock });
    const ofEscrow = calls.filter(({ to }) => to === ESCROW);
    expect(ofEscrow.map(({ data }) => decode(escrowAbi, data).functionName)).toEqual([
      "announceTakeBack",
      "takeBack",
      "cancelTakeBack",
    ]);
    expect(decode(escrowAbi, ofEscrow[1]?.data ?? "").args).toMatchObject([
      { commitment: hashCommitment(FIELDS), delivery, amount: 1000n, minOut: 990n, seq: 7n },
      FIELDS,
    ]);
    expect(formatRescue(address, calls)).toContain(`  from   ${AUTHORITY}`);
  });

  test.each<[string, string, object, string]>([
    ["no JSON", "refund me", {}, "file: expected JSON"],
    ["another object", "{}", {}, "file: expected walletAddress and payDepositCommitment"],
    ["a changed field", fileOf(FIELDS, { maxFeeBps: 51 }), {}, "commitment is"],
    [
      "another address",
      fileOf(FIELDS).replace(/"walletAddress":"[^"]*"/, `"walletAddress":"${TOKEN}"`),
      {},
      "address is",
    ],
    [
      "fixed routes without the chain",
      fileOf(FIXED, { routeSet }),
      { route: ROUTE },
      "--evm-chain-id",
    ],
    [
      "a route outside the set",
      fileOf(FIXED, { routeSet }),
      { route: TOKEN, evmChainId: 1 },
      "route: expected",
    ],
    ["a lock without its number", fileOf(FIELDS), { escrow: ESCROW, lock: "1,2,3" }, "--lock"],
    ["a malformed token", fileOf(FIELDS), { token: "USDC" }, "token: expected"],
  ])("refuses %s", (_what, text, change, message) => {
    expect(() => planRescue(text, { ...input, ...change })).toThrow(message);
  });
});
