/** What arrives, as blocks show it: SOL and tokens of both programs, by whatever kind of transaction. */
import { getTransferSolInstruction } from "@solana-program/system";
import {
  AuthorityType,
  getCreateAssociatedTokenIdempotentInstructionAsync,
  getSetAuthorityInstruction,
  getTransferCheckedInstruction,
} from "@solana-program/token";
import { generateKeyPairSigner, type Instruction, type KeyPairSigner, lamports } from "@solana/kit";
import { connectWallet } from "../../../../sandbox/src/solana/test-wallet.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commitmentOf } from "../../../test/support/solana-svm.ts";
import { type SolanaWorld, startSolanaWorld } from "../../../test/support/solana-world.ts";
import { type Address, NATIVE_SOL } from "../../core/hex.ts";
import type { Transfer } from "../port.ts";
import { fromBase58, toBase58 } from "./base58.ts";
import { associatedAccountOf, TOKEN_PROGRAMS } from "./derived-accounts.ts";

const SOL = 1_000_000_000n;
let world: SolanaWorld;
let wallet: ReturnType<typeof connectWallet>;
let payer: KeyPairSigner;
let count = 0;

beforeAll(async () => {
  world = await startSolanaWorld();
  wallet = connectWallet(world.sandbox.url);
  payer = await generateKeyPairSigner();
  await world.give(NATIVE_SOL, fromBase58(payer.address), 1_000n * SOL);
  await world.give(world.usdc, fromBase58(payer.address), 10n ** 12n);
  await world.finalize();
});
afterAll(() => world.close());

const newVault = () => world.issue(commitmentOf(++count));

/** What one transaction brought, in its block, to those who are watched. */
async function arrivalsOf(
  instructions: readonly Instruction[],
  {
    watched,
    tokens = [],
    version = 0,
  }: { watched: readonly Address[]; tokens?: readonly Address[]; version?: 0 | 1 },
): Promise<{ readonly sol: Transfer[]; readonly tokens: Transfer[] }> {
  const { here, sandbox } = world;
  await wallet.send(payer, instructions, { version });
  const slot = await sandbox.tick();
  await world.finalize();
  const block = await here.getBlock(slot);
  if (!block) throw new Error("no block");
  const all = await here.listTransfers(block, tokens);
  return {
    sol: await here.listNativeTransfers(block, async () => new Set(watched)),
    tokens: all.filter(({ to }) => watched.includes(to)),
  };
}

const sendSol = (to: Address, amount: bigint) =>
  getTransferSolInstruction({
    source: payer,
    destination: toBase58(to),
    amount: lamports(amount),
  });

async function sendTokens(token: Address, to: Address, amount: bigint): Promise<Instruction[]> {
  const { program } = world.deployment.facts.mintFactsOf(token);
  const owner = fromBase58(payer.address);
  return [
    await getCreateAssociatedTokenIdempotentInstructionAsync({
      payer,
      owner: toBase58(to),
      mint: toBase58(token),
      tokenProgram: TOKEN_PROGRAMS[program],
    }),
    getTransferCheckedInstruction(
      {
        source: toBase58(await associatedAccountOf(owner, token, program)),
        mint: toBase58(token),
        destination: toBase58(await associatedAccountOf(to, token, program)),
        authority: payer,
        amount,
        decimals: 6,
      },
      { programAddress: TOKEN_PROGRAMS[program] },
    ),
  ];
}

describe.each([0, 1] as const)("a transaction of version %s", (version) => {
  test("brings SOL and a token to two wallets", async () => {
    const [one, other] = [await newVault(), await newVault()];
    const { usdc } = world;
    const arrived = await arrivalsOf(
      [
        sendSol(one, 5_000_000n),
        sendSol(other, 6_000_000n),
        ...(await sendTokens(usdc, one, 7n)),
        ...(await sendTokens(usdc, other, 8n)),
      ],
      { watched: [one, other], tokens: [usdc], version },
    );
    const from = fromBase58(payer.address);
    const sol = { token: NATIVE_SOL, from, logIndex: 0 };
    expect(new Set(arrived.sol.map(({ to, amount }) => `${to}:${amount}`))).toEqual(
      new Set([`${one}:5000000`, `${other}:6000000`]),
    );
    expect(arrived.sol).toEqual([expect.objectContaining(sol), expect.objectContaining(sol)]);
    expect(new Set(arrived.sol.map(({ ordinal }) => ordinal)).size).toBe(2);
    const tokens = arrived.tokens.map(({ to, amount, token, from: payee, ordinal }) => ({
      to,
      amount,
      token,
      from: payee,
      ordinal,
    }));
    expect(tokens).toHaveLength(2);
    expect(tokens).toContainEqual({
      to: one,
      amount: 7n,
      token: usdc,
      from,
      ordinal: expect.any(Number),
    });
    expect(tokens.map(({ ordinal }) => ordinal).toSorted()).toEqual([0, 1]);
  });
});

describe("what does not arrive", () => {
  test("is what a failed transaction shows", async () => {
    const vault = await newVault();
    const arrived = await arrivalsOf([sendSol(vault, 5_000_000n), sendSol(vault, 10n ** 17n)], {
      watched: [vault],
    });
    expect(arrived.sol).toEqual([]);
  });

  test("is a token that nobody asked for, and the rent of an account", async () => {
    const vault = await newVault();
    const arrived = await arrivalsOf(await sendTokens(world.usdc, vault, 9n), { watched: [vault] });
    expect(arrived).toEqual({ sol: [], tokens: [] });
    const associated = await associatedAccountOf(vault, world.usdc, "token");
    const again = await arrivalsOf([sendSol(associated, 5_000_000n)], {
      watched: [vault, associated],
    });
    expect(again.sol).toEqual([]);
  });
});

test("a token of Token-2022 arrives less the fee that the mint keeps", async () => {
  const vault = await newVault();
  const token = await world.createMint(
    { program: "token-2022", decimals: 6, hasTransferFee: true },
    { decimals: 6, transferFee: { basisPoints: 100, maximum: 1_000n } },
  );
  await world.give(token, fromBase58(payer.address), 10n ** 9n);
  const arrived = await arrivalsOf(await sendTokens(token, vault, 50_000n), {
    watched: [vault],
    tokens: [token],
  });
  expect(arrived.tokens).toMatchObject([{ to: vault, amount: 49_500n, token }]);
  expect(await world.here.readHolding(token, vault)).toMatchObject({ amount: 49_500n });
});

test("an account that becomes a wallet's brings what is in it, and is not counted while others may close it", async () => {
  const { usdc, here } = world;
  const vault = await newVault();
  const giver = await generateKeyPairSigner();
  await world.give(usdc, fromBase58(giver.address), 40n);
  await world.finalize();
  const account = await associatedAccountOf(fromBase58(giver.address), usdc, "token");
  const owned = toBase58(account);
  const arrived = await arrivalsOf(
    [
      getSetAuthorityInstruction({
        owned,
        owner: giver,
        authorityType: AuthorityType.CloseAccount,
        newAuthority: giver.address,
      }),
      getSetAuthorityInstruction({
        owned,
        owner: giver,
        authorityType: AuthorityType.AccountOwner,
        newAuthority: toBase58(vault),
      }),
    ],
    { watched: [vault], tokens: [usdc] },
  );
  expect(arrived.tokens).toMatchObject([
    { to: vault, from: fromBase58(giver.address), amount: 40n },
  ]);
  expect(await here.readHolding(usdc, vault)).toMatchObject({ amount: 0n });
  expect(await here.getBalance(usdc, vault)).toBe(0n);
});

test("a block is read by its hash, and another one at its slot is none", async () => {
  const { here } = world;
  const head = await here.getHead();
  const other = { ...head, hash: head.parentHash };
  await expect(here.listTransfers(other, [])).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
  await expect(here.getTime(other)).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
  expect(await here.getTime("final")).toBe(await here.getTime(head));
});
