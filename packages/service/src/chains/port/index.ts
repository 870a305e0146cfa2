/**
 * The chain port: what the service asks of a chain. What one family cannot do is a capability that is absent, never a
 * method that throws. Heights and amounts are bigint; token address zero is the native coin.
 */
export type * from "./blocks.ts";
export type * from "./reading.ts";
export type * from "./sending.ts";
export { MORE_ARRIVED } from "./effects.ts";
export type * from "./effects.ts";
export type * from "./codec.ts";
export type * from "./capabilities.ts";
export type * from "./contracts.ts";
export type * from "./address-format.ts";
export type * from "./chain.ts";
