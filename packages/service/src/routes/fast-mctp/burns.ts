/** Shared by the routes that burn USDC for Circle's bridge: reads the burn, records it, and follows its mint. */
import type { BurnFacts, CctpBridge, Chain, Effect, Receipt } from "../../chains/port/index.ts";
import { assert } from "../../core/assert.ts";
import { fromErrorObject, OperatingError } from "../../core/errors.ts";
import { type Address, type Hex, padAddress } from "../../core/hex.ts";
import type { Clock, Random } from "../../core/ports.ts";
import type { DepositAddress } from "../../addresses/index.ts";
import type { Db, Tx } from "../../db/schema.ts";
import type { GasStep } from "../../fees/index.ts";
import type { DeliveryProgress } from "../port.ts";
import type { BridgeAttestations } from "./bridge-attestations.ts";
import { type BurnMessage, listDifferences, parseBurnMessage, ZERO_WORD } from "./message.ts";
import * as store from "./store.ts";
import type { BridgeTerms } from "./terms.ts";

/** Gas of the mint. Higher than on the sandbox, for the reason given at the burn's gas. */
export const MINT_GAS: GasStep = { on: "destination", gas: 220_000n };

/** A sweep through the bridge: the amount that left the wallet, the burn, and the message that the burn sent. */
export interface ReadBurn {
  readonly settled: Settled;
  readonly burned: BurnFacts;
  readonly bytes: Hex;
}

type Settled = Extract<Effect, { kind: "settled" }>;

/** One direction of the bridge. */
export interface Burns {
  /** Returns recent fees and allowance of the bridge. Throws as the attestation service does. */
  readTerms(): Promise<BridgeTerms>;
  /** Returns the most base units of the burned token that one message may burn. */
  readLimit(): Promise<bigint>;
  /** Reads a wallet's sweep whose burn matches the commitment; null if the receipt does not show all of it. */
  read(receipt: Receipt, address: DepositAddress): ReadBurn | null;
  /** Records a mined burn, in the transaction that advances its settlement. */
  record(
    tx: Tx,
    args: {
      readonly settlementId: string;
      readonly address: DepositAddress;
      readonly receipt: Receipt;
      readonly burn: ReadBurn;
      readonly minOut: bigint;
      /** Route fee, in source base units. */
      readonly fee: bigint;
      /** Input of the pool swap that supplied the burned amount; null without one. */
      readonly swapped: store.Burn["swapped"];
    },
  ): Promise<void>;
  /** Returns whether the transfer was minted, as recorded by the worker in `relay.ts`. */
  checkMint(settlementId: string): Promise<DeliveryProgress>;
}

export interface BurnsOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly random: Random;
  readonly source: Chain;
  readonly destination: Chain;
  /** The route's contract. */
  readonly contract: Address;
  readonly attestations: BridgeAttestations;
}

/**
 * Returns the burns of one direction.
 * @param tokens Deposited token, burned token on the source, and minted token on the destination.
 */
export function createBurns(
  options: BurnsOptions,
  tokens: Readonly<Record<"deposited" | "burned" | "minted", Address>>,
): Burns {
  const { db, clock, random, source, destination, contract, attestations } = options;
  const from = bridgeOf(source).contracts;
  const to = bridgeOf(destination).contracts;

  /** Returns the fields that the message of this burn must have. */
  function expectedOf(address: DepositAddress, burned: BurnFacts): Partial<BurnMessage> {
    return {
      sourceDomain: from.domain,
      destinationDomain: to.domain,
      sender: padAddress(from.messenger),
      recipient: padAddress(to.messenger),
      // Anybody may relay it.
      destinationCaller: ZERO_WORD,
      burnToken: padAddress(tokens.burned),
      mintRecipient: address.commitment.destWallet,
      amount: burned.amount,
      messageSender: padAddress(contract),
      maxFee: burned.maxFee,
      hookData: padAddress(address.wallet),
    };
  }

  return {
    readLimit: () => bridgeOf(source).readBurnLimit(tokens.burned),

    readTerms: () => readBridge(attestations, from, to),

    read(receipt, address) {
      const { wallet } = address;
      const { effects } = receipt;
      const settledAt = effects.findIndex(
        (effect) =>
          effect.kind === "settled" &&
          effect.wallet === wallet &&
          effect.token === tokens.deposited &&
          effect.route === contract,
      );
      // A transaction may burn several tokens of a wallet. Each burn precedes the effect that settles it.
      const before = effects.slice(0, Math.max(settledAt, 0));
      const burnedAt = before.findLastIndex(
        (effect) =>
          effect.kind === "burned" && effect.wallet === wallet && effect.token === tokens.burned,
      );
      const [settled, burned] = [effects[settledAt], before[burnedAt]];
      if (settled?.kind !== "settled" || burned?.kind !== "burned") return null;
      const sent = findMessage(before.slice(0, burnedAt), burned);
      if (!sent) return null;
      const unlike = listDifferences(sent.message, expectedOf(address, burned));
      assert(unlike.length === 0, `a mined burn matches the commitment (${unlike.join(", ")})`);
      return { settled, burned, bytes: sent.bytes };
    },

    async record(tx, { settlementId, address, receipt, burn, minOut, fee, swapped }) {
      await store.recordBurn(
        tx,
        { random, nowMs: clock.now() },
        {
          settlementId,
          srcChain: source.chainId,
          txHash: receipt.txHash,
          block: receipt.blockNumber,
          wallet: address.wallet,
          token: tokens.burned,
          fee,
          swapped,
          amount: burn.burned.amount,
          message: burn.bytes,
          minOut,
          destChain: destination.chainId,
          destToken: tokens.minted,
          destWallet: address.destWallet,
        },
      );
    },

    async checkMint(settlementId) {
      const transfer = await store.findOfSettlement(db, settlementId);
      assert(transfer !== null, "a recorded burn has a bridge transfer");
      const { mint, state, error } = transfer;
      if (mint && (state === "delivered" || state === "final")) {
        return { kind: "delivered", txHash: mint.txHash, amount: mint.amount };
      }
      return error ? { kind: "failing", error: fromErrorObject(error) } : { kind: "waiting" };
    },
  };
}

/** Finds the message of a burn among those that the transaction sent, by wallet and amount. */
function findMessage(
  before: readonly Effect[],
  { wallet, amount }: BurnFacts,
): { readonly bytes: Hex; readonly message: BurnMessage } | null {
  for (const effect of before.toReversed()) {
    if (effect.kind !== "message_sent") continue;
    const message = parseOther(effect.message);
    if (message?.hookData === padAddress(wallet) && message.amount === amount) {
      return { bytes: effect.message, message };
    }
  }
  return null;
}

/** Other contracts in the same transaction may send messages that are not burns. */
function parseOther(bytes: Hex): BurnMessage | null {
  try {
    return parseBurnMessage(bytes);
  } catch {
    return null;
  }
}

async function readBridge(
  attestations: BridgeAttestations,
  from: { readonly domain: number },
  to: { readonly domain: number },
): Promise<BridgeTerms> {
  const fees = await attestations.getFees(from.domain, to.domain);
  // The allowance matters only where fast transfers are offered.
  const allowance = fees.fast === null ? 0n : await attestations.getFastAllowance();
  return { fees, allowance };
}

/** Returns the bridge contracts of a chain. A route reads them when it is created, so that it fails at start. */
export function bridgeOf({ chainId, cctp }: Chain): CctpBridge {
  if (cctp) return cctp;
  throw new OperatingError("CONFIG_MISSING", "A chain of a bridge route has no bridge contracts.", {
    details: { chainId },
  });
}
