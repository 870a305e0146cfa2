/**
 * The theft of the seed: its holder signs for every account on Solana, and no contract stands in between. The tests state
 * how much that is, and that it reaches no other chain.
 */
import { getTransferCheckedInstruction } from "@solana-program/token";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  BASE,
  SOL,
  startCustody,
  type TestCustody,
  towardsBase,
  walletOf,
} from "../../../test/support/solana-custody.ts";
import { SOLANA } from "../../../test/support/solana-svm.ts";
import { hashCommitment } from "../../chains/evm/commitment.ts";
import { fromBase58, toBase58 } from "../../chains/solana/base58.ts";
import { associatedAccountOf, lockAddressOf } from "../../chains/solana/derived-accounts.ts";
import { sendSol, signerOf } from "../../chains/solana/token-instructions.ts";
import { compileMessage, encodeTransaction, listSigners } from "../../chains/solana/transaction.ts";
import { type Address, toEvmAddress, toHex32 } from "../../core/hex.ts";
import { SignerRefusal } from "../refusal.ts";
import { createSeed, ROLES, type Seed, type Whose } from "./seed.ts";

const THIEF = walletOf(666);
const DEPOSIT = 1_000_000n;

let custody: TestCustody;
let stolen: Seed;
beforeAll(async () => {
  custody = await startCustody();
  stolen = createSeed(custody.options.seed, "a theft");
});
afterAll(() => custody.close());

type Instructions = Parameters<typeof compileMessage>[0]["instructions"];

/** Runs instructions with the stolen seed alone: the signer, its policy and its journal are not asked. */
function steal(instructions: Instructions, vaults: readonly Whose[] = []): string | null {
  const { world, accounts } = custody;
  const message = compileMessage({
    instructions,
    feePayer: accounts.settle,
    lifetime: {
      blockhash: toHex32(fromBase58(world.svm.latestBlockhash())),
      lastValidHeight: 150n,
    },
    unitLimit: 200_000n,
    unitPrice: 1n,
  });
  const keys = new Map<Address, Whose>(ROLES.map((role) => [accounts[role], role]));
  for (const whose of vaults) {
    if (typeof whose === "object") keys.set(stolen.vaultOf(whose.vault), whose);
  }
  const signatures = listSigners(message).map((account) => {
    const whose = keys.get(account);
    if (whose === undefined) throw new Error(`no key of ${account}`);
    return stolen.sign(whose, message);
  });
  return world.send(encodeTransaction(message, signatures)).error;
}

/** Returns the transfer of tokens to the thief. */
async function take(source: Address, owner: Address, amount: bigint) {
  const { token } = custody;
  return getTransferCheckedInstruction({
    source: toBase58(source),
    mint: toBase58(token),
    destination: toBase58(await associatedAccountOf(THIEF, token, "token")),
    authority: signerOf(owner),
    amount,
    decimals: 6,
  });
}

const lootOf = async () => (await custody.world.tokensOf(THIEF, custody.token)) ?? 0n;

test("the holder of the seed takes vaults, locks and inventory on Solana", async () => {
  const { world, accounts, token } = custody;
  await world.giveTokens(THIEF, token, 1n);

  const commitment = towardsBase(1);
  const vault = custody.vaultOf(commitment);
  const vaultKey = { vault: hashCommitment(commitment) };
  await custody.fund(commitment, token, DEPOSIT);
  world.giveSol(vault, SOL);
  const held = await associatedAccountOf(vault, token, "token");
  const sweep = [await take(held, vault, DEPOSIT), sendSol(vault, THIEF, SOL)];
  expect(steal(sweep, [vaultKey])).toBeNull();
  expect(await lootOf()).toBe(1n + DEPOSIT);
  expect(world.solOf(THIEF)).toBe(SOL);

  // A lock that an attestor has seen final, and pays on the other chain, is taken like any other account.
  const lock = custody.lock(2, DEPOSIT);
  await custody.fund(lock.commitment, token, DEPOSIT);
  expect(await custody.execute(lock)).toBeNull();
  const locked = lockAddressOf(accounts.escrow, custody.idOfLock(lock), "token");
  expect(world.heldIn(locked)).toBe(DEPOSIT);
  expect(steal([await take(locked, world.ownerOf(locked), DEPOSIT)])).toBeNull();
  expect(await lootOf()).toBe(1n + 2n * DEPOSIT);

  const inventory = (await world.tokensOf(accounts.delivery, token)) ?? 0n;
  const store = await associatedAccountOf(accounts.delivery, token, "token");
  expect(steal([await take(store, accounts.delivery, inventory)])).toBeNull();
  expect(await world.tokensOf(accounts.delivery, token)).toBe(0n);
});

test("the signer of Solana signs nothing for an EVM chain, with an attestor's key beside it", async () => {
  const { accounts, attestor } = custody;
  const { order } = await custody.deliver(3);
  const { escrow } = accounts;
  const onBase = { ...order, commitment: towardsBase(3), srcChain: SOLANA, escrow };
  const signature = await attestor.signDelivery(BASE, onBase);
  const sign = custody
    .laneOf("deliver")
    .sign(custody.intentOf([{ kind: "deliver", order: onBase, signature }]));
  await expect(sign).rejects.toThrow(SignerRefusal);

  const call = { to: toEvmAddress(`0x${"d3".repeat(20)}`), data: signature, value: 0n };
  for (const purpose of ["settle", "deliver"] as const) {
    const asked = custody.laneOf(purpose).sign(custody.intentOf([], { call }));
    await expect(asked).rejects.toThrow(SignerRefusal);
  }
  // Keys of ed25519: an address of 32 bytes is no lane, attestor or owner of an EVM chain.
  for (const role of ROLES) expect(accounts[role]).toMatch(/^0x[0-9a-f]{64}$/);
});

test("an attestor's claim for an EVM chain claims no lock on Solana", async () => {
  const lock = custody.lock(5, DEPOSIT);
  await custody.fund(lock.commitment, custody.token, DEPOSIT);
  expect(await custody.execute(lock)).toBeNull();
  const claim = await custody.claim(lock);
  const { deliveryId, paidAmount, deadline } = claim;
  const signature = await custody.attestor.signClaim(BASE, { deliveryId, paidAmount, deadline });
  await expect(custody.execute({ ...claim, signature })).rejects.toThrow(SignerRefusal);
  expect(await custody.execute(claim)).toBeNull();
});
