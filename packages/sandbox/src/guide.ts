/** The text that the launcher prints when everything is running: URLs, keys, and a command for each endpoint. */
import { demoQuoteRequest } from "./demo.ts";
import type { DescribedChain, Descriptor } from "./descriptor.ts";

/** Objects of the demo, which the commands for single objects name. */
export interface GuideObjects {
  /** Id of the deposit address. */
  readonly addressId: string;
  readonly depositAddress: string;
  readonly settlementId: string;
  readonly depositId: string;
}

/** The amount that comes out of an address for a payment to it. */
export interface GuideOutput {
  /** Such as `0.1 ETHEREUM on ethereum`. */
  readonly sent: string;
  readonly received: string;
}

/** Outputs and links that the launcher makes for the guide. */
export interface GuideExtras {
  readonly outputs: readonly GuideOutput[];
  /** A link that signs in to the operators' console, once. */
  readonly operatorLink: string;
}

/** An endpoint for webhooks: a port on which nothing of the sandbox listens. */
const WEBHOOK_URL = "http://127.0.0.1:4000/webhooks";

/** Returns the text. */
export function formatGuide(
  descriptor: Descriptor,
  descriptorPath: string,
  { outputs, operatorLink, ...objects }: GuideObjects & GuideExtras,
): string {
  const { baseUrl, quoteUrl, payUrl, consoleUrl, telemetryUrl, controlUrl } = descriptor;
  const { chains, integrators } = descriptor;
  const rows = [
    ["service", baseUrl],
    ["quotes", quoteUrl],
    ["metrics", `${telemetryUrl}/metrics`],
    ["health", `${telemetryUrl}/health/ready`],
    ...chains.map((chain) => [chain.name, describeChain(chain)]),
    ...integrators.map(({ name, apiKey }) => [`API key ${name}`, apiKey]),
    ["scenarios", `${controlUrl}/scenarios`],
    ["documentation", `${baseUrl}/docs`],
    ...(payUrl === undefined ? [] : [["pay page", payUrl]]),
    ["console", consoleUrl],
    ["for operators", `${operatorLink} (signs in once)`],
    ["descriptor", descriptorPath],
  ];
  const table = rows.map(([name = "", value = ""]) => `  ${name.padEnd(15)} ${value}`);
  return [
    "",
    ...table,
    "",
    `The deposit address ${objects.depositAddress} delivers one token, whichever is paid:`,
    "",
    ...outputs.map(({ sent, received }) => `  ${sent} -> ${received}`),
    "",
    "Try it:",
    "",
    ...listCommands(descriptor, objects).map((c) => `  ${c}`),
  ].join("\n");
}

function describeChain(chain: DescribedChain): string {
  const evmId = chain.kind === "evm" ? `, EVM chain id ${chain.evmChainId}` : "";
  return `${chain.rpcUrl} (bridge chain id ${chain.chainId}${evmId})`;
}

/** Returns one `curl` command per endpoint, ready to paste, but for those of one webhook endpoint or refund: the demo has none. */
export function listCommands(
  descriptor: Descriptor,
  { addressId, depositAddress, settlementId, depositId }: GuideObjects,
): readonly string[] {
  const { baseUrl, quoteUrl, controlUrl, chains } = descriptor;
  const solana = chains.find((chain) => chain.kind === "svm");
  const apiKey = descriptor.integrators[0]?.apiKey ?? "";
  const key = `-H 'x-api-key: ${apiKey}' `;
  const get = (path: string, header = key) => `curl -s ${header}'${baseUrl}${path}'`;
  const quote = demoQuoteRequest(descriptor);
  const index = {
    walletAddress: depositAddress,
    tokenAddress: quote.fromToken,
    chain: chains.find(({ name }) => name === quote.fromChain)?.chainId,
  };
  const query = new URLSearchParams({
    apiKey,
    ...Object.fromEntries(Object.entries(quote).map(([name, value]) => [name, String(value)])),
  });
  return [
    postJson(`${quoteUrl}/v3/quote?apiKey=${apiKey}`, quote),
    `curl -s '${quoteUrl}/v3/quote?${query}'`,
    postJson(`${quoteUrl}/addresses`, { addresses: [addressOf(quote)] }, key),
    get("/deposit-addresses"),
    get(`/deposit-addresses/${addressId}`),
    get("/deposits"),
    get(`/deposits/${depositId}`),
    get("/swaps"),
    get(`/swaps/${settlementId}`),
    get(`/settlements/${settlementId}`),
    get("/events"),
    get("/exports/deposits?format=csv"),
    get("/exports/settlements"),
    get("/exports/events"),
    postJson(`${baseUrl}/request-index`, index, key),
    postJson(`${baseUrl}/refunds`, index, key),
    get("/refunds"),
    get("/keys/self"),
    postJson(`${baseUrl}/pay-links`, { depositAddressId: addressId }, key),
    get("/pay-links"),
    postJson(`${baseUrl}/webhooks`, { url: WEBHOOK_URL }, key),
    get("/webhooks"),
    get("/chains", ""),
    get("/source-config", ""),
    get("/openapi.json", ""),
    get("/asyncapi.json", ""),
    postJson(`${controlUrl}/play/deposit-delivered`, {}),
    ...(solana
      ? [callNode(solana.rpcUrl, "getSlot"), callNode(solana.rpcUrl, "sandbox_tick")]
      : []),
  ];
}

/** Returns the fields of a quote request that fix a deposit address. */
function addressOf({
  fromChain,
  toChain,
  toToken,
  destinationAddress,
}: ReturnType<typeof demoQuoteRequest>) {
  return { fromChain, toChain, toToken, destinationAddress };
}

function postJson(url: string, body: object, header = ""): string {
  return `curl -s -X POST ${header}-H 'content-type: application/json' '${url}' -d '${JSON.stringify(body)}'`;
}

/** Returns a JSON-RPC request to the Solana node. Methods that begin with `sandbox_` are its controls. */
function callNode(rpcUrl: string, method: string): string {
  return postJson(rpcUrl, { jsonrpc: "2.0", id: 1, method, params: [] });
}
