/** The client of a signer process: one HTTP request over its unix socket for each signature. */
import { Agent, type IncomingMessage, request as httpRequest } from "node:http";
import { text } from "node:stream/consumers";
import type { Static, TSchema } from "typebox";
import { Value } from "typebox/value";
import { OperatingError } from "../core/errors.ts";
import { type Hex, toAddress, toHex, toHex32, toTxHash } from "../core/hex.ts";
import type { AttestorSigner, LaneSigner, VaultSigner } from "./port.ts";
import { SignerRefusal, SignerWaits } from "./refusal.ts";
import type { HeldSigners } from "./server.ts";
import {
  Accounts,
  CapLeft,
  DeliveryIds,
  Done,
  EarlyList,
  Failure,
  formatCounted,
  formatDelivery,
  formatSigningRequest,
  parseEarly,
  ReadTo,
  Signature,
  Signed,
  Vault,
} from "./wire.ts";

/** Leaves time for a signer that itself waits for a KMS. */
const TIMEOUT_MS = 30_000;

/**
 * Connects to the signer at a socket and returns its signers. Reads the accounts once; each signature is a request.
 * @throws OperatingError RPC_UNAVAILABLE when no process answers at the socket.
 */
export async function connectSigner(socketPath: string): Promise<HeldSigners> {
  const agent = new Agent({ keepAlive: true });

  async function ask<Answer extends TSchema>(
    path: string,
    body: object | undefined,
    schema: Answer,
  ): Promise<Static<Answer>> {
    const { status, answer } = await exchange({ socketPath, agent, path, body });
    if (status === 200 && Value.Check(schema, answer)) return answer;
    if (!Value.Check(Failure, answer)) throw unavailable(socketPath, `unexpected status ${status}`);
    if (answer.error === "REFUSED") {
      // Without the subject nothing may step aside: every other call could be refused too.
      throw new SignerRefusal(answer.message, answer.about ?? "lane");
    }
    if (answer.error === "WAITS") throw new SignerWaits(answer.message);
    throw unavailable(socketPath, answer.message);
  }

  const accounts = await ask("/accounts", undefined, Accounts);

  const lanes = accounts.lanes.map(({ chainId, purpose, address, retired }): LaneSigner => ({
    chainId,
    purpose,
    address: toAddress(address),
    retired,
    async sign(intent) {
      const request = formatSigningRequest(chainId, address, intent);
      const { raw, hash } = await ask("/transactions", request, Signed);
      // CAST: the schema allows only hex.
      return { raw: raw as Hex, hash: toTxHash(hash) };
    },
    async getCapLeft(token) {
      const { left } = await ask("/caps", { chainId, lane: address, token }, CapLeft);
      return BigInt(left);
    },
  }));

  async function attest(path: string, body: object): Promise<Hex> {
    const { signature } = await ask(path, body, Signature);
    // CAST: the schema allows only hex.
    return signature as Hex;
  }
  const attestor: AttestorSigner | null =
    accounts.attestor === null
      ? null
      : {
          address: toAddress(accounts.attestor),
          signDelivery: (destChain, order, worth) =>
            attest("/deliveries", formatDelivery(destChain, order, worth)),
          early: {
            list: async () => parseEarly(await ask("/early", undefined, EarlyList)),
            async cover(deliveryId) {
              await ask("/covered", { deliveryId }, Done);
            },
            async listOthers(ids) {
              const { deliveryIds } = await ask("/early/others", { deliveryIds: ids }, DeliveryIds);
              return deliveryIds.map(toHex32);
            },
            async countOther(payout) {
              await ask("/early/other", { payout: formatCounted(payout) }, Done);
            },
            async getReadTo(destChain) {
              const { block } = await ask("/early/read-to", { destChain }, ReadTo);
              return block === null ? null : BigInt(block);
            },
            async recordReadTo(destChain, block) {
              await ask("/early/record-read-to", formatBigints({ destChain, block }), Done);
            },
          },
          signClaim: (srcChain, claim) => attest("/claims", formatBigints({ srcChain, ...claim })),
          signReturn: (srcChain, order) =>
            attest("/returns", formatBigints({ srcChain, ...order })),
          signPrice: (srcChain, order) => attest("/prices", formatBigints({ srcChain, ...order })),
          signRefund: (chainId, proof) => attest("/refunds", formatBigints({ chainId, ...proof })),
        };
  const vaults: VaultSigner | null = accounts.vaults && {
    chainId: accounts.vaults.chainId,
    binding: toAddress(accounts.vaults.binding),
    async deriveVault(commitment) {
      const { wallet, proof } = await ask("/vaults", { commitment }, Vault);
      return { wallet: toAddress(wallet), proof: toHex(proof) };
    },
  };
  return { lanes, attestor, vaults };
}

/** Formats the bigints of a flat object as decimal strings. */
function formatBigints(order: object): object {
  return Object.fromEntries(
    Object.entries(order).map(([name, value]: [string, unknown]) => [
      name,
      typeof value === "bigint" ? value.toString() : value,
    ]),
  );
}

async function exchange(options: {
  readonly socketPath: string;
  readonly agent: Agent;
  readonly path: string;
  readonly body: object | undefined;
}): Promise<{ readonly status: number; readonly answer: unknown }> {
  const { socketPath, agent, path, body } = options;
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = httpRequest(
        { socketPath, agent, path, method: body ? "POST" : "GET", timeout: TIMEOUT_MS },
        resolve,
      );
      outgoing.on("error", reject);
      outgoing.on("timeout", () =>
        outgoing.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)),
      );
      outgoing.end(body && JSON.stringify(body));
    });
    return { status: response.statusCode ?? 0, answer: JSON.parse(await text(response)) };
  } catch (cause) {
    throw unavailable(socketPath, "no answer", cause);
  }
}

function unavailable(socketPath: string, why: string, cause?: unknown): OperatingError {
  return new OperatingError(
    "RPC_UNAVAILABLE",
    `The signer at ${socketPath} is unavailable: ${why}.`,
    { cause },
  );
}
