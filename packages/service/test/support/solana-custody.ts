/** The signer of Solana with an SVM that runs its transactions, an attestor, and valid orders. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deliveryIdOf, hashCommitment, predictWallet } from "../../src/chains/evm/commitment.ts";
import type { AttestedPrice, Payout } from "../../src/chains/port/index.ts";
import { fromBase58 } from "../../src/chains/solana/base58.ts";
import type { MintFacts } from "../../src/chains/solana/order-facts.ts";
import { encodeOrders } from "../../src/chains/solana/order-codec.ts";
import type {
  ClaimOrder,
  DeliverOrder,
  LockOrder,
  Order,
  RefundOrder,
  ReturnOrder,
  TransferOrder,
} from "../../src/chains/solana/orders.ts";
import { minOutOf } from "../../src/core/amounts.ts";
import { type Commitment, GOVERNED } from "../../src/core/commitment.ts";
import {
  type Address,
  NATIVE_SOL,
  padAddress,
  toAddress,
  toEvmAddress,
  toHex32,
} from "../../src/core/hex.ts";
import { Secret } from "../../src/core/secret.ts";
import {
  type AttestedChain,
  createEvmAttestorSigner,
} from "../../src/signers/evm/attestor-signer.ts";
import { createRawKey } from "../../src/signers/evm/key.ts";
import { type Guard, openGuard } from "../../src/signers/guard.ts";
import type { LaneSigner, SigningRequest } from "../../src/signers/port.ts";
import {
  type CustodyOptions,
  type CustodyToken,
  openCustody,
} from "../../src/signers/solana/custody.ts";
import { createSeed } from "../../src/signers/solana/seed.ts";
import { createStillClock } from "./doubles.ts";
import { SOLANA, Svm } from "./solana-svm.ts";

export const BASE = 30;
const FACTORY = toEvmAddress(`0x${"fa".repeat(20)}`);
const BASE_DELIVERY = toEvmAddress(`0x${"d3".repeat(20)}`);
const BASE_ESCROW = toEvmAddress(`0x${"e3".repeat(20)}`);
export const BASE_TOKEN = toEvmAddress(`0x${"70".repeat(20)}`);
const BASE_PRICED_TOKEN = toEvmAddress(`0x${"71".repeat(20)}`);
const TOKEN_FACTS: MintFacts = { program: "token", decimals: 6, hasTransferFee: false };
export const SOL = 1_000_000_000n;
const RATE_SCALE = 10n ** 18n;
const CLUSTER = toHex32(`0x${"c1".repeat(32)}`);
const SEED = new Secret(`0x${"5e".repeat(32)}`);
/** More than any test pays. */
const LARGE_CAP = 10n ** 15n;

/** Returns the public key of a party of a commitment, unique per number. */
export const walletOf = (number: number): Address =>
  createSeed(new Secret(`0x${number.toString(16).padStart(64, "0")}`), "a test").accounts.settle;

/** Returns a commitment with destination Base, unique per number. */
export function towardsBase(number: number, fields: Partial<Commitment> = {}): Commitment {
  return {
    integrator: toHex32(`0x${"11".repeat(32)}`),
    userId: toHex32(`0x${number.toString(16).padStart(64, "0")}`),
    destChain: BASE,
    destWallet: padAddress(toEvmAddress(`0x${"ab".repeat(20)}`)),
    destToken: padAddress(BASE_TOKEN),
    refundAuthority: toHex32(walletOf(2_000 + number)),
    maxFeeBps: 100,
    maxSlippageBps: 50,
    ...GOVERNED,
    ...fields,
  };
}

/** Returns a commitment with destination Solana. */
export function towardsSolana(number: number, token: Address): Commitment {
  return towardsBase(number, {
    destChain: SOLANA,
    destWallet: toHex32(walletOf(1_000 + number)),
    destToken: toHex32(token),
  });
}

/** Opens a signer with a journal in its own folder, and everything that valid orders need. */
export async function startCustody(change: Partial<CustodyOptions> = {}) {
  const world = await Svm.start();
  const folder = mkdtempSync(join(tmpdir(), "sluice-custody-"));
  const clock = createStillClock();
  const { accounts, vaultOf } = createSeed(SEED, "a test");
  const token = world.createMint(TOKEN_FACTS);
  const treasury = walletOf(7);
  const attestorKey = createRawKey(new Secret(`0x${"a7".repeat(32)}`), "a test");
  const attestor = createEvmAttestorSigner({
    key: attestorKey,
    chains: new Map<number, AttestedChain>([
      [
        SOLANA,
        {
          kind: "svm",
          cluster: CLUSTER,
          factory: FACTORY,
          escrow: accounts.escrow,
          delivery: accounts.delivery,
        },
      ],
      [
        BASE,
        {
          kind: "evm",
          evmChainId: 8453,
          factory: FACTORY,
          escrow: BASE_ESCROW,
          delivery: BASE_DELIVERY,
        },
      ],
    ]),
  });
  const listed: CustodyToken[] = [
    { token: NATIVE_SOL, mint: null, dailyCap: LARGE_CAP },
    { token, mint: TOKEN_FACTS, dailyCap: LARGE_CAP },
  ];
  const pair = {
    destChain: BASE,
    delivery: padAddress(BASE_DELIVERY),
    destDecimals: 6,
  };
  const options: CustodyOptions = {
    seed: SEED,
    setting: "a test",
    // The policies of payouts and refunds have tests of their own.
    checkPayout: async () => undefined,
    checkRefund: async () => undefined,
    chainId: SOLANA,
    treasury,
    attestors: [attestorKey.address],
    threshold: 1,
    cluster: CLUSTER,
    tokens: listed,
    pairs: [
      { ...pair, token, decimals: 6, destToken: padAddress(BASE_TOKEN), priced: false },
      {
        ...pair,
        token: NATIVE_SOL,
        decimals: 9,
        destToken: padAddress(BASE_PRICED_TOKEN),
        priced: true,
      },
    ],
    payoutWindowS: PAYOUT_WINDOW_S,
    factory: FACTORY,
    hashing: { hashCommitment, predictWallet, deliveryIdOf },
    ...change,
  };
  for (const account of [accounts.settle, accounts.deliver, accounts.delivery]) {
    world.giveSol(account, 1_000n * SOL);
  }
  await world.giveTokens(accounts.delivery, token, 10n ** 12n);

  const journal = join(folder, "settler.jsonl");
  let guard: Guard;
  let lanes: readonly LaneSigner[];
  const open = () => {
    guard = openGuard({ journal, clock });
    lanes = openCustody(options, guard).lanes;
  };
  open();
  let height = 1_000n;

  const nowS = () => BigInt(Math.floor(clock.now() / 1000));
  const deadline = () => nowS() + 3_600n;
  const idOfLock = ({ commitment, ...lock }: LockOrder | ReturnOrder) =>
    deliveryIdOf({
      ...lock,
      srcChain: SOLANA,
      escrow: accounts.escrow,
      commitment: hashCommitment(commitment),
    });

  const custody = {
    world,
    clock,
    journal,
    options,
    accounts,
    attestor,
    token,
    treasury,
    nowS,
    deadline,
    idOfLock,
    vaultOf: (commitment: Commitment) => vaultOf(hashCommitment(commitment)),

    laneOf(purpose: "settle" | "deliver"): LaneSigner {
      const lane = lanes.find((known) => known.purpose === purpose);
      if (!lane) throw new Error("two lanes");
      return lane;
    },
    /** Restarts the signer as after `kill -9`, with only its journal. */
    restart(): void {
      guard.close();
      open();
    },
    close(): void {
      guard.close();
      rmSync(folder, { recursive: true });
    },
    /** Advances the chain by some blocks. */
    grow(blocks: bigint): void {
      height += blocks;
      world.svm.expireBlockhash();
    },
    intentOf(orders: readonly Order[], fields: Partial<SigningRequest> = {}): SigningRequest {
      return {
        call: { to: accounts.escrow, data: encodeOrders(orders), value: 0n },
        nonce: 0,
        gas: 400_000n,
        fees: { gasPriceMax: 1_000n, tipMax: 1_000n },
        lifetime: {
          blockhash: toHex32(fromBase58(world.svm.latestBlockhash())),
          lastValidHeight: height + 150n,
        },
        ...fields,
      };
    },
    /** Signs and runs some orders. */
    async execute(...orders: Order[]): Promise<string | null> {
      const purpose = orders.some(({ kind }) => kind === "deliver") ? "deliver" : "settle";
      const { raw } = await custody.laneOf(purpose).sign(custody.intentOf(orders));
      const { error } = world.send(raw);
      height += 1n;
      return error;
    },

    async price(
      commitment: Commitment,
      fields: Partial<AttestedPrice["price"]> = {},
    ): Promise<AttestedPrice> {
      // 150 whole tokens for a whole SOL.
      const price = {
        rate: 150n * RATE_SCALE,
        maxAmount: 100n * SOL,
        deadline: nowS() + 120n,
        ...fields,
      };
      const signature = await attestor.signPrice(SOLANA, {
        ...price,
        wallet: predictWallet(FACTORY, commitment),
        token: NATIVE_SOL,
        route: accounts.escrow,
      });
      return { price, signature };
    },
    lock(number: number, amount = 1_000_000n, seq = 0n): LockOrder {
      const commitment = towardsBase(number);
      const { maxFeeBps } = commitment;
      return {
        kind: "lock",
        commitment,
        token,
        amount,
        minOut: minOutOf({ amount, maxFeeBps, decimalsIn: 6, decimalsOut: 6 }),
        price: null,
        seq,
        lockedAt: LOCKED_AT,
        delivery: padAddress(BASE_DELIVERY),
        asOf: 1n,
      };
    },
    async lockSol(number: number, amount = SOL, seq = 0n): Promise<LockOrder> {
      const commitment = towardsBase(number, { destToken: padAddress(BASE_PRICED_TOKEN) });
      return {
        kind: "lock",
        commitment,
        token: NATIVE_SOL,
        amount,
        // Fee and slippage together may take 1.5 % of the value.
        minOut: (amount * 150n * 9_850n) / 10_000n / 1_000n,
        price: await custody.price(commitment),
        seq,
        lockedAt: LOCKED_AT,
        delivery: padAddress(BASE_DELIVERY),
        asOf: 1n,
      };
    },
    async claim(lock: LockOrder, paidAmount = lock.minOut): Promise<ClaimOrder> {
      const claim = { deliveryId: idOfLock(lock), paidAmount, deadline: deadline() };
      const signature = await attestor.signClaim(SOLANA, claim);
      return { kind: "claim", ...claim, token: lock.token, amount: lock.amount, signature };
    },
    async giveBack(lock: LockOrder): Promise<ReturnOrder> {
      const order = { deliveryId: idOfLock(lock), deadline: deadline() };
      const signature = await attestor.signReturn(SOLANA, order);
      const { commitment, token: locked, amount, minOut, seq, delivery } = lock;
      const facts = { commitment, token: locked, amount, minOut, seq, delivery };
      return { kind: "return", ...facts, deadline: order.deadline, signature };
    },
    async deliver(
      number: number,
      paid: Address = token,
      fields: Partial<Payout> = {},
    ): Promise<DeliverOrder> {
      const order: Payout = {
        commitment: towardsSolana(number, paid),
        srcChain: BASE,
        escrow: BASE_ESCROW,
        srcToken: BASE_TOKEN,
        lockedAmount: 1_000_000n,
        minOut: 0n,
        seq: 0n,
        windowStart: nowS(),
        amount: paid === NATIVE_SOL ? SOL : 1_000_000n,
        ...fields,
      };
      return { kind: "deliver", order, signature: await attestor.signDelivery(SOLANA, order) };
    },
    transfer(number: number, moved: Address = token, fee = 1_000n): TransferOrder {
      const amount = moved === NATIVE_SOL ? SOL : 1_000_000n;
      const commitment = towardsSolana(number, moved);
      return { kind: "transfer", commitment, token: moved, amount, fee, asOf: 1n };
    },
    refund(number: number, moved: Address = token): RefundOrder {
      const amount = moved === NATIVE_SOL ? SOL : 1_000_000n;
      return {
        kind: "refund",
        commitment: towardsBase(number),
        token: moved,
        amount,
        reason: null,
      };
    },
    /** Pays a deposit to the vault of an order. */
    async fund(commitment: Commitment, deposited: Address, amount: bigint): Promise<void> {
      const vault = custody.vaultOf(commitment);
      if (deposited === NATIVE_SOL) world.giveSol(vault, amount);
      else await world.giveTokens(vault, deposited, amount);
    },
  };
  return custody;
}

/** The lock time of every lock order. */
const LOCKED_AT = 1_700_000_000n;

const PAYOUT_WINDOW_S = 43_200n;

export type TestCustody = Awaited<ReturnType<typeof startCustody>>;

/** An address that is not a public key. */
export const OFF_CURVE = toAddress(`0x02${"00".repeat(31)}`);
