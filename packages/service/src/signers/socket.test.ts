import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { GOVERNED } from "../core/commitment.ts";
import { createReadableSigner, LANE, silentLog } from "../../test/support/doubles.ts";
import type { Payout } from "../chains/port/index.ts";
import { OperatingError } from "../core/errors.ts";
import { padAddress, toAddress, toEvmAddress, toHex32, toTxHash } from "../core/hex.ts";
import { connectSigner } from "./client.ts";
import type {
  AttestorSigner,
  CountedPayout,
  LaneSigner,
  SigningRequest,
  VaultSigner,
} from "./port.ts";
import { SignerRefusal, SignerWaits } from "./refusal.ts";
import { type HeldSigners, startSignerServer, withVaultsOnly } from "./server.ts";
import { formatSigningRequest } from "./wire.ts";

const WORD = toHex32(`0x${"01".repeat(32)}`);
const TARGET = toEvmAddress(`0x${"2b".repeat(20)}`);
const INTENT: SigningRequest = {
  call: { to: TARGET, data: "0x0102", value: 0n },
  nonce: 7,
  gas: 100_000n,
  fees: { gasPriceMax: 2n ** 70n, tipMax: 1n },
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
    ...GOVERNED,
  },
  srcChain: 2,
  escrow: TARGET,
  srcToken: TARGET,
  lockedAmount: 2n ** 201n,
  minOut: 2n ** 199n,
  seq: 3n,
  windowStart: 1_800_000_000n,
  amount: 2n ** 200n,
};

let folder: string;
let socket: string;
let server: { stop(): Promise<void> };
let asked: unknown[];

/** Records its arguments. */
const attestor: AttestorSigner = {
  address: TARGET,
  signDelivery: async (...args) => (asked.push(args), "0x01"),
  signClaim: async (...args) => (asked.push(args), "0x02"),
  signReturn: async (...args) => (asked.push(args), "0x03"),
  signPrice: async (...args) => (asked.push(args), "0x04"),
  signRefund: async (...args) => (asked.push(args), "0x05"),
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
  // A body above the limit is answered before it is sent completely.
  outgoing.on("error", () => undefined);
  outgoing.end(body);
  const [response] = await once(outgoing, "response");
  return { status: response.statusCode, body: await text(response) };
}

describe("a signer behind the socket", () => {
  test("signs the same bytes as the lane without a socket", async () => {
    const { lanes } = await connectSigner(socket);
    expect(lanes).toMatchObject([{ chainId: 2, purpose: "settle", address: LANE, retired: false }]);
    expect(await lanes[0]?.sign(INTENT)).toEqual(await createReadableSigner(2).sign(INTENT));
  });

  test("passes the lifetime to a lane on Solana and returns its 64 byte signature", async () => {
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
      hints: [toTxHash(WORD)],
    };
    expect(await lanes[0]?.sign(intent)).toEqual({ raw: "0x06", hash });
    expect(asked).toEqual([[intent]]);
  });

  test("reports the rest of a daily cap only through the lane that keeps it", async () => {
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

  test("derives a vault and returns its binding", async () => {
    await server.stop();
    server = await start({ lanes: [], attestor: null, vaults });
    const { vaults: remote } = await connectSigner(socket);
    expect(remote).toMatchObject({ chainId: 1, binding: VAULT });
    const { commitment } = ORDER;
    expect(await remote?.deriveVault(commitment)).toEqual({ wallet: VAULT, proof: "0x05" });
    expect(asked).toEqual([[commitment]]);
  });

  test("signs nothing on a socket that only derives vaults", async () => {
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

  test("passes every message of the attestor without loss, also above 64 bits", async () => {
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
    expect(await remote?.signDelivery(30, ORDER, 10n ** 21n)).toBe("0x01");
    expect(await remote?.signClaim(2, claim)).toBe("0x02");
    expect(await remote?.signReturn(2, giveBack)).toBe("0x03");
    const refund = {
      commitment: ORDER.commitment,
      token: TARGET,
      maxAmount: 2n ** 200n,
      reason: "expired",
      deadline: 8n,
    } as const;
    expect(await remote?.signPrice(2, price)).toBe("0x04");
    expect(await remote?.signRefund(2, refund)).toBe("0x05");
    expect(asked).toEqual([
      [30, ORDER, undefined],
      [30, ORDER, 10n ** 21n],
      [2, claim],
      [2, giveBack],
      [2, price],
      [2, refund],
    ]);
  });

  test("passes the count of early payouts without loss", async () => {
    const counted: CountedPayout = {
      deliveryId: WORD,
      srcChain: 2,
      destChain: 30,
      escrow: TARGET,
      lock: {
        commitment: WORD,
        delivery: WORD,
        token: LANE,
        amount: 2n ** 200n,
        minOut: 2n ** 199n,
        seq: 2n ** 63n,
      },
      worth: 10n ** 30n,
      deadline: 9n,
      signedAtMs: 10,
    };
    await server.stop();
    const record = (...args: readonly unknown[]) => void asked.push(args);
    server = await start({
      lanes: [],
      attestor: {
        ...attestor,
        early: {
          list: async () => [counted],
          cover: async (id) => record("cover", id),
          listOthers: async (ids) => ids.slice(1),
          countOther: async (payout) => record("other", payout),
          getReadTo: async (destChain) => (destChain === 30 ? 2n ** 70n : null),
          recordReadTo: async (destChain, block) => record("read to", destChain, block),
        },
      },
      vaults: null,
    });
    const { attestor: connected } = await connectSigner(socket);
    const remote = connected?.early;
    expect(await remote?.list()).toEqual([counted]);
    await remote?.cover(WORD);
    const other = toHex32(`0x${"02".repeat(32)}`);
    expect(await remote?.listOthers([WORD, other])).toEqual([other]);
    await remote?.countOther(counted);
    expect([await remote?.getReadTo(30), await remote?.getReadTo(10)]).toEqual([2n ** 70n, null]);
    await remote?.recordReadTo(30, 2n ** 71n);
    expect(asked).toEqual([
      ["cover", WORD],
      ["other", counted],
      ["read to", 30, 2n ** 71n],
    ]);
  });

  test("restricts the socket to user and group, and the folder that it creates to the user", () => {
    expect(statSync(socket).mode & 0o117).toBe(0);
    expect(statSync(join(folder, "run")).mode & 0o077).toBe(0);
  });

  test.each([
    ["an unknown path", "/keys", "{}", "no such request"],
    ["invalid JSON", "/claims", "{", "not valid JSON"],
    [
      "an unknown member",
      "/returns",
      JSON.stringify({ srcChain: 2, deliveryId: WORD, deadline: "1", key: "0x" }),
      "",
    ],
    [
      "a number instead of a string of digits",
      "/returns",
      JSON.stringify({ srcChain: 2, deliveryId: WORD, deadline: 1 }),
      "/deadline",
    ],
    ["a request to sign raw bytes", "/transactions", JSON.stringify({ raw: "0x02" }), ""],
  ])("refuses %s and signs nothing", async (_what, path, body, message) => {
    const answer = await post(path, body);
    expect(answer).toMatchObject({ status: 400 });
    expect(JSON.parse(answer.body)).toMatchObject({
      error: "BAD_REQUEST",
      message: expect.stringContaining(message),
    });
    expect(asked).toEqual([]);
  });

  test("refuses a body above the size limit", async () => {
    const answer = await post("/transactions", " ".repeat(2_000_000));
    expect(answer).toMatchObject({ status: 400 });
  });
});

describe("a failure of the signer", () => {
  const failing = async (error: Error) => {
    await server.stop();
    const lane = { ...createReadableSigner(2), sign: () => Promise.reject(error) };
    server = await start({ lanes: [lane], attestor: null, vaults: null });
    const { lanes } = await connectSigner(socket);
    return lanes[0]?.sign(INTENT);
  };

  test("reaches the client as a refusal when the signer refuses", async () => {
    await expect(failing(new SignerRefusal("a test"))).rejects.toThrow(SignerRefusal);
    await expect(failing(new SignerRefusal("a test"))).rejects.toThrow(
      "The signer refuses: a test.",
    );
  });

  test.each(["call", "nonce", "lane"] as const)(
    "reaches the client with its subject when the signer refuses a %s [T154]",
    async (about) => {
      await expect(failing(new SignerRefusal("a test", about))).rejects.toMatchObject({ about });
    },
  );

  test("reaches the client as a wait when the signer waits", async () => {
    const failed = failing(new SignerWaits("a test"));
    await expect(failed).rejects.toThrow(SignerWaits);
    await expect(failed).rejects.toThrow("The signer waits: a test.");
  });

  test("is temporary when the KMS does not answer", async () => {
    const error = new OperatingError("RPC_UNAVAILABLE", "not now");
    await expect(failing(error)).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
  });

  test("does not leak the message of an unexpected error", async () => {
    await expect(failing(new Error("0xsecret"))).rejects.toMatchObject({
      code: "RPC_UNAVAILABLE",
      message: expect.not.stringContaining("secret"),
    });
  });

  test("is a refusal when the signer does not hold the key", async () => {
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

  test("is temporary while no signer listens, and ends when one does", async () => {
    const { lanes } = await connectSigner(socket);
    await server.stop();
    await expect(lanes[0]?.sign(INTENT)).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
    await expect(connectSigner(socket)).rejects.toMatchObject({ code: "RPC_UNAVAILABLE" });
    server = await start({ lanes: [createReadableSigner(2)], attestor, vaults: null });
    await lanes[0]?.sign(INTENT);
  });
});

describe("the path of the socket", () => {
  test("is taken over from a killed signer", async () => {
    await server.stop();
    writeFileSync(socket, "");
    server = await start({ lanes: [], attestor: null, vaults: null });
    expect(existsSync(socket)).toBe(true);
  });

  test("is refused while another signer listens there", async () => {
    await expect(start({ lanes: [], attestor: null, vaults: null })).rejects.toThrow(
      "another signer already listens there",
    );
    expect((await connectSigner(socket)).lanes).toHaveLength(1);
  });

  test("is refused when it is too long for a socket", async () => {
    socket = join(folder, "x".repeat(120));
    await expect(start({ lanes: [], attestor: null, vaults: null })).rejects.toThrow(
      "expected at most 103",
    );
  });
});
