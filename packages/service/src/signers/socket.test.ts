import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createReadableSigner, LANE, silentLog } from "../../test/support/doubles.ts";
import type { Payout } from "../chains/port/index.ts";
import { OperatingError } from "../core/errors.ts";
import { padAddress, toAddress, toEvmAddress, toHex32, toTxHash } from "../core/hex.ts";
import { connectSigner } from "./client.ts";
import type { AttestorSigner, LaneSigner, SigningRequest, VaultSigner } from "./port.ts";
import { SignerRefusal, SignerWaits } from "./refusal.ts";
import { type HeldSigners, startSignerServer, withVaultsOnly } from "./server.ts";
import { formatSigningRequest } from "./wire.ts";

const WORD = toHex32(`0x${"01".repeat(32)}`);
const TARGET = toEvmAddress(`0x${"2b".repeat(20)}`);
const INTENT: SigningRequest = {
  call: { to: TARGET, data: "0x0102", value: 0n },
  nonce: 7,
  gas: 100_000n,
  fees: { maxFeePerGas: 2n ** 70n, maxPriorityFeePerGas: 1n },
};
const ORDER: Payout = {
  commitment: {
    integrator: WORD,
    userId: WORD,
    destChain: 30,
    destWallet: WORD,
    destToken: padAddress(TARGET),
    refundAuthority: WORD,
    maxFeeBps: 50,
    maxSlippageBps: 100,
  },
  srcChain: 2,
  escrow: TARGET,
  srcToken: TARGET,
  seq: 3n,
  amount: 2n ** 200n,
  deadline: 1_800_000_000n,
};

let folder: string;
let socket: string;
let server: { stop(): Promise<void> };
let asked: unknown[];

/** Says what it was asked. */
const attestor: AttestorSigner = {
  address: TARGET,
  signDelivery: async (...args) => (asked.push(args), "0x01"),
  signClaim: async (...args) => (asked.push(args), "0x02"),
  signReturn: async (...args) => (asked.push(args), "0x03"),
  signPrice: async (...args) => (asked.push(args), "0x04"),
};

const VAULT = toAddress(`0x${"7a".repeat(32)}`);
const vaults: VaultSigner = {
  chainId: 1,
  binding: VAULT,
  deriveVault: async (...args) => (asked.push(args), { wallet: VAULT, proof: "0x05" }),
};

const start = (signers: HeldSigners) => startSignerServer({ socket, signers, log: silentLog });

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "sluice-socket-"));
  socket = join(folder, "run", "signer.sock");
  asked = [];
  server = await start({ lanes: [createReadableSigner(2)], attestor, vaults: null });
});
afterEach(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

async function post(path: string, body: string) {
  const outgoing = httpRequest({ socketPath: socket, path, method: "POST" });
  // What is too long is answered before it was sent.
  outgoing.on("error", () => undefined);
  outgoing.end(body);
  const [response] = await once(outgoing, "response");
  return { status: response.statusCode, body: await text(response) };
}

describe("over the socket", () => {
  test("a lane signs what it would sign by itself", async () => {
    const { lanes } = await connectSigner(socket);
    expect(lanes).toMatchObject([{ chainId: 2, purpose: "settle", address: LANE, retired: false }]);
    expect(await lanes[0]?.sign(INTENT)).toEqual(await createReadableSigner(2).sign(INTENT));
  });

  test("a lane of Solana is asked with the lifetime, and answers with a signature of 64 bytes", async () => {
    await server.stop();
    const hash = toTxHash(`0x${"5a".repeat(64)}`);
    const lane: LaneSigner = {
      chainId: 1,
      purpose: "deliver",
      address: VAULT,
      retired: false,
      sign: async (...args) => (asked.push(args), { raw: "0x06", hash }),
    };
    server = await start({ lanes: [lane], attestor: null, vaults });
    const { lanes } = await connectSigner(socket);
    expect(lanes).toMatchObject([{ chainId: 1, purpose: "deliver", address: VAULT }]);
    const intent = {
      ...INTENT,
      call: { ...INTENT.call, to: VAULT },
      lifetime: { blockhash: WORD, lastValidHeight: 2n ** 60n },
    };
    expect(await lanes[0]?.sign(intent)).toEqual({ raw: "0x06", hash });
    expect(asked).toEqual([[intent]]);
  });

  test("what is left of a daily cap is told by the lane that keeps it, and by no other", async () => {
    await server.stop();
    const [keeper, other] = [createReadableSigner(1), createReadableSigner(2)];
    const getCapLeft = async (...args: unknown[]) => (asked.push(args), 2n ** 64n);
    server = await start({ lanes: [{ ...keeper, getCapLeft }, other], attestor, vaults });
    const { lanes } = await connectSigner(socket);
    expect(await lanes[0]?.getCapLeft?.(VAULT)).toBe(2n ** 64n);
    expect(asked).toEqual([[VAULT]]);
    await expect(lanes[1]?.getCapLeft?.(VAULT)).rejects.toThrow(SignerRefusal);
    const stranger = JSON.stringify({ chainId: 3, lane: LANE, token: VAULT });
    expect(await post("/caps", stranger)).toMatchObject({ status: 403 });
  });

  test("a vault is derived, and the proof of it comes along", async () => {
    await server.stop();
    server = await start({ lanes: [], attestor: null, vaults });
    const { vaults: remote } = await connectSigner(socket);
    expect(remote).toMatchObject({ chainId: 1, binding: VAULT });
    const { commitment } = ORDER;
    expect(await remote?.deriveVault(commitment)).toEqual({ wallet: VAULT, proof: "0x05" });
    expect(asked).toEqual([[commitment]]);
  });

  test("who may only have vaults derived gets nothing signed", async () => {
    await server.stop();
    server = await start(withVaultsOnly({ lanes: [createReadableSigner(2)], attestor, vaults }));
    expect(await connectSigner(socket)).toMatchObject({ lanes: [], attestor: null });
    const returns = JSON.stringify({ srcChain: 2, deliveryId: WORD, deadline: "1" });
    expect(await post("/returns", returns)).toMatchObject({ status: 403 });
    const transaction = JSON.stringify(formatSigningRequest(2, LANE, INTENT));
    expect(await post("/transactions", transaction)).toMatchObject({ status: 403 });
    const asRemote = await connectSigner(socket);
    expect(await asRemote.vaults?.deriveVault(ORDER.commitment)).toMatchObject({ wallet: VAULT });
    expect(asked).toEqual([[ORDER.commitment]]);
  });

  test("every message of the attestor arrives as it was asked, to the last unit", async () => {
    const { attestor: remote } = await connectSigner(socket);
    const claim = { deliveryId: WORD, paidAmount: 2n ** 128n, deadline: 5n };
    const giveBack = { deliveryId: WORD, deadline: 6n };
    const price = {
      wallet: LANE,
      token: TARGET,
      route: LANE,
      rate: 10n ** 30n,
      maxAmount: 1n,
      deadline: 7n,
    };
    expect(remote?.address).toBe(TARGET);
    expect(await remote?.signDelivery(30, ORDER)).toBe("0x01");
    expect(await remote?.signClaim(2, claim)).toBe("0x02");
    expect(await remote?.signReturn(2, giveBack)).toBe("0x03");
    expect(await remote?.signPrice(2, price)).toBe("0x04");
    expect(asked).toEqual([
      [30, ORDER],
      [2, claim],
      [2, giveBack],
      [2, price],
    ]);
  });

  test("only its user and group may open it, in a folder that is the user's unless somebody made it before", () => {
    expect(statSync(socket).mode & 0o117).toBe(0);
    expect(statSync(join(folder, "run")).mode & 0o077).toBe(0);
  });

  test.each([
    ["another request", "/keys", "{}", "no such request"],
    ["no JSON", "/claims", "{", "not valid JSON"],
    [
      "a member too many",
      "/returns",
      JSON.stringify({ srcChain: 2, deliveryId: WORD, deadline: "1", key: "0x" }),
      "",
    ],
    [
      "a number instead of digits",
      "/returns",
      JSON.stringify({ srcChain: 2, deliveryId: WORD, deadline: 1 }),
      "/deadline",
    ],
    ["bytes to sign", "/transactions", JSON.stringify({ raw: "0x02" }), ""],
  ])("%s is refused, and nothing is signed", async (_what, path, body, message) => {
    const answer = await post(path, body);
    expect(answer).toMatchObject({ status: 400 });
    expect(JSON.parse(answer.body)).toMatchObject({
      error: "BAD_REQUEST",
      message: expect.stringContaining(message),
    });
    expect(asked).toEqual([]);
  });

  test("more than any request has is not read", async () => {
    const answer = await post("/transactions", " ".repeat(2_000_000));
    expect(answer).toMatchObject({ status: 400 });
  });
});

describe("failures", () => {
  const failing = async (error: Error) => {
    await server.stop();
    const lane = { ...createReadableSigner(2), sign: () => Promise.reject(error) };
    server = await start({ lanes: [lane], attestor: null, vaults: null });
    const { lanes } = await connectSigner(socket);
    return lanes[0]?.sign(INTENT);
  };

  test("a refusal is a refusal on both sides", async () => {
    await expect(failing(new SignerRefusal("a test"))).rejects.toThrow(SignerRefusal);
    await expect(failing(new SignerRefusal("a test"))).rejects.toThrow(
      "The signer refuses: a test.",
    );
  });

  test("who waits is waited for on both sides", async () => {
    const failed = failing(new SignerWaits("a test"));
    await expect(failed).rejects.toThrow(SignerWaits);
    await expect(failed).rejects.toThrow("The signer waits: a test.");
  });

  test("a KMS that does not answer is passing trouble", async () => {
    const error = new OperatingError("RPC_UNAVAILABLE", "not now");
    await expect(failing(error)).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
  });

  test("a failure of its own says nothing about itself", async () => {
    await expect(failing(new Error("0xsecret"))).rejects.toMatchObject({
      code: "RPC_UNAVAILABLE",
      message: expect.not.stringContaining("secret"),
    });
  });

  test("a signer without the key refuses", async () => {
    await server.stop();
    server = await start({ lanes: [], attestor: null, vaults: null });
    const answer = await post(
      "/returns",
      JSON.stringify({ srcChain: 2, deliveryId: WORD, deadline: "1" }),
    );
    expect(answer).toMatchObject({ status: 403 });
    const signers = await connectSigner(socket);
    expect(signers).toEqual({ lanes: [], attestor: null, vaults: null });
  });

  test("nobody there is passing trouble, and it goes on when somebody is", async () => {
    const { lanes } = await connectSigner(socket);
    await server.stop();
    await expect(lanes[0]?.sign(INTENT)).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
    await expect(connectSigner(socket)).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
    server = await start({ lanes: [createReadableSigner(2)], attestor, vaults: null });
    await lanes[0]?.sign(INTENT);
  });
});

describe("the path", () => {
  test("that a killed signer left behind is taken over", async () => {
    await server.stop();
    writeFileSync(socket, "");
    server = await start({ lanes: [], attestor: null, vaults: null });
    expect(existsSync(socket)).toBe(true);
  });

  test("where a signer listens is refused", async () => {
    await expect(start({ lanes: [], attestor: null, vaults: null })).rejects.toThrow(
      "another signer already listens there",
    );
    expect((await connectSigner(socket)).lanes).toHaveLength(1);
  });

  test("too long for a socket is refused", async () => {
    socket = join(folder, "x".repeat(120));
    await expect(start({ lanes: [], attestor: null, vaults: null })).rejects.toThrow(
      "expected at most 103",
    );
  });
});
