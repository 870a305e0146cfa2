/** `/refunds`: refunds of deposits to their committed refund authority. Additions to the published interface. */
import { Refund, RefundBody, RefundPage, RefundResponse } from "@sluice/sdk/wire";
import type { FastifyInstance } from "fastify";
import { OperatingError } from "../core/errors.ts";
import type { RefundDesk } from "../settlements/index.ts";
import type { Admission, Admitted } from "./admission.ts";
import { parseBody } from "./body.ts";
import { answerInTime } from "./deadline.ts";
import type { NodeBudget } from "./node-budget.ts";
import { parseId, parseRefundsQuery } from "./query.ts";
import { readIndexRequest } from "./request-index.ts";

export type RefundRoutesDeps = Parameters<typeof readIndexRequest>[0] &
  Parameters<typeof answerInTime>[0] & {
    readonly refunds: RefundDesk;
    readonly nodeBudget: NodeBudget;
  };

/** Adds the routes to the application. */
export function serveRefunds(
  app: FastifyInstance,
  config: {
    readonly ask: { readonly admission: Admission };
    readonly read: { readonly admission: Admission };
  },
  { principalOf, holdPlace }: Pick<Admitted, "principalOf" | "holdPlace">,
  deps: RefundRoutesDeps,
): void {
  const { refunds, nodeBudget, format } = deps;

  app.post(
    "/refunds",
    { schema: { response: { 200: RefundResponse } }, config: config.ask },
    async (request, reply) => {
      const principal = principalOf(request);
      const { note, ...holding } = parseBody(RefundBody, request);
      const read = await readIndexRequest(deps, holding, principal);
      const { keyId } = principal;
      const asking = nodeBudget.spend(keyId, () => refunds.request({ ...read, keyId, note }));
      return answerInTime(
        deps,
        { elapsedMs: reply.elapsedTime, requestId: request.id },
        holdPlace(request, asking),
      );
    },
  );

  app.get(
    "/refunds",
    { schema: { response: { 200: RefundPage } }, config: config.read },
    (request) => {
      const { integratorId } = principalOf(request);
      // CAST: the query string is an object of strings and arrays of strings.
      const query = request.query as Record<string, unknown>;
      return refunds.list(integratorId, parseRefundsQuery(query, format));
    },
  );

  app.get(
    "/refunds/:id",
    { schema: { response: { 200: Refund } }, config: config.read },
    async (request) => {
      const { integratorId } = principalOf(request);
      // CAST: the path has the parameter.
      const id = parseId((request.params as Record<string, unknown>)["id"]);
      const refund = id && (await refunds.find(integratorId, id));
      if (refund) return refund;
      throw new OperatingError("NOT_FOUND", "There is no such refund of yours.");
    },
  );
}
