/**
 * The page of the console. It is the same for everybody and holds nothing: what it shows it reads from the interface with the API
 * key that its viewer enters, which admits, limits and scopes it as it does every other client.
 */
import type { FastifyInstance } from "fastify";
import type { Admission } from "./admission.ts";
import { keepingOf, type PageFiles, pagePolicy } from "./page-files.ts";

/** Adds the routes to the application. */
export function serveConsole(
  app: FastifyInstance,
  config: { admission: Admission },
  files: PageFiles,
): void {
  app.get("/console", { config }, async (request, reply) => {
    void reply.header("content-security-policy", pagePolicy([]));
    return files.send(request, reply, "console.html");
  });

  app.get("/console/assets/:name", { config }, async (request, reply) => {
    // CAST: the route's path has a parameter of that name.
    const { name } = request.params as { readonly name: string };
    void reply.header("cache-control", keepingOf(name));
    return files.send(request, reply, `assets/${name}`);
  });
}
