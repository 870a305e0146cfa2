/** The nodes of a chain and their quorum. */
import { type Static, Type } from "typebox";
import type { Frozen } from "../core/frozen.ts";
import { setting, Url } from "./values.ts";

/** Uses of a node: a full one answers every read, a witness only confirms a full one's answers. */
const NODE_ROLES = ["full", "witness"] as const;

/** A node with its limits. */
export const NodeObject = Type.Object(
  {
    url: setting(Url, "The node."),
    wsUrl: setting(
      Type.Optional(
        Type.String({ pattern: "^wss?://", description: "a ws or wss URL of the same provider" }),
      ),
      "The WebSocket of the node, which announces new blocks to the scanner ([nodes.md](nodes.md#push)).",
      { defaultText: "none: the node is polled" },
    ),
    grpcUrl: setting(
      Type.Optional(
        Type.String({
          pattern: "^https?://",
          description: "an http or https URL of the same provider",
        }),
      ),
      "The Yellowstone gRPC server of a Solana node, which sends new blocks to the scanner ([nodes.md](nodes.md#streams-on-solana)).",
      { defaultText: "none: blocks are requested" },
    ),
    grpcToken: setting(
      Type.Optional(Type.String({ minLength: 1, description: "the token of grpcUrl" })),
      "The token for `grpcUrl`, sent as `x-token`.",
      { defaultText: "none" },
    ),
    requestsPerSecond: setting(
      Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 100_000,
          description: "a number of requests, at least 1",
        }),
      ),
      "The most requests that a process sends to the node in any second; those of a batch count one by one. Further ones wait.",
      { defaultText: "no limit" },
    ),
    requestsPerDay: setting(
      Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 10_000_000_000,
          description: "a number of requests, at least 1",
        }),
      ),
      "The most requests that all processes together send to the node in a day of UTC. Further ones fail until the next day ([nodes.md](nodes.md#limits-of-providers)).",
      { defaultText: "no limit" },
    ),
    role: setting(
      Type.Optional(Type.Enum(NODE_ROLES, { description: `one of ${NODE_ROLES.join(", ")}` })),
      "The use of the node. A witness only confirms the blocks and deposits that the scanner read from a full node ([nodes.md](nodes.md#witnesses)). Solana has none.",
      { default: "full" },
    ),
  },
  { additionalProperties: false, description: "an object with a url" },
);

const Node = Type.Union([Url, NodeObject], {
  description: "an http or https URL, or an object with a url",
});

const Nodes = Type.Array(Node, {
  minItems: 1,
  maxItems: 16,
  description: "a list of 1 to 16 URLs or objects with a url",
});

/** The settings of a chain that name its nodes. */
export const NodeSettings = {
  rpcUrl: setting(Type.Optional(Url), "The node, where there is only one.", {
    defaultText: "required, unless `rpcUrls`",
  }),
  rpcUrls: setting(
    Type.Optional(Nodes),
    "Instead of `rpcUrl`: several nodes, each of a host of its own ([nodes.md](nodes.md)), or one with its limits. An item is a URL or a [node](#nodes).",
    { defaultText: "none" },
  ),
  quorum: setting(
    Type.Optional(
      Type.Integer({ minimum: 1, maximum: 16, description: "a number of nodes, 1 to 16" }),
    ),
    "How many of `rpcUrls` must agree, witnesses included: more than half of them.",
    { defaultText: "the least that is more than half" },
  ),
};

const NodesOfChain = Type.Object(NodeSettings);

/** The attestor's nodes of one chain. Their quorum is a majority. */
export const AttestorNodes = Type.Union([Url, NodeObject, Nodes], {
  description: "an http or https URL, an object with a url, or a list of 1 to 16",
});

/** The nodes of one chain. URLs can contain credentials, so messages name a node by its position in the list. */
export interface NodesConfig extends Frozen<ReturnType<typeof checkNodes>> {}
/** One node and its limits. */
export interface NodeConfig extends Frozen<ReturnType<typeof resolveNode>> {}

type WrittenNode = Static<typeof Node>;

/** Resolves the nodes of a chain from its entry in the file. */
export function resolveNodes(
  { rpcUrl, rpcUrls, quorum }: Static<typeof NodesOfChain>,
  setting: string,
  problems: string[],
): NodesConfig {
  if (rpcUrl === undefined && rpcUrls === undefined) {
    problems.push(`${setting}.rpcUrl: expected an http or https URL, it is missing`);
    return { all: [resolveNode("")], quorum: 1 };
  }
  if (rpcUrl !== undefined && rpcUrls !== undefined) {
    problems.push(`${setting}.rpcUrls: expected either rpcUrl or rpcUrls`);
  }
  const [nodes, name] = rpcUrls ? [rpcUrls, "rpcUrls"] : [[rpcUrl ?? ""], "rpcUrl"];
  const names = { nodes: `${setting}.${name}`, quorum: `${setting}.quorum` };
  const checked = checkNodes({ nodes, quorum }, names, problems);
  const { full, witnesses } = countRoles(checked);
  if (full === 0) {
    problems.push(`${names.nodes}: expected a full node, a witness only confirms its answers`);
  } else if (witnesses > 0 && full >= checked.quorum) {
    problems.push(
      `${names.nodes}: expected fewer full nodes than the quorum of ${checked.quorum}, or no witness: none would be asked`,
    );
  }
  return checked;
}

/** Resolves the attestor's nodes of one chain. */
export function resolveAttestorNodes(
  written: Static<typeof AttestorNodes>,
  setting: string,
  problems: string[],
): NodesConfig {
  const given = { nodes: Array.isArray(written) ? written : [written], quorum: undefined };
  const checked = checkNodes(given, { nodes: setting, quorum: setting }, problems);
  const { full, witnesses } = countRoles(checked);
  // The second key must rest on its own reads.
  if (witnesses > 0 && full < checked.quorum) {
    problems.push(
      `${setting}: expected at least ${checked.quorum} full nodes, a majority: the attestor asks no witness`,
    );
  }
  return checked;
}

function countRoles({ all }: NodesConfig) {
  const witnesses = all.filter(({ role }) => role === "witness").length;
  return { witnesses, full: all.length - witnesses };
}

function resolveNode(written: WrittenNode) {
  const { url, wsUrl, grpcUrl, grpcToken, requestsPerSecond, requestsPerDay, role } =
    typeof written === "string" ? { url: written } : written;
  return {
    /** May contain credentials. */
    url,
    /** May contain credentials. Undefined: the node has no push. */
    wsUrl,
    /** May contain credentials. Undefined: the node has no stream. */
    grpcUrl,
    /** A credential. Undefined: none. */
    grpcToken,
    /** Undefined: no limit. */
    requestsPerSecond,
    /** Undefined: no limit. */
    requestsPerDay,
    role: role ?? "full",
  };
}

/** Checks the URLs and the quorum of a chain. The default quorum is a majority; a smaller one is a problem. */
function checkNodes(
  given: { readonly nodes: readonly WrittenNode[]; readonly quorum: number | undefined },
  setting: { readonly nodes: string; readonly quorum: string },
  problems: string[],
) {
  const [first = resolveNode(""), ...others] = given.nodes.map(resolveNode);
  const all: readonly [typeof first, ...(typeof first)[]] = [first, ...others];
  const count = all.length;
  const majority = Math.floor(count / 2) + 1;
  const { quorum = majority } = given;
  const hosts = all.map(({ url }) => hostOf(url));
  for (const [index, host] of hosts.entries()) {
    const at = count > 1 ? `${setting.nodes}[${index}]` : setting.nodes;
    if (host === null) problems.push(`${at}: expected an http or https URL`);
    else if (hosts.indexOf(host) < index) {
      problems.push(`${at}: expected a host of its own, an earlier node of the list has it too`);
    }
  }
  for (const [index, { grpcUrl }] of all.entries()) {
    const host = grpcUrl === undefined ? null : hostOf(grpcUrl);
    const isOfAnother = all.some(
      (other, at) =>
        at !== index && [other.url, other.grpcUrl ?? ""].some((url) => hostOf(url) === host),
    );
    // One server would answer for two nodes.
    if (host !== null && isOfAnother) {
      problems.push(
        `${setting.nodes}[${index}].grpcUrl: expected a host of this node, another node of the list has it`,
      );
    }
  }
  if (quorum > count) {
    problems.push(`${setting.quorum}: expected at most ${count}, the number of nodes`);
  } else if (quorum < majority) {
    problems.push(`${setting.quorum}: expected at least ${majority}, more than half of the nodes`);
  }
  return {
    /** At least one, in the order of the file. */
    all,
    /** Number of equal answers required: a majority, so that a minority can fail without two quorums disagreeing. */
    quorum,
  };
}

/** Returns the host of a URL. One operator controls every URL of a host, so two URLs on it are not independent. */
export function hostOf(url: string): string | null {
  return URL.parse(url)?.host || null;
}
