/**
 * The signer process: HTTP over a unix socket that only its user and group can open. A request names what to sign;
 * neither requests nor answers can contain a key.
 */
import { once } from "node:events";
import { chmodSync, mkdirSync, rmSync } from "node:fs";
import {
  createServer,
  type IncomingMessage,
  request as httpRequest,
  type ServerResponse,
} from "node:http";
import { dirname } from "node:path";
import type { Static, TSchema } from "typebox";
import { Value } from "typebox/value";
import { OperatingError } from "../core/errors.ts";
import { toAddress, toHex32 } from "../core/hex.ts";
import type { Log } from "../telemetry/log.ts";
import type { AttestorSigner, EarlyCount, LaneSigner, VaultSigner } from "./port.ts";
import { SignerRefusal, SignerWaits } from "./refusal.ts";
import {
  type Accounts,
  CapBody,
  ClaimBody,
  CoverBody,
  DeliveryBody,
  DeliveryIds,
  DestinationBody,
  type Failure,
  formatEarly,
  OtherBody,
  parseClaim,
  parseCommitment,
  parseCounted,
  parseDelivery,
  parseSigningRequest,
  parsePrice,
  parseRefund,
  parseReturn,
  PriceBody,
  ReadToBody,
  RefundBody,
  ReturnBody,
  TransactionBody,
  VaultBody,
} from "./wire.ts";

/** The signers behind one socket: lanes, the attestor, or only the vault signer. */
export interface HeldSigners {
  readonly lanes: readonly LaneSigner[];
  readonly attestor: AttestorSigner | null;
  /** Null when no chain needs vaults. */
  readonly vaults: VaultSigner | null;
}

/** Returns signers for a client that may derive vaults but request no signature. */
export function withVaultsOnly({ vaults }: HeldSigners): HeldSigners {
  return { lanes: [], attestor: null, vaults };
}

const BODY_MAX = 1_048_576;
const SOCKET_PATH_MAX = 103;

class BadRequest extends Error {
  override readonly name = "BadRequest";
}

/**
 * Listens on the socket until `stop`. Replaces a socket that a killed signer left behind, but not one that answers.
 * @throws OperatingError CONFIG_MISSING for a path that cannot be a socket, or when another signer listens at it.
 */
export async function startSignerServer(options: {
  readonly socket: string;
  readonly signers: HeldSigners;
  readonly log: Log;
}): Promise<{ stop(): Promise<void> }> {
  const { socket, signers, log } = options;
  if (Buffer.byteLength(socket) > SOCKET_PATH_MAX) {
    throw unusable(
      socket,
      `path has ${Buffer.byteLength(socket)} bytes; expected at most ${SOCKET_PATH_MAX}`,
    );
  }
  if (await isAnswering(socket))
    throw unusable(socket, "another signer already listens there; stop it first");
  try {
    mkdirSync(dirname(socket), { recursive: true, mode: 0o700 });
    rmSync(socket, { force: true });
  } catch (cause) {
    throw unusable(socket, "expected a path that can be written", cause);
  }
  const handlers = createHandlers(signers);
  const server = createServer((request, response) => {
    void answer(handlers, request, response, log);
  });
  // The umask decides the socket's mode between `listen` and `chmod`: without it others could connect in between.
  const mask = process.umask(0o117);
  try {
    server.listen(socket);
    await once(server, "listening");
  } catch (cause) {
    throw unusable(socket, "expected a path that can be written", cause);
  } finally {
    process.umask(mask);
  }
  chmodSync(socket, 0o660);
  return {
    async stop() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

type Handlers = Readonly<Record<string, (body: unknown) => Promise<object>>>;

function createHandlers({ lanes, attestor, vaults }: HeldSigners): Handlers {
  const accounts: Accounts = {
    lanes: lanes.map(({ chainId, purpose, address, retired }) => ({
      chainId,
      purpose,
      address,
      retired,
    })),
    attestor: attestor?.address ?? null,
    vaults: vaults && { chainId: vaults.chainId, binding: vaults.binding },
  };
  const getAttestor = (): AttestorSigner => {
    if (attestor) return attestor;
    throw new SignerRefusal("it holds no attestor key");
  };
  const getEarly = (): EarlyCount => {
    const { early } = getAttestor();
    if (early) return early;
    throw new SignerRefusal("it counts no early payouts");
  };
  const getLane = ({ chainId, lane: address }: { chainId: number; lane: string }): LaneSigner => {
    const lane = lanes.find((held) => held.chainId === chainId && held.address === address);
    if (lane) return lane;
    throw new SignerRefusal(`it holds no key of lane ${address} on chain ${chainId}`);
  };
  return {
    "GET /accounts": async () => accounts,

    "POST /transactions": handle(TransactionBody, async (request) =>
      getLane(request).sign(parseSigningRequest(request)),
    ),
    "POST /caps": handle(CapBody, async (request) => {
      const lane = getLane(request);
      if (!lane.getCapLeft) throw new SignerRefusal("the lane has no daily cap");
      const left = await lane.getCapLeft(toAddress(request.token));
      return { left: left.toString() };
    }),
    "POST /deliveries": handle(DeliveryBody, async (request) => ({
      signature: await getAttestor().signDelivery(
        request.destChain,
        parseDelivery(request),
        request.worth === undefined ? undefined : BigInt(request.worth),
      ),
    })),
    "GET /early": async () => formatEarly(await getEarly().list()),
    "POST /covered": handle(CoverBody, async ({ deliveryId }) => {
      await getEarly().cover(toHex32(deliveryId));
      return {};
    }),
    "POST /early/others": handle(DeliveryIds, async ({ deliveryIds }) => ({
      deliveryIds: await getEarly().listOthers(deliveryIds.map(toHex32)),
    })),
    "POST /early/other": handle(OtherBody, async ({ payout }) => {
      await getEarly().countOther(parseCounted(payout));
      return {};
    }),
    "POST /early/read-to": handle(DestinationBody, async ({ destChain }) => ({
      block: (await getEarly().getReadTo(destChain))?.toString() ?? null,
    })),
    "POST /early/record-read-to": handle(ReadToBody, async ({ destChain, block }) => {
      await getEarly().recordReadTo(destChain, BigInt(block));
      return {};
    }),
    "POST /claims": handle(ClaimBody, async (request) => ({
      signature: await getAttestor().signClaim(request.srcChain, parseClaim(request)),
    })),
    "POST /returns": handle(ReturnBody, async (request) => ({
      signature: await getAttestor().signReturn(request.srcChain, parseReturn(request)),
    })),
    "POST /prices": handle(PriceBody, async (request) => ({
      signature: await getAttestor().signPrice(request.srcChain, parsePrice(request)),
    })),
    "POST /refunds": handle(RefundBody, async (request) => ({
      signature: await getAttestor().signRefund(request.chainId, parseRefund(request)),
    })),
    "POST /vaults": handle(VaultBody, async ({ commitment }) => {
      if (!vaults) throw new SignerRefusal("it holds no seed to derive vaults");
      return vaults.deriveVault(parseCommitment(commitment));
    }),
  };
}

function handle<Schema extends TSchema>(
  schema: Schema,
  run: (request: Static<Schema>) => Promise<object>,
): (body: unknown) => Promise<object> {
  return async (body) => {
    if (!Value.Check(schema, body)) {
      const [first] = Value.Errors(schema, body);
      throw new BadRequest(`${first?.instancePath ?? "body"}: ${first?.message ?? "malformed"}`);
    }
    return run(body);
  };
}

async function answer(
  handlers: Handlers,
  request: IncomingMessage,
  response: ServerResponse,
  log: Log,
): Promise<void> {
  const reply = (status: number, body: object) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  };
  try {
    const handler = handlers[`${request.method} ${request.url}`];
    if (!handler) throw new BadRequest(`no such request: ${request.method} ${request.url}`);
    const body = request.method === "POST" ? await readJson(request) : undefined;
    reply(200, await handler(body));
  } catch (error) {
    const [status, failure] = describeFailure(error);
    log.error({ err: error, url: request.url }, "signing request failed");
    reply(status, failure);
  }
}

function describeFailure(error: unknown): readonly [number, Failure] {
  if (error instanceof SignerRefusal) {
    return [403, { error: "REFUSED", message: error.reason, about: error.about }];
  }
  if (error instanceof SignerWaits) return [503, { error: "WAITS", message: error.reason }];
  if (error instanceof BadRequest) return [400, { error: "BAD_REQUEST", message: error.message }];
  if (error instanceof OperatingError && error.code === "RPC_UNAVAILABLE") {
    return [503, { error: "RPC_UNAVAILABLE", message: error.message }];
  }
  return [500, { error: "INTERNAL", message: "Internal error of the signer; see its log." }];
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    // CAST: a request without an encoding yields buffers.
    const bytes = chunk as Buffer;
    size += bytes.length;
    if (size > BODY_MAX) throw new BadRequest(`body too large, expected at most ${BODY_MAX} bytes`);
    chunks.push(bytes);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    throw new BadRequest("body is not valid JSON");
  }
}

async function isAnswering(socketPath: string): Promise<boolean> {
  const probe = httpRequest({ socketPath, path: "/accounts" });
  probe.end();
  try {
    const [response] = await once(probe, "response");
    // CAST: the event carries a message.
    (response as IncomingMessage).resume();
    return true;
  } catch {
    // No process listens at the socket.
    return false;
  }
}

function unusable(socket: string, why: string, cause?: unknown): OperatingError {
  return new OperatingError(
    "CONFIG_MISSING",
    `Cannot listen on the signer's socket ${socket}: ${why}.`,
    { cause },
  );
}
