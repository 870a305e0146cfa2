import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { CONTRACTS_DIR } from "./forge.ts";

/**
 * Writes vectors/addresses.json, against which Solidity and the service check their derivation. It
 * was run once; the formats never change, so a changed output is a defect and not a new version.
 * Hashing and encoding are implemented here, so that the vectors depend on neither of the two.
 */

const LANE_BITS = 64n;
const LANE_MASK = (1n << LANE_BITS) - 1n;
const RATE_BYTES = 136;

/** Computes rotation offsets and round constants by Keccak's own recurrences. */
function keccakTables(): { rotations: bigint[]; constants: bigint[] } {
  const rotations = Array.from({ length: 25 }, () => 0n);
  for (let t = 0, x = 1, y = 0; t < 24; t++) {
    rotations[x + 5 * y] = BigInt((((t + 1) * (t + 2)) / 2) % 64);
    [x, y] = [y, (2 * x + 3 * y) % 5];
  }
  const constants: bigint[] = [];
  for (let round = 0, register = 1; round < 24; round++) {
    let constant = 0n;
    for (let j = 0; j < 7; j++) {
      if ((register & 1) === 1) constant |= 1n << BigInt(2 ** j - 1);
      register = (register << 1) ^ ((register >> 7) * 0x171);
    }
    constants.push(constant);
  }
  return { rotations, constants };
}

const TABLES = keccakTables();

function rotate(lane: bigint, by: bigint): bigint {
  return ((lane << by) | (lane >> (LANE_BITS - by))) & LANE_MASK;
}

function at(lanes: readonly bigint[], index: number): bigint {
  const lane = lanes[index];
  if (lane === undefined) throw new RangeError(`No lane ${index}.`);
  return lane;
}

function permute(lanes: bigint[]): bigint[] {
  let state = lanes;
  for (const constant of TABLES.constants) {
    const columns = [0, 1, 2, 3, 4].map((x) =>
      [0, 5, 10, 15, 20].reduce((sum, y) => sum ^ at(state, x + y), 0n),
    );
    const mixed = state.map(
      (lane, i) => lane ^ at(columns, (i + 4) % 5) ^ rotate(at(columns, (i + 1) % 5), 1n),
    );
    const moved = Array.from({ length: 25 }, () => 0n);
    mixed.forEach((lane, i) => {
      const [x, y] = [i % 5, Math.floor(i / 5)];
      moved[y + 5 * ((2 * x + 3 * y) % 5)] = rotate(lane, at(TABLES.rotations, i));
    });
    state = moved.map((lane, i) => {
      const row = i - (i % 5);
      return lane ^ (~at(moved, row + ((i + 1) % 5)) & LANE_MASK & at(moved, row + ((i + 2) % 5)));
    });
    state[0] = at(state, 0) ^ constant;
  }
  return state;
}

function keccak256(input: Buffer): Buffer {
  const padded = Buffer.alloc((Math.floor(input.length / RATE_BYTES) + 1) * RATE_BYTES);
  input.copy(padded);
  padded[input.length] = 0x01;
  padded.writeUInt8(padded.readUInt8(padded.length - 1) | 0x80, padded.length - 1);
  let state = Array.from({ length: 25 }, () => 0n);
  for (let block = 0; block < padded.length; block += RATE_BYTES) {
    const absorbed = state.map((lane, i) =>
      i * 8 < RATE_BYTES ? lane ^ padded.readBigUInt64LE(block + i * 8) : lane,
    );
    state = permute(absorbed);
  }
  const out = Buffer.alloc(32);
  for (let i = 0; i < 4; i++) out.writeBigUInt64LE(at(state, i), i * 8);
  return out;
}

function bytes(hex: string): Buffer {
  return Buffer.from(hex.replace(/^0x/, ""), "hex");
}

function hex(data: Buffer): string {
  return `0x${data.toString("hex")}`;
}

function padded(value: Buffer): Buffer {
  return Buffer.concat([Buffer.alloc(32 - value.length), value]);
}

function word(value: number | bigint): Buffer {
  return bytes(value.toString(16).padStart(64, "0"));
}

/** Returns the hash of the parts, one after the other. */
function hashOf(...parts: readonly Buffer[]): Buffer {
  return keccak256(Buffer.concat(parts));
}

function keccakText(text: string): Buffer {
  return keccak256(Buffer.from(text, "utf8"));
}

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

const ZERO = `0x${"00".repeat(32)}`;
const ONES = `0x${"ff".repeat(32)}`;
const TOP_BIT = `0x80${"00".repeat(31)}`;
const ADDRESS_ONES = `0x${"00".repeat(12)}${"ff".repeat(20)}`;
const UINT16_MAX = 0xffff;

/** Returns values without a pattern that are the same in every run. */
function anyWord(label: string): string {
  return hex(keccakText(`vector ${label}`));
}

function anyAddress(label: string): string {
  return hex(padded(keccakText(`vector ${label}`).subarray(12)));
}

function anyAccount(label: string): string {
  return hex(keccakText(`vector ${label}`).subarray(12));
}

function anyUuid(label: string): string {
  return hex(padded(keccakText(`vector ${label}`).subarray(16)));
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

const UINT64_MAX = String(2n ** 64n - 1n);
const UINT256_MAX = String(2n ** 256n - 1n);

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

/** Returns the EIP-712 domain of a contract. */
function domainOf(name: string, evmChainId: number, contract: string): Buffer {
  return hashOf(
    keccakText(
      "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)",
    ),
    keccakText(name),
    keccakText("1"),
    word(evmChainId),
    padded(bytes(contract)),
  );
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

const vectors = { factories, wallets, deliveries, routeSets, payouts, refunds, solanaRefunds };

writeFileSync(
  join(CONTRACTS_DIR, "vectors/addresses.json"),
  `${JSON.stringify(vectors, null, 2)}\n`,
);
