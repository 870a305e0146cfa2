/** A whole chain in this process: the SVM, the blocks, the server, the clock and the controls. */
import { type Chain, type ChainSettings, createChain } from "./chain.ts";
import { openJournal } from "./journal.ts";
import { NO_CLOCK, startClock } from "./clock.ts";
import type { SolanaControls } from "./controls.ts";
import { createControls } from "./local-controls.ts";
import { createFaucet } from "./faucet.ts";
import { writeGenesis } from "./mint.ts";
import { accountMethods } from "./rpc/account-methods.ts";
import { blockMethods } from "./rpc/block-methods.ts";
import { airdropMethods, controlMethods } from "./rpc/control-methods.ts";
import { startRpcServer } from "./rpc/server.ts";
import { transactionMethods } from "./rpc/transaction-methods.ts";

/** How to start a chain. */
export interface SolanaChainOptions extends Omit<ChainSettings, "saved"> {
  /** Port of the server, 0 (the default) for any. */
  readonly port?: number;
  /** Milliseconds of a slot; 0 (the default) lets slots pass by `tick` alone. */
  readonly slotMs?: number;
  /** Milliseconds of a slot while nothing happens. Default: as always. */
  readonly idleSlotMs?: number;
  /** File that keeps the chain, which goes on from there; without it the chain is new and kept nowhere. */
  readonly path?: string;
}

/** A running chain. */
export interface SolanaChain extends SolanaControls {
  readonly url: string;
  /** What is behind the server, for tests that look deeper. */
  readonly chain: Chain;
  close(): Promise<void>;
}

/** Starts a chain. */
export async function createSolanaChain(options: SolanaChainOptions = {}): Promise<SolanaChain> {
  const { port = 0, slotMs = 0, idleSlotMs = slotMs, path } = options;
  const journal = path === undefined ? undefined : openJournal(path, options);
  const chain = journal?.chain ?? createChain(options);
  const faucet = await createFaucet(chain);
  if (!chain.bank.read(faucet.address)) writeGenesis(chain, faucet.address);
  const clock = slotMs > 0 ? startClock(chain, { slotMs, idleSlotMs }) : NO_CLOCK;
  const controls = createControls({ chain, clock, faucet });
  const methods = {
    ...blockMethods(chain),
    ...accountMethods(chain),
    ...transactionMethods(chain),
    ...airdropMethods(chain, faucet),
    ...controlMethods(controls),
  };
  const server = await startRpcServer({ methods, faults: chain.faults, port });
  return {
    ...controls,
    url: server.url,
    chain,
    close: async () => {
      clock.pause();
      await server.close();
      journal?.close();
    },
  };
}
