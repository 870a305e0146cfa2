/** What an installation for a number of deposits needs, from measured figures. */
export { type Plan, PLANNED_CHAINS, planInstallation } from "./plan.ts";
