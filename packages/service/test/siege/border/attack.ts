/** Tools of the attacks on the interface: their target, plain HTTP from an address of their own, and raw sockets. */
import { Agent, type OutgoingHttpHeaders, request } from "node:http";
import { connect, type Socket } from "node:net";
import { WebSocket } from "ws";

/** The service as attackers know it. */
export interface Target {
  readonly baseUrl: string;
  readonly quoteUrl: string;
  /** Keys of the hostile integrator, one for each attack that has one. */
  readonly keys: readonly string[];
  /** Wallets of the hostile integrator, for requests to settle. */
  readonly wallets: readonly string[];
  /** Wallets and a hash of its million rows. */
  readonly history: { readonly wallets: readonly string[]; readonly txHash: string };
  /** USDC of the chain `ethereum`, and of `base`. */
  readonly tokens: { readonly ethereum: string; readonly base: string };
}

/** One attack. It runs in a process of its own until it is stopped. */
export interface Attack {
  readonly name: string;
  /** Threats of docs/threats.md that it plays. */
  readonly threats: string;
  /** Pause between two rounds, in milliseconds. */
  readonly everyMs: number;
  /** Prepares the attack and returns one round of it. Outcomes are counted by name and printed. */
  open(target: Target, count: (outcome: string, times?: number) => void): () => Promise<void>;
}

export interface Call {
  readonly url: string;
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
}

/** Returns a client whose connections come from a loopback address, which the service takes for another machine. */
export function createClient(localAddress: string, maxSockets = 64) {
  const agent = new Agent({ keepAlive: true, maxSockets, localAddress });
  return (call: Call): Promise<string> =>
    new Promise((resolve) => {
      const { url, method = "GET", headers = {}, body } = call;
      const sent = request(url, { method, headers, agent, timeout: 20_000 }, (answer) => {
        answer.resume();
        answer.once("end", () => resolve(String(answer.statusCode)));
        answer.once("error", () => resolve("cut"));
      });
      sent.once("timeout", () => sent.destroy());
      sent.once("error", () => resolve("cut"));
      sent.end(body);
    });
}

export const portOf = (url: string): number => Number(new URL(url).port);

/** Opens a connection that sends nothing. */
export function openTcp(target: Target, localAddress: string): Socket {
  const socket = connect({ port: portOf(target.baseUrl), host: "127.0.0.1", localAddress });
  socket.on("error", () => undefined);
  return socket;
}

/** Opens a websocket of the stream. */
export function openWebSocket({ baseUrl }: Target, localAddress: string): WebSocket {
  const url = `ws://127.0.0.1:${portOf(baseUrl)}/socket.io/?EIO=4&transport=websocket`;
  const socket = new WebSocket(url, { localAddress, perMessageDeflate: false });
  socket.on("error", () => undefined);
  return socket;
}

/** Keeps a number of connections open: each call replaces those that were cut, and returns their number. */
export function createCrowd<Member>(size: number, open: (left: () => void) => Member) {
  const members = new Set<Member>();
  return {
    members,
    refill(): number {
      let opened = 0;
      while (members.size < size) {
        const member: Member = open(() => void members.delete(member));
        members.add(member);
        opened += 1;
      }
      return opened;
    },
  };
}
