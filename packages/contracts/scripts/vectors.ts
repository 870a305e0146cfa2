import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { CONTRACTS_DIR } from "./forge.ts";
import {
  ADDRESS_ONES,
  anyAccount,
  anyAddress,
  anyUuid,
  anyWord,
  bytes,
  domainOf,
  hashOf,
  hex,
  keccak256,
  keccakText,
  ONES,
  padded,
  TOP_BIT,
  UINT16_MAX,
  UINT256_MAX,
  UINT64_MAX,
  word,
  ZERO,
} from "./vector-encoding.ts";
import { accountOf, keyOf, malleable, sign } from "./vector-signing.ts";

/**
 * Writes vectors/addresses.json, against which Solidity and the service check their derivation. It
 * was run once; the formats never change, so a changed output is a defect and not a new version.
 */

/** Returns the address of the contract that `creator` creates with a nonce below 128. */
function createAddress(creator: Buffer, nonce: number): Buffer {
  const rlpNonce = nonce === 0 ? 0x80 : nonce;
  const list = Buffer.concat([Buffer.from([0xd6, 0x94]), creator, Buffer.from([rlpNonce])]);
  return keccak256(list).subarray(12);
}

/** Returns a factory's address as its deployer's first contract, independent of the factory's code. */
function makeFactory(deployerHex: string) {
  const deployer = bytes(deployerHex);
  const factory = createAddress(deployer, 0);
  const implementation = createAddress(factory, 1);
  const initCode = Buffer.concat([
    bytes("3d603380600a3d3981f3"),
    bytes("36600557005b363d3d373d3d3d363d73"),
    implementation,
    bytes("5af43d82803e903d91603157fd5bf3"),
  ]);
  return {
    deployer: hex(deployer),
    factory: hex(factory),
    implementation: hex(implementation),
    initCodeHash: hex(keccak256(initCode)),
  };
}

interface Fields {
  readonly integrator: string;
  readonly userId: string;
  readonly destChain: number;
  readonly destWallet: string;
  readonly destToken: string;
  readonly refundAuthority: string;
  readonly maxFeeBps: number;
  readonly maxSlippageBps: number;
  readonly routes: string;
  readonly flags: number;
}

function commitmentHash(c: Fields): Buffer {
  return hashOf(
    keccakText("sluice.deposit.v1"),
    word(1),
    word(1),
    bytes(c.integrator),
    bytes(c.userId),
    word(c.destChain),
    bytes(c.destWallet),
    bytes(c.destToken),
    bytes(c.refundAuthority),
    word(c.maxFeeBps),
    word(c.maxSlippageBps),
    bytes(c.routes),
    word(c.flags),
  );
}

interface Leaf {
  readonly evmChainId: number;
  readonly route: string;
}

function leafHash({ evmChainId, route }: Leaf): Buffer {
  return keccak256(hashOf(word(evmChainId), padded(bytes(route))));
}

function pairHash(one: Buffer, other: Buffer): Buffer {
  return hashOf(...[one, other].sort((a, b) => a.compare(b)));
}

/**
 * Returns the root of a set and the proof of each leaf, as OpenZeppelin's standard Merkle tree: an array whose last entries
 * are the leaves, the smallest hash last, and whose entry `i` hashes the entries `2i + 1` and `2i + 2`.
 */
function makeRouteSet(name: string, leaves: readonly Leaf[]) {
  const hashes = leaves.map(leafHash).sort((a, b) => a.compare(b));
  const size = 2 * hashes.length - 1;
  const nodeAt = (index: number): Buffer => {
    const leaf = hashes[size - 1 - index];
    return leaf ?? pairHash(nodeAt(2 * index + 1), nodeAt(2 * index + 2));
  };
  const proofOf = (leaf: Leaf): string[] => {
    const proof: string[] = [];
    const wanted = leafHash(leaf);
    let index = size - 1 - hashes.findIndex((hash) => hash.equals(wanted));
    for (; index > 0; index = (index - 1) >> 1) {
      proof.push(hex(nodeAt(index % 2 === 1 ? index + 1 : index - 1)));
    }
    return proof;
  };
  const root = hex(nodeAt(0));
  return { name, root, leaves: leaves.map((leaf) => ({ ...leaf, proof: proofOf(leaf) })) };
}

function makeWallet(name: string, factory: ReturnType<typeof makeFactory>, commitment: Fields) {
  const hash = commitmentHash(commitment);
  const wallet = keccak256(
    Buffer.concat([bytes("ff"), bytes(factory.factory), hash, bytes(factory.initCodeHash)]),
  ).subarray(12);
  const { implementation, initCodeHash } = factory;
  return {
    name,
    factory: factory.factory,
    implementation,
    initCodeHash,
    commitment,
    hash: hex(hash),
    wallet: hex(wallet),
  };
}

interface Locked {
  readonly srcChain: number;
  readonly escrow: string;
  readonly delivery: string;
  readonly commitment: string;
  readonly token: string;
  /** Decimal strings, since they exceed JSON numbers. */
  readonly amount: string;
  readonly minOut: string;
  readonly seq: string;
}

function makeDelivery(name: string, lock: Locked) {
  const id = hashOf(
    keccakText("sluice.delivery.v1"),
    word(lock.srcChain),
    bytes(lock.escrow),
    bytes(lock.delivery),
    bytes(lock.commitment),
    bytes(lock.token),
    word(BigInt(lock.amount)),
    word(BigInt(lock.minOut)),
    word(BigInt(lock.seq)),
  );
  return { name, ...lock, deliveryId: hex(id) };
}

const BASE: Fields = {
  integrator: anyUuid("integrator"),
  userId: anyAddress("user"),
  destChain: 30,
  destWallet: anyAddress("recipient"),
  destToken: anyAddress("token"),
  refundAuthority: anyAddress("refund authority"),
  maxFeeBps: 50,
  maxSlippageBps: 100,
  routes: ZERO,
  flags: 0,
};

const EDGES: readonly (readonly [string, Partial<Fields>])[] = [
  ["an ordinary commitment", {}],
  ["user id zero", { userId: ZERO }],
  ["user id all ones", { userId: ADDRESS_ONES }],
  ["integrator zero", { integrator: ZERO }],
  ["integrator all ones", { integrator: ONES }],
  ["destination chain zero", { destChain: 0 }],
  ["destination chain one", { destChain: 1 }],
  ["destination chain highest", { destChain: UINT16_MAX }],
  ["destination wallet of 32 bytes", { destWallet: anyWord("solana recipient") }],
  ["destination wallet all ones", { destWallet: ONES }],
  ["destination wallet zero", { destWallet: ZERO }],
  ["destination token native", { destToken: ZERO }],
  ["destination token of 32 bytes", { destToken: anyWord("solana mint") }],
  ["destination token with only the top bit", { destToken: TOP_BIT }],
  ["refund authority zero", { refundAuthority: ZERO }],
  ["refund authority of 32 bytes", { refundAuthority: anyWord("solana authority") }],
  ["fee cap zero", { maxFeeBps: 0 }],
  ["fee cap 100%", { maxFeeBps: 10_000 }],
  ["fee cap highest", { maxFeeBps: UINT16_MAX }],
  ["slippage cap zero", { maxSlippageBps: 0 }],
  ["slippage cap highest", { maxSlippageBps: UINT16_MAX }],
  ["fee and slippage caps exchanged", { maxFeeBps: 100, maxSlippageBps: 50 }],
  ["a set of routes", { routes: anyWord("routes") }],
  ["routes all ones", { routes: ONES }],
  ["settlement without the operator", { flags: 1 }],
  ["flags highest", { flags: UINT16_MAX }],
  ["routes that look like flags", { routes: hex(word(1)) }],
  [
    "wallet and token exchanged",
    { destWallet: anyAddress("token"), destToken: anyAddress("recipient") },
  ],
  [
    "all zeros",
    {
      integrator: ZERO,
      userId: ZERO,
      destChain: 0,
      destWallet: ZERO,
      destToken: ZERO,
      refundAuthority: ZERO,
      maxFeeBps: 0,
      maxSlippageBps: 0,
      routes: ZERO,
      flags: 0,
    },
  ],
  [
    "all ones",
    {
      integrator: ONES,
      userId: ONES,
      destChain: UINT16_MAX,
      destWallet: ONES,
      destToken: ONES,
      refundAuthority: ONES,
      maxFeeBps: UINT16_MAX,
      maxSlippageBps: UINT16_MAX,
      routes: ONES,
      flags: UINT16_MAX,
    },
  ],
];

const factories = [
  makeFactory("0x1000000000000000000000000000000000000001"),
  makeFactory("0x2b5ad5c4795c026514f8317c7a215e218dccd6cf"),
  makeFactory("0xffffffffffffffffffffffffffffffffffffffff"),
] as const;

const wallets = [
  ...EDGES.map(([name, change]) => makeWallet(name, factories[0], { ...BASE, ...change })),
  makeWallet("the ordinary commitment at a second factory", factories[1], BASE),
  makeWallet("the ordinary commitment at a third factory", factories[2], BASE),
];

const LOCK: Locked = {
  srcChain: 2,
  escrow: anyAddress("escrow"),
  delivery: anyAddress("delivery"),
  commitment: anyWord("commitment"),
  token: anyAddress("source token"),
  amount: "1000000",
  minOut: "995000000000000000",
  seq: "0",
};

const deliveries = [
  makeDelivery("the first lock", LOCK),
  makeDelivery("the second lock", { ...LOCK, seq: "1" }),
  makeDelivery("the highest counter", { ...LOCK, seq: UINT64_MAX }),
  makeDelivery("source chain zero", { ...LOCK, srcChain: 0 }),
  makeDelivery("source chain highest", { ...LOCK, srcChain: UINT16_MAX }),
  makeDelivery("native coin", { ...LOCK, token: ZERO }),
  makeDelivery("one unit more", { ...LOCK, amount: "1000001" }),
  makeDelivery("one unit more promised", { ...LOCK, minOut: "995000000000000001" }),
  makeDelivery("another delivery contract", { ...LOCK, delivery: anyAddress("delivery 2") }),
  makeDelivery("another commitment", { ...LOCK, commitment: anyWord("commitment 2") }),
  makeDelivery("amount and minimum exchanged", {
    ...LOCK,
    amount: LOCK.minOut,
    minOut: LOCK.amount,
  }),
  makeDelivery("names of 32 bytes", {
    ...LOCK,
    srcChain: 1,
    escrow: anyWord("solana escrow"),
    delivery: anyWord("solana delivery"),
    token: anyWord("solana mint"),
    seq: "7",
  }),
  makeDelivery("all zeros", {
    srcChain: 0,
    escrow: ZERO,
    delivery: ZERO,
    commitment: ZERO,
    token: ZERO,
    amount: "0",
    minOut: "0",
    seq: "0",
  }),
  makeDelivery("all ones", {
    srcChain: UINT16_MAX,
    escrow: ONES,
    delivery: ONES,
    commitment: ONES,
    token: ONES,
    amount: UINT256_MAX,
    minOut: UINT256_MAX,
    seq: UINT64_MAX,
  }),
];

interface Payout {
  /** The paying contract, on EVM chains. */
  readonly contract: string;
  readonly evmChainId: number;
  readonly deliveryId: string;
  readonly amount: string;
  readonly windowStart: string;
}

/** Returns a payout and the EIP-712 digest that attestors sign for it. */
function makePayout(name: string, payout: Payout) {
  const domain = domainOf("Sluice Delivery", payout.evmChainId, payout.contract);
  const struct = hashOf(
    keccakText("Deliver(bytes32 deliveryId,uint256 amount,uint256 windowStart)"),
    bytes(payout.deliveryId),
    word(BigInt(payout.amount)),
    word(BigInt(payout.windowStart)),
  );
  return { name, ...payout, digest: hex(hashOf(Buffer.from([0x19, 0x01]), domain, struct)) };
}

const PAYOUT: Payout = {
  contract: anyAccount("delivery"),
  evmChainId: 8453,
  deliveryId: deliveries[0]?.deliveryId ?? "",
  amount: "999000000000000000",
  windowStart: "1750000000",
};

const payouts = [
  makePayout("an ordinary payout", PAYOUT),
  makePayout("another lock", { ...PAYOUT, deliveryId: deliveries[1]?.deliveryId ?? "" }),
  makePayout("one unit more", { ...PAYOUT, amount: "999000000000000001" }),
  makePayout("one second later", { ...PAYOUT, windowStart: "1750000001" }),
  makePayout("amount and window exchanged", {
    ...PAYOUT,
    amount: PAYOUT.windowStart,
    windowStart: PAYOUT.amount,
  }),
  makePayout("another chain", { ...PAYOUT, evmChainId: 1 }),
  makePayout("another contract", { ...PAYOUT, contract: anyAccount("delivery 2") }),
  makePayout("highest values", {
    ...PAYOUT,
    deliveryId: ONES,
    amount: UINT256_MAX,
    windowStart: UINT64_MAX,
  }),
];

interface Refund {
  readonly factory: string;
  readonly evmChainId: number;
  readonly wallet: string;
  readonly token: string;
  readonly maxAmount: string;
  readonly reason: number;
  readonly deadline: string;
}

/** Returns a refund and the EIP-712 digest that attestors sign for it. */
function makeRefund(name: string, refund: Refund) {
  const domain = domainOf("Sluice DepositFactory", refund.evmChainId, refund.factory);
  const struct = hashOf(
    keccakText(
      "Refund(address wallet,address token,uint256 maxAmount,uint8 reason,uint256 deadline)",
    ),
    padded(bytes(refund.wallet)),
    padded(bytes(refund.token)),
    word(BigInt(refund.maxAmount)),
    word(refund.reason),
    word(BigInt(refund.deadline)),
  );
  const digest = hashOf(Buffer.from([0x19, 0x01]), domain, struct);
  return { name, ...refund, digest: hex(digest) };
}

const REFUND: Refund = {
  factory: factories[0].factory,
  evmChainId: 1,
  wallet: anyAccount("wallet"),
  token: anyAccount("source token"),
  maxAmount: "1000000",
  reason: 1,
  deadline: "1750000000",
};

const refunds = [
  makeRefund("below minimum", REFUND),
  makeRefund("unlisted", { ...REFUND, reason: 2 }),
  makeRefund("dead", { ...REFUND, reason: 3 }),
  makeRefund("expired", { ...REFUND, reason: 4 }),
  makeRefund("native coin", { ...REFUND, token: `0x${"00".repeat(20)}` }),
  makeRefund("one unit more", { ...REFUND, maxAmount: "1000001" }),
  makeRefund("one second later", { ...REFUND, deadline: "1750000001" }),
  makeRefund("another chain", { ...REFUND, evmChainId: 8453 }),
  makeRefund("another factory", { ...REFUND, factory: factories[1].factory }),
  makeRefund("wallet and token exchanged", {
    ...REFUND,
    wallet: REFUND.token,
    token: REFUND.wallet,
  }),
  makeRefund("highest values", {
    ...REFUND,
    wallet: `0x${"ff".repeat(20)}`,
    token: `0x${"ff".repeat(20)}`,
    maxAmount: UINT256_MAX,
    reason: 4,
    deadline: UINT256_MAX,
  }),
];

/** Returns a set of the given size over two chains. */
function anySet(name: string, size: number) {
  const leaves = Array.from({ length: size }, (_, i) => ({
    evmChainId: [1, 8453, 42_161][i % 3] ?? 1,
    route: hex(keccakText(`vector route ${Math.floor(i / 2)}`).subarray(12)),
  }));
  return makeRouteSet(name, leaves);
}

const routeSets = [
  anySet("one route", 1),
  anySet("two routes", 2),
  anySet("three routes", 3),
  anySet("four routes", 4),
  anySet("seven routes", 7),
  anySet("twelve routes", 12),
];

/** A struct that attestors sign: its domain's name, its type, and its fields in the order of the type. */
interface Struct {
  readonly domain: string;
  readonly type: string;
  /** Decimal numbers, and accounts or hashes in hexadecimal. */
  readonly fields: readonly string[];
}

/** A struct for a contract. */
interface Message extends Struct {
  readonly evmChainId: number;
  readonly contract: string;
}

/** A struct for an account on Solana, on the cluster with this first block. */
interface SolanaMessage extends Struct {
  readonly cluster: string;
  readonly account: string;
}

function digestOf(domain: Buffer, { type, fields }: Struct): string {
  const words = fields.map((field) =>
    field.startsWith("0x") ? padded(bytes(field)) : word(BigInt(field)),
  );
  const struct = hashOf(keccakText(type), ...words);
  return hex(hashOf(Buffer.from([0x19, 0x01]), domain, struct));
}

/** Returns a message and its EIP-712 digest. */
function makeMessage(name: string, message: Message) {
  const domain = domainOf(message.domain, message.evmChainId, message.contract);
  return { name, ...message, digest: digestOf(domain, message) };
}

/** Returns a message for Solana and its digest: there the domain has a salt instead of a contract. */
function makeSolanaMessage(name: string, message: SolanaMessage) {
  const domain = hashOf(
    keccakText("EIP712Domain(string name,string version,uint256 chainId,bytes32 salt)"),
    keccakText(message.domain),
    keccakText("1"),
    bytes(message.cluster),
    bytes(message.account),
  );
  return { name, ...message, digest: digestOf(domain, message) };
}

const CLAIM: Message = {
  domain: "Sluice Escrow",
  type: "Claim(bytes32 deliveryId,uint256 paidAmount,uint256 deadline)",
  evmChainId: 1,
  contract: anyAccount("escrow"),
  fields: [deliveries[0]?.deliveryId ?? "", "999000000000000000", "1750000000"],
};

const RETURN: Message = {
  ...CLAIM,
  type: "Return(bytes32 deliveryId,uint256 deadline)",
  fields: [deliveries[0]?.deliveryId ?? "", "1750000000"],
};

const PRICE: Message = {
  domain: "Sluice PricedRoute",
  type: "Price(address factory,address wallet,address token,uint256 rate,uint256 maxAmount,uint256 deadline)",
  evmChainId: 1,
  contract: anyAccount("priced route"),
  fields: [
    factories[0].factory,
    anyAccount("wallet"),
    anyAccount("source token"),
    "2500000000000000000000",
    "1000000",
    "1750000000",
  ],
};

/** Returns a message with one of its fields replaced. */
const withField = (message: Message, index: number, field: string): Message => ({
  ...message,
  fields: message.fields.with(index, field),
});

const messages = [
  makeMessage("a claim", CLAIM),
  makeMessage("a claim of another lock", withField(CLAIM, 0, deliveries[1]?.deliveryId ?? "")),
  makeMessage("a claim of one unit more", withField(CLAIM, 1, "999000000000000001")),
  makeMessage("a claim one second later", withField(CLAIM, 2, "1750000001")),
  makeMessage("a claim on another chain", { ...CLAIM, evmChainId: 8453 }),
  makeMessage("a claim at another escrow", { ...CLAIM, contract: anyAccount("escrow 2") }),
  makeMessage("a claim of the highest values", {
    ...CLAIM,
    fields: [ONES, UINT256_MAX, UINT256_MAX],
  }),
  makeMessage("a return", RETURN),
  makeMessage("a return of another lock", withField(RETURN, 0, deliveries[1]?.deliveryId ?? "")),
  makeMessage("a return one second later", withField(RETURN, 1, "1750000001")),
  makeMessage("a return on another chain", { ...RETURN, evmChainId: 8453 }),
  makeMessage("a return at another escrow", { ...RETURN, contract: anyAccount("escrow 2") }),
  makeMessage("a price", PRICE),
  makeMessage("a price at another factory", withField(PRICE, 0, factories[1].factory)),
  makeMessage("a price for another wallet", withField(PRICE, 1, anyAccount("wallet 2"))),
  makeMessage("a price of native coin", withField(PRICE, 2, `0x${"00".repeat(20)}`)),
  makeMessage("a price one unit higher", withField(PRICE, 3, "2500000000000000000001")),
  makeMessage("a price for one unit more", withField(PRICE, 4, "1000001")),
  makeMessage("a price one second later", withField(PRICE, 5, "1750000001")),
  makeMessage("a price on another chain", { ...PRICE, evmChainId: 8453 }),
  makeMessage("a price of another route", { ...PRICE, contract: anyAccount("priced route 2") }),
];

const ON_SOLANA = { cluster: anyWord("first block"), account: anyWord("solana escrow") };
const PRICE_ON_SOLANA: SolanaMessage = {
  ...ON_SOLANA,
  domain: PRICE.domain,
  type: PRICE.type.replace("address token", "bytes32 token"),
  fields: PRICE.fields.with(2, anyWord("solana mint")),
};

const solanaMessages = [
  makeSolanaMessage("a payout on Solana", {
    ...ON_SOLANA,
    account: anyWord("solana delivery"),
    domain: "Sluice Delivery",
    type: "Deliver(bytes32 deliveryId,uint256 amount,uint256 windowStart)",
    fields: [deliveries[0]?.deliveryId ?? "", "999000", "1750000000"],
  }),
  makeSolanaMessage("a claim on Solana", {
    ...ON_SOLANA,
    domain: CLAIM.domain,
    type: CLAIM.type,
    fields: CLAIM.fields,
  }),
  makeSolanaMessage("a return on Solana", {
    ...ON_SOLANA,
    domain: RETURN.domain,
    type: RETURN.type,
    fields: RETURN.fields,
  }),
  makeSolanaMessage("a price on Solana", PRICE_ON_SOLANA),
  makeSolanaMessage("a price on another cluster", {
    ...PRICE_ON_SOLANA,
    cluster: anyWord("first block 2"),
  }),
];

/** Attestors of the vectors, sorted by account. */
const attestors = Array.from({ length: 7 }, (_, index) => keyOf(index))
  .map((key) => ({ key, account: accountOf(key) }))
  .toSorted((one, other) => (one.account < other.account ? -1 : 1));

const SIGNED = messages[0]?.digest ?? "";
const signatureOf = (index: number) => sign(attestors[index]?.key ?? 0n, SIGNED);

/** Returns signatures one after the other, and why they do not suffice at `k` of the first `n` attestors: an error of the
 * factory, or nothing. */
function makeSignatures(
  name: string,
  { k, n }: { readonly k: number; readonly n: number },
  parts: readonly Buffer[],
  refusal = "",
) {
  return {
    name,
    digest: SIGNED,
    threshold: k,
    attestors: attestors.slice(0, n).map(({ account }) => account),
    signatures: hex(Buffer.concat(parts)),
    refusal,
  };
}

const of = (...indexes: readonly number[]) => indexes.map(signatureOf);

const TWO_OF_THREE = { k: 2, n: 3 };

const signatures = [
  makeSignatures("1 of 1", { k: 1, n: 1 }, of(0)),
  makeSignatures("2 of 3, the first two", TWO_OF_THREE, of(0, 1)),
  makeSignatures("2 of 3, the last two", TWO_OF_THREE, of(1, 2)),
  makeSignatures("3 of 5", { k: 3, n: 5 }, of(0, 2, 4)),
  makeSignatures("5 of 7", { k: 5, n: 7 }, of(0, 1, 3, 5, 6)),
  makeSignatures("none", TWO_OF_THREE, [], "TooFewSignatures"),
  makeSignatures("too few", TWO_OF_THREE, of(0), "TooFewSignatures"),
  makeSignatures("one twice", TWO_OF_THREE, of(0, 0), "UnsortedSignatures"),
  makeSignatures("unsorted", TWO_OF_THREE, of(1, 0), "UnsortedSignatures"),
  makeSignatures("one by a stranger", TWO_OF_THREE, of(0, 6), "NotAttestor"),
  makeSignatures(
    "one with the higher s",
    TWO_OF_THREE,
    [signatureOf(0), malleable(signatureOf(1))],
    "NotAttestor",
  ),
  makeSignatures(
    "one with a v of 0 or 1",
    TWO_OF_THREE,
    [signatureOf(0), Buffer.from(signatureOf(1).map((byte, at) => (at === 64 ? byte - 27 : byte)))],
    "NotAttestor",
  ),
  makeSignatures(
    "a byte is missing",
    TWO_OF_THREE,
    [signatureOf(0), signatureOf(1).subarray(0, 64)],
    "MalformedSignatures",
  ),
];

const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** Returns a Solana address of 32 bytes in base58. */
function base58(word32: Buffer): string {
  let [number, text] = [BigInt(hex(word32)), ""];
  for (; number > 0n; number /= 58n) text = `${BASE58[Number(number % 58n)]}${text}`;
  const zeros = word32.findIndex((byte) => byte !== 0);
  return "1".repeat(zeros === -1 ? word32.length : zeros) + text;
}

/** Returns a refund on Solana and the memo of its transaction. */
function makeSolanaRefund(name: string, reason: number, token = bytes(anyWord("solana mint"))) {
  const to = bytes(anyWord("solana authority"));
  const amount = "1000000";
  const memo = { sluice: "refund", to: base58(to), token: base58(token), amount, reason };
  return {
    name,
    to: hex(to),
    token: hex(token),
    amount,
    reason,
    memo: JSON.stringify(memo),
  };
}

const solanaRefunds = [
  makeSolanaRefund("requested by the authority", 0),
  makeSolanaRefund("below minimum", 1),
  makeSolanaRefund("unlisted", 2),
  makeSolanaRefund("dead", 3),
  makeSolanaRefund("expired", 4),
  makeSolanaRefund("native coin", 1, Buffer.alloc(32)),
];

const vectors = {
  factories,
  wallets,
  deliveries,
  routeSets,
  payouts,
  refunds,
  messages,
  solanaMessages,
  signatures,
  solanaRefunds,
};

writeFileSync(
  join(CONTRACTS_DIR, "vectors/addresses.json"),
  `${JSON.stringify(vectors, null, 2)}\n`,
);
