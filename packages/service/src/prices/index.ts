export { PRICE_SCALE } from "./price.ts";
export { createPrices, type Prices, type PriceSources } from "./prices.ts";
