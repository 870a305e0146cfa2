/** A resource server that asks agents for a payment to a deposit address, and an agent that pays. */
import fastify from "fastify";
import type { Hex } from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import {
  decodeHeader,
  encodeHeader,
  findFault,
  HEADERS,
  PaymentPayload,
  PaymentRequired,
  requirePayment,
  SettlementResponse,
  signPayment,
} from "./x402.ts";

export interface SellerOptions {
  /** The paid resource. */
  readonly content: object;
  readonly order: Omit<Parameters<typeof requirePayment>[0], "url">;
  /** `POST /settle` of a facilitator: sends `transferWithAuthorization`, and returns once it is mined. */
  readonly settle: (payment: PaymentPayload) => Promise<SettlementResponse>;
}

/** Starts the server on loopback. */
export async function openSeller({ content, order, settle }: SellerOptions) {
  const app = fastify();
  let isPaid = false;
  app.get("/report", async ({ headers }, reply) => {
    const required = requirePayment({ ...order, url: `${app.listeningOrigin}/report` });
    const [asked] = required.accepts;
    const refuse = (error: string) =>
      reply
        .code(402)
        .header(HEADERS.required, encodeHeader({ ...required, error }))
        .send({});
    const header = headers[HEADERS.signature.toLowerCase()];
    if (typeof header !== "string" || !asked) return refuse(`${HEADERS.signature} is required`);
    let payment: PaymentPayload;
    try {
      payment = decodeHeader(PaymentPayload, header);
    } catch {
      return reply.code(400).send({ error: "invalid_payload" });
    }
    const fault = await findFault(asked, payment);
    if (fault !== null) return refuse(fault);
    // Before the tokens move, so that a second request of the same order does not pay again.
    if (isPaid) return refuse("invalid_transaction_state");
    isPaid = true;
    const settled = await settle(payment);
    isPaid = settled.success;
    return reply
      .code(settled.success ? 200 : 402)
      .header(HEADERS.response, encodeHeader(settled))
      .send(settled.success ? content : {});
  });
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  return { url: `${url}/report`, close: () => app.close() };
}

/** Requests a resource, and pays for it if it costs no more than the limit. */
export async function buy(
  url: string,
  agent: PrivateKeyAccount,
  limits: { readonly network: string; readonly asset: Hex; readonly amountMax: bigint },
) {
  const asked = await fetch(url);
  const required = asked.headers.get(HEADERS.required);
  if (asked.status !== 402 || required === null) throw new Error(`${url}: ${asked.status}`);
  const payment = await signPayment(agent, decodeHeader(PaymentRequired, required), limits);
  const paid = await fetch(url, { headers: { [HEADERS.signature]: encodeHeader(payment) } });
  const response = paid.headers.get(HEADERS.response);
  return {
    status: paid.status,
    content: await paid.json(),
    settlement: response === null ? null : decodeHeader(SettlementResponse, response),
  };
}
