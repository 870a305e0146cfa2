/** Node, contracts, both chains and both signers: everything that a deposit in a test needs. */
import { type Commitment, GOVERNED } from "../../src/core/commitment.ts";
import {
  type Address,
  type Hex,
  type Hex32,
  padAddress,
  toEvmAddress,
  toHex32,
} from "../../src/core/hex.ts";
import type { TxHash } from "../../src/core/hex.ts";
import { Secret } from "../../src/core/secret.ts";
import { createEvmChain } from "../../src/chains/evm/evm-chain.ts";
import { startAnvil } from "./anvil.ts";
import { deployContracts, type Deployment, EVM_CHAIN_ID, HERE, THERE } from "./deployment.ts";
import type { Call, LockFacts, PaidLock, Payout, Receipt } from "../../src/chains/port/index.ts";
import type { ChainAtBlocks } from "../../src/chains/quorum.ts";
import { createEvmAttestorSigner } from "../../src/signers/evm/attestor-signer.ts";
import { createRawKey } from "../../src/signers/evm/key.ts";
import { createEvmLaneSigner } from "../../src/signers/evm/lane-signer.ts";

export { EVM_CHAIN_ID, HERE, THERE };

/** Recipient of every commitment of a world. */
export const RECIPIENT = toEvmAddress(`0x${"5e".repeat(20)}`);
/** Base units of one whole source token. */
export const USDC = 1_000_000n;

const ATTESTOR_KEY = createRawKey(new Secret(`0x${"a7".repeat(32)}`), "a test");
const LANE_KEY = createRawKey(new Secret(`0x${"1a".repeat(32)}`), "a test");

export type World = Awaited<ReturnType<typeof openWorld>>;

/** Starts a node, deploys the contracts and funds the lane. `close` ends the node. */
export async function openWorld() {
  const anvil = await startAnvil(EVM_CHAIN_ID);
  const lane = createEvmLaneSigner({
    key: LANE_KEY,
    chainId: HERE,
    evmChainId: EVM_CHAIN_ID,
    purpose: "settle",
  });
  const { address } = createEvmAttestorSigner({ key: ATTESTOR_KEY, chains: new Map() });
  const deployment = await deployContracts(anvil.rpcUrl, {
    relayer: lane.address,
    attestor: address,
  });
  const attestor = createEvmAttestorSigner({
    key: ATTESTOR_KEY,
    chains: new Map([
      [HERE, { kind: "evm", evmChainId: EVM_CHAIN_ID, ...deployment.here }],
      [THERE, { kind: "evm", evmChainId: EVM_CHAIN_ID, ...deployment.there }],
    ]),
  });
  const chainOf = (chainId: number, contracts: Deployment["here"], evmChainId = EVM_CHAIN_ID) =>
    createEvmChain({ chainId, evmChainId, rpcUrl: anvil.rpcUrl, contracts, timeoutMs: 5000 });
  const here = chainOf(HERE, deployment.here);
  const there = chainOf(THERE, deployment.there);
  let users = 0n;

  const world = {
    ...deployment,
    rpcUrl: anvil.rpcUrl,
    contractsHere: deployment.here,
    contractsThere: deployment.there,
    here,
    there,
    lane,
    attestor,
    chainOf,
    close: () => anvil.stop(),

    /** Returns a new user's commitment, to the same chain or to the other one. */
    commitmentTo(destChain: number): Commitment {
      users += 1n;
      return {
        integrator: toHex32(`0x${"1d".repeat(16).padStart(64, "0")}`),
        userId: toHex32(`0x${users.toString(16).padStart(64, "0")}`),
        destChain,
        destWallet: padAddress(RECIPIENT),
        destToken: padAddress(destChain === HERE ? deployment.usdc : deployment.usdcThere),
        refundAuthority: padAddress(toEvmAddress(`0x${"4e".repeat(20)}`)),
        maxFeeBps: 50,
        maxSlippageBps: 100,
        ...GOVERNED,
      };
    },

    settleCall(
      commitment: Commitment,
      transferData: Hex = here.encodeTransferData({ bps: 10, flat: 0n }),
      part: { readonly amount: bigint; readonly asOf?: bigint } = { amount: 0n },
    ): Call {
      const { usdc: token, transferRoute, escrowRoute } = deployment;
      const job = { commitment, token, ...part };
      return commitment.destChain === HERE
        ? here.buildSettle({ ...job, route: transferRoute, routeData: transferData })
        : here.buildSettle({ ...job, route: escrowRoute, routeData: "0x" });
    },

    /** Simulates, signs, sends and waits, as a lane does. Throws if the call would revert. */
    async execute(chain: ChainAtBlocks, call: Call): Promise<Receipt> {
      const simulation = await chain.simulate(lane.address, call);
      if (!simulation.ok) throw new Error(`would revert: ${simulation.reason}`);
      return world.executeBlindly(chain, call, simulation.gas);
    },

    async executeBlindly(chain: ChainAtBlocks, call: Call, gas: bigint): Promise<Receipt> {
      const nonce = await chain.sequencing.getTransactionCount(lane.address);
      const signed = await lane.sign({ call, nonce, gas, fees: await chain.suggestFees() });
      const outcome = await chain.send(signed.raw);
      if (outcome !== "accepted") throw new Error(`not accepted: ${outcome}`);
      return world.receiptOf(chain, signed.hash);
    },

    async receiptOf(chain: ChainAtBlocks, hash: TxHash): Promise<Receipt> {
      await deployment.mined(hash);
      const receipt = await chain.getReceipt(hash);
      if (!receipt) throw new Error("no receipt");
      return receipt;
    },

    /** A payout of a lock that the source need not have. */
    async payoutOf(commitment: Commitment, amount: bigint): Promise<Payout> {
      const { timestamp } = await deployment.client.getBlock();
      return {
        commitment,
        srcChain: HERE,
        escrow: deployment.here.escrow,
        srcToken: deployment.usdc,
        lockedAmount: 25n * USDC,
        minOut: 0n,
        seq: 0n,
        windowStart: timestamp,
        amount,
      };
    },

    /** Names a lock of the source to the chain that pays it. */
    paidLockOf: (deliveryId: Hex32, seq: bigint): PaidLock => ({
      deliveryId,
      srcChain: HERE,
      escrow: deployment.here.escrow,
      seq,
    }),

    /** Locks 25 USDC of a new user. */
    async lockDeposit() {
      const commitment = world.commitmentTo(THERE);
      const wallet: Address = here.predictWallet(commitment);
      await deployment.mint(deployment.usdc, wallet, 25n * USDC);
      const receipt = await world.execute(here, world.settleCall(commitment));
      const { lockedAt, ...facts } = lockedIn(receipt);
      const deliveryId = here.deliveryIdOf(facts);
      return { commitment, wallet, receipt, facts, lockedAt, deliveryId };
    },
  };
  return world;
}

/** Returns a lock that no escrow has. */
export function unknownLock(byte = "77"): LockFacts {
  const word = toHex32(`0x${byte.repeat(32)}`);
  const token = toEvmAddress(`0x${byte.repeat(20)}`);
  const numbers = { amount: 1n, minOut: 1n, seq: 0n };
  return { commitment: word, delivery: word, token, ...numbers };
}

/** Returns the lock of a sweep, and its time. */
export function lockedIn({ effects }: Receipt): LockFacts & { readonly lockedAt: bigint } {
  const locked = effects.find((effect) => effect.kind === "locked");
  if (!locked) throw new Error("nothing was locked");
  const { commitment, delivery, token, amount, minOut, seq, lockedAt } = locked;
  return { commitment, delivery, token, amount, minOut, seq, lockedAt };
}
