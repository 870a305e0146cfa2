/**
 * A stand-in for Circle's attestation service, with the same HTTP API (v2) and two attester keys of its own. It attests
 * messages of the sandbox's transmitters only, so its signatures are valid on no other network.
 *
 * A burn that requests fast transfer is attested one block deep if its fee reaches the minimum and the allowance is
 * sufficient. Every other burn is attested without a fee once its block is final. An attestation is kept until a
 * re-attestation is requested. Everything else is read from the nodes on each request, so a restart loses no state that
 * matters.
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

/** Start and end of the fields of a message, in bytes (Circle's MessageV2.sol and BurnMessageV2.sol). */
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
/** How long Circle blocks a client above the rate limit, in seconds. */
const BLOCKED_S = 300;

/** A chain whose burns are attested. */
export interface AttestedChain {
  /** Circle's domain of the chain. */
  readonly domain: number;
  readonly client: EvmClient;
  readonly transmitter: Address;
}

/** Faults and limits that a test can set. */
export interface BridgeAttestationControls {
  /** The service is down: connections are closed without a response. */
  down: boolean;
  /** No transaction is known. */
  unknown: boolean;
  /** Every request gets 429 with this `Retry-After`; zero omits the header, null ends the rate limit. */
  rateLimitSeconds: number | null;
  /** No burn is attested. */
  paused: boolean;
  /** Fee of fast transfers, in hundredths of a basis point. */
  fastFeeHundredths: bigint;
  /** Remaining allowance of fast transfers, in base units. */
  allowance: bigint;
  /** Maximum amount of a fast transfer, in base units. */
  fastAmountMax: bigint;
  /** Blocks of the destination until a fast attestation expires. */
  expiryBlocks: bigint;
  /** Replaces every attested message while it is set. */
  tamper: ((message: Hex) => Hex) | null;
  /** Number of requests of each kind. */
  readonly requests: { messages: number; reattest: number; fees: number; allowance: number };
}

/** A running stand-in. */
export interface BridgeAttestationService {
  readonly url: string;
  readonly controls: BridgeAttestationControls;
  /** Returns the messages of a transaction as the HTTP API would, for another relayer; without signatures if pending. */
  attest(domain: number, txHash: Hex): Promise<readonly AttestedMessage[]>;
  stop(): Promise<void>;
}

/** A bridge message with the signatures of the attesters, which are null while it is pending. */
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
export async function startBridgeAttestationService(options: {
  readonly chains: readonly AttestedChain[];
  /** In any order: signatures are sorted by address, as the transmitter requires. */
  readonly attesters: readonly PrivateKeyAccount[];
  /** 0 for any free port. */
  readonly port: number;
}): Promise<BridgeAttestationService> {
  const { chains } = options;
  const attesters = options.attesters.toSorted((one, other) =>
    one.address.toLowerCase() < other.address.toLowerCase() ? -1 : 1,
  );
  const controls: BridgeAttestationControls = {
    down: false,
    unknown: false,
    rateLimitSeconds: null,
    paused: false,
    fastFeeHundredths: 130n,
    allowance: 10_000_000n * USDC_UNITS,
    fastAmountMax: 10_000_000n * USDC_UNITS,
    expiryBlocks: 10_000n,
    tamper: null,
    requests: { messages: 0, reattest: 0, fees: 0, allowance: 0 },
  };
  /** The attested message of each nonce. */
  const attested = new Map<Hex, Hex>();
  /** Chain and message of each nonce, for `reattest`. */
  const known = new Map<Hex, { readonly chain: AttestedChain; readonly sent: Sent }>();
  /** Nonces whose next attestation waits for finality. */
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
    const message = attested.get(nonce) ?? (await complete(chain, sent));
    if (typeof message !== "string") {
      return { nonce, message: sent.message, attestation: null, delayReason: message.delayReason };
    }
    attested.set(nonce, message);
    const shown = controls.tamper?.(message) ?? message;
    const hash = keccak256(shown);
    const signatures = await Promise.all(attesters.map((one) => one.sign({ hash })));
    return { nonce, message: shown, attestation: concatHex(signatures), delayReason: null };
  }

  /** Returns the message with the fields that the service fills in, or the reason for a delay. */
  async function complete(
    chain: AttestedChain,
    { nonce, message, block }: Sent,
  ): Promise<Hex | { readonly delayReason: string | null }> {
    if (controls.paused) return { delayReason: null };
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

  /** Returns the minimum fee of a fast transfer, rounded up. */
  function fastFeeOf(amount: bigint): bigint {
    return (amount * controls.fastFeeHundredths + 999_999n) / 1_000_000n;
  }

  function findDelay(message: Hex): string | null {
    const amount = hexToBigInt(read(message, BURN.amount));
    if (hexToBigInt(read(message, BURN.maxFee)) < fastFeeOf(amount)) return "insufficient_fee";
    if (amount > controls.fastAmountMax) return "amount_above_max";
    return amount > controls.allowance ? "insufficient_allowance_available" : null;
  }

  async function attest(domain: number, txHash: Hex): Promise<readonly AttestedMessage[]> {
    const chain = chains.find((one) => one.domain === domain);
    if (!chain || controls.unknown) return [];
    const sent = await listSent(chain, txHash);
    return Promise.all(sent.map((one) => attestSent(chain, one)));
  }

  /** Forgets an attestation. The next one is fast with a new expiry, or without a fee if the burn is final by now. */
  async function reattest(nonce: Hex): Promise<boolean> {
    const found = known.get(nonce);
    if (!found) return false;
    const final = await found.chain.client.getBlock({ blockTag: "finalized" });
    if (final.number >= found.sent.block) finalOnly.add(nonce);
    attested.delete(nonce);
    return true;
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://stand-in");
    const endpoint = `${request.method} ${url.pathname}`;
    if (controls.down) {
      request.socket.destroy();
      return;
    }
    if (controls.rateLimitSeconds !== null) {
      if (controls.rateLimitSeconds > 0)
        response.setHeader("retry-after", String(controls.rateLimitSeconds));
      return send(response, 429, { error: `too many requests, blocked for ${BLOCKED_S} s` });
    }
    const messages = /^GET \/v2\/messages\/(\d+)$/.exec(endpoint);
    if (messages) {
      controls.requests.messages += 1;
      const txHash = url.searchParams.get("transactionHash") ?? "";
      if (!isHash(txHash)) return send(response, 400, { error: "expected a transactionHash" });
      const found = await attest(Number(messages[1]), txHash);
      if (found.length === 0) return send(response, 404, { error: "Message not found" });
      return send(response, 200, { messages: found.map(describe) });
    }
    const reattested = /^POST \/v2\/reattest\/(0x[0-9a-f]{64})$/.exec(endpoint)?.[1];
    if (isHash(reattested ?? "")) {
      controls.requests.reattest += 1;
      // CAST: checked by isHash above.
      const nonce = reattested as Hex;
      if (!(await reattest(nonce))) return send(response, 404, { error: "Message not found" });
      const message = "Re-attestation successfully requested for nonce.";
      return send(response, 200, { message, nonce });
    }
    if (/^GET \/v2\/burn\/USDC\/fees\/\d+\/\d+$/.test(endpoint)) {
      controls.requests.fees += 1;
      return send(response, 200, [
        { finalityThreshold: FAST, minimumFee: Number(controls.fastFeeHundredths) / 100 },
        { finalityThreshold: STANDARD, minimumFee: 0 },
      ]);
    }
    if (endpoint === "GET /v2/fastBurn/USDC/allowance") {
      controls.requests.allowance += 1;
      const allowance = Number(controls.allowance) / Number(USDC_UNITS);
      return send(response, 200, { allowance, lastUpdated: new Date().toISOString() });
    }
    send(response, 404, { error: "no such endpoint" });
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      // A node was stopped during the request; the client retries.
      send(response, 500, { error: error instanceof Error ? error.name : "failed" });
    });
  });
  server.listen(options.port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the server has no port");
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

type Range = readonly [number, number];

function read(message: Hex, [start, end]: Range): Hex {
  return slice(message, start, end);
}

/** Returns the message with some of its fields replaced. */
function patch(message: Hex, changes: readonly (readonly [Range, Hex])[]): Hex {
  return changes.reduce((patched, [[start, end], bytes]) => {
    const before = slice(patched, 0, start);
    const after = (patched.length - 2) / 2 > end ? slice(patched, end) : "0x";
    return concatHex([before, bytes, after]);
  }, message);
}
