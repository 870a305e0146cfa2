export { createFees, type FeeRequest, type FeeRoute, type Fees } from "./fees.ts";
export { type ChainGas, createGasCosts, type GasStep, listGas, priceOfGas } from "./gas.ts";
export {
  feeCapOf,
  type FeeItems,
  type FeeTerms,
  itemise,
  leastAfterFees,
  planTerms,
  TOO_SMALL_FOR_FEES,
} from "./terms.ts";
