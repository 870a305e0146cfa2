export { PRICE_REFUSALS, PRICE_SCALE, type PriceRefusal } from "./price.ts";
export {
  createPrices,
  type PriceReport,
  type PricedToken,
  type Prices,
  rememberPrices,
} from "./prices.ts";
