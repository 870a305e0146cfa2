/** Reading and sending on a real node. */
import { listTransfers } from "../../../test/support/read-block.ts";
import { encodeFunctionData } from "viem";
import { erc20Abi } from "@sluice/contracts/abi";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NATIVE_TOKEN, toEvmAddress, toHex32 } from "../../core/hex.ts";
import { Secret } from "../../core/secret.ts";
import { createRawKey } from "../../signers/evm/key.ts";
import { createEvmLaneSigner } from "../../signers/evm/lane-signer.ts";
import { GAS_PRICE_ORACLE } from "./surcharge.ts";
import {
  EVM_CHAIN_ID,
  HERE,
  openWorld,
  RECIPIENT,
  USDC,
  type World,
} from "../../../test/evm/world.ts";

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(async () => {
  await world.close();
});

describe("fees of the OP stack", () => {
  test("count for the balance of the sender and in the cost of a settlement [T200]", async () => {
    // Returns the argument times a million: for bytes as for gas.
    const code = "0x600435620f42400260005260206000f3";
    const setCode = (bytes: string) =>
      world.client.request({
        method: "anvil_setCode",
        params: [GAS_PRICE_ORACLE, bytes],
        // CAST: a method of the node that the client's types do not include.
      } as never);
    const call = { to: RECIPIENT, data: "0x", value: 0n } as const;
    expect(await world.there.readSurcharge()).toBe(0n);
    const before = await world.there.simulate(world.lane.address, call);
    await setCode(code);
    expect(await world.there.readSurcharge()).toBe((1_000n + 400_000n) * 1_000_000n);
    // Ethereum has no such fee, with or without code at the address.
    expect(await world.here.readSurcharge()).toBe(0n);
    expect(await world.there.simulate(world.lane.address, call)).toEqual(before);
    // As above with 10^30: no lane can pay.
    await setCode("0x6004356c0c9f2c9cd04674edea400000000260005260206000f3");
    await expect(world.there.simulate(world.lane.address, call)).rejects.toMatchObject({
      code: "INSUFFICIENT_BALANCE",
      details: { reason: "gas", chainId: 30 },
    });
    await setCode("0x");
  });
});

describe("simulation", () => {
  test("returns the contract's name of a revert", async () => {
    const empty = await world.here.simulate(
      world.lane.address,
      world.settleCall(world.commitmentTo(HERE)),
    );
    expect(empty).toEqual({ ok: false, reason: "Nothing" });
    const stranger = toEvmAddress(world.wallet.account.address);
    const foreign = await world.here.simulate(stranger, world.settleCall(world.commitmentTo(HERE)));
    expect(foreign).toEqual({ ok: false, reason: "NotRelayer" });
  });

  test("returns the name of a revert in the route inside the wallet", async () => {
    const commitment = world.commitmentTo(HERE);
    await world.mint(world.usdc, world.here.predictWallet(commitment), USDC);
    const call = world.settleCall(commitment, world.here.encodeTransferData({ bps: 51, flat: 0n }));
    expect(await world.here.simulate(world.lane.address, call)).toEqual({
      ok: false,
      reason: "FeeAboveCap",
    });
  });

  test("returns a gas limit at least a quarter above the gas used", async () => {
    const commitment = world.commitmentTo(HERE);
    const call = world.here.wallets.buildDeploy(commitment);
    const simulation = await world.here.simulate(world.lane.address, call);
    const receipt = await world.execute(world.here, call);
    const { gasUsed } = await world.client.getTransactionReceipt({ hash: receipt.txHash });
    if (!simulation.ok) throw new Error("would revert");
    expect(simulation.gas * 4n >= gasUsed * 5n).toBe(true);
    expect(simulation.gas < gasUsed * 2n).toBe(true);
  });

  test("does not report a sender without gas money as a revert [T66]", async () => {
    const penniless = toEvmAddress(`0x${"9a".repeat(20)}`);
    await expect(
      world.here.simulate(penniless, world.here.wallets.buildDeploy(world.commitmentTo(HERE))),
    ).rejects.toMatchObject({ code: "INSUFFICIENT_BALANCE", details: { reason: "gas" } });
    const paying = {
      ...world.here.wallets.buildDeploy(world.commitmentTo(HERE)),
      value: 10n ** 24n,
    };
    await expect(world.here.simulate(world.lane.address, paying)).rejects.toMatchObject({
      code: "INSUFFICIENT_BALANCE",
    });
  });
});

describe("sending", () => {
  test("reports the same bytes as known or already mined, never as a new payment [T64]", async () => {
    const call = world.here.wallets.buildDeploy(world.commitmentTo(HERE));
    const nonce = await world.here.sequencing.getTransactionCount(world.lane.address);
    const fees = await world.here.suggestFees();
    const signed = await world.lane.sign({ call, nonce, gas: 500_000n, fees });
    expect(await world.here.send(signed.raw)).toBe("accepted");
    await world.receiptOf(world.here, signed.hash);
    expect(await world.here.send(signed.raw)).toBe("nonce_too_low");
    expect(await world.here.sequencing.getTransactionCount(world.lane.address)).toBe(nonce + 1);

    const later = await world.lane.sign({ call, nonce: nonce + 2, gas: 500_000n, fees });
    expect(await world.here.send(later.raw)).toBe("accepted");
    expect(await world.here.send(later.raw)).toBe("known");
    expect(await world.here.getReceipt(later.hash)).toBeNull();
  });

  test("reports a sender without money separately", async () => {
    const poor = createEvmLaneSigner({
      key: createRawKey(new Secret(`0x${"9b".repeat(32)}`), "a test"),
      purpose: "deploy",
      chainId: HERE,
      evmChainId: EVM_CHAIN_ID,
    });
    const call = world.here.wallets.buildDeploy(world.commitmentTo(HERE));
    const fees = await world.here.suggestFees();
    const { raw } = await poor.sign({ call, nonce: 0, gas: 500_000n, fees });
    expect(await world.here.send(raw)).toBe("insufficient_funds");
  });

  test("returns a refusal, without throwing, for bytes that are not a transaction", async () => {
    expect(await world.here.send("0x1234")).toBe("unknown");
  });
});

describe("transfers of a block", () => {
  test("are those of the listed tokens, numbered within their transaction", async () => {
    const commitment = world.commitmentTo(HERE);
    const wallet = world.here.predictWallet(commitment);
    const minted = await world.mint(world.usdc, wallet, 25n * USDC);
    const block = await world.here.getBlock(minted.blockNumber);
    if (!block) throw new Error("no block");
    expect(await listTransfers(world.here, block, [world.usdc, world.usdcThere])).toEqual([
      {
        token: world.usdc,
        from: NATIVE_TOKEN,
        to: wallet,
        amount: 25n * USDC,
        txHash: minted.transactionHash,
        logIndex: 0,
        ordinal: 0,
      },
    ]);
    expect(await listTransfers(world.here, block, [world.usdcThere])).toEqual([]);
    expect(await listTransfers(world.here, block, [NATIVE_TOKEN])).toEqual([]);
    expect(await listTransfers(world.here, block, [])).toEqual([]);

    const swept = await world.execute(world.here, world.settleCall(commitment));
    const sweptBlock = await world.here.getBlock(swept.blockNumber);
    if (!sweptBlock) throw new Error("no block");
    const transfers = await listTransfers(world.here, sweptBlock, [world.usdc]);
    expect(transfers.map(({ to, amount, ordinal }) => ({ to, amount, ordinal }))).toEqual([
      { to: world.feeRecipient, amount: 25_000n, ordinal: 0 },
      { to: RECIPIENT, amount: 24_975_000n, ordinal: 1 },
    ]);
  });

  test("omit transfers of zero", async () => {
    const data = encodeFunctionData({
      abi: erc20Abi,
      functionName: "transfer",
      args: [RECIPIENT, 0n],
    });
    const hash = await world.wallet.sendTransaction({ to: world.usdc, data });
    const { blockNumber, logs } = await world.mined(hash);
    expect(logs).toHaveLength(1);
    const block = await world.here.getBlock(blockNumber);
    if (!block) throw new Error("no block");
    expect(await listTransfers(world.here, block, [world.usdc])).toEqual([]);
  });

  test("fail, rather than be empty, for a block that the node lacks [T47]", async () => {
    const head = await world.here.getHead();
    const hash = toHex32(`0x${"11".repeat(32)}`);
    await expect(listTransfers(world.here, { ...head, hash }, [world.usdc])).rejects.toMatchObject({
      code: "RPC_UNAVAILABLE",
    });
  });

  test("have no block at a height above the head", async () => {
    const head = await world.here.getHead();
    expect(await world.here.getBlock(head.number + 10n)).toBeNull();
    expect(await world.here.getBlock(head.number)).toEqual(head);
  });
});

describe("balances", () => {
  test("are read for tokens and the native coin", async () => {
    const who = toEvmAddress(`0x${"c0".repeat(20)}`);
    expect(await world.here.getBalance(NATIVE_TOKEN, who)).toBe(0n);
    await world.mined(await world.wallet.sendTransaction({ to: who, value: 7n }));
    await world.mint(world.usdc, who, 5n);
    expect(await world.here.getBalance(NATIVE_TOKEN, who)).toBe(7n);
    expect(await world.here.getBalance(world.usdc, who)).toBe(5n);
  });

  test.each([
    ["reverts", "0x60006000fd"],
    ["never ends", "0x5b600056"],
    ["answers with nothing", "0x00"],
    ["answers with a megabyte", "0x620fffff6000f3"],
    ["answers with a word and a half", "0x60306000f3"],
  ] as const)(
    "are absent for a contract that %s, without counting as a node failure [T12, T13]",
    async (_what, code) => {
      const token = toEvmAddress(`0x${"7c".repeat(20)}`);
      // CAST: the node's own method, which the client's types do not know.
      await world.client.request({ method: "anvil_setCode", params: [token, code] } as never);
      expect(await world.here.findBalance(token, RECIPIENT)).toBeNull();
      // For a listed token this must fail: zero is not assumed.
      await expect(world.here.getBalance(token, RECIPIENT)).rejects.toMatchObject({
        code: "RPC_UNAVAILABLE",
      });
    },
  );

  test("of many holdings at a block are correct even when one token misbehaves [T12]", async () => {
    const setCode = (token: string, code: string) =>
      // CAST: the node's own method, which the client's types do not know.
      world.client.request({ method: "anvil_setCode", params: [token, code] } as never);
    const strange = [
      "0x60006000fd", // reverts
      "0x5b600056", // never ends
      "0x00", // answers with nothing
      "0x620fffff6000f3", // answers with a megabyte
      "0x620fffff6000fd", // reverts with one
      "0x60306000f3", // answers with a word and a half
    ].map((code, index) => ({ code, token: toEvmAddress(`0x7d${`${index}`.repeat(38)}`) }));
    for (const { token, code } of strange) await setCode(token, code);
    const liar = toEvmAddress(`0x${"7e".repeat(20)}`);
    await setCode(liar, "0x60001960005260206000f3"); // 2 ** 256 - 1, for every caller
    const wallet = toEvmAddress(`0x${"c1".repeat(20)}`);
    const before = await world.here.getHead();
    await world.mint(world.usdc, wallet, 5n);
    const holdings = [
      { token: world.usdc, wallet },
      ...strange.map(({ token }) => ({ token, wallet })),
      { token: RECIPIENT, wallet },
      { token: liar, wallet },
      { token: world.usdc, wallet: RECIPIENT },
      { token: world.usdc, wallet },
    ];
    const nothing = Array.from({ length: 7 }, () => null);
    const { hash } = await world.here.getHead();
    const held = await world.here.getBalance(world.usdc, RECIPIENT);
    expect(await world.here.balances.listTokenBalances(hash, holdings)).toEqual([
      5n,
      ...nothing,
      2n ** 256n - 1n,
      held,
      5n,
    ]);
    const [then] = (await world.here.balances.listTokenBalances(before.hash, holdings)) ?? [];
    expect(then).toBe(0n);
    const many = Array.from({ length: 120 }, () => ({ token: world.usdc, wallet }));
    expect(await world.here.balances.listTokenBalances(hash, many)).toEqual(many.map(() => 5n));
    expect(await world.here.balances.listTokenBalances(hash, [])).toEqual([]);
    // More than one request, in which a token that burns all its gas leaves none for the others.
    const burning = toEvmAddress(`0x7d${"1".repeat(38)}`);
    const mixed = Array.from({ length: 800 }, (_, index) => ({
      token: index % 2 === 0 ? burning : world.usdc,
      wallet,
    }));
    expect(await world.here.balances.listTokenBalances(hash, mixed)).toEqual(
      mixed.map(({ token }) => (token === burning ? null : 5n)),
    );
  });

  test("are an error, not zero, for an address without code", async () => {
    await expect(world.here.getBalance(RECIPIENT, world.lane.address)).rejects.toMatchObject({
      code: "RPC_UNAVAILABLE",
    });
  });
});
