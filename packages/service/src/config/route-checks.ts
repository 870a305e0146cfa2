/** Checks that several kinds of routes share. */
import type { Config } from "./config.ts";
import type { ChainToken, RouteConfig } from "./route-config.ts";

/** Lists the problems of a chain and token of a route, by the settings that name them. */
export function findPlaceProblems(
  { chains }: Pick<Config, "chains">,
  { chainId, token }: ChainToken,
  [ofChain, ofToken]: readonly [string, string],
): string[] {
  const problems: string[] = [];
  const chain = chains.find((known) => known.chainId === chainId);
  if (!chain) problems.push(`${ofChain}: expected a configured chain`);
  else if (!chain.tokens.some(({ address }) => address === token)) {
    problems.push(`${ofToken}: expected a listed token of chain ${chainId}`);
  }
  // The recipient gets less than was sent, so a lock could not be ended, nor a payment claimed.
  if (chain?.kind === "svm" && chain.mints.get(token)?.hasTransferFee) {
    problems.push(`${ofToken}: expected a token without a transfer fee`);
  }
  return problems;
}

/** Lists the problems of the destination of a route to another chain. */
export function findDestinationProblems(
  config: Pick<Config, "chains">,
  { chainId, destChain, destToken }: RouteConfig,
  setting: string,
): string[] {
  const destination = { chainId: destChain, token: destToken };
  const problems = findPlaceProblems(config, destination, [
    `${setting}.destChain`,
    `${setting}.destToken`,
  ]);
  if (destChain === chainId) {
    problems.push(`${setting}.destChain: expected another chain than chainId`);
  }
  return problems;
}
