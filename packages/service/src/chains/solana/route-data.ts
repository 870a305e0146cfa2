/** Route data on Solana: the terms of a sweep, as JSON in hex. Written and parsed only in `contracts.ts`. */
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { type Hex, toHex, toHex32 } from "../../core/hex.ts";
import type { AttestedPrice, LockTerms, RouteFee } from "../port/index.ts";

const exact = { additionalProperties: false } as const;
const Quantity = Type.String({ pattern: "^(0|[1-9][0-9]{0,77})$" });
const Bytes = Type.String({ pattern: "^0x([0-9a-f]{2})*$" });

const WireLockTerms = Compile(
  Type.Object(
    {
      price: Type.Union([
        Type.Null(),
        Type.Object(
          {
            price: Type.Object({ rate: Quantity, maxAmount: Quantity, deadline: Quantity }, exact),
            signature: Bytes,
          },
          exact,
        ),
      ]),
      minOut: Quantity,
      seq: Quantity,
      lockedAt: Quantity,
      delivery: Type.String({ pattern: "^0x[0-9a-f]{64}$" }),
    },
    exact,
  ),
);
const WireFee = Compile(
  Type.Object({ bps: Type.Integer({ minimum: 0, maximum: 10_000 }), flat: Quantity }, exact),
);

/** The terms of a lock as its order states them. */
export type LockOrderTerms = Omit<LockTerms, "price"> & { readonly price: AttestedPrice | null };

/** Encodes the terms of a lock. The order states its minimum, so that it needs no bounds of the rate. */
export function encodeLockTerms({ price: attested, ...terms }: LockTerms): Hex {
  const { minOut, seq, lockedAt, delivery } = terms;
  const price = attested && { price: attested.price, signature: attested.signature };
  return encode({ price, minOut, seq, lockedAt, delivery });
}

/** Encodes a route fee. */
export function encodeFee({ bps, flat }: RouteFee): Hex {
  return encode({ bps, flat });
}

/** Parses the terms of a lock. Throws `TypeError` on any other form. */
export function parseLockTerms(data: Hex): LockOrderTerms {
  const wire = decode(data);
  if (!WireLockTerms.Check(wire)) throw new TypeError("the route data is of no lock");
  return {
    price: wire.price && {
      price: {
        rate: BigInt(wire.price.price.rate),
        maxAmount: BigInt(wire.price.price.maxAmount),
        deadline: BigInt(wire.price.price.deadline),
      },
      signature: toHex(wire.price.signature),
    },
    minOut: BigInt(wire.minOut),
    seq: BigInt(wire.seq),
    lockedAt: BigInt(wire.lockedAt),
    delivery: toHex32(wire.delivery),
  };
}

/** Parses a route fee. Throws `TypeError` on any other form. */
export function parseFee(data: Hex): RouteFee {
  const wire = decode(data);
  if (!WireFee.Check(wire)) throw new TypeError("the route data is of no transfer");
  return { bps: wire.bps, flat: BigInt(wire.flat) };
}

function encode(value: unknown): Hex {
  const text = JSON.stringify(value, (_, part: unknown) =>
    typeof part === "bigint" ? part.toString() : part,
  );
  return toHex(`0x${Buffer.from(text).toString("hex")}`);
}

function decode(data: Hex): unknown {
  try {
    return JSON.parse(Buffer.from(data.slice(2), "hex").toString());
  } catch {
    // The caller reports it as malformed.
    return undefined;
  }
}
