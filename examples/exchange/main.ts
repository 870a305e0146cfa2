/** Runs the exchange against the sandbox of the current folder: `node examples/exchange/main.ts [port]`. */
import { readFileSync } from "node:fs";
import { type Exchange, openExchange } from "./exchange.ts";
import { readSandbox } from "./sandbox.ts";

const descriptor = readSandbox(JSON.parse(readFileSync(".sluice/sandbox.json", "utf8")));
const exchange: Exchange = await openExchange({
  ...descriptor,
  database: "exchange.db",
  port: Number(process.argv[2] ?? 4000),
});
await exchange.registerWebhook();
process.stdout.write(`exchange on ${exchange.url}\n`);

const warn = (text: string) => process.stderr.write(`${text}\n`);
setInterval(() => {
  exchange
    .reconcile()
    .then((differences) => differences.forEach((line) => warn(`difference: ${line}`)))
    .catch((error: unknown) => warn(`reconcile failed, retrying: ${String(error)}`));
}, 5_000);
