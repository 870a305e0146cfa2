/** A node that gives the answers that a test sets, including malformed ones. */
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";

export interface Asked {
  readonly method: string;
  readonly params: readonly unknown[];
}

type Request = Asked & { readonly id: number };

/** A result, an error, or a function that writes to the socket itself. */
export type Reply =
  | { readonly result: unknown }
  | { readonly error: unknown }
  | ((response: ServerResponse) => void);

export interface MalformedNode {
  readonly rpcUrl: string;
  /** Requests since the last `answer`; each of a batch counts. */
  readonly asked: readonly Asked[];
  /** Sets the answer to each later request, which may come later. */
  answer(reply: (asked: Asked) => Reply | Promise<Reply>): void;
  stop(): Promise<void>;
}

/** Listens on 127.0.0.1 under a path and a query that carry secrets, as real nodes' URLs do. */
export async function startMalformedNode(): Promise<MalformedNode> {
  let reply: (asked: Asked) => Reply | Promise<Reply> = () => ({ result: null });
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => void answerAll());
    async function answerAll(): Promise<void> {
      const body: Request | readonly Request[] = JSON.parse(Buffer.concat(chunks).toString("utf8"));
      const requests = Array.isArray(body) ? body : [body];
      asked.push(...requests.map(({ method, params }) => ({ method, params })));
      const given = await Promise.all(
        requests.map(async (one) => ({ id: one.id, reply: await reply(one) })),
      );
      for (const one of given) {
        // It writes the whole answer, also of a batch.
        if (typeof one.reply === "function") return one.reply(response);
      }
      const answers = given.map((one) => ({ jsonrpc: "2.0", id: one.id, ...one.reply }));
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]));
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port was given");
  return {
    rpcUrl: `http://127.0.0.1:${address.port}/v2/${SECRET_OF_URL}?token=${SECRET_OF_URL}`,
    asked,
    answer(next) {
      asked.length = 0;
      reply = next;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** A credential in the node's URL, which must not appear in any output. */
export const SECRET_OF_URL = "s3cr3t-api-key";
