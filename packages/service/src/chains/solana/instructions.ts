/**
 * Builds instructions from orders. Pure: signing and simulation build the same bytes from the same facts. An order only
 * names the asset and its owner; the recipient follows from the commitment.
 */
import { SYSTEM_PROGRAM_ADDRESS } from "@solana-program/system";
import {
  AuthorityType,
  getCloseAccountInstruction,
  getInitializeAccount3Instruction,
  getSetAuthorityInstruction,
  getSyncNativeInstruction,
} from "@solana-program/token";
import { getHarvestWithheldTokensToMintInstruction } from "@solana-program/token-2022";
import type { Instruction } from "@solana/kit";
import { assert } from "../../core/assert.ts";
import { type Address, type Hex32, NATIVE_SOL, unpadAddress } from "../../core/hex.ts";
import { toBase58 } from "./base58.ts";
import { lockAddressOf, markerAddressOf, TOKEN_PROGRAMS } from "./derived-accounts.ts";
import { buildMemo } from "./memos.ts";
import type {
  ClaimOrder,
  DeliverOrder,
  LockOrder,
  Order,
  RefundOrder,
  ReturnOrder,
  TransferOrder,
} from "./orders.ts";
import {
  inProgram,
  openAssociated,
  openWithSeed,
  payFrom,
  sendFrom,
  sendSol,
  signerOf,
  takeFrom,
} from "./token-instructions.ts";
import { type OrderFacts, readMint } from "./order-facts.ts";

/** Bytes of a token account, and with what Token-2022 keeps back in it. */
const TOKEN_ACCOUNT_BYTES = 165;

const FEE_ACCOUNT_BYTES = 178;

/** Only the account's key or base can allocate data, so one byte proves the delivery; lamports prove nothing. */
const MARKER_BYTES = 1;

/**
 * Builds the instructions of orders, in sequence. Throws when two orders change the same balance: their memos could not
 * be checked against the balance changes.
 */
export async function buildInstructions(
  orders: readonly Order[],
  facts: OrderFacts,
): Promise<readonly Instruction[]> {
  assert(orders.length > 0, "a transaction has orders");
  const built: Instruction[] = [];
  const touched = new Set<string>();
  for (const order of orders) {
    const { instructions, balances } = await buildOrder(order, facts);
    for (const balance of balances) {
      assert(!touched.has(balance), "orders of one transaction change different balances");
      touched.add(balance);
    }
    built.push(...instructions);
  }
  return built;
}

interface BuiltOrder {
  readonly instructions: readonly Instruction[];
  /** The balances that its memo is checked against. */
  readonly balances: readonly string[];
}

function buildOrder(order: Order, facts: OrderFacts): Promise<BuiltOrder> {
  switch (order.kind) {
    case "lock":
      return buildLock(order, facts);
    case "claim":
      return buildClaim(order, facts);
    case "return":
      return buildReturn(order, facts);
    case "deliver":
      return buildDeliver(order, facts);
    case "transfer":
      return buildTransfer(order, facts);
    case "refund":
      return buildRefund(order, facts);
  }
}

async function buildLock(order: LockOrder, facts: OrderFacts): Promise<BuiltOrder> {
  const { commitment, token, amount } = order;
  const vault = await facts.vaultOf(commitment);
  const deliveryId = facts.deliveryIdOfLock(order);
  const mint = readMint(token, facts);
  const lock = lockAddressOf(facts.escrow, deliveryId, mint.program);
  const bytes = mint.hasTransferFee ? FEE_ACCOUNT_BYTES : TOKEN_ACCOUNT_BYTES;
  const inLock =
    token === NATIVE_SOL
      ? [sendSol(vault, lock, amount), getSyncNativeInstruction({ account: toBase58(lock) })]
      : sendFrom(await takeFrom(vault, order, mint), { to: lock, amount, mint, owner: vault });
  return {
    instructions: [
      ...openWithSeed(lock, {
        base: facts.escrow,
        deliveryId,
        bytes,
        owner: TOKEN_PROGRAMS[mint.program],
        facts,
      }),
      getInitializeAccount3Instruction(
        { account: toBase58(lock), mint: toBase58(mint.address), owner: toBase58(facts.escrow) },
        inProgram(mint),
      ),
      ...inLock,
      buildMemo(
        {
          kind: "lock",
          deliveryId,
          vault,
          commitment: facts.hashCommitment(commitment),
          token,
          amount,
          minOut: order.minOut,
          seq: order.seq,
          lockedAt: order.lockedAt,
          delivery: order.delivery,
          asOf: order.asOf,
        },
        [facts.escrow, vault],
      ),
    ],
    balances: [`${vault}:${token}`, deliveryId],
  };
}

async function buildClaim(order: ClaimOrder, facts: OrderFacts): Promise<BuiltOrder> {
  const { deliveryId, token, amount, paidAmount } = order;
  const memo = buildMemo({ kind: "claim", deliveryId, token, amount, paidAmount }, [facts.escrow]);
  return {
    instructions: [...(await emptyLock(order, deliveryId, facts.treasury, facts)), memo],
    balances: [deliveryId],
  };
}

async function buildReturn(order: ReturnOrder, facts: OrderFacts): Promise<BuiltOrder> {
  const { commitment, token, amount } = order;
  const vault = await facts.vaultOf(commitment);
  const deliveryId = facts.deliveryIdOfLock(order);
  const memo = buildMemo({ kind: "return", deliveryId, vault, token, amount }, [facts.escrow]);
  return {
    instructions: [...(await emptyLock(order, deliveryId, vault, facts)), memo],
    balances: [`${vault}:${token}`, deliveryId],
  };
}

/**
 * Transfers a lock's balance to its next owner and closes the account, or changes the account's owner, which additions
 * to the lock cannot prevent. Closing turns wrapped SOL into lamports; they pass through the fee payer, which keeps the
 * rent.
 */
async function emptyLock(
  order: ClaimOrder | ReturnOrder,
  deliveryId: Hex32,
  to: Address,
  facts: OrderFacts,
): Promise<readonly Instruction[]> {
  const { token, amount, held = amount } = order;
  assert(held >= amount, "a lock account has at least the locked amount");
  const { escrow, feePayer } = facts;
  const mint = readMint(token, facts);
  const lock = lockAddressOf(escrow, deliveryId, mint.program);
  if (order.whole) {
    assert(token !== NATIVE_SOL, "native coin leaves a lock as lamports");
    const { AccountOwner: authorityType } = AuthorityType;
    return [
      getSetAuthorityInstruction(
        {
          owned: toBase58(lock),
          owner: signerOf(escrow),
          authorityType,
          newAuthority: toBase58(to),
        },
        inProgram(mint),
      ),
    ];
  }
  const close = getCloseAccountInstruction(
    { account: toBase58(lock), destination: toBase58(feePayer), owner: signerOf(escrow) },
    inProgram(mint),
  );
  if (token === NATIVE_SOL) return [close, sendSol(feePayer, to, amount)];
  const target = await openAssociated(to, mint, facts);
  const sources = [{ account: lock, amount: held }];
  return [
    target.open,
    ...sendFrom(sources, { to: target.account, amount: held, mint, owner: escrow }),
    // Withheld transfer fees would prevent closing; they belong to the mint.
    ...(mint.hasTransferFee
      ? [
          getHarvestWithheldTokensToMintInstruction({
            mint: toBase58(mint.address),
            sources: [toBase58(lock)],
          }),
        ]
      : []),
    close,
  ];
}

async function buildDeliver({ order }: DeliverOrder, facts: OrderFacts): Promise<BuiltOrder> {
  const { commitment, amount } = order;
  const { delivery } = facts;
  const deliveryId = facts.deliveryIdOfPayout(order);
  const token = unpadAddress(commitment.destToken, "svm");
  const to = unpadAddress(commitment.destWallet, "svm");
  return {
    instructions: [
      ...openWithSeed(markerAddressOf(delivery, deliveryId), {
        base: delivery,
        deliveryId,
        bytes: MARKER_BYTES,
        owner: SYSTEM_PROGRAM_ADDRESS,
        facts,
      }),
      ...(await payFrom(delivery, [{ to, amount }], { token, facts })),
      buildMemo(
        {
          kind: "deliver",
          deliveryId,
          commitment: facts.hashCommitment(commitment),
          to,
          token,
          amount,
        },
        [delivery],
      ),
    ],
    balances: [`${to}:${token}`, deliveryId],
  };
}

async function buildTransfer(order: TransferOrder, facts: OrderFacts): Promise<BuiltOrder> {
  const { commitment, token, amount, fee, asOf } = order;
  assert(fee < amount, "a fee is less than its amount");
  const vault = await facts.vaultOf(commitment);
  const to = unpadAddress(commitment.destWallet, "svm");
  const payments = [
    { to, amount: amount - fee },
    ...(fee > 0n ? [{ to: facts.treasury, amount: fee }] : []),
  ];
  return {
    instructions: [
      ...(await payFrom(vault, payments, { token, facts, order })),
      buildMemo({ kind: "transfer", vault, to, token, amount, fee, asOf }, [vault]),
    ],
    balances: [`${vault}:${token}`, `${to}:${token}`],
  };
}

async function buildRefund(order: RefundOrder, facts: OrderFacts): Promise<BuiltOrder> {
  const { commitment, token, amount, reason } = order;
  const vault = await facts.vaultOf(commitment);
  const to = unpadAddress(commitment.refundAuthority, "svm");
  return {
    instructions: [
      ...(await payFrom(vault, [{ to, amount }], { token, facts, order })),
      buildMemo({ kind: "refund", vault, to, token, amount, reason }, [vault]),
    ],
    balances: [`${vault}:${token}`, `${to}:${token}`],
  };
}
