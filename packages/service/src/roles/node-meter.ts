/** Counts requests to nodes by the work that sends them, across every await of that work. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { NodeMeter } from "../core/ports.ts";

/** Creates a meter and the callback that the nodes' traffic calls with each request. */
export function createNodeMeter(): NodeMeter & { readonly onRequests: (count: number) => void } {
  const counting = new AsyncLocalStorage<(count: number) => void>();
  return {
    run: (work, onRequests) => counting.run(onRequests, work),
    onRequests: (count) => counting.getStore()?.(count),
  };
}
