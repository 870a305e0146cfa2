/** A stand-in for a Yellowstone gRPC server: `@sluice/sandbox/yellowstone`. */
export type { UpdateMessage } from "./messages.ts";
export {
  startYellowstoneStandIn,
  type StreamFaults,
  type YellowstoneStandIn,
  type YellowstoneStandInOptions,
} from "./stand-in.ts";
