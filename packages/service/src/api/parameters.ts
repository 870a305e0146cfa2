/** Refuses parameters that an endpoint of ours does not have: a misspelled filter would return everything. */
import { OPERATIONS } from "@sluice/sdk/wire";
import type { FastifyInstance } from "fastify";
import { OperatingError } from "../core/errors.ts";

/** Characters of an unknown parameter's name that an error shows. */
const SHOWN_MAX = 60;

/** The parameters of each addition, by its method and path. Endpoints of the published interface ignore unknown ones. */
const KNOWN = new Map(
  OPERATIONS.filter(({ published }) => !published).map(({ method, path, query }) => [
    `${method} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`,
    Object.keys(Object(Reflect.get(Object(query), "properties"))),
  ]),
);

/**
 * Checks the query of every addition by its schema, before its body is read. Register it after the admission: who has no
 * valid key learns no parameter.
 */
export function refuseUnknownParameters(app: FastifyInstance): void {
  app.addHook("onRequest", async ({ method, routeOptions, query }) => {
    // The headers alone of a GET are asked for with the same query.
    const known = KNOWN.get(`${method === "HEAD" ? "GET" : method} ${routeOptions.url}`);
    const unknown = known && Object.keys(Object(query)).find((name) => !known.includes(name));
    if (unknown === undefined) return;
    const field = unknown.slice(0, SHOWN_MAX);
    const expected = known?.length ? `one of ${known.join(", ")}` : "no parameters";
    throw new OperatingError(
      "VALIDATION_ERROR",
      `${field}: unknown parameter, expected ${expected}.`,
      { details: { field } },
    );
  });
}
