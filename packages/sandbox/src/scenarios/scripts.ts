/** The scripts of the scenarios. Each undoes its fault, whatever happens. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getAddress, isAddress, isHex, parseEther } from "viem";
import { SandboxError } from "../errors.ts";
import { asRecord } from "../json-file.ts";
import { loadKey } from "../keys.ts";
import { runServiceCommand } from "../service.ts";
import { statePaths } from "../state-paths.ts";
import type { Stage } from "./stage.ts";
import type { ScenarioName } from "./table.ts";

type Script = (stage: Stage) => Promise<void>;

const UNIT = 1_000_000n;
const OUTAGE_MS = 15_000;
const LATE_MS = 12_000;
const ENDPOINT_DOWN_MS = 4_000;
const AHEAD_MS = 300_000;

const payUsdc: Script = (stage) => stage.pay("token", 25n * UNIT);

/** Ends a settlement that a pause holds, as an operator does. Returns the call that refunds its deposit. */
async function endPaused(stage: Stage) {
  return stage.whilePaused(async () => {
    await payUsdc(stage);
    const failed = await stage.seen("status_changed", "failed_swap");
    if (failed.type !== "status_changed") throw new Error("the event is of this type");
    const { account } = refundAuthorityOf(stage);
    const command = ["settlement", "refund", failed.data.queueItemId, "--to", account.address];
    const reason = ["--reason", "scenario of the sandbox", "--json"];
    const config = ["--config", stage.parts.configPath];
    const printed = await runServiceCommand([...config, ...command, ...reason]);
    await stage.seen("status_changed", "dead");
    const { to, data } = asRecord(printed["call"]) ?? {};
    if (typeof to !== "string" || !isAddress(to, { strict: false }) || !isHex(data)) {
      throw new SandboxError("sluice settlement refund printed no call");
    }
    return { to: getAddress(to), data };
  });
}

const refundAuthorityOf = ({ parts, integrator }: Stage) =>
  loadKey(statePaths(parts.stateDir).keys, `refund-${integrator.name}`);

/** A script for Node that puts the clock of a process ahead. */
const CLOCK_AHEAD = `const Right = Date;
globalThis.Date = class Date extends Right {
  constructor(...parts) { parts.length === 0 ? super(Right.now() + ${AHEAD_MS}) : super(...parts); }
  static now() { return Right.now() + ${AHEAD_MS}; }
};`;

async function playWebhookDown(stage: Stage): Promise<void> {
  let isDown = true;
  const accepted = new Set<string>();
  const refused = new Set<string>();
  const server = createServer((request, response) => {
    const id = String(request.headers["webhook-id"]);
    (isDown ? refused : accepted).add(id);
    stage.onStep("webhook", `${id} answered with ${isDown ? 503 : 204}`);
    request.resume();
    response.writeHead(isDown ? 503 : 204).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // CAST: a server that listens on a TCP port has such an address.
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/hooks`;
  const { id } = await stage.ask("POST", "/webhooks", { url, extended: true });
  try {
    await payUsdc(stage);
    await stage.until(() => refused.size > 0 || undefined);
    await stage.wait(ENDPOINT_DOWN_MS);
    isDown = false;
    await stage.seen("status_changed", "completed");
    await stage.until((events) => events.every((event) => accepted.has(event.id)) || undefined);
    stage.onStep(
      "webhooks",
      `${accepted.size} events accepted, ${refused.size} of them refused first`,
    );
  } finally {
    await stage.ask("DELETE", `/webhooks/${String(id)}`);
    server.closeAllConnections();
    server.close();
  }
}

async function playClockJump(stage: Stage): Promise<void> {
  const { restartService } = stage.parts;
  const ahead = `--import=data:text/javascript,${encodeURIComponent(CLOCK_AHEAD)}`;
  await restartService({ NODE_OPTIONS: ahead });
  stage.onStep("clock", `the service's clock is ${AHEAD_MS / 1_000} s ahead`);
  try {
    await payUsdc(stage);
    await stage.seen("status_changed", "completed");
  } finally {
    await restartService();
    stage.onStep("clock", "the service's clock is right again");
  }
  await stage.pay("token", 10n * UNIT);
}

export const SCRIPTS: Readonly<Record<ScenarioName, Script>> = {
  "deposit-delivered": payUsdc,
  "deposit-reorged": (stage) => stage.payOrphaned("token", 25n * UNIT, () => stage.cancel()),
  "deposit-replaced": (stage) =>
    stage.payOrphaned("token", 25n * UNIT, () => stage.replaceBy("token", 10n * UNIT)),
  "deposit-delayed": (stage) => stage.payOrphaned("token", 25n * UNIT, (raw) => stage.delay(raw)),
  dust: (stage) => stage.pay("token", 1n),
  "below-minimum": async (stage) => {
    await stage.pay("token", UNIT / 2n);
    await stage.seen("deposit_detected", "below_token_min");
    await stage.pay("token", (UNIT * 6n) / 10n);
  },
  "fee-on-transfer": (stage) => stage.payTaxed(100n * UNIT),
  "provider-outage": async (stage) => {
    await payUsdc(stage);
    await stage.seen("status_changed", "swapping");
    await stage.freeze("base", OUTAGE_MS);
  },
  "attestation-late": async (stage) => {
    const { controls } = stage.parts.attestations;
    controls.paused = true;
    try {
      await stage.pay("weth", parseEther("0.01"));
      await stage.seen("status_changed", "swapping");
      await stage.wait(LATE_MS);
    } finally {
      controls.paused = false;
    }
  },
  "bridge-stuck": async (stage) => {
    const { controls } = stage.parts.attestations;
    controls.paused = true;
    try {
      await stage.pay("weth", parseEther("0.01"));
      const swapping = await stage.seen("status_changed", "swapping");
      if (swapping.type !== "status_changed") throw new Error("the event is of this type");
      await stage.swept(swapping.data.queueItemId);
      controls.down = true;
      await stage.seen("status_changed", "failed_swap");
    } finally {
      controls.down = false;
      controls.paused = false;
    }
  },
  "route-paused": (stage) =>
    stage.whilePaused(async () => {
      await payUsdc(stage);
      await stage.seen("status_changed", "failed_swap");
    }),
  "settlement-dead": async (stage) => void (await endPaused(stage)),
  "deposit-refunded": async (stage) => {
    const { to, data } = await endPaused(stage);
    await stage.call(refundAuthorityOf(stage).account, "a refund", to, data);
  },
  "webhook-endpoint-down": playWebhookDown,
  "clock-jump": playClockJump,
};
