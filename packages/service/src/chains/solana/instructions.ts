/**
 * Orders as instructions. Pure: whoever signs and whoever simulates build the same from the same facts, and nothing here
 * is taken from an order but what it moves and whose it is. Where to follows from the commitment.
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

/** What is known of a mint. */
export interface MintFacts {
  readonly program: TokenProgram;
  readonly decimals: number;
  /** Whether Token-2022 may keep something back of every transfer. */
  readonly hasTransferFee: boolean;
}

/** Wrapped SOL on every cluster. */
export const WRAPPED_SOL_FACTS: MintFacts = {
  program: "token",
  decimals: 9,
  hasTransferFee: false,
};

/** Facts that orders are built with. */
export interface OrderFacts {
  /** Pays fees and rent, and gets rent back. */
  readonly feePayer: Address;
  readonly escrow: Address;
  readonly delivery: Address;
  readonly treasury: Address;
  /** The vault of a commitment; whoever has the seed derives it, others look it up. */
  readonly vaultOf: (commitment: Commitment) => Address | Promise<Address>;
  readonly hashCommitment: (commitment: Commitment) => Hex32;
  /** The id of the lock of this chain's escrow. */
  readonly deliveryIdOfLock: (lock: {
    readonly commitment: Commitment;
    readonly token: Address;
    readonly seq: bigint;
  }) => Hex32;
  readonly deliveryIdOfPayout: (payout: Payout) => Hex32;
  /** Throws for a mint that is not known. Not asked for wrapped SOL. */
  readonly mintFactsOf: (mint: Address) => MintFacts;
  /** Lamports that an account of so many bytes must have. More than the chain asks does no harm: it comes back. */
  readonly rentOf: (bytes: number) => bigint;
}

/** Bytes of a token account, and with what Token-2022 keeps back in it. */
const TOKEN_ACCOUNT_BYTES = 165;
const FEE_ACCOUNT_BYTES = 178;
/** An account of the system program has data only where its own key or base said so: lamports anybody can send there. */
const MARKER_BYTES = 1;

/**
 * The instructions of some orders, in their order. Throws when two of them would change the same balance, which would
 * make their memos unreadable.
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
  /** Whose balances its memo tells of. */
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
 * Takes what a lock holds to its next owner and closes its account, or hands the account over as it is, which nothing that
 * is added to it can hinder. Wrapped SOL becomes lamports by the closing alone:
 * they pass through the fee payer, who keeps the rent.
 */
async function emptyLock(
  order: ClaimOrder | ReturnOrder,
  deliveryId: Hex32,
  to: Address,
  facts: OrderFacts,
): Promise<readonly Instruction[]> {
  const { token, amount, held = amount } = order;
  assert(held >= amount, "a lock holds what was locked");
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
    // What was kept back in the account would hinder its closing; it belongs to the mint.
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
  assert(fee < amount, "a fee is less than what it is taken of");
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
    /** Where the sources are named. */
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

/** Token accounts of an owner that make up an amount. */
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

/** What is left of sources when an amount was taken of the first. */
function leaveOf(sources: readonly TokenSource[], amount: bigint): readonly TokenSource[] {
  let taken = amount;
  return sources.map((source) => {
    const part = source.amount < taken ? source.amount : taken;
    taken -= part;
    return { account: source.account, amount: source.amount - part };
  });
}

/** The associated account of an owner, opened where it is not there. */
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
 * Opens an account whose address follows from a base and an id, or fails when it is open. Lamports that somebody sent
 * there before do not hinder it, as they would `CreateAccountWithSeed`.
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

/** An account that must sign; who signs for it is not said here. */
function signerOf(account: Address): TransactionSigner {
  return createNoopSigner(toBase58(account));
}

function inProgram({ program }: MintFacts) {
  return { programAddress: TOKEN_PROGRAMS[program] };
}
