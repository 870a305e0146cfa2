import { expect, test } from "vitest";
import { deriveSolanaAccounts, toBytes32 } from "./accounts.ts";
import { WSOL_MINT } from "./genesis.ts";

test("deriveSolanaAccounts returns the test vectors of docs/solana.md", () => {
  const accounts = deriveSolanaAccounts(
    "0x000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
  );
  const bytes = Object.entries(accounts).map(([role, address]) => [role, toBytes32(address)]);
  expect(Object.fromEntries(bytes)).toEqual({
    binding: "0xba448e70795aca846c2fa3d4feed53a69d58cfef7548e09e1e23adf2086de1b9",
    escrow: "0x928080b1440eb713d4de0d6147c02632af1ce75d843f5c6ed550d1c33c1c3e99",
    delivery: "0x7925f7f29ab64615a97caa579de7655cb2f08510f226fae4d35c5865c7ddc586",
    settle: "0x8abd160edf0fdd25d9d1705d3c5b24930a90f6eb32aa3e94b27112cc79e77be2",
    deliver: "0x636bdb884baee9fb98f9b38c293207e7d1c8184948848ff1ff9942e96108ab1d",
  });
});

test("toBytes32 returns the 32 bytes of a mint", () => {
  expect(toBytes32(WSOL_MINT)).toBe(
    "0x069b8857feab8184fb687f634618c035dac439dc1aeb3b5598a0f00000000001",
  );
});
