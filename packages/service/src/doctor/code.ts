/** Checks that the code at an address is a contract of this build. */
import type { BuiltContract, ChainInspector } from "../chains/inspector.ts";
import type { EvmChain } from "../config/index.ts";
import type { EvmAddress } from "../core/hex.ts";
import { type Check, judge } from "../core/check.ts";
import type { DoctorDeps } from "./facts.ts";

/** A chain whose contracts are checked, and the service's node through which they are read. */
export interface Place {
  readonly chain: EvmChain;
  readonly inspector: ChainInspector;
  readonly subject: string;
  readonly deps: DoctorDeps;
  /** Passes when the node serves the chain. */
  readonly identified: Check;
}

/**
 * Returns a check that the code at an address is one of the `built` contracts of this build. Immutable values set at
 * deployment are ignored.
 */
export function checkCode(
  { deps, inspector, subject, identified }: Place,
  contract: {
    readonly name: string;
    readonly address: EvmAddress;
    readonly built: readonly BuiltContract[];
  },
): Check {
  const { name, address, built } = contract;
  const expected = `the code of this build's ${built.join(" or ")}`;
  return {
    id: "contract.code",
    subject,
    item: name,
    needs: [identified],
    async run() {
      if (!(await inspector.hasCode(address))) {
        return judge(false, {
          found: `no code at ${deps.display(address)}`,
          expected,
          advice: "Deploy the contract, or correct its address in the configuration.",
        });
      }
      const matches = await Promise.all(built.map((each) => inspector.isOfBuild(address, each)));
      return judge(matches.includes(true), {
        found: matches.includes(true)
          ? `ours, at ${deps.display(address)}`
          : `other code at ${deps.display(address)}`,
        expected,
        advice:
          "Correct the address, or run the release of the service that deployed this contract.",
      });
    },
  };
}
