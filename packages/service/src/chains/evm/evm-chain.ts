/** An EVM chain behind the chain port: one node, our three contracts. */
import type { CctpContracts, Chain, DepositContracts } from "../port/index.ts";
import { createCctp } from "./cctp.ts";
import { createContracts } from "./contracts.ts";
import { checkIdentity } from "./identity.ts";
import { createReader } from "./reader.ts";
import { createRpc } from "./rpc.ts";
import { createSender } from "./sender.ts";

export interface EvmChainOptions {
  /** Bridge chain id. */
  readonly chainId: number;
  /** EIP-155 chain id, which the node must serve. */
  readonly evmChainId: number;
  /** May carry credentials; never shown. */
  readonly rpcUrl: string;
  readonly contracts: DepositContracts["addresses"];
  /** Circle's contracts, where the chain has them. */
  readonly cctp?: CctpContracts | undefined;
  /** For one request, body included. */
  readonly timeoutMs: number;
  /** No delivery is older than this block; 0 unless given. */
  readonly deployBlock?: bigint;
}

/** The chain over its node. Makes no request yet: `checkIdentity` says whether the node is the right one. */
export function createEvmChain(options: EvmChainOptions): Chain {
  const { evmChainId, contracts: addresses, cctp, deployBlock = 0n } = options;
  const rpc = createRpc(options);
  return {
    ...createReader(rpc),
    ...createSender(rpc, { ...addresses, transmitter: cctp?.transmitter }),
    ...createContracts(rpc, addresses, deployBlock),
    movingState: null,
    cctp: cctp ? createCctp(rpc, cctp, deployBlock) : null,
    checkIdentity: () => checkIdentity(rpc, { evmChainId, addresses }),
  };
}
