/** Whether the bridge's attestation service answers: without it nothing new is burned, and nothing burned is minted. */
import { formatUnits } from "../core/amounts.ts";
import { OperatingError } from "../core/errors.ts";
import { type BridgeFees, SHARE_DECIMALS } from "../routes/index.ts";
import { type Check, judge } from "./check.ts";
import { describeRoute, type DoctorDeps, getChain } from "./facts.ts";

/** What it asks for each way over the bridge, read once. */
export function checkBridge(deps: DoctorDeps): readonly Check[] {
  const { config, attestations } = deps;
  return config.routes.flatMap((route): Check[] => {
    const from = getChain(config, route.chainId).cctp;
    if (route.kind !== "FAST_MCTP" || !from) return [];
    const to = getChain(config, route.destChain).cctp;
    if (!to || !attestations) return [];
    return [
      {
        id: "bridge.service",
        subject: "bridge",
        item: describeRoute(config, route),
        needs: [],
        look: () => lookAtFees(() => attestations.getFees(from.domain, to.domain)),
      },
    ];
  });
}

async function lookAtFees(read: () => Promise<BridgeFees>) {
  const expected = "that the attestation service names its fees";
  const advice =
    "Correct cctp.apiUrl, or wait: meanwhile the route is not offered and burns are not minted.";
  try {
    const { fast, standard } = await read();
    const show = (share: bigint | null) =>
      share === null ? "not offered" : `${formatUnits(share, SHARE_DECIMALS)} basis points`;
    const found = `fast ${show(fast)}, standard ${show(standard)}`;
    return judge(fast !== null || standard !== null, {
      found,
      expected,
      advice,
      otherwise: "warning",
    });
  } catch (error) {
    if (!(error instanceof OperatingError)) throw error;
    const found = `${error.message} (${String(error.details?.["reason"])})`;
    return judge(false, { found, expected, advice, otherwise: "warning" });
  }
}
