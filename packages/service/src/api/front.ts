/**
 * The listening server in front of an application that can be replaced while it runs, as when the configuration is read
 * again. Requests under way are answered by the application that received them, and no connection is closed.
 */
import { createServer, type Server } from "node:http";
import Fastify, { type FastifyInstance } from "fastify";
import { SERVER_LIMITS } from "./app.ts";
import { type ErrorBody, refusalOptions } from "./errors.ts";

/** A listening server, and the application behind it. */
export interface Front<App extends FastifyInstance> {
  /** Listens; has no routes of its own. */
  readonly listener: FastifyInstance;
  readonly app: () => App;
  /** Puts another application behind the server, and closes the one before it. */
  replace(next: App): Promise<void>;
  /** Stops listening, and closes the application once it has answered. */
  close(): Promise<void>;
}

/** Puts an application behind a server that its caller makes listen. */
export async function createFront<App extends FastifyInstance>(
  first: App,
  options: {
    readonly body: ErrorBody;
    /** Whether an upgrade of a connection is for a listener of the server, instead of a request. */
    readonly shouldUpgradeCallback: NonNullable<
      Parameters<typeof createServer>[0]
    >["shouldUpgradeCallback"];
  },
): Promise<Front<App>> {
  let app = first;
  await app.ready();
  const { shouldUpgradeCallback, body } = options;
  const listener = Fastify({
    logger: false,
    ...SERVER_LIMITS,
    ...refusalOptions(body),
    serverFactory: () => createFrontServer(shouldUpgradeCallback, () => app.server),
  });
  return {
    listener,
    app: () => app,
    async replace(next) {
      await next.ready();
      const before = app;
      app = next;
      await before.close();
    },
    async close() {
      await Promise.all([app.close(), listener.close()]);
    },
  };
}

/** As the framework creates servers, except that requests go to the application of the moment. */
function createFrontServer(
  shouldUpgradeCallback: Parameters<typeof createFront>[1]["shouldUpgradeCallback"],
  behind: () => Server,
): Server {
  const { http, keepAliveTimeout, requestTimeout, connectionTimeout } = SERVER_LIMITS;
  const server = createServer(
    { ...http, ...(shouldUpgradeCallback && { shouldUpgradeCallback }) },
    (request, response) => void behind().emit("request", request, response),
  );
  server.keepAliveTimeout = keepAliveTimeout;
  server.requestTimeout = requestTimeout;
  server.timeout = connectionTimeout;
  return server;
}
