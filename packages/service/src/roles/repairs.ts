/** The repairs of breaches, by the folders whose rows they correct. */
import type { EndDeps } from "../ledger/index.ts";
import { endLock } from "../routes/index.ts";
import { reopenSweeps } from "../settlements/index.ts";
import { adoptNonce, reopenFinal } from "../transactions/index.ts";

export const REPAIRS: Pick<EndDeps, "adoptNonce" | "endLock" | "reopenAbove"> = {
  adoptNonce,
  endLock,
  async reopenAbove(tx, above) {
    await reopenFinal(tx, above);
    await reopenSweeps(tx, above);
  },
};
