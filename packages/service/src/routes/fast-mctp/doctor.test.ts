import { expect, test } from "vitest";
import { CHAIN, createDoctorDeps, USDC } from "../../../test/support/doctor-doubles.ts";
import { OperatingError } from "../../core/errors.ts";
import { runChecks } from "../../doctor/run.ts";
import type { BridgeFees } from "./bridge-attestations.ts";
import { configuredRoute } from "../../../test/support/routes.ts";

const here = { ...CHAIN, cctp: { domain: 0, messenger: USDC, transmitter: USDC } };
const there = { ...here, chainId: 30, name: "base", cctp: { ...here.cctp, domain: 6 } };

function examine(answer: () => Promise<BridgeFees>) {
  const asked: string[] = [];
  const deps = createDoctorDeps({
    config: {
      chains: [here, there],
      routes: [
        configuredRoute({ kind: "MONO_CHAIN", chainId: 2, token: USDC, contract: USDC }),
        configuredRoute({
          kind: "FAST_MCTP",
          chainId: 30,
          token: USDC,
          destChain: 2,
          destToken: USDC,
          contract: USDC,
        }),
      ],
    },
    attestations: {
      getFees(from, to) {
        asked.push(`${from} to ${to}`);
        return answer();
      },
    },
  });
  const checks = deps.config.routes.flatMap(
    (route) => deps.moduleOf(route).checkService?.(deps, route) ?? [],
  );
  return { checks: runChecks([checks]), asked };
}

test("queries Circle's service once per way with its domain numbers, and shows the fees", async () => {
  const { checks, asked } = examine(async () => ({ fast: 1_300_000n, standard: 0n }));
  expect(await checks).toMatchObject([
    {
      id: "bridge.service",
      item: "FAST_MCTP USDC of chain 30 to USDC of chain 2",
      status: "ok",
      found: "fast 1.3 basis points, standard 0 basis points",
    },
  ]);
  expect(asked).toEqual(["6 to 0"]);
});

test("warns when Circle's service does not answer or offers neither way", async () => {
  const away = new OperatingError("RPC_UNAVAILABLE", "No answer.", {
    details: { reason: "http 503" },
  });
  expect(await examine(() => Promise.reject(away)).checks).toMatchObject([
    { status: "warning", found: "No answer. (http 503)" },
  ]);
  const neither = async () => ({ fast: null, standard: null });
  expect(await examine(neither).checks).toMatchObject([{ status: "warning" }]);
});
