/** The operators' console over settlements, a real database, and browsers with authenticators in software. */
import type { OperatorRole } from "@sluice/sdk/wire";
import type { InjectOptions } from "fastify";
import { sql } from "kysely";
import { expect, onTestFinished } from "vitest";
import { readPageFiles } from "../../src/api/index.ts";
import type { Config } from "../../src/config/index.ts";
import {
  type ConsoleDeps,
  createConsole,
  createReadings,
  type Examinations,
  formatRefund,
} from "../../src/console/index.ts";
import { Secret } from "../../src/core/secret.ts";
import { createRows } from "../../src/health/index.ts";
import { endBreach } from "../../src/ledger/index.ts";
import { inviteOperator, type ProviderConfig } from "../../src/operators/index.ts";
import { addressFormat } from "../../src/roles/address-format.ts";
import { REPAIRS } from "../../src/roles/repairs.ts";
import { systemClock, systemRandom } from "../../src/roles/system-ports.ts";
import { refundByOperator, retryEach, retrySettlement } from "../../src/settlements/index.ts";
import { askMove } from "../../src/rebalancing/index.ts";
import { silentLog } from "./doubles.ts";
import { createPasskey } from "./passkey.ts";
import { openDesk, USDC } from "./settlement-desk.ts";

export const ORIGIN = "https://console.example";

/** The chain of the desk, with its one token. */
// CAST: the console reads no other field.
const CONFIG = {
  chains: [
    {
      chainId: 2,
      name: "ethereum",
      kind: "evm",
      nodes: { all: [] },
      contracts: {},
      tokens: [{ symbol: "USDC", address: USDC, decimals: 6 }],
    },
  ],
  routes: [],
  attestors: { accounts: [], cold: [], threshold: 1 },
  deployment: undefined,
  screening: {},
  attestor: { nodes: new Map() },
  webhooks: { allowedRanges: ["127.0.0.0/8"], endpointsPerIntegrator: 10 },
} as unknown as ConsoleDeps["config"] & Pick<Config, "routes">;

const FOUND_NOTHING = { ok: true, text: "Nothing was found." };

/** Opens a console over the settlements of a desk. */
export async function openConsole({
  identityProvider,
  origin = () => ORIGIN,
  examinations = { doctor: async () => FOUND_NOTHING, audit: async () => FOUND_NOTHING },
}: {
  readonly identityProvider?: ProviderConfig;
  readonly origin?: () => string;
  readonly examinations?: Examinations;
} = {}) {
  const desk = await openDesk();
  const { db } = desk;
  const people = { db, random: systemRandom, pepper: new Secret("0123456789abcdef") };
  const context = { chains: CONFIG.chains, display: addressFormat.display };
  const app = createConsole({
    ...people,
    ...context,
    clock: systemClock,
    log: silentLog,
    files: readPageFiles(),
    config: CONFIG,
    examinations,
    rows: createRows({ db, clock: systemClock, gauges: [] }),
    readNodes: createReadings({
      ...context,
      config: CONFIG,
      nodes: desk.deps.chains,
      db,
      clock: systemClock,
      log: silentLog,
    }),
    askMove: (request) =>
      askMove({ ...desk.deps, config: CONFIG, random: systemRandom, log: silentLog }, request),
    endBreach: (end) => endBreach({ db, clock: systemClock, ...REPAIRS }, end),
    parseAddress: addressFormat.parseAny,
    parseRoute: () => undefined,
    origin,
    identityProvider,
    retry: (request) => retrySettlement(desk.deps, request),
    retryEach: (ids, request) => retryEach(desk.deps, ids, request),
    async refund(request) {
      const { result, asked } = await refundByOperator(desk.deps, request);
      return formatRefund(context, result, asked);
    },
  });
  onTestFinished(() => app.close());

  const invite = (name: string, role?: OperatorRole, identity?: string) =>
    inviteOperator(people, { name, role, identity, by: "ada@desk" });

  /** A browser: sends the console's host and origin, and keeps its cookie. */
  const browse = () => {
    const cookies = new Map<string, string>();
    const passkey = createPasskey(ORIGIN);
    const send = async (
      method: "GET" | "POST",
      url: string,
      payload?: object,
      headers: Readonly<Record<string, string>> = {},
    ) => {
      const options: InjectOptions = {
        method,
        url,
        headers: {
          host: "console.example",
          ...(method === "POST" && { origin: ORIGIN }),
          ...(cookies.size > 0 && {
            cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; "),
          }),
          ...headers,
        },
        ...(payload && { payload }),
      };
      const answer = await app.inject(options);
      for (const text of [answer.headers["set-cookie"] ?? []].flat()) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(text) ?? [];
        cookies.set(name, value);
      }
      return answer;
    };
    const post = async (url: string, payload: object = {}) => send("POST", url, payload);
    return {
      passkey,
      send,
      post,
      get: <Body>(url: string) => send("GET", url).then((answer) => answer.json() as Body),
      accept: (token: string) => post("/api/session/invitation", { token }),
      async register() {
        const options = (await post("/api/passkeys/options")).json();
        return post("/api/passkeys", { answer: passkey.register(options) });
      },
      async signIn(given: Parameters<typeof passkey.sign>[1] = {}) {
        const options = (await post("/api/session/passkey/options")).json();
        return post("/api/session/passkey", { answer: passkey.sign(options, given) });
      },
      async confirm() {
        const options = (await post("/api/session/confirm/options")).json();
        return post("/api/session/confirm", { answer: passkey.sign(options) });
      },
      forget: () => cookies.clear(),
    };
  };
  /** Signs a person in, with a passkey. */
  const join = async (name: string, role: OperatorRole) => {
    const browser = browse();
    await browser.accept((await invite(name, role)).token);
    expect((await browser.register()).statusCode).toBe(200);
    return browser;
  };
  /** A settlement that failed. */
  const fail = async () => {
    const address = await desk.issue("0x01");
    desk.state.balance = 1_000n;
    await desk.arrive(address, { amount: 1_000n, block: 90n });
    desk.state.simulation = { ok: false, reason: "Paused" };
    await desk.poll();
    const [swap] = await desk.swaps();
    return { id: swap?.id ?? "", wallet: address.wallet };
  };
  const age = (minutes: number) =>
    sql`update operator_sessions set verified_at = verified_at - ${minutes} * interval '1 minute'`.execute(
      db,
    );
  return { desk, db, app, people, invite, browse, join, fail, age };
}
