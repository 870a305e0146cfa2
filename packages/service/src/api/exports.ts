/** `/exports`: deposits, settlements and events of a time range as a stream of lines. Additions to the published interface. */
import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { EXPORT_KINDS, EXPORT_MEDIA, type ExportFormat } from "@sluice/sdk/wire";
import type { FastifyInstance } from "fastify";
import { type ExportDeps, exportLines, type ExportRequest } from "../exports/index.ts";
import type { Log } from "../telemetry/log.ts";
import type { Admission, Admitted } from "./admission.ts";
import { parseExportQuery } from "./query.ts";

/** Adds the routes to the application. */
export function serveExports(
  app: FastifyInstance,
  config: { readonly admission: Admission },
  { principalOf, holdPlace }: Pick<Admitted, "principalOf" | "holdPlace">,
  deps: ExportDeps & { readonly log: Log },
): void {
  for (const kind of EXPORT_KINDS) {
    // A request for the headers alone would read the whole export.
    app.get(`/exports/${kind}`, { config, exposeHeadRoute: false }, (request, reply) => {
      const { integratorId } = principalOf(request);
      // CAST: the query string is an object of strings and arrays of strings.
      const { format, ...range } = parseExportQuery(request.query as Record<string, unknown>);
      const lines = streamLines(deps, { integratorId, kind, format, ...range });
      // An answer that broke off must not look whole: the connection is cut before its last chunk.
      const sent = finished(lines).catch((error: unknown) =>
        deps.log.warn({ err: error, requestId: request.id, kind }, "export broke off"),
      );
      void holdPlace(request, sent);
      const name = `attachment; filename="${kind}.${format}"`;
      return reply.type(EXPORT_MEDIA[format]).header("content-disposition", name).send(lines);
    });
  }
}

const LINE_ENDS: Readonly<Record<ExportFormat, string>> = { csv: "\r\n", jsonl: "\n" };

/** Returns the bytes of an export. The next page is read when the client took the one before. */
function streamLines(deps: ExportDeps, request: ExportRequest): Readable {
  const end = LINE_ENDS[request.format];
  async function* chunks() {
    for await (const lines of exportLines(deps, request)) {
      yield Buffer.from(lines.map((line) => line + end).join(""));
    }
  }
  return Readable.from(chunks(), { highWaterMark: 1 });
}
