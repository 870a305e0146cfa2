/**
 * A stand-in for Circle's attestation service, with its HTTP API (v2) and two keys of its own: it vouches for what the
 * stand-in transmitters of the sandbox emit, and for nothing on any other network.
 *
 * A burn that asks for it is attested fast, one block deep, where its fee reaches the minimum and the allowance lasts;
 * every other is attested once its block is final, without a fee, and so is a fast one in the end. What is attested stays
 * as it is until it is asked for anew. Everything else is read from the nodes when somebody asks, so that a restart
 * forgets nothing that matters.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import {
  type Address,
  concatHex,
  decodeEventLog,
  encodePacked,
  type Hex,
  hexToBigInt,
  hexToNumber,
  isHash,
  keccak256,
  numberToHex,
  parseAbi,
  type PrivateKeyAccount,
  slice,
  TransactionReceiptNotFoundError,
} from "viem";
import type { EvmClient } from "./evm-client.ts";

const TRANSMITTER_ABI = parseAbi(["event MessageSent(bytes message)"]);

/** Where the fields of a message begin and end, in bytes (MessageV2.sol and BurnMessageV2.sol of Circle). */
const HEADER = {
  destinationDomain: [8, 12],
  nonce: [12, 44],
  minFinalityThreshold: [140, 144],
  finalityThresholdExecuted: [144, 148],
} as const;
const BODY = 148;
const BURN = {
  amount: [BODY + 68, BODY + 100],
  maxFee: [BODY + 132, BODY + 164],
  feeExecuted: [BODY + 164, BODY + 196],
  expirationBlock: [BODY + 196, BODY + 228],
} as const;

const FAST = 1_000;
const STANDARD = 2_000;
const USDC_UNITS = 1_000_000n;
/** As Circle blocks whoever asks too often. */
const BLOCKED_S = 300;

/** A chain whose burns are attested. */
export interface AttestedChain {
  /** The bridge's number of the chain. */
  readonly domain: number;
  readonly client: EvmClient;
  readonly transmitter: Address;
}

/** What a test may turn. */
export interface AttestationControls {
  /** The service is away: connections are cut. */
  away: boolean;
  /** Nothing is known of any transaction. */
  unknown: boolean;
  /** Everybody is told to come back after so many seconds; null for nobody, zero for without a time. */
  limitedS: number | null;
  /** Nothing is attested. */
  held: boolean;
  /** Of fast transfers, in hundredths of a basis point. */
  fastFeeHundredths: bigint;
  /** What may still be sent fast, in base units. */
  allowance: bigint;
  /** The most that a fast burn may be, in base units. */
  fastMax: bigint;
  /** Blocks of the destination for which a fast attestation can be used. */
  expiryBlocks: bigint;
  /** What the service says of a message instead of the truth, for as long as it is set. */
  tamper: ((message: Hex) => Hex) | null;
  /** How often each kind of request was made. */
  readonly asked: { messages: number; reattest: number; fees: number; allowance: number };
}

/** A running stand-in. */
export interface AttestationService {
  readonly url: string;
  readonly controls: AttestationControls;
  /** Attests a burn as it is now, as another relayer would have it; null while it is not attested. */
  attest(domain: number, txHash: Hex): Promise<readonly AttestedMessage[]>;
  stop(): Promise<void>;
}

/** A message with the signatures of the attesters, or without while it waits. */
export interface AttestedMessage {
  readonly nonce: Hex;
  readonly message: Hex;
  readonly attestation: Hex | null;
  readonly delayReason: string | null;
}

interface Sent {
  readonly nonce: Hex;
  readonly message: Hex;
  readonly block: bigint;
}

/** Starts the stand-in on loopback. */
export async function startAttestationService(options: {
  readonly chains: readonly AttestedChain[];
  /** In any order: signatures are sorted as the transmitter wants them. */
  readonly attesters: readonly PrivateKeyAccount[];
  /** 0 for any. */
  readonly port: number;
}): Promise<AttestationService> {
  const { chains } = options;
  const attesters = options.attesters.toSorted((one, other) =>
    one.address.toLowerCase() < other.address.toLowerCase() ? -1 : 1,
  );
  const controls: AttestationControls = {
    away: false,
    unknown: false,
    limitedS: null,
    held: false,
    fastFeeHundredths: 130n,
    allowance: 10_000_000n * USDC_UNITS,
    fastMax: 10_000_000n * USDC_UNITS,
    expiryBlocks: 10_000n,
    tamper: null,
    asked: { messages: 0, reattest: 0, fees: 0, allowance: 0 },
  };
  /** What was attested of each nonce. */
  const kept = new Map<Hex, Hex>();
  /** Where each nonce was sent, for `reattest`. */
  const known = new Map<Hex, { readonly chain: AttestedChain; readonly sent: Sent }>();
  /** Nonces of which the next attestation waits for finality. */
  const finalOnly = new Set<Hex>();

  async function listSent(chain: AttestedChain, txHash: Hex): Promise<readonly Sent[]> {
    try {
      const receipt = await chain.client.getTransactionReceipt({ hash: txHash });
      const logs = receipt.logs.filter(
        ({ address }) => address.toLowerCase() === chain.transmitter.toLowerCase(),
      );
      return logs.flatMap((log, index) => {
        const { topics, data } = log;
        const event = decodeEventLog({ abi: TRANSMITTER_ABI, topics, data, strict: false });
        const message = event.eventName === "MessageSent" ? event.args.message : undefined;
        if (!message) return [];
        const place = encodePacked(["uint32", "bytes32", "uint32"], [chain.domain, txHash, index]);
        return [{ nonce: keccak256(place), message, block: receipt.blockNumber }];
      });
    } catch (error) {
      if (error instanceof TransactionReceiptNotFoundError) return [];
      throw error;
    }
  }

  async function attestSent(chain: AttestedChain, sent: Sent): Promise<AttestedMessage> {
    const { nonce } = sent;
    known.set(nonce, { chain, sent });
    const message = kept.get(nonce) ?? (await fillIn(chain, sent));
    if (typeof message !== "string") {
      return { nonce, message: sent.message, attestation: null, delayReason: message.delayReason };
    }
    kept.set(nonce, message);
    const shown = controls.tamper?.(message) ?? message;
    const hash = keccak256(shown);
    const signatures = await Promise.all(attesters.map((one) => one.sign({ hash })));
    return { nonce, message: shown, attestation: concatHex(signatures), delayReason: null };
  }

  /** The message with what the service writes into it, or why it has to wait. */
  async function fillIn(
    chain: AttestedChain,
    { nonce, message, block }: Sent,
  ): Promise<Hex | { readonly delayReason: string | null }> {
    if (controls.held) return { delayReason: null };
    const wantsFast = hexToNumber(read(message, HEADER.minFinalityThreshold)) <= FAST;
    const delayReason = wantsFast ? findDelay(message) : null;
    if (wantsFast && delayReason === null && !finalOnly.has(nonce)) {
      const amount = hexToBigInt(read(message, BURN.amount));
      const destination = chains.find(
        ({ domain }) => domain === hexToNumber(read(message, HEADER.destinationDomain)),
      );
      if (!destination) return { delayReason: null };
      const head = await destination.client.getBlockNumber();
      controls.allowance -= amount;
      return patch(message, [
        [HEADER.nonce, nonce],
        [HEADER.finalityThresholdExecuted, numberToHex(FAST, { size: 4 })],
        [BURN.feeExecuted, numberToHex(fastFeeOf(amount), { size: 32 })],
        [BURN.expirationBlock, numberToHex(head + controls.expiryBlocks, { size: 32 })],
      ]);
    }
    const final = await chain.client.getBlock({ blockTag: "finalized" });
    if (final.number < block) return { delayReason };
    return patch(message, [
      [HEADER.nonce, nonce],
      [HEADER.finalityThresholdExecuted, numberToHex(STANDARD, { size: 4 })],
    ]);
  }

  /** Rounded up, as a minimum is. */
  function fastFeeOf(amount: bigint): bigint {
    return (amount * controls.fastFeeHundredths + 999_999n) / 1_000_000n;
  }

  function findDelay(message: Hex): string | null {
    const amount = hexToBigInt(read(message, BURN.amount));
    if (hexToBigInt(read(message, BURN.maxFee)) < fastFeeOf(amount)) return "insufficient_fee";
    if (amount > controls.fastMax) return "amount_above_max";
    return amount > controls.allowance ? "insufficient_allowance_available" : null;
  }

  async function attest(domain: number, txHash: Hex): Promise<readonly AttestedMessage[]> {
    const chain = chains.find((one) => one.domain === domain);
    if (!chain || controls.unknown) return [];
    const sent = await listSent(chain, txHash);
    return Promise.all(sent.map((one) => attestSent(chain, one)));
  }

  /** Fast again with another expiry while it is not final, as final afterwards. */
  async function reattest(nonce: Hex): Promise<boolean> {
    const found = known.get(nonce);
    if (!found) return false;
    const final = await found.chain.client.getBlock({ blockTag: "finalized" });
    if (final.number >= found.sent.block) finalOnly.add(nonce);
    kept.delete(nonce);
    return true;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://stand-in");
    const asks = `${request.method} ${url.pathname}`;
    if (controls.away) {
      request.socket.destroy();
      return;
    }
    if (controls.limitedS !== null) {
      if (controls.limitedS > 0) response.setHeader("retry-after", String(controls.limitedS));
      return send(response, 429, { error: `too many requests, blocked for ${BLOCKED_S} s` });
    }
    const messages = /^GET \/v2\/messages\/(\d+)$/.exec(asks);
    if (messages) {
      controls.asked.messages += 1;
      const txHash = url.searchParams.get("transactionHash") ?? "";
      if (!isHash(txHash)) return send(response, 400, { error: "expected a transactionHash" });
      const found = await attest(Number(messages[1]), txHash);
      if (found.length === 0) return send(response, 404, { error: "Message not found" });
      return send(response, 200, { messages: found.map(describe) });
    }
    const again = /^POST \/v2\/reattest\/(0x[0-9a-f]{64})$/.exec(asks)?.[1];
    if (isHash(again ?? "")) {
      controls.asked.reattest += 1;
      // CAST: checked on the line before last.
      const nonce = again as Hex;
      if (!(await reattest(nonce))) return send(response, 404, { error: "Message not found" });
      const message = "Re-attestation successfully requested for nonce.";
      return send(response, 200, { message, nonce });
    }
    if (/^GET \/v2\/burn\/USDC\/fees\/\d+\/\d+$/.test(asks)) {
      controls.asked.fees += 1;
      return send(response, 200, [
        { finalityThreshold: FAST, minimumFee: Number(controls.fastFeeHundredths) / 100 },
        { finalityThreshold: STANDARD, minimumFee: 0 },
      ]);
    }
    if (asks === "GET /v2/fastBurn/USDC/allowance") {
      controls.asked.allowance += 1;
      const allowance = Number(controls.allowance) / Number(USDC_UNITS);
      return send(response, 200, { allowance, lastUpdated: new Date().toISOString() });
    }
    send(response, 404, { error: "no such endpoint" });
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      // A node that is going down while somebody asks; the service asks again.
      send(response, 500, { error: error instanceof Error ? error.name : "failed" });
    });
  });
  server.listen(options.port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("a server without a port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    controls,
    attest,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function describe({ nonce, message, attestation, delayReason }: AttestedMessage) {
  return {
    message: attestation === null ? "0x" : message,
    eventNonce: nonce,
    attestation: attestation ?? "PENDING",
    cctpVersion: 2,
    status: attestation === null ? "pending_confirmations" : "complete",
    delayReason,
  };
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.statusCode = status;
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(body));
}

type Place = readonly [number, number];

function read(message: Hex, [start, end]: Place): Hex {
  return slice(message, start, end);
}

/** The message with other bytes at some places. */
function patch(message: Hex, changes: readonly (readonly [Place, Hex])[]): Hex {
  return changes.reduce((patched, [[start, end], bytes]) => {
    const before = slice(patched, 0, start);
    const after = (patched.length - 2) / 2 > end ? slice(patched, end) : "0x";
    return concatHex([before, bytes, after]);
  }, message);
}
