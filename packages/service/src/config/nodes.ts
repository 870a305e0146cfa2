/** The nodes of a chain and their quorum. */
import { type Static, Type } from "typebox";
import type { Frozen } from "../core/frozen.ts";
import { setting, Url, Urls } from "./values.ts";

/** The settings of a chain that name its nodes. */
export const NodeSettings = {
  rpcUrl: setting(Type.Optional(Url), "The node, where there is only one.", {
    defaultText: "required, unless `rpcUrls`",
  }),
  rpcUrls: setting(
    Type.Optional(Urls),
    "Instead of `rpcUrl`: several nodes, each of a host of its own ([nodes.md](nodes.md)).",
    { defaultText: "none" },
  ),
  quorum: setting(
    Type.Optional(
      Type.Integer({ minimum: 1, maximum: 16, description: "a number of nodes, 1 to 16" }),
    ),
    "How many of `rpcUrls` must agree: more than half of them.",
    { defaultText: "the least that is more than half" },
  ),
};

const NodesOfChain = Type.Object(NodeSettings);

/** The attestor's nodes of one chain. Their quorum is a majority. */
export const AttestorNodes = Type.Union([Url, Urls], {
  description: "an http or https URL, or a list of 1 to 16",
});

/** The nodes of one chain. URLs can contain credentials, so messages name a node by its position in the list. */
export interface NodesConfig extends Frozen<ReturnType<typeof checkNodes>> {}

/** Resolves the nodes of a chain from its entry in the file. */
export function resolveNodes(
  { rpcUrl, rpcUrls, quorum }: Static<typeof NodesOfChain>,
  setting: string,
  problems: string[],
): NodesConfig {
  if (rpcUrl === undefined && rpcUrls === undefined) {
    problems.push(`${setting}.rpcUrl: expected an http or https URL, it is missing`);
    return { urls: [""], quorum: 1 };
  }
  if (rpcUrl !== undefined && rpcUrls !== undefined) {
    problems.push(`${setting}.rpcUrls: expected either rpcUrl or rpcUrls`);
  }
  const [urls, name] = rpcUrls ? [rpcUrls, "rpcUrls"] : [[rpcUrl ?? ""], "rpcUrl"];
  return checkNodes(
    { urls, quorum },
    { urls: `${setting}.${name}`, quorum: `${setting}.quorum` },
    problems,
  );
}

/** Resolves the attestor's nodes of one chain. */
export function resolveAttestorNodes(
  written: Static<typeof AttestorNodes>,
  setting: string,
  problems: string[],
): NodesConfig {
  const given = { urls: Array.isArray(written) ? written : [written], quorum: undefined };
  return checkNodes(given, { urls: setting, quorum: setting }, problems);
}

/** Checks the URLs and the quorum of a chain. The default quorum is a majority; a smaller one is a problem. */
function checkNodes(
  given: { readonly urls: readonly string[]; readonly quorum: number | undefined },
  setting: { readonly urls: string; readonly quorum: string },
  problems: string[],
) {
  const [first, ...others] = given.urls;
  const count = given.urls.length;
  const majority = Math.floor(count / 2) + 1;
  const { quorum = majority } = given;
  const origins = given.urls.map(operatorOf);
  for (const [index, origin] of origins.entries()) {
    const at = count > 1 ? `${setting.urls}[${index}]` : setting.urls;
    if (origin === null) problems.push(`${at}: expected an http or https URL`);
    else if (origins.indexOf(origin) < index) {
      problems.push(`${at}: expected a host of its own, an earlier node of the list has it too`);
    }
  }
  if (quorum > count) {
    problems.push(`${setting.quorum}: expected at most ${count}, the number of nodes`);
  } else if (quorum < majority) {
    problems.push(`${setting.quorum}: expected at least ${majority}, more than half of the nodes`);
  }
  const urls: readonly [string, ...string[]] = [first ?? "", ...others];
  return {
    urls,
    /** Number of equal answers required: a majority, so that a minority can fail without two quorums disagreeing. */
    quorum,
  };
}

/** Returns the host of a URL. One operator controls every URL of a host, so two URLs on it are not independent. */
function operatorOf(url: string): string | null {
  return URL.parse(url)?.host || null;
}
