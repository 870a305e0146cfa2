/** Checks of other people's contracts on one chain that routes go through: CCTP and Uniswap. */
import type { CctpConfig, EvmChain, UniswapV3Config } from "../config/index.ts";
import { type EvmAddress, toEvmAddress } from "../core/hex.ts";
import { type Check, judge, judgeSame } from "../core/check.ts";
import { type DoctorDeps, subjectOf } from "./facts.ts";

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

/** The messenger speaks through the transmitter, and the transmitter is of the domain: a burn goes where it should. */
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
        "Correct cctp of the chain before anything is burnt: it would be minted on another chain, or nowhere.",
      );
    },
  };
  return [...code, terms];
}

/** The router is of Uniswap's factory, as far as a preset knows it, and wraps the native coin as the configuration says. */
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
          expected: "a factory of pools",
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

const ADVICE = "Correct uniswapV3 of the chain: swaps would go through another contract.";

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
        advice: "Correct the address, or leave out the routes that go through it.",
      });
    },
  };
}
