import { expect, expectTypeOf, test } from "vitest";
import {
  type Address,
  type EvmAddress,
  NATIVE_SOL,
  NATIVE_TOKEN,
  type SolanaAddress,
  toEvmAddress,
  toSolanaAddress,
} from "./hex.ts";

test("addresses of one family are not assignable to the other", () => {
  // @ts-expect-error An address of Solana has 32 bytes.
  const evm: EvmAddress = NATIVE_SOL;
  // @ts-expect-error An address of EVM chains has 20 bytes.
  const solana: SolanaAddress = NATIVE_TOKEN;
  const either: Address[] = [evm, solana];
  // @ts-expect-error An address of any family has to be parsed first.
  const narrowed: EvmAddress | undefined = either[0];
  expect(() => toEvmAddress(narrowed ?? "")).toThrow(TypeError);
  expect(() => toSolanaAddress(either[1] ?? "")).toThrow(TypeError);
  expectTypeOf<Address>().toEqualTypeOf<EvmAddress | SolanaAddress>();
});
