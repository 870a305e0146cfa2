/** Bodies of HTTP answers, as the client receives them. */
import { gzipSync } from "node:zlib";
import type { Packed } from "../../src/chains/rpc/packed.ts";

export function plainBody(content: string | Buffer): Packed {
  return { bytes: Buffer.from(content), encoding: "identity" };
}

export function gzippedBody(content: string | Buffer): Packed {
  return { bytes: gzipSync(content), encoding: "gzip" };
}
