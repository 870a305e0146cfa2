/** The chain port over a real node and the real contracts, with the real signers. */
import { concat, encodeFunctionData, encodeEventTopics, encodeAbiParameters, type Hex } from "viem";
import { deliveryAbi, depositFactoryAbi, escrowAbi, transferRouteAbi } from "@sluice/contracts/abi";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Commitment } from "../../core/commitment.ts";
import {
  type EvmAddress,
  type Hex32,
  NATIVE_TOKEN,
  padAddress,
  toEvmAddress,
  toHex32,
  type TxHash,
  toTxHash,
} from "../../core/hex.ts";
import { Secret } from "../../core/secret.ts";
import { createEvmAttestorSigner } from "../../signers/evm/attestor-signer.ts";
import { createEvmLaneSigner } from "../../signers/evm/lane-signer.ts";
import type { Call, Chain, DeliveryOrder, Receipt } from "../port.ts";
import { createEvmChain } from "./evm-chain.ts";
import { type Anvil, startAnvil } from "./testing/anvil.ts";
import {
  deployContracts,
  type Deployment,
  EVM_CHAIN_ID,
  HERE,
  THERE,
} from "./testing/deployment.ts";
import { emitterBytecode } from "./testing/emitter.ts";

const ATTESTOR_KEY = new Secret(`0x${"a7".repeat(32)}`);
const LANE_KEY = new Secret(`0x${"1a".repeat(32)}`);
const RECIPIENT = toEvmAddress(`0x${"5e".repeat(20)}`);
const USDC = 1_000_000n;

const lane = createEvmLaneSigner({ key: LANE_KEY, chainId: HERE, evmChainId: EVM_CHAIN_ID });
let anvil: Anvil;
let world: Deployment;
let here: Chain;
let there: Chain;
let attestor: ReturnType<typeof createEvmAttestorSigner>;
let users = 0n;

beforeAll(async () => {
  anvil = await startAnvil(EVM_CHAIN_ID);
  const attestorAddress = createEvmAttestorSigner({ key: ATTESTOR_KEY, chains: new Map() }).address;
  world = await deployContracts(anvil.rpcUrl, { relayer: lane.address, attestor: attestorAddress });
  here = chainOf(HERE, world.here);
  there = chainOf(THERE, world.there);
  attestor = createEvmAttestorSigner({
    key: ATTESTOR_KEY,
    chains: new Map([
      [HERE, { evmChainId: EVM_CHAIN_ID, ...world.here }],
      [THERE, { evmChainId: EVM_CHAIN_ID, ...world.there }],
    ]),
  });
});
afterAll(async () => {
  await anvil.stop();
});

function chainOf(chainId: number, contracts: Deployment["here"], evmChainId = EVM_CHAIN_ID): Chain {
  return createEvmChain({ chainId, evmChainId, rpcUrl: anvil.rpcUrl, contracts, timeoutMs: 5000 });
}

/** A new user's commitment, on the same chain or to the other one. */
function commitmentTo(destChain: number): Commitment {
  users += 1n;
  return {
    integrator: toHex32(`0x${"1d".repeat(16).padStart(64, "0")}`),
    userId: toHex32(`0x${users.toString(16).padStart(64, "0")}`),
    destChain,
    destWallet: padAddress(RECIPIENT),
    destToken: padAddress(destChain === HERE ? world.usdc : world.usdcThere),
    refundAuthority: padAddress(toEvmAddress(`0x${"4e".repeat(20)}`)),
    maxFeeBps: 50,
    maxSlippageBps: 100,
  };
}

/** Simulates, signs, sends and waits, as a lane does. */
async function execute(chain: Chain, call: Call): Promise<Receipt> {
  const simulation = await chain.simulate(lane.address, call);
  if (!simulation.ok) throw new Error(`would revert: ${simulation.reason}`);
  const [nonce, fees] = await Promise.all([
    chain.getTransactionCount(lane.address),
    chain.suggestFees(),
  ]);
  const signed = await lane.sign({ call, nonce, gas: simulation.gas, fees });
  expect(await chain.send(signed.raw)).toBe("accepted");
  return receiptOf(chain, signed.hash);
}

async function receiptOf(chain: Chain, hash: TxHash): Promise<Receipt> {
  await world.mined(hash);
  const receipt = await chain.getReceipt(hash);
  if (!receipt) throw new Error("no receipt");
  return receipt;
}

function settleCall(commitment: Commitment, routeData?: Hex): Call {
  const route = commitment.destChain === HERE ? world.transferRoute : world.escrowRoute;
  const data = routeData ?? (commitment.destChain === HERE ? here.encodeTransferData(10) : "0x");
  return here.buildSettle({ commitment, token: world.usdc, route, routeData: data });
}

async function orderOf(commitment: Commitment, amount: bigint): Promise<DeliveryOrder> {
  const { timestamp } = await world.client.getBlock();
  return {
    commitment,
    srcChain: HERE,
    escrow: world.here.escrow,
    srcToken: world.usdc,
    seq: 0n,
    amount,
    deadline: timestamp + 3600n,
  };
}

/** Locks 25 USDC of a new user. */
async function lockDeposit() {
  const commitment = commitmentTo(THERE);
  const wallet = here.predictWallet(commitment);
  await world.mint(world.usdc, wallet, 25n * USDC);
  const receipt = await execute(here, settleCall(commitment));
  const deliveryId = here.deliveryIdOf({ wallet, token: world.usdc, seq: 0n });
  return { commitment, wallet, receipt, deliveryId };
}

describe("identity", () => {
  test("a node of the configured chain with our contracts passes", async () => {
    await here.checkIdentity();
    await there.checkIdentity();
  });

  test.each([
    ["another EVM chain", () => chainOf(HERE, world.here, 1)],
    ["no code at the factory", () => chainOf(HERE, { ...world.here, factory: RECIPIENT })],
    ["no code at the escrow", () => chainOf(HERE, { ...world.here, escrow: RECIPIENT })],
    ["contracts of another bridge id", () => chainOf(THERE, world.here)],
    [
      "an escrow of another bridge id",
      () => chainOf(HERE, { ...world.here, escrow: world.there.escrow }),
    ],
  ])("T50 %s is refused", async (_what, open) => {
    await expect(open().checkIdentity()).rejects.toMatchObject({ code: "CONFIG_MISSING" });
  });
});

describe("what is computed here is what the contracts compute", () => {
  test("wallet and hash of a commitment", async () => {
    const commitment = commitmentTo(THERE);
    const factory = { address: world.here.factory, abi: depositFactoryAbi } as const;
    const predicted = await world.client.readContract({
      ...factory,
      functionName: "predict",
      args: [commitment],
    });
    const hash = await world.client.readContract({
      ...factory,
      functionName: "hashOf",
      args: [commitment],
    });
    expect(here.predictWallet(commitment)).toBe(predicted.toLowerCase());
    expect(here.hashCommitment(commitment)).toBe(hash);
  });

  test("delivery id of an order", async () => {
    const order = await orderOf(commitmentTo(THERE), 1n);
    const { commitment: c, escrow, srcToken, ...numbers } = order;
    const id = await world.client.readContract({
      address: world.there.delivery,
      abi: deliveryAbi,
      functionName: "deliveryIdOf",
      args: [{ ...numbers, c, escrow: padAddress(escrow), srcToken: padAddress(srcToken) }],
    });
    expect(there.deliveryIdOfOrder(order)).toBe(id);
    const wallet = here.predictWallet(c);
    expect(here.deliveryIdOf({ wallet, token: srcToken, seq: 0n })).toBe(id);
  });
});

describe("deploy and settle", () => {
  test("a deployment puts code behind the predicted address and says so", async () => {
    const commitment = commitmentTo(HERE);
    const wallet = here.predictWallet(commitment);
    expect(await here.hasCode(wallet)).toBe(false);
    const receipt = await execute(here, here.buildDeploy(commitment));
    expect(receipt).toMatchObject({ succeeded: true });
    expect(receipt.effects).toEqual([
      { kind: "deployed", wallet, commitment: here.hashCommitment(commitment) },
    ]);
    expect(await here.hasCode(wallet)).toBe(true);
  });

  test("a same-chain sweep pays the recipient and the fee and says both", async () => {
    const commitment = commitmentTo(HERE);
    const wallet = here.predictWallet(commitment);
    await world.mint(world.usdc, wallet, 25n * USDC);
    const before = await here.getBalance(world.usdc, RECIPIENT);
    const receipt = await execute(here, settleCall(commitment));
    expect(receipt.effects).toEqual([
      { kind: "deployed", wallet, commitment: here.hashCommitment(commitment) },
      {
        kind: "transferred",
        wallet,
        token: world.usdc,
        to: RECIPIENT,
        amount: 24_975_000n,
        fee: 25_000n,
      },
      {
        kind: "settled",
        wallet,
        token: world.usdc,
        route: world.transferRoute,
        amount: 25n * USDC,
        logIndex: expect.any(Number),
      },
    ]);
    expect((await here.getBalance(world.usdc, RECIPIENT)) - before).toBe(24_975_000n);
    expect(await here.getBalance(world.usdc, wallet)).toBe(0n);
  });

  test("a sweep that was refused on chain has a receipt without effects", async () => {
    const call = settleCall(commitmentTo(HERE));
    const [nonce, fees] = await Promise.all([
      here.getTransactionCount(lane.address),
      here.suggestFees(),
    ]);
    const signed = await lane.sign({ call, nonce, gas: 500_000n, fees });
    expect(await here.send(signed.raw)).toBe("accepted");
    const receipt = await receiptOf(here, signed.hash);
    expect(receipt).toMatchObject({ succeeded: false, effects: [] });
  });
});

describe("lock, delivery and claim", () => {
  test("a lock is paid on the attestor's signature and released on its second one", async () => {
    const { commitment, wallet, receipt, deliveryId } = await lockDeposit();
    const facts = {
      wallet,
      commitment: here.hashCommitment(commitment),
      token: world.usdc,
      amount: 25n * USDC,
      minOut: 24_875_000_000_000_000_000n,
      seq: 0n,
      destChain: THERE,
      delivery: padAddress(world.there.delivery),
    };
    expect(receipt.effects).toContainEqual({
      kind: "locked",
      escrow: world.here.escrow,
      deliveryId,
      ...facts,
    });
    expect(await here.getLock(deliveryId, "latest")).toEqual({
      ...facts,
      state: "locked",
      lockedAt: (await world.client.getBlock({ blockNumber: receipt.blockNumber })).timestamp,
    });

    expect(await there.isDelivered(deliveryId, "latest")).toBe(false);
    expect(await there.findDelivery(deliveryId)).toBeNull();
    const amount = 24_975_000_000_000_000_000n;
    await world.mint(world.usdcThere, world.there.delivery, amount);
    const order = await orderOf(commitment, amount);
    const paid = await execute(
      there,
      there.buildDeliver(order, await attestor.signDelivery(THERE, order)),
    );
    const delivered = {
      deliveryId,
      commitment: here.hashCommitment(commitment),
      to: RECIPIENT,
      token: world.usdcThere,
      amount,
    };
    expect(paid.effects).toEqual([{ kind: "delivered", ...delivered }]);
    expect(await there.isDelivered(deliveryId, "latest")).toBe(true);
    expect(await there.findDelivery(deliveryId)).toEqual({
      ...delivered,
      txHash: paid.txHash,
      blockNumber: paid.blockNumber,
    });

    const claim = { deliveryId, paidAmount: amount, deadline: order.deadline };
    const released = await execute(
      here,
      here.buildClaim(claim, await attestor.signClaim(HERE, claim)),
    );
    expect(released.effects).toEqual([{ kind: "claimed", deliveryId, amount: 25n * USDC }]);
    expect(await here.getLock(deliveryId, "latest")).toMatchObject({ state: "claimed" });
    expect(await here.getBalance(world.usdc, world.treasury)).toBeGreaterThanOrEqual(25n * USDC);
  });

  test("a signature over another amount is not the attestor's", async () => {
    const { commitment } = await lockDeposit();
    const order = await orderOf(commitment, 10n);
    const signature = await attestor.signDelivery(THERE, { ...order, amount: 11n });
    const call = there.buildDeliver(order, signature);
    expect(await there.simulate(lane.address, call)).toEqual({ ok: false, reason: "NotAttestor" });
  });

  test("what is mined and not final yet is not there at the final block", async () => {
    const { deliveryId } = await lockDeposit();
    expect(await here.getLock(deliveryId, "latest")).not.toBeNull();
    expect(await here.getLock(deliveryId, "final")).toBeNull();
    await world.makeFinal();
    expect(await here.getLock(deliveryId, "final")).not.toBeNull();
    expect(await here.getFinalNumber()).toBe((await here.getHead()).number - 2n);
  });

  test("an id that nobody locked has no lock and no delivery", async () => {
    const id = toHex32(`0x${"77".repeat(32)}`);
    expect(await here.getLock(id, "latest")).toBeNull();
    expect(await there.findDelivery(id)).toBeNull();
  });
});

describe("logs of strangers", () => {
  const word = toHex32(`0x${"77".repeat(32)}`);
  const ours = padAddress(toEvmAddress(`0x${"77".repeat(20)}`));
  const { wallet, who } = { wallet: toEvmAddress(`0x${"77".repeat(20)}`), who: RECIPIENT };

  test.each([
    [
      "WalletDeployed",
      3,
      encodeEventTopics({ abi: depositFactoryAbi, eventName: "WalletDeployed" }),
      [ours, word],
      "0x",
    ],
    [
      "Settled",
      4,
      encodeEventTopics({ abi: depositFactoryAbi, eventName: "Settled" }),
      [ours, ours, ours],
      word,
    ],
    [
      "Refunded",
      4,
      encodeEventTopics({ abi: depositFactoryAbi, eventName: "Refunded" }),
      [ours, ours, ours],
      word,
    ],
    [
      "Locked",
      4,
      encodeEventTopics({ abi: escrowAbi, eventName: "Locked" }),
      [word, ours, word],
      encodeAbiParameters(
        [
          { type: "address" },
          { type: "uint256" },
          { type: "uint256" },
          { type: "uint64" },
          { type: "uint16" },
          { type: "bytes32" },
        ],
        [wallet, 1n, 1n, 0n, THERE, word],
      ),
    ],
    [
      "Delivered",
      4,
      encodeEventTopics({ abi: deliveryAbi, eventName: "Delivered" }),
      [word, word, padAddress(who)],
      encodeAbiParameters([{ type: "address" }, { type: "uint256" }], [wallet, 1n]),
    ],
  ] as const)("a look-alike of %s has no effect", async (_name, count, signature, topics, data) => {
    const emitter = await world.create([], emitterBytecode(count), []);
    const receipt = await emit(emitter, [...signature, ...topics], data);
    expect(receipt.succeeded).toBe(true);
    expect(receipt.effects).toEqual([]);
  });

  test("a contract that emits Transferred about itself has no effect", async () => {
    const emitter = await world.create([], emitterBytecode(3), []);
    const signature = encodeEventTopics({ abi: transferRouteAbi, eventName: "Transferred" });
    const data = encodeAbiParameters(
      [{ type: "address" }, { type: "uint256" }, { type: "uint256" }],
      [world.usdc, 25n * USDC, 0n],
    );
    const receipt = await emit(
      emitter,
      [...signature, padAddress(emitter), padAddress(RECIPIENT)],
      data,
    );
    expect(receipt.effects).toEqual([]);
  });

  test("a look-alike of Delivered is not found as a delivery", async () => {
    expect(await there.findDelivery(word)).toBeNull();
  });

  async function emit(emitter: EvmAddress, topics: readonly unknown[], data: Hex) {
    const words = topics.map((topic) => toHex32(String(topic)));
    const hash = await world.wallet.sendTransaction({
      to: emitter,
      data: concat([...words, data]),
    });
    const receipt = await world.mined(hash);
    expect(receipt.logs).toHaveLength(1);
    return receiptOf(here, toTxHash(hash));
  }
});

describe("simulation", () => {
  test("a revert is named as the contract names it", async () => {
    const empty = await here.simulate(lane.address, settleCall(commitmentTo(HERE)));
    expect(empty).toEqual({ ok: false, reason: "Nothing" });
    const stranger = toEvmAddress(world.wallet.account.address);
    const foreign = await here.simulate(stranger, settleCall(commitmentTo(HERE)));
    expect(foreign).toEqual({ ok: false, reason: "NotRelayer" });
  });

  test("a revert of the route inside the wallet is named too", async () => {
    const commitment = commitmentTo(HERE);
    await world.mint(world.usdc, here.predictWallet(commitment), USDC);
    const call = settleCall(commitment, here.encodeTransferData(51));
    expect(await here.simulate(lane.address, call)).toEqual({ ok: false, reason: "FeeAboveCap" });
  });

  test("the gas to sign is at least a quarter above what it takes", async () => {
    const commitment = commitmentTo(HERE);
    const call = here.buildDeploy(commitment);
    const simulation = await here.simulate(lane.address, call);
    const receipt = await execute(here, call);
    const { gasUsed } = await world.client.getTransactionReceipt({ hash: receipt.txHash });
    if (!simulation.ok) throw new Error("would revert");
    expect(simulation.gas * 4n >= gasUsed * 5n).toBe(true);
    expect(simulation.gas < gasUsed * 2n).toBe(true);
  });

  test("T66 a sender who cannot pay for gas is no revert", async () => {
    const penniless = toEvmAddress(`0x${"9a".repeat(20)}`);
    await expect(
      here.simulate(penniless, here.buildDeploy(commitmentTo(HERE))),
    ).rejects.toMatchObject({ code: "INSUFFICIENT_BALANCE", details: { reason: "gas" } });
    const paying = { ...here.buildDeploy(commitmentTo(HERE)), value: 10n ** 24n };
    await expect(here.simulate(lane.address, paying)).rejects.toMatchObject({
      code: "INSUFFICIENT_BALANCE",
    });
  });
});

describe("sending", () => {
  test("T64 the same bytes again are known or already mined, never a new payment", async () => {
    const call = here.buildDeploy(commitmentTo(HERE));
    const nonce = await here.getTransactionCount(lane.address);
    const fees = await here.suggestFees();
    const signed = await lane.sign({ call, nonce, gas: 500_000n, fees });
    expect(await here.send(signed.raw)).toBe("accepted");
    await receiptOf(here, signed.hash);
    expect(await here.send(signed.raw)).toBe("nonce_too_low");
    expect(await here.getTransactionCount(lane.address)).toBe(nonce + 1);

    const later = await lane.sign({ call, nonce: nonce + 2, gas: 500_000n, fees });
    expect(await here.send(later.raw)).toBe("accepted");
    expect(await here.send(later.raw)).toBe("known");
    expect(await here.getReceipt(later.hash)).toBeNull();
  });

  test("a sender without money is told apart", async () => {
    const poor = createEvmLaneSigner({
      key: new Secret(`0x${"9b".repeat(32)}`),
      chainId: HERE,
      evmChainId: EVM_CHAIN_ID,
    });
    const call = here.buildDeploy(commitmentTo(HERE));
    const fees = await here.suggestFees();
    const { raw } = await poor.sign({ call, nonce: 0, gas: 500_000n, fees });
    expect(await here.send(raw)).toBe("insufficient_funds");
  });

  test("bytes that are no transaction are refused without a throw", async () => {
    expect(await here.send("0x1234")).toBe("unknown");
  });
});

describe("transfers of a block", () => {
  test("are those of the listed tokens, counted within their transaction", async () => {
    const commitment = commitmentTo(HERE);
    const wallet = here.predictWallet(commitment);
    const minted = await world.mint(world.usdc, wallet, 25n * USDC);
    const block = await here.getBlock(minted.blockNumber);
    if (!block) throw new Error("no block");
    expect(await here.listTransfers(block, [world.usdc, world.usdcThere])).toEqual([
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
    expect(await here.listTransfers(block, [world.usdcThere])).toEqual([]);
    expect(await here.listTransfers(block, [NATIVE_TOKEN])).toEqual([]);
    expect(await here.listTransfers(block, [])).toEqual([]);

    const swept = await execute(here, settleCall(commitment));
    const sweptBlock = await here.getBlock(swept.blockNumber);
    if (!sweptBlock) throw new Error("no block");
    const transfers = await here.listTransfers(sweptBlock, [world.usdc]);
    expect(transfers.map(({ to, amount, ordinal }) => ({ to, amount, ordinal }))).toEqual([
      { to: world.feeRecipient, amount: 25_000n, ordinal: 0 },
      { to: RECIPIENT, amount: 24_975_000n, ordinal: 1 },
    ]);
  });

  test("a transfer of nothing is none", async () => {
    const data = encodeFunctionData({
      abi: [
        {
          type: "function",
          name: "transfer",
          stateMutability: "nonpayable",
          inputs: [{ type: "address" }, { type: "uint256" }],
          outputs: [{ type: "bool" }],
        },
      ],
      args: [RECIPIENT, 0n],
    });
    const hash = await world.wallet.sendTransaction({ to: world.usdc, data });
    const { blockNumber, logs } = await world.mined(hash);
    expect(logs).toHaveLength(1);
    const block = await here.getBlock(blockNumber);
    if (!block) throw new Error("no block");
    expect(await here.listTransfers(block, [world.usdc])).toEqual([]);
  });

  test("T47 a block the node does not have is no empty block", async () => {
    const head = await here.getHead();
    const hash: Hex32 = toHex32(`0x${"11".repeat(32)}`);
    await expect(here.listTransfers({ ...head, hash }, [world.usdc])).rejects.toMatchObject({
      code: "RPC_UNAVAILABLE",
    });
  });

  test("a height above the head has no block", async () => {
    const head = await here.getHead();
    expect(await here.getBlock(head.number + 10n)).toBeNull();
    expect(await here.getBlock(head.number)).toEqual(head);
  });
});

describe("balances", () => {
  test("are read of tokens and of the native coin", async () => {
    const who = toEvmAddress(`0x${"c0".repeat(20)}`);
    expect(await here.getBalance(NATIVE_TOKEN, who)).toBe(0n);
    await world.mined(await world.wallet.sendTransaction({ to: who, value: 7n }));
    await world.mint(world.usdc, who, 5n);
    expect(await here.getBalance(NATIVE_TOKEN, who)).toBe(7n);
    expect(await here.getBalance(world.usdc, who)).toBe(5n);
  });

  test("of an address without code are an error and not zero", async () => {
    await expect(here.getBalance(RECIPIENT, lane.address)).rejects.toMatchObject({
      code: "RPC_UNAVAILABLE",
    });
  });
});
