/** Opens the port of a listener. */
import type { FastifyInstance } from "fastify";
import { OperatingError } from "../core/errors.ts";

/**
 * Connections that the system accepts before the process does. When they are too many, it drops the first packet of others,
 * which come again after a second, then after three: a burst of a stranger's connections delays everybody's. The default of
 * 511 is less than one address may have.
 */
const BACKLOG = 4_096;

/** Listens and returns the base URL. Throws CONFIG_MISSING that names the setting of the port. */
export async function listen(
  app: FastifyInstance,
  listener: { readonly host: string; readonly port: number },
  setting: string,
): Promise<string> {
  try {
    return await app.listen({ ...listener, backlog: BACKLOG });
  } catch (cause) {
    const taken = cause instanceof Error && "code" in cause && cause.code === "EADDRINUSE";
    throw new OperatingError(
      "CONFIG_MISSING",
      taken
        ? `${setting}: expected a free port, ${listener.port} is in use.`
        : `${setting}: ${listener.host}:${listener.port} is not available.`,
      { cause },
    );
  }
}
