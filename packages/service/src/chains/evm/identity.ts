/** Checks that a node serves the configured chain and that the addresses hold the expected contracts. */
import { depositFactoryAbi, escrowAbi } from "@sluice/contracts/abi";
import { decodeFunctionResult, encodeFunctionData } from "./abi.ts";
import { OperatingError } from "../../core/errors.ts";
import { type EvmAddress, toEvmAddress } from "../../core/hex.ts";
import type { EvmContracts } from "./contracts.ts";
import { parseIndex } from "./answers.ts";
import { readView } from "./calls.ts";
import { implementationOf } from "./commitment.ts";
import { hasCode } from "./reader.ts";
import type { Rpc } from "./rpc.ts";

/** Checks of the chain id alone between two checks of the contracts: an hour of checks every 30 seconds. */
const CHAIN_ID_CHECKS = 119;

/**
 * Returns the check of a node, which throws CONFIG_MISSING if the node serves another chain or a configured address is
 * another contract: an escrow under another bridge id would create locks that cannot be paid. RPC_UNAVAILABLE leaves both
 * open. The check is repeated often, and the contracts of a chain do not change, so most checks are of the chain id only.
 */
export function createIdentityCheck(
  rpc: Rpc,
  expected: { readonly evmChainId: number; readonly addresses: EvmContracts },
): () => Promise<void> {
  let untilContracts = 0;
  return async () => {
    const evmChainId = await rpc.ask("eth_chainId", [], parseIndex);
    expectSame(rpc, "evmChainId", evmChainId, expected.evmChainId);
    if (untilContracts > 0) {
      untilContracts -= 1;
      return;
    }
    await checkContracts(rpc, expected.addresses);
    untilContracts = CHAIN_ID_CHECKS;
  };
}

async function checkContracts(rpc: Rpc, addresses: EvmContracts): Promise<void> {
  const { factory, escrow, delivery } = addresses;
  for (const [name, address] of Object.entries({ factory, escrow, delivery })) {
    if (!(await hasCode(rpc, address))) {
      throw misconfigured(rpc, `no code at contracts.${name}`, { address });
    }
  }
  expectSame(
    rpc,
    "factory.implementation",
    await readImplementation(rpc, factory),
    implementationOf(factory),
  );
  for (const [name, address] of Object.entries({ escrow, delivery })) {
    expectSame(rpc, `${name}.factory`, await readFactory(rpc, address), factory);
    expectSame(rpc, `${name}.bridgeId`, await readBridgeId(rpc, address), rpc.chainId);
  }
}

function readImplementation(rpc: Rpc, factory: EvmAddress): Promise<EvmAddress> {
  const call = { abi: depositFactoryAbi, functionName: "implementation" } as const;
  return readView(rpc, { to: factory, data: encodeFunctionData(call), at: "latest" }, (data) =>
    toEvmAddress(decodeFunctionResult({ ...call, data })),
  );
}

/** Reads `factory()`. It and `bridgeId()` are the same in the escrow and the delivery contract. */
function readFactory(rpc: Rpc, to: EvmAddress): Promise<EvmAddress> {
  const call = { abi: escrowAbi, functionName: "factory" } as const;
  return readView(rpc, { to, data: encodeFunctionData(call), at: "latest" }, (data) =>
    toEvmAddress(decodeFunctionResult({ ...call, data })),
  );
}

function readBridgeId(rpc: Rpc, to: EvmAddress): Promise<number> {
  const call = { abi: escrowAbi, functionName: "bridgeId" } as const;
  return readView(rpc, { to, data: encodeFunctionData(call), at: "latest" }, (data) =>
    decodeFunctionResult({ ...call, data }),
  );
}

function expectSame(
  rpc: Rpc,
  what: string,
  found: string | number,
  expected: string | number,
): void {
  if (found === expected) return;
  throw misconfigured(rpc, `${what} differs`, { found, expected });
}

function misconfigured(
  rpc: Rpc,
  reason: string,
  details: Readonly<Record<string, string | number>>,
): OperatingError {
  const { chainId } = rpc;
  return new OperatingError(
    "CONFIG_MISSING",
    `chain ${chainId}: ${reason}; check rpcUrl, evmChainId and contracts of this chain.`,
    { details: { chainId, reason, ...details } },
  );
}
