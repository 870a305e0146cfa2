/** Checks of the third-party contracts on one chain that routes use: CCTP and Uniswap. */
import type { CctpConfig, EvmChain, UniswapV3Config } from "../config/index.ts";
import { type EvmAddress, toEvmAddress } from "../core/hex.ts";
import { type Check, judge, judgeSame } from "../core/check.ts";
import { type DoctorDeps, subjectOf } from "./facts.ts";

/** Returns the checks of CCTP and Uniswap, where the chain configures them. */
export function checkPublicContracts(
  deps: DoctorDeps,
  chain: EvmChain,
  identified: Check,
): readonly Check[] {
  const place: Place = { deps, chain, identified };
  return [
    ...(chain.cctp ? checkCctp(place, chain.cctp) : []),
    ...(chain.uniswapV3 ? checkUniswap(place, chain.uniswapV3) : []),
  ];
}

interface Place {
  readonly deps: DoctorDeps;
  readonly chain: EvmChain;
  readonly identified: Check;
}

/** Checks that the messenger uses the transmitter, and that its domain is the configured one. A wrong domain mints elsewhere. */
function checkCctp(place: Place, { domain, messenger, transmitter }: CctpConfig) {
  const { deps, chain } = place;
  const code = [
    checkCode(place, { id: "cctp.code", item: "messenger", address: messenger }),
    checkCode(place, { id: "cctp.code", item: "transmitter", address: transmitter }),
  ];
  const terms: Check = {
    id: "cctp.domain",
    subject: subjectOf(chain),
    needs: code,
    async run() {
      const inspector = deps.nodesOf(chain.chainId).service;
      const spokenThrough = await inspector.getCctpTransmitter(messenger);
      return judgeSame(
        [
          {
            name: "transmitter",
            found: deps.display(spokenThrough),
            expected: deps.display(transmitter),
          },
          { name: "domain", found: await inspector.getCctpDomain(transmitter), expected: domain },
        ],
        "Correct cctp of the chain before anything is burned: it would be minted on another chain, or nowhere.",
      );
    },
  };
  return [...code, terms];
}

/** Checks the router's wrapped coin, and its factory: the preset's where a preset knows it. */
function checkUniswap(place: Place, { router, weth }: UniswapV3Config) {
  const { deps, chain } = place;
  const code = checkCode(place, { id: "uniswap.code", item: "router", address: router });
  const preset = chain.preset?.uniswapV3;
  const known = preset && toEvmAddress(preset.router) === router;
  const terms: Check = {
    id: "uniswap.terms",
    subject: subjectOf(chain),
    needs: [code],
    async run() {
      const inspector = deps.nodesOf(chain.chainId).service;
      const found = await inspector.getSwapRouterTerms(router);
      const factory = known ? toEvmAddress(preset.factory) : found.factory;
      if (!(await inspector.hasCode(found.factory))) {
        return judge(false, {
          found: `no code at its factory ${deps.display(found.factory)}`,
          expected: "a pool factory",
          advice: ADVICE,
        });
      }
      return judgeSame(
        [
          {
            name: "factory",
            found: deps.display(found.factory),
            expected: deps.display(factory),
          },
          { name: "weth", found: deps.display(found.weth), expected: deps.display(weth) },
        ],
        ADVICE,
      );
    },
  };
  return [code, terms];
}

const ADVICE = "Correct uniswapV3 of the chain: pool swaps would use another contract.";

function checkCode(
  { deps, chain, identified }: Place,
  contract: { readonly id: string; readonly item: string; readonly address: EvmAddress },
): Check {
  const { id, item, address } = contract;
  return {
    id,
    subject: subjectOf(chain),
    item,
    needs: [identified],
    async run() {
      const hasCode = await deps.nodesOf(chain.chainId).service.hasCode(address);
      return judge(hasCode, {
        found: `${hasCode ? "code" : "no code"} at ${deps.display(address)}`,
        expected: "a contract",
        advice: "Correct the address, or remove the routes that use it.",
      });
    },
  };
}
