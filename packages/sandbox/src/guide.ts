/** The text that the launcher prints when everything is running: URLs, keys, and a command for each endpoint. */
import { demoQuoteRequest } from "./demo.ts";
import type { DescribedChain, Descriptor } from "./descriptor.ts";

/** Returns the text. */
export function formatGuide(descriptor: Descriptor, descriptorPath: string): string {
  const { baseUrl, quoteUrl, telemetryUrl, chains, integrators } = descriptor;
  const rows = [
    ["service", baseUrl],
    ["quotes", quoteUrl],
    ["metrics", `${telemetryUrl}/metrics`],
    ["health", `${telemetryUrl}/health/ready`],
    ...chains.map((chain) => [chain.name, describeChain(chain)]),
    ...integrators.map(({ name, apiKey }) => [`API key ${name}`, apiKey]),
    ["descriptor", descriptorPath],
  ];
  const table = rows.map(([name = "", value = ""]) => `  ${name.padEnd(15)} ${value}`);
  return ["", ...table, "", "Try it:", "", ...listCommands(descriptor).map((c) => `  ${c}`)].join(
    "\n",
  );
}

function describeChain(chain: DescribedChain): string {
  const evmId = chain.kind === "evm" ? `, EVM chain id ${chain.evmChainId}` : "";
  return `${chain.rpcUrl} (bridge chain id ${chain.chainId}${evmId})`;
}

/** Returns one `curl` command per endpoint, ready to paste. */
function listCommands(descriptor: Descriptor): readonly string[] {
  const { baseUrl, quoteUrl, chains } = descriptor;
  const solana = chains.find((chain) => chain.kind === "svm");
  const apiKey = descriptor.integrators[0]?.apiKey ?? "";
  const get = (path: string, key = true) =>
    `curl -s ${key ? `-H 'x-api-key: ${apiKey}' ` : ""}'${baseUrl}${path}'`;
  const body = JSON.stringify(demoQuoteRequest(descriptor));
  return [
    get("/deposit-addresses"),
    get("/swaps"),
    get("/events"),
    get("/chains", false),
    get("/source-config", false),
    ...(solana
      ? [callNode(solana.rpcUrl, "getSlot"), callNode(solana.rpcUrl, "sandbox_tick")]
      : []),
    `curl -s -X POST -H 'content-type: application/json' '${quoteUrl}/v3/quote?apiKey=${apiKey}' -d '${body}'`,
  ];
}

/** Returns a JSON-RPC request to the Solana node. Methods that begin with `sandbox_` are its controls. */
function callNode(rpcUrl: string, method: string): string {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: [] });
  return `curl -s -X POST -H 'content-type: application/json' '${rpcUrl}' -d '${body}'`;
}
