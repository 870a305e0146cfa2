/** The process of surfpool: `surfpool-process.ts PACKAGE_FOLDER`. Prints its URL and serves until it is ended. */
import { createRequire } from "node:module";

interface Surfnet {
  readonly rpcUrl: string;
  drainEvents(): unknown;
}

interface SurfpoolModule {
  readonly Surfnet: {
    startWithConfig(config: {
      readonly offline: boolean;
      readonly blockProductionMode: "clock";
      readonly slotTimeMs: number;
    }): Surfnet;
  };
}

const [folder = ""] = process.argv.slice(2);
// CAST: the shape is what is used here of the pinned version, which brings no types.
const { Surfnet } = createRequire(import.meta.url)(folder) as SurfpoolModule;
const net = Surfnet.startWithConfig({
  offline: true,
  blockProductionMode: "clock",
  slotTimeMs: 50,
});
// Its list of events is short, and it stands still when that is full.
setInterval(() => net.drainEvents(), 50);
process.stdout.write(`${net.rpcUrl}\n`);
