/** Nodes of a configuration, without limits. */
import type { NodeConfig, NodesConfig } from "../../src/config/index.ts";

export function createNodeConfig(url: string): NodeConfig {
  return {
    url,
    wsUrl: undefined,
    grpcUrl: undefined,
    grpcToken: undefined,
    requestsPerSecond: undefined,
    requestsPerDay: undefined,
    role: "full",
  };
}

export function createNodesConfig(
  [first, ...others]: readonly [string, ...string[]],
  quorum: number,
): NodesConfig {
  return { all: [createNodeConfig(first), ...others.map(createNodeConfig)], quorum };
}
