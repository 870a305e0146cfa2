/** Runs a whole chain in this process: the SVM, the blocks, the server, the clock and the controls. */
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
import { serveSubscriptions } from "./rpc/subscriptions.ts";
import { transactionMethods } from "./rpc/transaction-methods.ts";

/** Options of `createSolanaChain`. */
export interface SolanaChainOptions extends Omit<ChainSettings, "saved"> {
  /** Port of the server, which needs the next one too; 0 (the default) for any free two. */
  readonly port?: number;
  /** Slot time, in milliseconds. With 0 (the default), slots pass only by `tick`. */
  readonly slotMs?: number;
  /** Slot time while idle, in milliseconds. Default: `slotMs`. */
  readonly idleSlotMs?: number;
  /** File from which the chain is resumed and to which it is stored. Without it the chain is new and not stored. */
  readonly path?: string;
}

/** A running chain. */
export interface SolanaChain extends SolanaControls {
  readonly url: string;
  /** Subscriptions, at the next port; `url` accepts WebSockets too. */
  readonly wsUrl: string;
  /** The simulated chain behind the server, for tests of its internals. */
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
  const endSubscriptions = serveSubscriptions(server.servers, chain);
  return {
    ...controls,
    url: server.url,
    wsUrl: server.wsUrl,
    chain,
    close: async () => {
      clock.pause();
      endSubscriptions();
      await server.close();
      journal?.close();
    },
  };
}
