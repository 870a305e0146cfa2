/**
 * Builds instructions from orders. Pure: signing and simulation build the same bytes from the same facts. An order only
 * names the asset and its owner; the recipient follows from the commitment.
 */
import {
  getAllocateWithSeedInstruction,
  getTransferSolInstruction,
  SYSTEM_PROGRAM_ADDRESS,
} from "@solana-program/system";
import {
  AuthorityType,
  getCloseAccountInstruction,
  getCreateAssociatedTokenIdempotentInstructionAsync,
  getInitializeAccount3Instruction,
  getSetAuthorityInstruction,
  getSyncNativeInstruction,
  getTransferCheckedInstruction,
} from "@solana-program/token";
import { getHarvestWithheldTokensToMintInstruction } from "@solana-program/token-2022";
import { createNoopSigner, type Instruction, lamports, type TransactionSigner } from "@solana/kit";
import { assert } from "../../core/assert.ts";
import type { Commitment } from "../../core/commitment.ts";
import { type Address, type Hex32, NATIVE_SOL, unpadAddress } from "../../core/hex.ts";
import type { Payout, TokenSource } from "../port/index.ts";
import { toBase58 } from "./base58.ts";
import {
  associatedAccountOf,
  lockAddressOf,
  markerAddressOf,
  mintOf,
  seedOf,
  TOKEN_PROGRAMS,
  type TokenProgram,
} from "./derived-accounts.ts";
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

/** Facts of a mint. */
export interface MintFacts {
  readonly program: TokenProgram;
  readonly decimals: number;
  /** Whether Token-2022 withholds a fee of every transfer. */
  readonly hasTransferFee: boolean;
}

/** Wrapped SOL on every cluster. */
export const WRAPPED_SOL_FACTS: MintFacts = {
  program: "token",
  decimals: 9,
  hasTransferFee: false,
};

/** Facts from which orders are built. */
export interface OrderFacts {
  /** Pays fees and rent, and receives rent back. */
  readonly feePayer: Address;
  readonly escrow: Address;
  readonly delivery: Address;
  readonly treasury: Address;
  /** Returns a commitment's vault: the signer derives it from the seed, others look it up. */
  readonly vaultOf: (commitment: Commitment) => Address | Promise<Address>;
  readonly hashCommitment: (commitment: Commitment) => Hex32;
  /** The id of the lock of this chain's escrow. */
  readonly deliveryIdOfLock: (lock: {
    readonly commitment: Commitment;
    readonly token: Address;
    readonly seq: bigint;
  }) => Hex32;
  readonly deliveryIdOfPayout: (payout: Payout) => Hex32;
  /** Throws for an unknown mint. Not called for wrapped SOL. */
  readonly mintFactsOf: (mint: Address) => MintFacts;
  /** Returns the rent of an account in lamports. Too high a value is harmless, since rent is returned. */
  readonly rentOf: (bytes: number) => bigint;
}

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
          destChain: commitment.destChain,
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
  const { commitment, token, amount } = order;
  const vault = await facts.vaultOf(commitment);
  const to = unpadAddress(commitment.refundAuthority, "svm");
  return {
    instructions: [
      ...(await payFrom(vault, [{ to, amount }], { token, facts, order })),
      buildMemo({ kind: "refund", vault, to, token, amount }, [vault]),
    ],
    balances: [`${vault}:${token}`, `${to}:${token}`],
  };
}

interface Mint extends MintFacts {
  readonly address: Address;
}

function readMint(token: Address, facts: OrderFacts): Mint {
  const address = mintOf(token);
  return token === NATIVE_SOL
    ? { address, ...WRAPPED_SOL_FACTS }
    : { address, ...facts.mintFactsOf(address) };
}

/** Pays from an owner's SOL, or from its token accounts. */
async function payFrom(
  owner: Address,
  payments: readonly { readonly to: Address; readonly amount: bigint }[],
  {
    token,
    facts,
    order,
  }: {
    readonly token: Address;
    readonly facts: OrderFacts;
    /** The order that may name source accounts. */
    readonly order?: TransferOrder | RefundOrder;
  },
): Promise<readonly Instruction[]> {
  if (token === NATIVE_SOL) return payments.map(({ to, amount }) => sendSol(owner, to, amount));
  const mint = readMint(token, facts);
  const total = payments.reduce((sum, { amount }) => sum + amount, 0n);
  let sources = await takeFrom(owner, order ?? { amount: total }, mint);
  const instructions: Instruction[] = [];
  for (const { to, amount } of payments) {
    const target = await openAssociated(to, mint, facts);
    instructions.push(
      target.open,
      ...sendFrom(sources, { to: target.account, amount, mint, owner }),
    );
    sources = leaveOf(sources, amount);
  }
  return instructions;
}

/** Returns the owner's token accounts that add up to an amount. */
async function takeFrom(
  owner: Address,
  order: { readonly amount: bigint; readonly sources?: readonly TokenSource[] },
  mint: Mint,
): Promise<readonly TokenSource[]> {
  const { amount, sources } = order;
  if (!sources) {
    return [{ account: await associatedAccountOf(owner, mint.address, mint.program), amount }];
  }
  const total = sources.reduce((sum, source) => sum + source.amount, 0n);
  assert(total === amount, "the sources of an order make up its amount");
  return sources;
}

/** Transfers an amount from the first sources that have it. */
function sendFrom(
  sources: readonly TokenSource[],
  transfer: {
    readonly to: Address;
    readonly amount: bigint;
    readonly mint: Mint;
    readonly owner: Address;
  },
): readonly Instruction[] {
  const { to, mint, owner } = transfer;
  const instructions: Instruction[] = [];
  let missing = transfer.amount;
  for (const source of sources) {
    const amount = source.amount < missing ? source.amount : missing;
    if (amount === 0n) continue;
    missing -= amount;
    instructions.push(
      getTransferCheckedInstruction(
        {
          source: toBase58(source.account),
          mint: toBase58(mint.address),
          destination: toBase58(to),
          authority: signerOf(owner),
          amount,
          decimals: mint.decimals,
        },
        inProgram(mint),
      ),
    );
  }
  return instructions;
}

/** Returns the sources that remain after an amount is taken from the first ones. */
function leaveOf(sources: readonly TokenSource[], amount: bigint): readonly TokenSource[] {
  let taken = amount;
  return sources.map((source) => {
    const part = source.amount < taken ? source.amount : taken;
    taken -= part;
    return { account: source.account, amount: source.amount - part };
  });
}

/** Returns an owner's associated account, with the instruction that opens it if it is missing. */
async function openAssociated(owner: Address, mint: Mint, { feePayer }: OrderFacts) {
  const account = await associatedAccountOf(owner, mint.address, mint.program);
  const open = await getCreateAssociatedTokenIdempotentInstructionAsync({
    payer: signerOf(feePayer),
    ata: toBase58(account),
    owner: toBase58(owner),
    mint: toBase58(mint.address),
    tokenProgram: TOKEN_PROGRAMS[mint.program],
  });
  return { account, open };
}

/**
 * Opens the account derived from a base and an id; fails when it is open. Unlike `CreateAccountWithSeed` it succeeds
 * although somebody sent lamports to the address before.
 */
function openWithSeed(
  account: Address,
  {
    base,
    deliveryId,
    bytes,
    owner,
    facts,
  }: {
    readonly base: Address;
    readonly deliveryId: Hex32;
    readonly bytes: number;
    readonly owner: Parameters<typeof getAllocateWithSeedInstruction>[0]["programAddress"];
    readonly facts: OrderFacts;
  },
): readonly Instruction[] {
  return [
    sendSol(facts.feePayer, account, facts.rentOf(bytes)),
    getAllocateWithSeedInstruction({
      newAccount: toBase58(account),
      baseAccount: signerOf(base),
      base: toBase58(base),
      seed: seedOf(deliveryId),
      space: BigInt(bytes),
      programAddress: owner,
    }),
  ];
}

function sendSol(from: Address, to: Address, amount: bigint): Instruction {
  return getTransferSolInstruction({
    source: signerOf(from),
    destination: toBase58(to),
    amount: lamports(amount),
  });
}

/** Marks an account as a required signer, without a key. */
function signerOf(account: Address): TransactionSigner {
  return createNoopSigner(toBase58(account));
}

function inProgram({ program }: MintFacts) {
  return { programAddress: TOKEN_PROGRAMS[program] };
}
