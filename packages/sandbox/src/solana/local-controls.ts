/** Implements the controls of a chain in this process. */
import { type Address, generateKeyPairSigner } from "@solana/kit";
import type { Chain } from "./chain.ts";
import type { Clock } from "./clock.ts";
import type { SolanaControls } from "./controls.ts";
import type { Faucet } from "./faucet.ts";
import { makeMint } from "./mint.ts";
import type { DecodedTransaction } from "./svm/transaction.ts";
import { readMint } from "./svm/token-state.ts";

/** Creates the controls. */
export function createControls({
  chain,
  clock,
  faucet,
}: {
  readonly chain: Chain;
  readonly clock: Clock;
  readonly faucet: Faucet;
}): SolanaControls {
  /** Waits for the block with a faucet transaction, and produces it if the clock is not running. */
  const land = async (decoded: DecodedTransaction): Promise<string> => {
    chain.submit(decoded);
    if (clock.isRunning()) await chain.nextBlock();
    else chain.produceBlock();
    const landed = chain.ledger.transaction(decoded.signature);
    if (!landed) throw new Error(`the faucet transaction ${decoded.signature} was not included`);
    if (landed.meta.err !== null) {
      throw new Error(`the faucet transaction failed: ${JSON.stringify(landed.meta.err)}`);
    }
    return decoded.signature;
  };

  return {
    tick: async (blocks = 1) => {
      for (let produced = 0; produced < blocks; produced += 1) chain.produceBlock();
      return chain.ledger.tip().slot;
    },
    skipSlots: async (slots) => chain.skipSlots(slots),
    fork: async ({ blocks, replay = false }) =>
      chain.fork(blocks, { replay }).map(({ slot }) => slot),
    dropNextSends: async (count) => {
      chain.faults.dropSends = count;
    },
    rateLimitNext: async (count) => {
      chain.faults.rateLimits = count;
    },
    failNext: async ({ method, code, message, count = 1 }) => {
      chain.faults.failures.push({ method, code, message, count });
    },
    clearFaults: async () => {
      chain.faults.dropSends = 0;
      chain.faults.rateLimits = 0;
      chain.faults.failures = [];
    },
    pause: async () => clock.pause(),
    resume: async () => clock.resume(),
    setLags: async (lags) => chain.ledger.setLags(lags),
    setRent: async (lamportsPerByte) => chain.setRent(lamportsPerByte),
    airdrop: async ({ to, amount }) => land(await faucet.transferLamports(to, amount)),
    mintTo: async ({ mint, owner, amount }) =>
      land(await faucet.mintTo({ mint, owner, amount, program: programOf(chain, mint) })),
    createMint: async (request) => {
      const { address } = await generateKeyPairSigner();
      const account = makeMint(request, faucet.address, chain.bank.minimumBalance);
      chain.write(address, account, "always");
      return address;
    },
  };
}

function programOf(chain: Chain, mint: Address): Address {
  const found = readMint(chain.bank.read(mint));
  if (!found) throw new Error(`${mint} is not a mint`);
  return found.program;
}
