/** What the launcher prints when everything is up: where things are, and a command for every endpoint. */
import { demoQuoteRequest } from "./demo.ts";
import type { DescribedChain, Descriptor } from "./descriptor.ts";

/** The closing text. */
export function formatGuide(descriptor: Descriptor, descriptorPath: string): string {
  const { baseUrl, quoteUrl, telemetryUrl, chains, integrators } = descriptor;
  const rows = [
    ["service", baseUrl],
    ["quotes", quoteUrl],
    ["metrics", `${telemetryUrl}/metrics`],
    ["health", `${telemetryUrl}/health/ready`],
    ...chains.map((chain) => [chain.name, describeChain(chain)]),
    ...integrators.map(({ name, apiKey }) => [`key of ${name}`, apiKey]),
    ["descriptor", descriptorPath],
  ];
  const table = rows.map(([name = "", value = ""]) => `  ${name.padEnd(14)} ${value}`);
  return ["", ...table, "", "Try it:", "", ...listCommands(descriptor).map((c) => `  ${c}`)].join(
    "\n",
  );
}

function describeChain(chain: DescribedChain): string {
  const own = chain.kind === "evm" ? `, EVM id ${chain.evmChainId}` : "";
  return `${chain.rpcUrl} (bridge id ${chain.chainId}${own})`;
}

/** One `curl` per endpoint, ready to be pasted. */
export function listCommands(descriptor: Descriptor): readonly string[] {
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

/** A question to the Solana node; those that begin with `sandbox_` are its controls. */
function callNode(rpcUrl: string, method: string): string {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: [] });
  return `curl -s -X POST -H 'content-type: application/json' '${rpcUrl}' -d '${body}'`;
}
