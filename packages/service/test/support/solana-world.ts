/** The sandbox's Solana chain and the chain port over it, with a deployment whose keys the test holds. */
import { createSolanaChain as startChain, type SolanaChain } from "@sluice/sandbox/solana";
import { getCreateAccountInstruction } from "@solana-program/system";
import {
  getInitializeAccount3Instruction,
  getTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from "@solana-program/token";
import { createNoopSigner, type Instruction, lamports } from "@solana/kit";
import { ed25519 } from "@noble/curves/ed25519";
import { deliveryIdOf, hashCommitment, predictWallet } from "../../src/chains/evm/commitment.ts";
import type { Call, Receipt } from "../../src/chains/port/index.ts";
import { fromBase58, toBase58 } from "../../src/chains/solana/base58.ts";
import { associatedAccountOf } from "../../src/chains/solana/derived-accounts.ts";
import type { MintFacts } from "../../src/chains/solana/order-facts.ts";
import { parseOrders } from "../../src/chains/solana/order-codec.ts";
import { buildInstructions } from "../../src/chains/solana/instructions.ts";
import { type ChainOfVaults, createSolanaChain } from "../../src/chains/solana/solana-chain.ts";
import { compileMessage, decodeTransaction } from "../../src/chains/solana/transaction.ts";
import type { BlockStream } from "../../src/chains/solana/yellowstone/block-stream.ts";
import type { Commitment } from "../../src/core/commitment.ts";
import {
  type Address,
  type Hex32,
  NATIVE_SOL,
  toHex32,
  toSolanaAddress,
  type TxHash,
} from "../../src/core/hex.ts";
import { assert } from "../../src/core/assert.ts";
import type { Clock } from "../../src/core/ports.ts";
import { silentLog } from "./doubles.ts";
import { createQuickClock } from "./quorum-doubles.ts";
import { commitmentOf, type Deployment, deploy, FACTORY, rentOf, SOLANA } from "./solana-svm.ts";

/** Base units of the inventory of SOL and of each token. */
export const INVENTORY = 10n ** 12n;

interface ConnectOptions {
  readonly genesisHash?: Hex32;
  /** Commitment level of the blocks that are read; finalized unless given. */
  readonly seenAt?: "confirmed" | "finalized";
  readonly clock?: Clock;
  /** The stream of each node; none unless given. */
  readonly streams?: readonly BlockStream[];
}

export interface SolanaWorld {
  readonly sandbox: SolanaChain;
  readonly deployment: Deployment;
  /** The binding key's public key. */
  readonly binding: Address;
  readonly here: ChainOfVaults;
  readonly usdc: Address;
  /** Another view of the chain, over other nodes. */
  connect(rpcUrls: readonly string[], required?: number, options?: ConnectOptions): ChainOfVaults;
  /** Returns a vault that the chain port knows. */
  issue(commitment: Commitment): Promise<Address>;
  createMint(
    facts: MintFacts,
    request?: Parameters<SolanaChain["createMint"]>[0],
  ): Promise<Address>;
  give(token: Address, to: Address, amount: bigint): Promise<void>;
  /** Mines blocks until everything so far is final. */
  finalize(): Promise<void>;
  /** Signs a call, as the signer would. */
  sign(
    call: Call,
    gas?: bigint,
  ): Promise<{ readonly raw: `0x${string}`; readonly lastValidHeight: bigint }>;
  /** Simulates, signs, sends and mines a call until it is final. */
  execute(call: Call): Promise<Receipt>;
  /** The binding key's signature. */
  bind(commitment: Commitment, vault: Address): `0x${string}`;
  txHashOf(raw: `0x${string}`): TxHash;
  /** Sends USDC from a vault directly to a token account. */
  transferTokens(args: {
    readonly from: Address;
    readonly to: Address;
    readonly amount: bigint;
  }): Promise<void>;
  /** Creates another USDC account of an owner, with a balance. */
  openOther(owner: Address, amount: bigint): Promise<Address>;
  close(): Promise<void>;
}

/** Starts the chain and the deployment. */
export async function startSolanaWorld(): Promise<SolanaWorld> {
  const sandbox = await startChain();
  const deployment = await deploy();
  const { facts, mints } = deployment;
  const vaults = new Map<Hex32, Address>();
  const bindingKey = new Uint8Array(32).fill(9);
  const binding = fromBase58(
    toBase58(`0x${Buffer.from(ed25519.getPublicKey(bindingKey)).toString("hex")}`),
  );
  const genesis = await genesisOf(sandbox.url);

  const connect: SolanaWorld["connect"] = (
    rpcUrls,
    required = rpcUrls.length,
    { genesisHash = genesis, seenAt = "finalized", clock = createQuickClock(), streams = [] } = {},
  ) =>
    createSolanaChain({
      chainId: SOLANA,
      nodes: rpcUrls.map((rpcUrl, position) => ({ rpcUrl, stream: streams[position] })),
      required,
      timeoutMs: 5_000,
      genesisHash,
      levels: { detectAt: seenAt, walkAt: seenAt },
      accounts: {
        binding,
        escrow: facts.escrow,
        delivery: facts.delivery,
        treasury: toSolanaAddress(facts.treasury),
        feePayers: [toSolanaAddress(facts.feePayer)],
      },
      commitments: {
        hash: hashCommitment,
        walletOf: (commitment) => predictWallet(FACTORY, commitment),
        deliveryIdOf,
      },
      mints,
      vaultOf: async (hash) => vaults.get(hash) ?? null,
      capLeftOf: async () => 10n ** 15n,
      payoutWindowS: 43_200n,
      rentPerByte: 6_960n,
      unitPrice: { min: 1_000n, max: 100_000n },
      clock,
      log: silentLog,
    });
  const here = connect([sandbox.url]);
  let others = 50_000;

  const give = async (token: Address, to: Address, amount: bigint) => {
    if (token === NATIVE_SOL) await sandbox.airdrop({ to: toBase58(to), amount });
    else await sandbox.mintTo({ mint: toBase58(token), owner: toBase58(to), amount });
  };
  const createMint: SolanaWorld["createMint"] = async (mint, request) => {
    const made = await sandbox.createMint(
      request ?? { decimals: mint.decimals, program: mint.program },
    );
    const address = fromBase58(made);
    mints.set(address, mint);
    return address;
  };
  const finalize = async () => void (await sandbox.tick(34));
  const usdc = await createMint({ program: "token", decimals: 6, hasTransferFee: false });
  for (const account of [facts.feePayer, facts.delivery, facts.treasury]) {
    await give(NATIVE_SOL, account, INVENTORY);
  }
  await give(usdc, facts.delivery, INVENTORY);
  await finalize();

  const sign: SolanaWorld["sign"] = async (call, gas = 400_000n) => {
    const lifetime = await here.sequencing.getLifetime();
    const fees = await here.suggestFees();
    const message = compileMessage({
      instructions: await buildInstructions(parseOrders(call.data), facts),
      feePayer: facts.feePayer,
      lifetime,
      unitLimit: gas,
      unitPrice: fees.gasPriceMax,
    });
    return { raw: await deployment.sign(message), lastValidHeight: lifetime.lastValidHeight };
  };

  const run = async (instructions: readonly Instruction[]) => {
    const message = compileMessage({
      instructions,
      feePayer: facts.feePayer,
      lifetime: await here.sequencing.getLifetime(),
      unitLimit: 400_000n,
      unitPrice: 1_000n,
    });
    const raw = await deployment.sign(message);
    await here.send(raw);
    await finalize();
    const receipt = await here.getReceipt(txHashOf(raw));
    assert(receipt?.succeeded, "it was mined");
  };
  const transferTokens: SolanaWorld["transferTokens"] = async ({ from, to, amount }) =>
    run([
      getTransferCheckedInstruction({
        source: toBase58(await associatedAccountOf(from, usdc, "token")),
        mint: toBase58(usdc),
        destination: toBase58(to),
        authority: createNoopSigner(toBase58(from)),
        amount,
        decimals: 6,
      }),
    ]);

  return {
    sandbox,
    txHashOf,
    transferTokens,
    async openOther(owner, amount) {
      const account = await deployment.vaultOf(commitmentOf(++others));
      await run([
        getCreateAccountInstruction({
          payer: createNoopSigner(toBase58(facts.feePayer)),
          newAccount: createNoopSigner(toBase58(account)),
          lamports: lamports(rentOf(165)),
          space: 165n,
          programAddress: TOKEN_PROGRAM_ADDRESS,
        }),
        getInitializeAccount3Instruction({
          account: toBase58(account),
          mint: toBase58(usdc),
          owner: toBase58(owner),
        }),
      ]);
      await transferTokens({ from: facts.delivery, to: account, amount });
      return account;
    },
    deployment,
    binding,
    here,
    usdc,
    connect,
    async issue(commitment) {
      const vault = await deployment.vaultOf(commitment);
      vaults.set(hashCommitment(commitment), vault);
      return vault;
    },
    createMint,
    give,
    finalize,
    sign,
    async execute(call) {
      const simulation = await here.simulate(facts.feePayer, call);
      if (!simulation.ok) throw new Error(simulation.reason);
      const { raw } = await sign(call, simulation.gas);
      const outcome = await here.send(raw);
      assert(outcome === "accepted", "the node takes it");
      await finalize();
      const receipt = await here.getReceipt(txHashOf(raw));
      assert(receipt, "it was mined");
      return receipt;
    },
    bind(commitment, vault) {
      const message = Buffer.concat([
        Buffer.from("sluice/solana/binding/v1"),
        Buffer.from(hashCommitment(commitment).slice(2), "hex"),
        Buffer.from(vault.slice(2), "hex"),
      ]);
      return `0x${Buffer.from(ed25519.sign(message, bindingKey)).toString("hex")}`;
    },
    close: () => sandbox.close(),
  };
}

function txHashOf(raw: `0x${string}`) {
  return decodeTransaction(raw).txHash;
}

async function genesisOf(url: string): Promise<Hex32> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getGenesisHash", params: [] }),
  });
  // CAST: the form of the sandbox's answer.
  const { result } = (await response.json()) as { result: string };
  return toHex32(fromBase58(result));
}
