/** The inspector on a real node with the real contracts. */
import { pricedRouteAbi } from "@sluice/contracts/abi";
import { pricedRouteBytecode } from "@sluice/contracts/bytecode";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EvmAddress, padAddress, toEvmAddress } from "../../core/hex.ts";
import { BUILT_CONTRACTS, type BuiltContract, type ChainInspector } from "../inspector.ts";
import { readImmutables } from "./built-code.ts";
import { encodeSecurityContact } from "./governance.ts";
import { createEvmInspector, evmFactoryExpectation } from "./inspector.ts";
import { type Answers, answeringCode } from "../../../test/evm/answering.ts";
import { startAnvil } from "../../../test/evm/anvil.ts";
import {
  deployContracts,
  type Deployment,
  EVM_CHAIN_ID,
  HERE,
  THERE,
} from "../../../test/evm/deployment.ts";

const RELAYER = toEvmAddress(`0x${"1a".repeat(20)}`);
const ATTESTOR = toEvmAddress(`0x${"a7".repeat(20)}`);
const NOBODY = toEvmAddress(`0x${"5e".repeat(20)}`);

let anvil: Awaited<ReturnType<typeof startAnvil>>;
let deployment: Deployment;
let inspector: ChainInspector;

beforeAll(async () => {
  anvil = await startAnvil(EVM_CHAIN_ID);
  deployment = await deployContracts(anvil.rpcUrl, { relayer: RELAYER, attestor: ATTESTOR });
  inspector = createEvmInspector({
    chainId: HERE,
    evmChainId: EVM_CHAIN_ID,
    contracts: deployment.here,
    rpcUrl: anvil.rpcUrl,
    timeoutMs: 5_000,
  });
});
afterAll(async () => {
  await anvil.stop();
});

async function setCode(address: EvmAddress, code: string): Promise<void> {
  // CAST: viem's types lack anvil's own methods.
  await deployment.client.request({ method: "anvil_setCode", params: [address, code] } as never);
}

describe("code of this build", () => {
  const places: readonly [BuiltContract, () => EvmAddress][] = [
    ["factory", () => deployment.here.factory],
    [
      "implementation",
      () => evmFactoryExpectation.identityOf(deployment.here.factory).implementation,
    ],
    ["escrow", () => deployment.here.escrow],
    ["delivery", () => deployment.there.delivery],
    ["transferRoute", () => deployment.transferRoute],
    ["sameAssetRoute", () => deployment.escrowRoute],
  ];

  test.each(places)("recognises %s and nothing else", async (contract, place) => {
    const matches = await Promise.all(
      BUILT_CONTRACTS.map((other) => inspector.isOfBuild(place(), other)),
    );
    expect(BUILT_CONTRACTS.filter((_, index) => matches[index])).toEqual([contract]);
  });

  test.each(places)(
    "does not recognise %s with one byte changed or truncated",
    async (contract, place) => {
      const code = await deployment.client.getCode({ address: place() });
      if (code === undefined) throw new Error("it has code");
      expect(readImmutables(contract, code)).not.toBeNull();
      const flipped = (at: number) =>
        `0x${code.slice(2, at)}${code[at] === "0" ? "1" : "0"}${code.slice(at + 1)}` as const;
      // The first and the last instruction.
      expect(readImmutables(contract, flipped(3))).toBeNull();
      expect(readImmutables(contract, flipped(code.length - 1))).toBeNull();
      expect(readImmutables(contract, `0x${code.slice(2, -2)}`)).toBeNull();
      expect(readImmutables(contract, `0x${code.slice(4)}`)).toBeNull();
      expect(readImmutables(contract, `0x${code.slice(2)}00`)).toBeNull();
      expect(readImmutables(contract, "0x")).toBeNull();
    },
  );

  test("distinguishes a priced route from a same-asset route", async () => {
    const pair = await inspector.getEscrowPair(deployment.escrowRoute);
    const route = await deployment.create(pricedRouteAbi, pricedRouteBytecode, [pair]);
    expect(await inspector.isOfBuild(route, "pricedRoute")).toBe(true);
    expect(await inspector.isOfBuild(route, "sameAssetRoute")).toBe(false);
    expect(await inspector.getEscrowPair(route)).toEqual(pair);
  });

  test("accepts the wallet implementation of its own factory only", async () => {
    const { factory } = deployment.here;
    const { implementation } = evmFactoryExpectation.identityOf(factory);
    expect(await inspector.isImplementationOf(implementation, factory)).toBe(true);
    expect(await inspector.isImplementationOf(implementation, NOBODY)).toBe(false);
    expect(await inspector.isImplementationOf(factory, factory)).toBe(false);
  });
});

describe("facts from a node", () => {
  test("include its chain and blocks", async () => {
    expect(await inspector.getEvmChainId()).toBe(EVM_CHAIN_ID);
    const [head, final] = [await inspector.getHead("latest"), await inspector.getHead("final")];
    expect(head.number - final.number).toBe(2n);
    expect(await inspector.getBlockHash(final.number)).toBe(final.hash);
    expect(await inspector.getBlockHash(head.number + 1_000n)).toBeNull();
    expect((await inspector.suggestFees()).gasPriceMax).toBeGreaterThan(0n);
  });

  test("include the factory's values for address derivation", async () => {
    const { factory } = deployment.here;
    expect(await inspector.getFactoryIdentity(factory)).toEqual(
      evmFactoryExpectation.identityOf(factory),
    );
    expect(await inspector.getGovernance(factory)).toMatchObject({
      delaySeconds: 0n,
      isSealed: true,
      isPaused: false,
    });
    expect(await inspector.getGovernance(deployment.here.delivery)).toMatchObject({
      isSealed: false,
    });
  });

  test("include the deterministic deployer", async () => {
    const { address, codeHash } = evmFactoryExpectation.deployer;
    expect(await inspector.getCodeHash(address)).toBe(codeHash);
  });

  test("include escrow, delivery and routes", async () => {
    const { here, there, treasury, usdc, usdcThere, feeRecipient } = deployment;
    const terms = { factory: here.factory };
    expect(await inspector.getTreasury(here.factory)).toBe(treasury);
    expect(await inspector.getPayoutWindow(here.delivery)).toBe(43_200);
    expect(await inspector.getSecurityContact(here.factory)).toBe("");
    const data = encodeSecurityContact("security@example.org");
    const { wallet, mined } = deployment;
    await mined(await wallet.sendTransaction({ to: here.factory, data }));
    expect(await inspector.getSecurityContact(here.factory)).toBe("security@example.org");
    expect(await inspector.getThreshold(here.factory)).toBe(1);
    expect(await inspector.getUncollected(here.escrow, usdc)).toBe(0n);
    expect(await inspector.getContractTerms(here.escrow)).toEqual({ ...terms, bridgeId: HERE });
    expect(await inspector.getContractTerms(there.delivery)).toEqual({ ...terms, bridgeId: THERE });
    expect(await inspector.getEscrowEvmChainId(here.escrow)).toBe(BigInt(EVM_CHAIN_ID));
    expect(await inspector.getTransferTerms(deployment.transferRoute)).toEqual({
      evmChainId: BigInt(EVM_CHAIN_ID),
      bridgeId: HERE,
      factory: here.factory,
      token: usdc,
      feeRecipient,
    });
    expect(await inspector.getEscrowPair(deployment.escrowRoute)).toEqual({
      evmChainId: BigInt(EVM_CHAIN_ID),
      sourceChain: HERE,
      sourceToken: usdc,
      sourceDecimals: 6,
      escrow: here.escrow,
      destChain: THERE,
      destToken: padAddress(usdcThere),
      destDecimals: 18,
      delivery: padAddress(there.delivery),
    });
    expect(await inspector.getDailyCap(there.delivery, usdcThere)).toBe(10n ** 30n);
    expect(await inspector.getDailyCap(there.delivery, usdc)).toBe(0n);
  });

  test("include the accounts that are listed", async () => {
    const { here, there, transferRoute } = deployment;
    expect(await inspector.isRoute(here.factory, transferRoute)).toBe(true);
    expect(await inspector.isRoute(here.factory, NOBODY)).toBe(false);
    expect(await inspector.isRelayer(here.factory, RELAYER)).toBe(true);
    expect(await inspector.isRelayer(here.factory, ATTESTOR)).toBe(false);
    expect(await inspector.isAttestor(here.factory, ATTESTOR)).toBe(true);
    expect(await inspector.isAttestor(here.factory, RELAYER)).toBe(false);
    expect(await inspector.isSettler(there.delivery, RELAYER)).toBe(true);
    expect(await inspector.isSettler(there.delivery, ATTESTOR)).toBe(false);
  });

  test("include a token", async () => {
    expect(await inspector.getTokenDecimals(deployment.usdcThere)).toBe(18);
    expect(await inspector.getTokenSymbol(deployment.usdc)).toBe("USDC");
    const asked = inspector.getTokenDecimals(deployment.here.escrow);
    await expect(asked).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
  });

  test("do not count a delegated ordinary account as a contract", async () => {
    const delegated = toEvmAddress(`0x${"d1".repeat(20)}`);
    await setCode(delegated, `0xef0100${deployment.here.escrow.slice(2)}`);
    expect(await inspector.hasCode(delegated)).toBe(true);
    expect(await inspector.isContract(delegated)).toBe(false);
    expect(await inspector.isContract(deployment.here.escrow)).toBe(true);
    expect(await inspector.isContract(NOBODY)).toBe(false);
  });
});

describe("third-party contracts", () => {
  const [ONE, OTHER] = [toEvmAddress(`0x${"c1".repeat(20)}`), toEvmAddress(`0x${"c2".repeat(20)}`)];
  const answer = (address: EvmAddress, answers: Answers) =>
    setCode(address, answeringCode(answers));

  test("a price feed gives its pair, its answer and its publication time", async () => {
    await answer(ONE, {
      "function description() view returns (string)": "ETH / USD",
      "function decimals() view returns (uint8)": 8,
      "function latestRoundData() view returns (uint80, int256, uint256, uint256, uint80)": [
        1n,
        312_345_678_901n,
        1n,
        1_750_000_000n,
        1n,
      ],
    });
    expect(await inspector.getPriceFeed(ONE)).toEqual({
      description: "ETH / USD",
      usd: 3_123_456_789_010_000_000_000n,
      publishedAtMs: 1_750_000_000_000,
    });
  });

  test("a CCTP messenger gives its transmitter, which gives its domain", async () => {
    await answer(ONE, { "function localMessageTransmitter() view returns (address)": OTHER });
    await answer(OTHER, { "function localDomain() view returns (uint32)": 4_294_967_295 });
    expect(await inspector.getCctpTransmitter(ONE)).toBe(OTHER);
    expect(await inspector.getCctpDomain(OTHER)).toBe(4_294_967_295);
  });

  test("a router gives its factory and the wrapped coin", async () => {
    await answer(ONE, {
      "function factory() view returns (address)": OTHER,
      "function WETH9() view returns (address)": NOBODY,
    });
    expect(await inspector.getSwapRouterTerms(ONE)).toEqual({ factory: OTHER, weth: NOBODY });
  });

  test("are rejected when they are something else", async () => {
    await answer(ONE, { "function decimals() view returns (uint8)": 8 });
    for (const read of [
      () => inspector.getPriceFeed(ONE),
      () => inspector.getCctpTransmitter(ONE),
      () => inspector.getCctpDomain(ONE),
      () => inspector.getSwapRouterTerms(ONE),
    ]) {
      await expect(read()).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
    }
  });
});
