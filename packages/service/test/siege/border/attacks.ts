/** The attacks of `npm run siege -- border`: each is cheap for a stranger or for one integrator. */
import { randomBytes, randomUUID } from "node:crypto";
import {
  type Attack,
  type Call,
  createClient,
  createCrowd,
  openTcp,
  openWebSocket,
  type Target,
} from "./attack.ts";

/** The address of the honest integrator, behind which wrong keys come too. */
const SHARED_ADDRESS = "127.0.0.1";
const READING_NEVER = 50;

/** Sockets without a key that send pings and never read. */
const pings: Attack = {
  name: "pings",
  threats: "T98",
  everyMs: 50,
  open(target, count) {
    const crowd = createCrowd(READING_NEVER, (left) => {
      const socket = openWebSocket(target, "127.0.0.11");
      socket.on("open", () => socket.pause());
      socket.on("close", left);
      return socket;
    });
    return async () => {
      count("sockets opened", crowd.refill());
      for (const socket of crowd.members) {
        if (socket.readyState !== socket.OPEN) continue;
        for (let n = 0; n < 20; n += 1) socket.ping("x".repeat(100));
        count("pings", 20);
      }
    };
  },
};

/** Connections that send nothing, and sockets that never ask for admission. */
const silent: Attack = {
  name: "silent",
  threats: "T181, T98",
  everyMs: 500,
  open(target, count) {
    const plain = createCrowd(900, (left) => openTcp(target, "127.0.0.12").on("close", left));
    const sockets = createCrowd(300, (left) =>
      openWebSocket(target, "127.0.0.13").on("close", left),
    );
    return async () => {
      count("connections opened", plain.refill());
      count("sockets opened", sockets.refill());
    };
  },
};

/** Requests that arrive byte by byte, in their headers or in their body. */
const slow: Attack = {
  name: "slow",
  threats: "T94",
  everyMs: 500,
  open(target, count) {
    const [apiKey = ""] = target.keys;
    const headers = "GET /swaps HTTP/1.1\r\nHost: x\r\nX-Pad: ";
    const body =
      `POST /request-index HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${apiKey}\r\n` +
      "Content-Type: application/json\r\nContent-Length: 50000\r\n\r\n{";
    let opened = 0;
    const crowd = createCrowd(200, (left) => {
      const socket = openTcp(target, "127.0.0.14").on("close", left);
      socket.write(opened++ % 2 === 0 ? headers : body);
      return socket;
    });
    return async () => {
      count("connections opened", crowd.refill());
      for (const socket of crowd.members) socket.write(" ");
      count("bytes", crowd.members.size);
    };
  },
};

/** Admitted sockets that never read, and send as much as they can. */
const greedy: Attack = {
  name: "greedy",
  threats: "T98",
  everyMs: 100,
  open(target, count) {
    const apiKey = target.keys[1] ?? "";
    const crowd = createCrowd(30, (left) => {
      const socket = openWebSocket(target, "127.0.0.15");
      socket.on("open", () => {
        socket.send(`40${JSON.stringify({ apiKey })}`);
        socket.pause();
      });
      socket.on("close", left);
      return socket;
    });
    const message = `42["ask","${"x".repeat(8_000)}"]`;
    return async () => {
      count("sockets opened", crowd.refill());
      for (const socket of crowd.members) {
        if (socket.readyState !== socket.OPEN) continue;
        socket.send(message);
        count("messages");
      }
    };
  },
};

/** Connections and handshakes that come and go, some with bytes that are no HTTP. */
const many: Attack = {
  name: "many",
  threats: "T98, T181",
  everyMs: 250,
  open: (target, count) => async () => {
    for (let n = 0; n < 40; n += 1) {
      const socket = openTcp(target, `127.0.0.${20 + (n % 8)}`);
      socket.on("connect", () => socket.write(n % 2 === 0 ? randomBytes(100) : "\r\n\r\n"));
      setTimeout(() => socket.destroy(), 200);
    }
    for (let n = 0; n < 10; n += 1) {
      const socket = openWebSocket(target, `127.0.0.${20 + (n % 8)}`);
      socket.on("open", () => socket.send("40{}"));
      setTimeout(() => socket.terminate(), 200);
    }
    count("connections", 50);
  },
};

/** Returns a flood of calls: some at the same time, as fast as they are answered but for a pause. */
function createFlood(options: {
  readonly name: string;
  readonly threats: string;
  readonly localAddress: string;
  readonly atOnce: number;
  readonly callOf: (target: Target, n: number) => Call;
}): Attack {
  const { name, threats, localAddress, atOnce, callOf } = options;
  return {
    name,
    threats,
    everyMs: 50,
    open(target, count) {
      const send = createClient(localAddress);
      let n = 0;
      return async () => {
        const calls = Array.from({ length: atOnce }, async () =>
          count(await send(callOf(target, n++))),
        );
        await Promise.all(calls);
      };
    },
  };
}

const pick = <Item>(items: readonly Item[], n: number): Item => {
  const item = items[n % items.length];
  if (item === undefined) throw new Error("expected at least one");
  return item;
};

/** Every filter over half a million rows of one integrator. */
const lists = createFlood({
  name: "lists",
  threats: "T179, T178",
  localAddress: "127.0.0.30",
  atOnce: 32,
  callOf({ baseUrl, keys, history }, n) {
    const wallet = pick(history.wallets, n);
    const stamp = new Date(Date.now() - 12 * 86_400_000 - (n % 1_000) * 900_000).toISOString();
    const path = pick(
      [
        "/swaps?status=pending_swap&limit=100",
        `/swaps?walletAddress=${wallet}&limit=100`,
        `/swaps?userId=0x${(n % 1_000).toString(16)}&limit=100`,
        `/swaps?chainId=4&cursor=${stamp}&limit=100`,
        "/swaps?status=dead&limit=100",
        `/deposits?walletAddress=${wallet}&limit=100`,
        `/deposits?txHash=${history.txHash}`,
        "/deposits?chainId=23&limit=100",
        `/events?type=deposit_detected&since=${stamp}&limit=200`,
        `/events?walletAddress=${wallet}&limit=200`,
        `/events?since=${stamp}&limit=200`,
        `/deposit-addresses?cursor=${stamp}&limit=100`,
      ],
      n,
    );
    return { url: `${baseUrl}${path}`, headers: { "x-api-key": pick(keys, 2) } };
  },
});

/** Quotes, each for another user and recipient. */
const quotes = createFlood({
  name: "quotes",
  threats: "T183, T178, T204",
  localAddress: "127.0.0.31",
  atOnce: 32,
  callOf({ quoteUrl, keys, tokens }, n) {
    const address = `0x${randomBytes(20).toString("hex")}`;
    return {
      url: `${quoteUrl}/v3/quote?apiKey=${pick(keys, 3)}`,
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        amountIn64: String(10_000_000 + n),
        fromChain: "ethereum",
        fromToken: tokens.ethereum,
        toChain: "base",
        toToken: tokens.base,
        slippageBps: "auto",
        destinationAddress: address,
        payDeposit: true,
        payUserId: address,
        fullList: true,
      }),
    };
  },
});

/** Requests to settle empty wallets, which read a node. */
const indexes = createFlood({
  name: "request-index",
  threats: "T96, T97, T204",
  localAddress: "127.0.0.32",
  atOnce: 32,
  callOf: ({ baseUrl, keys, wallets, tokens }, n) => ({
    url: `${baseUrl}/request-index`,
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": pick(keys, 4) },
    body: JSON.stringify({
      chain: 2,
      walletAddress: pick(wallets, n),
      tokenAddress: tokens.ethereum,
    }),
  }),
});

/** Wrong keys from the address of the honest integrator. */
const wrongKeys = createFlood({
  name: "wrong keys",
  threats: "T180",
  localAddress: SHARED_ADDRESS,
  atOnce: 16,
  callOf: ({ baseUrl, quoteUrl }, n) =>
    n % 2 === 0
      ? { url: `${baseUrl}/swaps`, headers: { "x-api-key": randomUUID() } }
      : { url: `${quoteUrl}/v3/quote?apiKey=${randomUUID()}`, method: "POST" },
});

export const ATTACKS: readonly Attack[] = [
  pings,
  silent,
  slow,
  greedy,
  many,
  lists,
  quotes,
  indexes,
  wrongKeys,
];

/** Keys that the attacks use. */
export const KEYS = 5;
