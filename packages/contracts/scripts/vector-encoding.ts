/** Hashing and encoding of the vectors, implemented here so that they depend on no library that they check. */

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

export function keccak256(input: Buffer): Buffer {
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

export function bytes(hex: string): Buffer {
  return Buffer.from(hex.replace(/^0x/, ""), "hex");
}

export function hex(data: Buffer): string {
  return `0x${data.toString("hex")}`;
}

export function padded(value: Buffer): Buffer {
  return Buffer.concat([Buffer.alloc(32 - value.length), value]);
}

export function word(value: number | bigint): Buffer {
  return bytes(value.toString(16).padStart(64, "0"));
}

/** Returns the hash of the parts, one after the other. */
export function hashOf(...parts: readonly Buffer[]): Buffer {
  return keccak256(Buffer.concat(parts));
}

export function keccakText(text: string): Buffer {
  return keccak256(Buffer.from(text, "utf8"));
}

/** Returns the EIP-712 domain of a contract. */
export function domainOf(name: string, evmChainId: number, contract: string): Buffer {
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

export const ZERO = `0x${"00".repeat(32)}`;
export const ONES = `0x${"ff".repeat(32)}`;
export const TOP_BIT = `0x80${"00".repeat(31)}`;
export const ADDRESS_ONES = `0x${"00".repeat(12)}${"ff".repeat(20)}`;
export const UINT16_MAX = 0xffff;

/** Returns values without a pattern that are the same in every run. */
export function anyWord(label: string): string {
  return hex(keccakText(`vector ${label}`));
}

export function anyAddress(label: string): string {
  return hex(padded(keccakText(`vector ${label}`).subarray(12)));
}

export function anyAccount(label: string): string {
  return hex(keccakText(`vector ${label}`).subarray(12));
}

export function anyUuid(label: string): string {
  return hex(padded(keccakText(`vector ${label}`).subarray(16)));
}

export const UINT64_MAX = String(2n ** 64n - 1n);
export const UINT256_MAX = String(2n ** 256n - 1n);
