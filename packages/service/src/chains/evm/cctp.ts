/**
 * Circle's CCTP v2 on an EVM chain: relays messages and finds their mints.
 *
 * Interface: circlefin/evm-cctp-contracts, `src/v2/MessageTransmitterV2.sol`, `src/v2/BaseTokenMessenger.sol` and
 * `src/roles/TokenController.sol`.
 */
import { decodeEventLog, parseAbi, toEventSelector } from "viem";
import { decodeFunctionResult, encodeFunctionData } from "./abi.ts";
import {
  type Address,
  type EvmAddress,
  type Hex32,
  toEvmAddress,
  type TxHash,
} from "../../core/hex.ts";
import type { CctpBridge, CctpContracts, FoundMint, ReadPoint } from "../port/index.ts";
import { type LogAnswer, parseQuantity, parseReceipt, parseUintWord } from "./answers.ts";
import { readView } from "./calls.ts";
import { encodeBurnData, encodeSwapBurnData } from "./route-data.ts";
import { searchBackwards } from "./log-search.ts";
import type { Rpc } from "./rpc.ts";

export const transmitterAbi = parseAbi([
  "event MessageSent(bytes message)",
  "event MessageReceived(address indexed caller, uint32 sourceDomain, bytes32 indexed nonce, bytes32 sender, uint32 indexed finalityThresholdExecuted, bytes messageBody)",
  "function receiveMessage(bytes message, bytes attestation) returns (bool success)",
  "function usedNonces(bytes32 nonce) view returns (uint256)",
]);

const messengerAbi = parseAbi([
  "event MintAndWithdraw(address indexed mintRecipient, uint256 amount, address indexed mintToken, uint256 feeCollected)",
  "function localMinter() view returns (address)",
]);

/** `TokenController`, which TokenMinterV2 inherits. */
const minterAbi = parseAbi(["function burnLimitsPerMessage(address) view returns (uint256)"]);

const MESSAGE_RECEIVED = toEventSelector(
  "MessageReceived(address,uint32,bytes32,bytes32,uint32,bytes)",
);
const MINTED = toEventSelector("MintAndWithdraw(address,uint256,address,uint256)");

/** Creation code that returns the word `block.number`. */
const BLOCK_NUMBER_READER = "0x4360005260206000f3";

/** Returns the bridge over a node. Reads throw RPC_UNAVAILABLE without a usable answer. */
export function createCctp(rpc: Rpc, contracts: CctpContracts, deployBlock: bigint): CctpBridge {
  const { transmitter } = contracts;
  return {
    contracts,
    buildReceive(message, attestation) {
      const args = [message, attestation] as const;
      const data = encodeFunctionData({
        abi: transmitterAbi,
        functionName: "receiveMessage",
        args,
      });
      return { to: transmitter, data, value: 0n };
    },
    encodeBurnData,
    encodeSwapBurnData,
    readBurnLimit: (token, at = "latest") => readBurnLimit(rpc, contracts, token, at),
    readContractHeight: () =>
      rpc.ask("eth_call", [{ data: BLOCK_NUMBER_READER }, "latest"], parseUintWord),
    findMint: (nonce, at = "latest") => findMint(rpc, { contracts, deployBlock }, nonce, at),
  };
}

/** Reads the limit from the messenger's minter, which Circle may replace. */
async function readBurnLimit(
  rpc: Rpc,
  { messenger }: CctpContracts,
  token: Address,
  at: ReadPoint,
): Promise<bigint> {
  const find = encodeFunctionData({ abi: messengerAbi, functionName: "localMinter" });
  const minter = await readView(rpc, { to: messenger, data: find, at }, (data) =>
    decodeFunctionResult({ abi: messengerAbi, functionName: "localMinter", data }),
  );
  const args = [toEvmAddress(token)] as const;
  const ask = encodeFunctionData({ abi: minterAbi, functionName: "burnLimitsPerMessage", args });
  return readView(rpc, { to: toEvmAddress(minter), data: ask, at }, parseUintWord);
}

/**
 * Finds the mint of a nonce. The transmitter's state decides whether the nonce was used; only then is the event searched,
 * backwards from the newest block. A failed search throws RPC_UNAVAILABLE, because null would mean "not minted".
 */
async function findMint(
  rpc: Rpc,
  bridge: { readonly contracts: CctpContracts; readonly deployBlock: bigint },
  nonce: Hex32,
  at: ReadPoint,
): Promise<FoundMint | null> {
  const { transmitter, messenger } = bridge.contracts;
  if (!(await isNonceUsed(rpc, transmitter, nonce, at))) return null;
  const received = await searchBackwards(rpc, {
    address: transmitter,
    topics: [MESSAGE_RECEIVED, null, nonce],
    newest: await rpc.ask("eth_blockNumber", [], parseQuantity),
    oldest: bridge.deployBlock,
    read: (log) => (log.topics[2] === nonce ? log : null),
  });
  if (!received || received === "unfinished") throw rpc.unavailable("event of a mint not found");
  const minted = await readMint(rpc, { messenger, transmitter, received });
  if (minted) return minted;
  throw rpc.unavailable("event of a mint not found");
}

/**
 * Reads the mint of a message. A transaction may relay several messages, and the messenger mints while the transmitter
 * processes a message: the mint is the last one before the message's event and after the previous message's.
 */
async function readMint(
  rpc: Rpc,
  place: {
    readonly messenger: EvmAddress;
    readonly transmitter: EvmAddress;
    readonly received: LogAnswer;
  },
): Promise<FoundMint | null> {
  const { messenger, transmitter, received } = place;
  const { txHash, blockHash, blockNumber, logIndex } = received;
  const logs = await readLogs(rpc, txHash);
  const isSameLog = (log: LogAnswer) => log.logIndex === logIndex && log.blockHash === blockHash;
  const end = logs?.findIndex(isSameLog) ?? -1;
  if (!logs || end === -1) throw rpc.unavailable("transaction of a mint not found");
  const before = logs.slice(0, end);
  const start = before.findLastIndex(
    (log) => log.address === transmitter && log.topics[0] === MESSAGE_RECEIVED,
  );
  const minted = before
    .slice(start + 1)
    .findLast((log) => log.address === messenger && log.topics[0] === MINTED);
  if (!minted) return null;
  const [signature, ...rest] = minted.topics;
  if (!signature) return null;
  const { args } = decodeEventLog({
    abi: messengerAbi,
    eventName: "MintAndWithdraw",
    data: minted.data,
    topics: [signature, ...rest],
  });
  return {
    to: toEvmAddress(args.mintRecipient),
    token: toEvmAddress(args.mintToken),
    amount: args.amount,
    fee: args.feeCollected,
    txHash,
    blockNumber,
  };
}

async function readLogs(rpc: Rpc, txHash: TxHash): Promise<readonly LogAnswer[] | undefined> {
  const receipt = await rpc.ask("eth_getTransactionReceipt", [txHash], parseReceipt);
  return receipt?.logs;
}

function isNonceUsed(
  rpc: Rpc,
  transmitter: EvmAddress,
  nonce: Hex32,
  at: ReadPoint,
): Promise<boolean> {
  const data = encodeFunctionData({
    abi: transmitterAbi,
    functionName: "usedNonces",
    args: [nonce],
  });
  return readView(rpc, { to: transmitter, data, at }, (returned) => parseUintWord(returned) !== 0n);
}
