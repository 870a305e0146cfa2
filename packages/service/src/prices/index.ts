export { PRICE_REFUSALS, PRICE_SCALE, type PriceRefusal } from "./price.ts";
export { createPrices, type PriceLook, type PricedToken, type Prices } from "./prices.ts";
