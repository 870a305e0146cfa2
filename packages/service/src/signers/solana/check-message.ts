/**
 * The last check before a signature: decodes the message from its bytes and requires that its effects equal the
 * orders' effects. Independent of the code that builds messages, except for the text of memos.
 */
import type { OrderFacts } from "../../chains/solana/order-facts.ts";
import { buildMemo, type Memo } from "../../chains/solana/memos.ts";
import type { TokenSource } from "../../chains/port/index.ts";
import type { ClaimOrder, Order, ReturnOrder } from "../../chains/solana/orders.ts";
import { assertNever } from "../../core/assert.ts";
import type { Commitment } from "../../core/commitment.ts";
import { type Address, type Hex32, NATIVE_SOL, toAddress } from "../../core/hex.ts";
import { SignerRefusal } from "../refusal.ts";
import type { SigningRequest } from "../port.ts";
import { associatedAccountOf, seedOf, withSeed } from "./derived-accounts.ts";
import { readMessage } from "./message.ts";
import { SYSTEM_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM, WRAPPED_SOL } from "./programs.ts";
import { listChanged, readStep, type Step } from "./steps.ts";

/** The facts from which the signer builds and checks messages. */
export interface SignerFacts extends OrderFacts {
  readonly vaultOf: (commitment: Commitment) => Address;
}

/** The facts of a message that passed the check. */
export interface CheckedMessage {
  /** Accounts that must sign, the fee payer first. */
  readonly signers: readonly Address[];
  /** Maximum cost to the fee payer: fees and rent. */
  readonly lamports: bigint;
}

const SIGNATURE_LAMPORTS = 5_000n;
const MICRO = 1_000_000n;
const TOKEN_ACCOUNT_BYTES = 165;
/** A token account with Token-2022's extension for withheld transfer fees. */
const FEE_ACCOUNT_BYTES = 178;
/** An upper bound for associated accounts of listed mints. */
const ASSOCIATED_ACCOUNT_BYTES = 200;
const MARKER_BYTES = 1;

/** Checks that a message is exactly the orders, with the requested lifetime and fees. Throws `SignerRefusal`. */
export function checkMessage(
  bytes: Uint8Array,
  orders: readonly Order[],
  { intent, facts }: { readonly intent: SigningRequest; readonly facts: SignerFacts },
): CheckedMessage {
  const { signers, accounts, writable, blockhash, instructions } = readMessage(bytes);
  const { feePayer } = facts;
  const expected = createExpectation(facts);
  for (const order of orders) expected.expect(order);
  expected.once({ kind: "unit limit", limit: intent.gas });
  expected.once({ kind: "unit price", price: intent.fees.gasPriceMax });

  if (blockhash !== intent.lifetime?.blockhash)
    throw new SignerRefusal("message has another blockhash than requested");
  if (signers[0] !== feePayer) throw new SignerRefusal(`unexpected fee payer ${signers[0]}`);
  const wanted = new Set([feePayer, ...expected.signers]);
  if (signers.length !== wanted.size || !signers.every((signer) => wanted.has(signer))) {
    throw new SignerRefusal("message requires other signers than its orders");
  }
  const used = new Set<Address>(signers);
  const changed = new Set<Address>([feePayer]);
  for (const instruction of instructions) {
    const step = readStep(instruction);
    expected.take(step);
    for (const account of [instruction.program, ...instruction.accounts]) used.add(account);
    for (const account of listChanged(step)) changed.add(account);
  }
  if (accounts.some((account) => !used.has(account))) {
    throw new SignerRefusal("message lists an account that no instruction uses");
  }
  if (writable.length !== changed.size || !writable.every((account) => changed.has(account))) {
    throw new SignerRefusal(
      "writable accounts differ from the accounts that the instructions change",
    );
  }
  expected.end();
  const priority = (intent.gas * intent.fees.gasPriceMax + MICRO - 1n) / MICRO;
  const fee = SIGNATURE_LAMPORTS * BigInt(signers.length) + priority;
  return { signers, lamports: fee + expected.rent() };
}

/** A token's facts, as the token program checks them. */
interface Mint {
  readonly address: Address;
  readonly program: Address;
  readonly decimals: number;
  readonly hasTransferFee: boolean;
}

/**
 * The effects that the orders require, subtracted as the message's steps are read: amounts per sender and receiver,
 * which several steps may add up to, and single steps. At the end nothing may be left.
 */
function createExpectation(facts: SignerFacts) {
  const { feePayer, escrow, delivery, treasury } = facts;
  const signers = new Set<Address>();
  const amounts = new Map<string, bigint>();
  const steps = new Map<string, number>();
  let rent = 0n;

  const flow = (name: string, amount: bigint) =>
    amounts.set(name, (amounts.get(name) ?? 0n) + amount);
  const once = (step: Step) => {
    const name = nameOf(step);
    steps.set(name, (steps.get(name) ?? 0) + 1);
  };

  function readMint(token: Address): Mint {
    if (token === NATIVE_SOL) {
      return { address: WRAPPED_SOL, program: TOKEN_PROGRAM, decimals: 9, hasTransferFee: false };
    }
    const { program, decimals, hasTransferFee } = facts.mintFactsOf(token);
    const address = program === "token" ? TOKEN_PROGRAM : TOKEN_2022_PROGRAM;
    return { address: token, program: address, decimals, hasTransferFee };
  }

  /** Expects a new account at a base's seed, with its rent paid by the fee payer. */
  function expectOpened(
    account: Address,
    of: { base: Address; id: Hex32; bytes: number; owner: Address },
  ): void {
    const lamports = facts.rentOf(of.bytes);
    flow(nameOfLamports(feePayer, account), lamports);
    rent += lamports;
    const { base, owner } = of;
    once({
      kind: "allocate",
      account,
      base,
      seed: seedOf(of.id),
      bytes: BigInt(of.bytes),
      owner,
    });
  }

  /** Expects tokens to move from an authority's accounts to one account. */
  function expectTokens(
    mint: Mint,
    authority: Address,
    { sources, to, amount }: { sources: readonly TokenSource[]; to: Address; amount: bigint },
  ): void {
    for (const source of sources)
      flow(nameOfSource(mint, authority, source.account), source.amount);
    flow(nameOfTarget(mint, authority, to), amount);
  }

  function expectAssociated(owner: Address, mint: Mint): Address {
    const { address, program } = mint;
    const account = associatedAccountOf(owner, address, program);
    once({
      kind: "open associated account",
      payer: feePayer,
      account,
      owner,
      mint: address,
      program,
    });
    rent += facts.rentOf(ASSOCIATED_ACCOUNT_BYTES);
    return account;
  }

  /** Expects payments of an owner's SOL or tokens to others. */
  function expectPaid(
    owner: Address,
    token: Address,
    {
      payments,
      sources,
    }: {
      payments: readonly { readonly to: Address; readonly amount: bigint }[];
      sources?: readonly TokenSource[] | undefined;
    },
  ): void {
    if (token === NATIVE_SOL) {
      for (const { to, amount } of payments) flow(nameOfLamports(owner, to), amount);
      return;
    }
    const mint = readMint(token);
    const total = payments.reduce((sum, { amount }) => sum + amount, 0n);
    const own = associatedAccountOf(owner, mint.address, mint.program);
    for (const source of sources ?? [{ account: own, amount: total }]) {
      flow(nameOfSource(mint, owner, source.account), source.amount);
    }
    for (const { to, amount } of payments) {
      flow(nameOfTarget(mint, owner, expectAssociated(to, mint)), amount);
    }
  }

  function expectMemo(memo: Memo, ...memoSigners: readonly [Address, ...Address[]]): void {
    const { data } = buildMemo(memo, memoSigners);
    once({ kind: "memo", text: Buffer.from(data ?? []).toString("utf8"), signers: memoSigners });
  }

  /** Expects a lock to end: its tokens go to `owner` and its rent to the fee payer, or `owner` gets the account itself. */
  function expectEmptied(id: Hex32, order: ClaimOrder | ReturnOrder, owner: Address): void {
    const { token, amount, held = amount } = order;
    const mint = readMint(token);
    const { program } = mint;
    const lock = withSeed(escrow, seedOf(id), program);
    if (order.whole) {
      once({ kind: "hand over", program, account: lock, to: owner, authority: escrow });
      return;
    }
    once({ kind: "close", program, account: lock, to: feePayer, authority: escrow });
    if (token === NATIVE_SOL) {
      flow(nameOfLamports(feePayer, owner), amount);
      return;
    }
    const sources = [{ account: lock, amount: held }];
    expectTokens(mint, escrow, { sources, to: expectAssociated(owner, mint), amount: held });
    if (mint.hasTransferFee) once({ kind: "harvest", mint: mint.address, account: lock });
  }

  function expect(order: Order): void {
    switch (order.kind) {
      case "lock": {
        const { commitment, token, amount, sources, minOut, seq, asOf } = order;
        const vault = facts.vaultOf(commitment);
        const id = facts.deliveryIdOfLock(order);
        const mint = readMint(token);
        const { program } = mint;
        const lock = withSeed(escrow, seedOf(id), program);
        signers.add(vault).add(escrow);
        const bytes = mint.hasTransferFee ? FEE_ACCOUNT_BYTES : TOKEN_ACCOUNT_BYTES;
        expectOpened(lock, { base: escrow, id, bytes, owner: program });
        once({
          kind: "open token account",
          program,
          account: lock,
          mint: mint.address,
          owner: escrow,
        });
        if (token === NATIVE_SOL) {
          flow(nameOfLamports(vault, lock), amount);
          once({ kind: "sync", account: lock });
        } else {
          const account = associatedAccountOf(vault, mint.address, program);
          const from = sources ?? [{ account, amount }];
          expectTokens(mint, vault, { sources: from, to: lock, amount });
        }
        expectMemo(
          {
            kind: "lock",
            deliveryId: id,
            vault,
            commitment: facts.hashCommitment(commitment),
            token,
            amount,
            minOut,
            seq,
            lockedAt: order.lockedAt,
            delivery: order.delivery,
            asOf,
          },
          escrow,
          vault,
        );
        return;
      }
      case "claim": {
        const { deliveryId, token, amount, paidAmount } = order;
        signers.add(escrow);
        expectEmptied(deliveryId, order, treasury);
        expectMemo({ kind: "claim", deliveryId, token, amount, paidAmount }, escrow);
        return;
      }
      case "return": {
        const { commitment, token, amount } = order;
        const vault = facts.vaultOf(commitment);
        const deliveryId = facts.deliveryIdOfLock(order);
        signers.add(escrow);
        expectEmptied(deliveryId, order, vault);
        expectMemo({ kind: "return", deliveryId, vault, token, amount }, escrow);
        return;
      }
      case "deliver": {
        const { commitment, amount } = order.order;
        const deliveryId = facts.deliveryIdOfPayout(order.order);
        const token = toAddress(commitment.destToken);
        const to = toAddress(commitment.destWallet);
        signers.add(delivery);
        const marker = withSeed(delivery, seedOf(deliveryId), SYSTEM_PROGRAM);
        expectOpened(marker, {
          base: delivery,
          id: deliveryId,
          bytes: MARKER_BYTES,
          owner: SYSTEM_PROGRAM,
        });
        expectPaid(delivery, token, { payments: [{ to, amount }] });
        const hash = facts.hashCommitment(commitment);
        expectMemo({ kind: "deliver", deliveryId, commitment: hash, to, token, amount }, delivery);
        return;
      }
      case "transfer": {
        const { commitment, token, amount, fee, asOf, sources } = order;
        const vault = facts.vaultOf(commitment);
        const to = toAddress(commitment.destWallet);
        signers.add(vault);
        const payments = [{ to, amount: amount - fee }];
        if (fee > 0n) payments.push({ to: treasury, amount: fee });
        expectPaid(vault, token, { payments, sources });
        expectMemo({ kind: "transfer", vault, to, token, amount, fee, asOf }, vault);
        return;
      }
      case "refund": {
        const { commitment, token, amount, reason, sources } = order;
        const vault = facts.vaultOf(commitment);
        const to = toAddress(commitment.refundAuthority);
        signers.add(vault);
        expectPaid(vault, token, { payments: [{ to, amount }], sources });
        expectMemo({ kind: "refund", vault, to, token, amount, reason }, vault);
        return;
      }
      default:
        assertNever(order);
    }
  }

  function takeAmount(name: string, amount: bigint, step: Step): void {
    const left = amounts.get(name) ?? 0n;
    if (amount > left) throw new SignerRefusal(`no order allows the step: ${describe(step)}`);
    amounts.set(name, left - amount);
  }

  function take(step: Step): void {
    if (step.kind === "send lamports") {
      takeAmount(nameOfLamports(step.from, step.to), step.amount, step);
      return;
    }
    if (step.kind === "send tokens") {
      const mint = { address: step.mint, program: step.program, decimals: step.decimals };
      takeAmount(nameOfSource(mint, step.authority, step.source), step.amount, step);
      takeAmount(nameOfTarget(mint, step.authority, step.to), step.amount, step);
      return;
    }
    const name = nameOf(step);
    const left = steps.get(name) ?? 0;
    if (left === 0) throw new SignerRefusal(`no order allows the step: ${describe(step)}`);
    steps.set(name, left - 1);
  }

  return {
    signers,
    once,
    expect,
    take,
    rent: () => rent,
    /** Requires that nothing is left: a partial order is not an order. */
    end(): void {
      const isLeft = [...amounts.values()].some((left) => left > 0n);
      if (isLeft || [...steps.values()].some((left) => left > 0)) {
        throw new SignerRefusal("message does less than its orders");
      }
    },
  };
}

type Named = Pick<Mint, "address" | "program" | "decimals">;

function nameOfLamports(from: Address, to: Address): string {
  return `lamports ${from} ${to}`;
}

function nameOfSource(mint: Named, authority: Address, source: Address): string {
  return `of ${source} ${authority} ${mint.address} ${mint.program} ${mint.decimals}`;
}

function nameOfTarget(mint: Named, authority: Address, to: Address): string {
  return `for ${to} ${authority} ${mint.address} ${mint.program} ${mint.decimals}`;
}

/** Returns the same name for equal steps, independent of the order of their fields. */
function nameOf(step: Step): string {
  const fields = Object.entries(step).map(([name, value]) => `${name}=${String(value)}`);
  return JSON.stringify(fields.toSorted());
}

/** Describes a step for the refusal's message. */
function describe(step: Step): string {
  switch (step.kind) {
    case "send lamports":
      return `send lamports to ${step.to}`;
    case "send tokens":
      return `send tokens to ${step.to}`;
    case "memo":
      return "write another memo";
    case "close":
      return `close ${step.account} for ${step.to}`;
    case "hand over":
      return `change the owner of ${step.account} to ${step.to}`;
    default:
      return step.kind;
  }
}
