import { OPERATIONS } from "@sluice/sdk/wire";
import { expect, test } from "vitest";
import type { Descriptor } from "./descriptor.ts";
import { formatGuide, listCommands } from "./guide.ts";

const chain = (name: string, chainId: number) => ({
  chainId,
  name,
  kind: "evm",
  evmChainId: 900_000 + chainId,
  rpcUrl: "http://127.0.0.1:1",
  tokens: [{ symbol: "USDC", address: `0x${"5".repeat(40)}`, standard: "erc20", decimals: 6 }],
  funded: [{ address: `0x${"6".repeat(40)}`, privateKey: `0x${"7".repeat(64)}` }],
});

// CAST: the parts of the descriptor that the commands are made from.
const DESCRIPTOR = {
  baseUrl: "http://127.0.0.1:3400",
  quoteUrl: "http://127.0.0.1:3401",
  integrators: [{ name: "acme", apiKey: "KEY" }],
  chains: [chain("ethereum", 2), chain("base", 30)],
} as unknown as Descriptor;

test("shows the amount that comes out for each token that is paid", () => {
  const text = formatGuide(DESCRIPTOR, "sandbox.json", {
    addressId: "ADDRESS-ID",
    depositAddress: `0x${"8".repeat(40)}`,
    settlementId: "SETTLEMENT-ID",
    depositId: "DEPOSIT-ID",
    operatorLink: "http://localhost:1/#invitation=x",
    outputs: [
      { sent: "25 USDC on ethereum", received: "about 24.975 USDC on base" },
      { sent: "0.1 ETHEREUM on ethereum", received: "about 299.7 USDC on base" },
    ],
  });
  expect(text).toContain("  0.1 ETHEREUM on ethereum -> about 299.7 USDC on base");
});

test("prints a command for every endpoint of the interface", () => {
  const commands = listCommands(DESCRIPTOR, {
    addressId: "ADDRESS-ID",
    depositAddress: `0x${"8".repeat(40)}`,
    settlementId: "SETTLEMENT-ID",
    depositId: "DEPOSIT-ID",
  });
  // The demo has no webhook endpoint and no refund, and its page shows its pay link.
  const operations = OPERATIONS.filter(
    ({ path }) => !/^\/(webhooks|refunds|pay|pay-links)\//.test(path),
  );
  for (const { method, path, server } of operations) {
    const base = server === "quote" ? DESCRIPTOR.quoteUrl : DESCRIPTOR.baseUrl;
    const url = new RegExp(`'${base}${path.replace("{id}", "[A-Z-]+")}(\\?[^']*)?'`);
    const found = commands.filter(
      (command) => url.test(command) && command.includes(" -X POST ") === (method === "POST"),
    );
    expect(found, `${method} ${path}`).toHaveLength(1);
  }
});
