/**
 * The control endpoint of a sandbox on loopback: `GET /scenarios` lists the scenarios, `POST /play/NAME` plays one and
 * answers with its steps, one JSON object per line, of which the last has the result or the error.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { SandboxError } from "../errors.ts";
import { asRecord } from "../json-file.ts";
import type { Player, PlayOptions } from "./play.ts";
import { isScenarioName, SCENARIO_NAMES, SCENARIOS } from "./table.ts";

/** A running control endpoint. */
export interface Control {
  readonly url: string;
  stop(): Promise<void>;
}

const BODY_MAX = 10_000;

/** Starts the endpoint. `findPlayer` returns undefined while the sandbox is starting. */
export async function startControl(
  port: number,
  findPlayer: () => Player | undefined,
): Promise<Control> {
  const server = createServer((request, response) => {
    handle(findPlayer, request, response).catch((error: unknown) =>
      refuse(response, 500, error instanceof Error ? error.message : String(error)),
    );
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the server has no port");
  return {
    url: `http://127.0.0.1:${address.port}`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

async function handle(
  findPlayer: () => Player | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method, headers, url = "/" } = request;
  // A page of another origin cannot send this host and this type together without the browser's question.
  if (!/^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(headers.host ?? "")) {
    return refuse(response, 403, "host: expected a loopback address");
  }
  if (method === "GET" && url === "/scenarios") {
    return answer(
      response,
      200,
      SCENARIO_NAMES.map((name) => ({ name, ...SCENARIOS[name] })),
    );
  }
  const name = /^\/play\/([a-z-]+)$/.exec(url)?.[1];
  if (method !== "POST" || name === undefined) {
    return refuse(response, 404, "expected GET /scenarios or POST /play/NAME");
  }
  if (!isScenarioName(name)) {
    return refuse(response, 404, `scenario ${name}: expected one of ${SCENARIO_NAMES.join(", ")}`);
  }
  if (!/^application\/json\b/.test(headers["content-type"] ?? "")) {
    return refuse(response, 415, "content-type: expected application/json");
  }
  const play = findPlayer();
  if (!play) return refuse(response, 503, "the sandbox is still starting: try again");
  const options = parseOptions(await readBody(request));
  if (typeof options === "string") return refuse(response, 400, options);
  const leaving = new AbortController();
  response.once("close", () => leaving.abort(new SandboxError("the client has left")));
  response.writeHead(200, { "content-type": "application/x-ndjson" });
  const write = (line: object) => response.write(`${JSON.stringify(line)}\n`);
  try {
    const onStep = (step: string, text: string) => void write({ step, text });
    write({ result: await play(name, { ...options, signal: leaving.signal, onStep }) });
  } catch (error) {
    write({ error: { message: error instanceof Error ? error.message : String(error) } });
  }
  response.end();
}

/** Returns the options of a body, or the reason why they are invalid. */
function parseOptions(text: string | undefined): PlayOptions | string {
  if (text === undefined) return `body: expected at most ${BODY_MAX} bytes`;
  if (text.trim() === "") return {};
  let body: Readonly<Record<string, unknown>> | undefined;
  try {
    body = asRecord(JSON.parse(text));
  } catch {
    return "body: expected JSON";
  }
  if (!body) return "body: expected an object";
  const { depositAddress, timeoutMs, ...unknown } = body;
  const [extra] = Object.keys(unknown);
  if (extra !== undefined) return `${extra}: unknown, expected depositAddress or timeoutMs`;
  if (depositAddress !== undefined && typeof depositAddress !== "string") {
    return "depositAddress: expected an address";
  }
  const isTime = typeof timeoutMs === "number" && timeoutMs >= 1 && timeoutMs <= 3_600_000;
  if (timeoutMs !== undefined && !isTime) return "timeoutMs: expected 1 to 3600000";
  return {
    ...(depositAddress === undefined ? {} : { depositAddress }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
}

/** Reads a body; undefined if it is too large. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > BODY_MAX) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  if (response.headersSent) return void response.end();
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

const refuse = (response: ServerResponse, status: number, message: string): void =>
  answer(response, status, { error: { message } });
