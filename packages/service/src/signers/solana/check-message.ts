/**
 * The last look before a signature: the message is read back from its bytes, and everything that it would move must be
 * what the orders move and nothing else. Shares no code with what builds messages but the text of memos.
 */
import type { OrderFacts } from "../../chains/solana/instructions.ts";
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

/** What a signer builds and checks with. */
export interface SignerFacts extends OrderFacts {
  readonly vaultOf: (commitment: Commitment) => Address;
}

/** What a message is, when it is what it should be. */
export interface CheckedMessage {
  /** Who must sign, the fee payer first. */
  readonly signers: readonly Address[];
  /** The most that the fee payer loses by it: fees and rent. */
  readonly lamports: bigint;
}

const SIGNATURE_LAMPORTS = 5_000n;
const MICRO = 1_000_000n;
const TOKEN_ACCOUNT_BYTES = 165;
/** With what Token-2022 keeps back of transfers. */
const FEE_ACCOUNT_BYTES = 178;
/** More than any associated account of a listed mint. */
const ASSOCIATED_ACCOUNT_BYTES = 200;
const MARKER_BYTES = 1;

/** Throws `SignerRefusal` for a message that is anything but the orders, for this lifetime and at this price. */
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
  expected.once({ kind: "unit price", price: intent.fees.maxFeePerGas });

  if (blockhash !== intent.lifetime?.blockhash) throw new SignerRefusal("another lifetime");
  if (signers[0] !== feePayer) throw new SignerRefusal(`the fee payer ${signers[0]}`);
  const wanted = new Set([feePayer, ...expected.signers]);
  if (signers.length !== wanted.size || !signers.every((signer) => wanted.has(signer))) {
    throw new SignerRefusal("a signature of an account that the orders have no use for");
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
    throw new SignerRefusal("an account that no instruction names");
  }
  if (writable.length !== changed.size || !writable.every((account) => changed.has(account))) {
    throw new SignerRefusal("other writable accounts than its instructions change");
  }
  expected.end();
  const priority = (intent.gas * intent.fees.maxFeePerGas + MICRO - 1n) / MICRO;
  const fee = SIGNATURE_LAMPORTS * BigInt(signers.length) + priority;
  return { signers, lamports: fee + expected.rent() };
}

/** A token as its programs know it. */
interface Mint {
  readonly address: Address;
  readonly program: Address;
  readonly decimals: number;
  readonly hasTransferFee: boolean;
}

/**
 * What orders may do, taken away as it is found: amounts that go from somewhere to somewhere, in however many steps, and
 * steps that are taken once each.
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

  /** An account at a base's seed, with the rent that the fee payer puts there. */
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

  /** Tokens of an authority's accounts, to an account. */
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

  /** What leaves an owner's SOL or tokens for others, each with its amount. */
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

  /** What a lock holds goes to an owner, and its account to the fee payer; or the account itself goes to the owner. */
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
            destChain: commitment.destChain,
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
        const { commitment, token, amount, sources } = order;
        const vault = facts.vaultOf(commitment);
        const to = toAddress(commitment.refundAuthority);
        signers.add(vault);
        expectPaid(vault, token, { payments: [{ to, amount }], sources });
        expectMemo({ kind: "refund", vault, to, token, amount }, vault);
        return;
      }
      default:
        assertNever(order);
    }
  }

  function takeAmount(name: string, amount: bigint, step: Step): void {
    const left = amounts.get(name) ?? 0n;
    if (amount > left) throw new SignerRefusal(`to ${describe(step)}`);
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
    if (left === 0) throw new SignerRefusal(`to ${describe(step)}`);
    steps.set(name, left - 1);
  }

  return {
    signers,
    once,
    expect,
    take,
    rent: () => rent,
    /** Half of an order is none. */
    end(): void {
      const isLeft = [...amounts.values()].some((left) => left > 0n);
      if (isLeft || [...steps.values()].some((left) => left > 0)) {
        throw new SignerRefusal("a message that does less than its orders");
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

/** The same for the same step, whatever order its fields were written in. */
function nameOf(step: Step): string {
  const fields = Object.entries(step).map(([name, value]) => `${name}=${String(value)}`);
  return JSON.stringify(fields.toSorted());
}

/** For a log: what would be done, and to whom. */
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
      return `hand ${step.account} over to ${step.to}`;
    default:
      return `${step.kind}, as no order does`;
  }
}
