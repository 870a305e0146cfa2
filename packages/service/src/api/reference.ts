/** The description of the interface, which both servers serve without a key. */
import {
  createAsyncApi,
  createOpenApi,
  createReferencePage,
  type ServedBy,
} from "@sluice/sdk/reference";
import type { FastifyInstance } from "fastify";
import type { Admission } from "./admission.ts";

/** The page may load and run nothing, send nothing, and be framed by nobody. */
const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Serves the interface's description: two documents and a page, to which `/` leads. */
export function serveReference(
  app: FastifyInstance,
  config: { admission: Admission },
  describeService: () => ServedBy,
): void {
  let made: { readonly openApi: string; readonly asyncApi: string } | undefined;
  const documents = () => {
    const served = describeService();
    return (made ??= {
      openApi: JSON.stringify(createOpenApi(served)),
      asyncApi: JSON.stringify(createAsyncApi(served)),
    });
  };
  const page = createReferencePage();
  const json = "application/json; charset=utf-8";
  app.get("/openapi.json", { config }, (_, reply) => reply.type(json).send(documents().openApi));
  app.get("/asyncapi.json", { config }, (_, reply) => reply.type(json).send(documents().asyncApi));
  // Relative, so that it also leads there behind a proxy with a path.
  app.get("/", { config }, (_, reply) => reply.redirect("docs", 302));
  app.get("/docs", { config }, (_, reply) =>
    reply
      .type("text/html; charset=utf-8")
      .header("content-security-policy", PAGE_POLICY)
      .send(page),
  );
}
