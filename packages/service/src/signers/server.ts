/**
 * A signer as a process of its own: HTTP over a unix socket that only its user and group can open. Requests are what to sign;
 * no answer has a key in it, and no request could have one.
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
import { toAddress } from "../core/hex.ts";
import type { Log } from "../telemetry/log.ts";
import type { AttestorSigner, LaneSigner, VaultSigner } from "./port.ts";
import { SignerRefusal, SignerWaits } from "./refusal.ts";
import {
  type Accounts,
  CapBody,
  ClaimBody,
  DeliveryBody,
  type Failure,
  parseClaim,
  parseCommitment,
  parseDelivery,
  parseSigningRequest,
  parsePrice,
  parseReturn,
  PriceBody,
  ReturnBody,
  TransactionBody,
  VaultBody,
} from "./wire.ts";

/** What is behind one socket: lanes, the attestor, or only what derives vaults. */
export interface HeldSigners {
  readonly lanes: readonly LaneSigner[];
  readonly attestor: AttestorSigner | null;
  /** Null where no chain needs it. */
  readonly vaults: VaultSigner | null;
}

/** The same, for whoever may have vaults derived and nothing signed. */
export function withVaultsOnly({ vaults }: HeldSigners): HeldSigners {
  return { lanes: [], attestor: null, vaults };
}

const BODY_MAX = 1_048_576;
const SOCKET_PATH_MAX = 103;

class BadRequest extends Error {
  override readonly name = "BadRequest";
}

/**
 * Listens on the socket until `stop`. One that a killed signer left behind is replaced; one that answers is not.
 * @throws OperatingError CONFIG_MISSING for a path that cannot be a socket, or when another signer listens there.
 */
export async function startSignerServer(options: {
  readonly socket: string;
  readonly signers: HeldSigners;
  readonly log: Log;
}): Promise<{ stop(): Promise<void> }> {
  const { socket, signers, log } = options;
  if (Buffer.byteLength(socket) > SOCKET_PATH_MAX) {
    throw unusable(socket, `expected a path of at most ${SOCKET_PATH_MAX} bytes`);
  }
  if (await isAnswering(socket)) throw unusable(socket, "another signer listens there");
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
  // Between these two lines the socket has the mode of the process's mask, which is why the mask is set.
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
    throw new SignerRefusal("an attestation, because it holds no attestor's key");
  };
  const getLane = ({ chainId, lane: address }: { chainId: number; lane: string }): LaneSigner => {
    const lane = lanes.find((held) => held.chainId === chainId && held.address === address);
    if (lane) return lane;
    throw new SignerRefusal(`the lane ${address} of chain ${chainId}, which it lacks`);
  };
  return {
    "GET /accounts": async () => accounts,

    "POST /transactions": handle(TransactionBody, async (request) =>
      getLane(request).sign(parseSigningRequest(request)),
    ),
    "POST /caps": handle(CapBody, async (request) => {
      const lane = getLane(request);
      if (!lane.getCapLeft) throw new SignerRefusal("a cap, because it keeps none there");
      const left = await lane.getCapLeft(toAddress(request.token));
      return { left: left.toString() };
    }),
    "POST /deliveries": handle(DeliveryBody, async (request) => ({
      signature: await getAttestor().signDelivery(request.destChain, parseDelivery(request)),
    })),
    "POST /claims": handle(ClaimBody, async (request) => ({
      signature: await getAttestor().signClaim(request.srcChain, parseClaim(request)),
    })),
    "POST /returns": handle(ReturnBody, async (request) => ({
      signature: await getAttestor().signReturn(request.srcChain, parseReturn(request)),
    })),
    "POST /prices": handle(PriceBody, async (request) => ({
      signature: await getAttestor().signPrice(request.srcChain, parsePrice(request)),
    })),
    "POST /vaults": handle(VaultBody, async ({ commitment }) => {
      if (!vaults) throw new SignerRefusal("a vault, because it holds no seed");
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
    if (!handler) throw new BadRequest("there is no such request");
    const body = request.method === "POST" ? await readJson(request) : undefined;
    reply(200, await handler(body));
  } catch (error) {
    const [status, failure] = describeFailure(error);
    log.error({ err: error, url: request.url }, "signed nothing");
    reply(status, failure);
  }
}

function describeFailure(error: unknown): readonly [number, Failure] {
  if (error instanceof SignerRefusal) return [403, { error: "REFUSED", message: error.reason }];
  if (error instanceof SignerWaits) return [503, { error: "WAITS", message: error.reason }];
  if (error instanceof BadRequest) return [400, { error: "BAD_REQUEST", message: error.message }];
  if (error instanceof OperatingError && error.code === "RPC_UNAVAILABLE") {
    return [503, { error: "RPC_UNAVAILABLE", message: error.message }];
  }
  return [500, { error: "INTERNAL", message: "Something went wrong in the signer." }];
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    // CAST: a request without an encoding yields buffers.
    const bytes = chunk as Buffer;
    size += bytes.length;
    if (size > BODY_MAX) throw new BadRequest("expected at most 1 MiB");
    chunks.push(bytes);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    throw new BadRequest("expected JSON");
  }
}

async function isAnswering(socketPath: string): Promise<boolean> {
  const probe = httpRequest({ socketPath, path: "/accounts" });
  probe.end();
  try {
    const [response] = await once(probe, "response");
    // CAST: what the event carries.
    (response as IncomingMessage).resume();
    return true;
  } catch {
    // Nobody there.
    return false;
  }
}

function unusable(socket: string, why: string, cause?: unknown): OperatingError {
  return new OperatingError("CONFIG_MISSING", `The signer's socket ${socket}: ${why}.`, { cause });
}
