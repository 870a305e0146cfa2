/**
 * The built files of the pages, read once and kept compressed. `npm ci` builds them; without them the pages answer how to
 * build them, and everything else works.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import { OperatingError } from "../core/errors.ts";

/** The folder beside `src` in this repository, and beside `dist` in the package. */
export const PAGES_FOLDER = join(import.meta.dirname, "../../pages");

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};
/** Below, compression does not pay. */
const COMPRESSED_MIN = 512;

/** Built files by their path in the folder. */
export interface PageFiles {
  /** Sends a file. @throws OperatingError NOT_FOUND without it; NOT_CONFIGURED if the pages are not built. */
  send(request: FastifyRequest, reply: FastifyReply, name: string): FastifyReply;
}

interface PageFile {
  readonly type: string;
  readonly body: Buffer;
  readonly gzip: Buffer | null;
  readonly etag: string;
}

/** Reads the built files of a folder. */
export function readPageFiles(folder = PAGES_FOLDER): PageFiles {
  const files = existsSync(folder) ? readFolder(folder) : new Map<string, PageFile>();
  return {
    send(request, reply, name) {
      if (files.size === 0) {
        throw new OperatingError(
          "NOT_CONFIGURED",
          "The pages of this service are not built: run `npm run build:pages` and restart it.",
        );
      }
      const file = files.get(name);
      if (!file) throw new OperatingError("NOT_FOUND", "There is nothing at this path.");
      void reply.type(file.type).header("etag", file.etag).header("vary", "Accept-Encoding");
      if (request.headers["if-none-match"] === file.etag) return reply.code(304).send();
      const takesGzip = /\bgzip\b/.test(String(request.headers["accept-encoding"] ?? ""));
      return file.gzip && takesGzip
        ? reply.header("content-encoding", "gzip").send(file.gzip)
        : reply.send(file.body);
    },
  };
}

function readFolder(folder: string): ReadonlyMap<string, PageFile> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return new Map(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        const body = readFileSync(path);
        const hash = createHash("sha256").update(body).digest("base64url").slice(0, 16);
        const type = TYPES[entry.name.split(".").at(-1) ?? ""] ?? "application/octet-stream";
        const gzip = body.length < COMPRESSED_MIN ? null : gzipSync(body, { level: 9 });
        const name = path.slice(folder.length + 1).replaceAll("\\", "/");
        return [name, { type, body, gzip, etag: `"${hash}"` }];
      }),
  );
}

/** Hashed names never change their content. */
const FOR_EVER = "public, max-age=31536000, immutable";
/** The entries keep their names, so that pages that were made earlier get corrections. */
const A_WHILE = "public, max-age=300";

/** Names a time for which a file may be kept. */
export function keepingOf(name: string): string {
  return /-[\w-]{8}\.\w+$/.test(name) ? FOR_EVER : A_WHILE;
}

/** Returns the content security policy of a page: its own files and data, nothing inline, nothing foreign. */
export function pagePolicy(frameAncestors: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${frameAncestors.length === 0 ? "'none'" : frameAncestors.join(" ")}`,
    "require-trusted-types-for 'script'",
  ].join("; ");
}
