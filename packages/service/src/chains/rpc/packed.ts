/**
 * The body of an HTTP answer as it was sent. It is decompressed where it is decoded: for large bodies in another thread, which
 * also keeps their memory out of this one.
 */
import { promisify } from "node:util";
import { gunzip, gunzipSync } from "node:zlib";

export interface Packed {
  readonly bytes: Buffer;
  /** The `content-encoding` header; `identity` without one. */
  readonly encoding: string;
}

/** A body that cannot be decompressed. */
export class UnusableBody extends Error {
  override readonly name = "UnusableBody";
  readonly reason: "answer too large" | "malformed answer";

  constructor(reason: UnusableBody["reason"], options?: ErrorOptions) {
    super(reason, options);
    this.reason = reason;
  }
}

/** Most bytes of a body. Anybody can create a block with tens of thousands of zero-value transfers. */
export const BODY_BYTES_MAX = 64 * 1024 * 1024;

const PIECE_BYTES_MIN = 16 * 1024;
/** The usual ratio of compression, and one that is not expected: it takes several pieces. */
const RATIO_USUAL = 8;
const RATIO_MAX = 32;
/** Length of the field at the end of a compressed body that states its size. */
const SIZE_BYTES = 4;

/**
 * Returns the stated size after decompression. Only a hint: the server may lie, and a body of several parts states the size
 * of the last one, so that it is at least the usual one.
 */
export function sizeOf({ bytes, encoding }: Packed): number {
  if (encoding !== "gzip" || bytes.length < SIZE_BYTES) return bytes.length;
  const stated = bytes.readUInt32LE(bytes.length - SIZE_BYTES);
  // A small body is not compressed as well.
  const usual = bytes.length > PIECE_BYTES_MIN ? bytes.length * RATIO_USUAL : bytes.length;
  return Math.min(stated <= bytes.length ? usual : stated, BODY_BYTES_MAX);
}

/** Decompresses a body. Throws `UnusableBody`. */
export async function unpack(packed: Packed): Promise<Buffer> {
  if (isPlain(packed)) return packed.bytes;
  try {
    return await unzip(packed.bytes, optionsOf(packed));
  } catch (error) {
    throw unusable(error);
  }
}

/** Decompresses a body in this thread. Throws `UnusableBody`. */
export function unpackNow(packed: Packed): Buffer {
  if (isPlain(packed)) return packed.bytes;
  try {
    return gunzipSync(packed.bytes, optionsOf(packed));
  } catch (error) {
    throw unusable(error);
  }
}

const unzip = promisify(gunzip);

/** Reports whether a body is not compressed. Throws if it is compressed otherwise than was asked for. */
function isPlain({ bytes, encoding }: Packed): boolean {
  if (encoding === "identity" || bytes.length === 0) return true;
  if (encoding !== "gzip") throw new UnusableBody("malformed answer");
  return false;
}

/** Makes one piece of the stated size, so that it need not be copied. One byte more shows that this was all. */
function optionsOf(packed: Packed) {
  const size = Math.min(sizeOf(packed) + 1, packed.bytes.length * RATIO_MAX);
  const chunkSize = Math.min(Math.max(size, PIECE_BYTES_MIN), BODY_BYTES_MAX);
  return { chunkSize, maxOutputLength: BODY_BYTES_MAX };
}

function unusable(cause: unknown): UnusableBody {
  return new UnusableBody(cause instanceof RangeError ? "answer too large" : "malformed answer", {
    cause,
  });
}
