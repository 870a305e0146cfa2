/**
 * Circle's attestation service behind its HTTP API: it reads the chains by itself, attests burns, and at times does not
 * answer, is slow, or attests something false.
 *
 * A burn that requests it is attested fast, from its first block on, if its fee reaches the minimum and the allowance
 * suffices; all others once their block is final. The block of a fast attestation is held: a burn that is orphaned after
 * its mint is Circle's own loss, and is not simulated. An attestation does not change until a new one is requested.
 */
import {
  FAST,
  type MessageFields,
  nonceOf,
  readMessage,
  signMessage,
  STANDARD,
  writeMessage,
} from "../fake-chain/cctp.ts";
import type { FakeBlock, FakeChain } from "../fake-chain/model.ts";
import type { Hex, Hex32, TxHash } from "../../src/core/hex.ts";
import type { Http, HttpAnswer } from "../../src/core/ports.ts";
import type { BridgeFaults } from "./faults.ts";
import type { Kernel, Life } from "./kernel.ts";
import type { Dice } from "./random.ts";
import { ALLOWANCE } from "./stage.ts";

/** A burn that the service has seen. */
interface Seen {
  readonly nonce: Hex32;
  readonly chain: FakeChain;
  readonly block: FakeBlock;
  readonly sent: Hex;
}

interface Attested {
  readonly message: Hex;
  readonly attestation: Hex;
}

export interface AttestationService {
  /** The HTTP port through which a process reaches it. */
  httpOf(life: Life): Http;
}

export function createAttestationService(stage: {
  readonly kernel: Kernel;
  readonly dice: Dice;
  readonly chains: ReadonlyMap<number, FakeChain>;
  readonly faults: () => BridgeFaults;
  readonly mark: (what: string) => void;
  /** Called with each new attestation, which any account may submit. */
  readonly onAttested: (destination: FakeChain, attested: Attested) => void;
}): AttestationService {
  const { kernel, dice, mark } = stage;
  const known = new Map<Hex32, Seen>();
  const kept = new Map<Hex32, Attested>();
  /** The time from which a burn can be attested. */
  const readyAtMs = new Map<Hex32, number>();
  /** Burns whose next attestation waits for their block to be final. */
  const finalOnly = new Set<Hex32>();
  let awayUntilMs = 0;
  let spent = 0n;

  const chainOf = (domain: bigint | number): FakeChain | undefined =>
    [...stage.chains.values()].find(
      ({ contracts }) => BigInt(contracts.cctp?.domain ?? -1) === BigInt(domain),
    );
  const allowance = (): bigint => {
    const left = (stage.faults().allowance ?? ALLOWANCE) - spent;
    return left > 0n ? left : 0n;
  };
  const minimumOf = (amount: bigint, hundredths: number): bigint =>
    (amount * BigInt(hundredths) + 999_999n) / 1_000_000n;

  /** Returns the bridge messages of a transaction, if it is on the chain. */
  function listSent(chain: FakeChain, domain: number, txHash: TxHash): Seen[] {
    const branch = chain.branchOf(chain.head);
    const block = chain.placesOf(txHash).find((one) => branch[Number(one.number)] === one);
    const mined = block?.transactions.find(({ transaction }) => transaction.hash === txHash);
    if (!block || !mined) return [];
    return mined.logs.flatMap((log) => {
      if (log.kind !== "effect" || log.effect.kind !== "message_sent") return [];
      const sent = log.effect.message;
      const seen = { nonce: nonceOf(domain, txHash, sent), chain, block, sent };
      known.set(seen.nonce, seen);
      return [seen];
    });
  }

  /** Attests a burn if it is due, or returns the reason for the delay. */
  function attest({
    nonce,
    chain,
    block,
    sent,
  }: Seen): Attested | { readonly delay: string | null } {
    const before = kept.get(nonce);
    if (before) return before;
    const faults = stage.faults();
    const ready = readyAtMs.get(nonce) ?? kernel.nowMs + dice.between(0, faults.delayS * 1000);
    readyAtMs.set(nonce, ready);
    const fields = readMessage(sent);
    const destination = chainOf(fields.to);
    if (kernel.nowMs < ready || !destination) return { delay: null };
    const delay = fields.wanted <= BigInt(FAST) ? findDelay(fields, faults) : null;
    const isFast = fields.wanted <= BigInt(FAST) && delay === null && !finalOnly.has(nonce);
    if (!isFast && block.number > chain.finalNumber) return { delay };
    const fee = isFast ? minimumOf(fields.amount, faults.fastFee ?? 0) : 0n;
    const message = writeMessage({
      ...fields,
      nonce: BigInt(nonce),
      executed: BigInt(isFast ? FAST : STANDARD),
      fee,
      expiry: isFast ? destination.head.number + BigInt(faults.expiryBlocks) : 0n,
    });
    if (isFast) {
      chain.hold(block.number);
      spent += fields.amount;
    }
    mark(isFast ? "attested fast" : "attested as final");
    const attested = { message, attestation: signMessage(message) };
    kept.set(nonce, attested);
    stage.onAttested(destination, attested);
    return attested;
  }

  function findDelay({ amount, maxFee }: MessageFields, { fastFee }: BridgeFaults): string | null {
    if (fastFee === null || maxFee < minimumOf(amount, fastFee)) return "insufficient_fee";
    return amount > allowance() ? "insufficient_allowance_available" : null;
  }

  /** Returns the bridge message with a field that was not burned, signed all the same. */
  function lie({ message }: Attested): Attested {
    mark("attested what was not burned");
    const fields = readMessage(message);
    const { amount, recipient, maxFee } = fields;
    const changes: readonly Partial<MessageFields>[] = [
      { amount: amount * 2n },
      { amount: amount - 1n },
      { recipient: recipient ^ 1n },
      { fee: maxFee + 1n },
      { maxFee: amount - 1n, fee: amount - 2n },
      { burner: fields.burner ^ 1n },
      { nonce: 0n },
    ];
    const changed = writeMessage({ ...fields, ...dice.pick(changes) });
    return { message: changed, attestation: signMessage(changed) };
  }

  function answerMessages(domain: number, txHash: TxHash): HttpAnswer {
    const chain = chainOf(domain);
    const sent = chain ? listSent(chain, domain, txHash) : [];
    const messages = sent.map((seen) => {
      const attested = attest(seen);
      if ("delay" in attested) {
        const delayReason = attested.delay;
        return {
          message: "0x",
          attestation: "PENDING",
          status: "pending_confirmations",
          delayReason,
        };
      }
      const said = dice.chance(stage.faults().lies) ? lie(attested) : attested;
      return { ...said, status: "complete", delayReason: null };
    });
    if (messages.length === 0 || dice.chance(stage.faults().forgets)) return answered(404, {});
    return answered(200, { messages: messages.map((one) => ({ ...one, cctpVersion: 2 })) });
  }

  /** Attests again: fast with another expiry while the block is not final, standard afterwards. */
  function reattest(nonce: Hex32): HttpAnswer {
    const seen = known.get(nonce);
    if (!seen) return answered(404, {});
    mark("attested again");
    if (seen.block.number <= seen.chain.finalNumber) finalOnly.add(nonce);
    kept.delete(nonce);
    readyAtMs.delete(nonce);
    return answered(200, { nonce });
  }

  function answer(method: string, url: string): HttpAnswer {
    const asks = `${method} ${url}`;
    const messages = /^GET \/v2\/messages\/(\d+)\?transactionHash=(0x[0-9a-f]{64})$/.exec(asks);
    if (messages) return answerMessages(Number(messages[1]), messages[2] as TxHash);
    const again = /^POST \/v2\/reattest\/(0x[0-9a-f]{64})$/.exec(asks)?.[1];
    if (again) return reattest(again as Hex32);
    if (/^GET \/v2\/burn\/USDC\/fees\/\d+\/\d+$/.test(asks)) {
      const { fastFee } = stage.faults();
      const fast = { finalityThreshold: FAST, minimumFee: (fastFee ?? 0) / 100 };
      const standard = { finalityThreshold: STANDARD, minimumFee: 0 };
      return answered(200, fastFee === null ? [standard] : [fast, standard]);
    }
    if (asks === "GET /v2/fastBurn/USDC/allowance") {
      return answered(200, { allowance: Number(allowance()) / 1e6 });
    }
    throw new Error(`the attestation service has no ${asks}`);
  }

  return {
    httpOf: (life) => async (request) => {
      await kernel.gate(life, `attestations ${request.url.split("?")[0] ?? ""}`);
      const faults = stage.faults();
      if (dice.chance(faults.outage)) awayUntilMs = kernel.nowMs + dice.between(10_000, 90_000);
      const isAway = kernel.nowMs < awayUntilMs && faults.outage > 0;
      if (isAway || dice.chance(faults.fails)) {
        mark(isAway ? "the attestation service was away" : "the attestation service failed");
        return dice.chance(0.5) ? { kind: "failed", reason: "timed_out" } : answered(500, {});
      }
      if (dice.chance(faults.limits)) return { ...answered(429, {}), retryAfterMs: 5_000 };
      const said = answer(request.method ?? "GET", request.url);
      return dice.chance(faults.answerLost) ? { kind: "failed", reason: "timed_out" } : said;
    },
  };
}

function answered(status: number, body: unknown): HttpAnswer & { readonly kind: "answered" } {
  return { kind: "answered", status, body: JSON.stringify(body) };
}
