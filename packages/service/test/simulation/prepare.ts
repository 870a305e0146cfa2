/** Integrators and deposit addresses of a run, created before the faults begin. */
import { type FindVault, issueAddress } from "../../src/addresses/index.ts";
import { createIntegrator } from "../../src/integrators/index.ts";
import { toBase58 } from "../../src/core/base58.ts";
import { listRouteSet } from "../../src/routes/index.ts";
import { proofOf, vaultOf } from "../fake-chain/slots.ts";
import type { Kernel } from "./kernel.ts";
import type { Process } from "./lives.ts";
import type { Dice } from "./random.ts";
import {
  accountOf,
  CHAIN_IDS,
  contractsOf,
  MAX_FEE_BPS,
  nativeOn,
  on,
  type PaidAddress,
  PAIRS,
  REFUND_AUTHORITY,
  REFUND_AUTHORITY_SOLANA,
  SOLANA,
  tokenOf,
  userOf,
} from "./stage.ts";

/** Answers as the signer does. */
const findVault: FindVault = async (commitment) => {
  const wallet = vaultOf(commitment);
  return { wallet, proof: proofOf(contractsOf(SOLANA).factory, commitment, wallet) };
};

/** Creates integrators and their addresses before the faults begin. */
export async function prepare(
  kernel: Kernel,
  api: Process,
  dice: Dice,
  /** Draws whether anybody may settle the deposits of an integrator. */
  isUnattended: () => boolean,
): Promise<PaidAddress[]> {
  const { db, random } = api.context;
  const addresses: PaidAddress[] = [];
  const work = (async () => {
    for (const name of ["acme", "beta"]) {
      const { integratorId } = await createIntegrator(
        { db, random },
        {
          name,
          refundEvm: REFUND_AUTHORITY,
          refundSolana: toBase58(REFUND_AUTHORITY_SOLANA),
          maxFeeBps: MAX_FEE_BPS,
          maxSlippageBps: 100,
          // One integrator's addresses commit to their routes.
          terms: {
            routes: name === "beta" ? "fixed" : "governed",
            unattended: isUnattended(),
          },
        },
      );
      const count = 1 + dice.int(2);
      for (let i = 0; i < count; i++) {
        const pair = api.context.chains.has(SOLANA) ? dice.pick(PAIRS) : null;
        const chainId = pair?.[0] ?? dice.pick(CHAIN_IDS);
        const chain = api.context.chains.get(chainId);
        if (!chain) throw new Error("the chains are there");
        const destChain = pair?.[1] ?? dice.pick(CHAIN_IDS);
        const destination = {
          userId: userOf(i),
          destChain,
          destWallet: on(destChain, accountOf(`recipient ${name} ${i}`)),
          destToken:
            dice.chance(0.2) && destChain === chainId ? nativeOn(destChain) : tokenOf(destChain),
        };
        const address = await issueAddress(
          { db, random, findVault },
          {
            chain,
            integratorId,
            destination,
            routeSet: listRouteSet(
              api.context.routes,
              new Map(CHAIN_IDS.map((id) => [id, id])),
              destination,
            ),
          },
        );
        addresses.push({ chainId, address });
      }
    }
  })();
  await finish(kernel, work);
  return addresses;
}

/** Takes steps until the given work is done. */
export async function finish(kernel: Kernel, work: Promise<void>): Promise<void> {
  let isDone = false;
  const settled = work.finally(() => (isDone = true));
  // An error of the work is thrown below.
  settled.catch(() => undefined);
  while (!isDone) await kernel.step();
  await settled;
}
