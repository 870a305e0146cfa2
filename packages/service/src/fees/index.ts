export { createFees, type FeeRequest, type FeeRoute, type Fees } from "./fees.ts";
export {
  DEPLOY_GAS,
  type ChainGas,
  createGasCosts,
  type GasCosts,
  type GasStep,
  listGas,
  priceOfGas,
  REFUND_GAS,
} from "./gas.ts";
export {
  feeCapOf,
  type FeeItems,
  type FeeTerms,
  itemise,
  leastAfterFees,
  planTerms,
  TOO_SMALL_FOR_FEES,
} from "./terms.ts";
