/**
 * The chain port: the operations that the service needs of a chain. An operation that a family lacks is an absent
 * capability, never a method that throws. Heights and amounts are bigint; token address zero is the native coin.
 */
export type * from "./blocks.ts";
export type * from "./reading.ts";
export type * from "./sending.ts";
export { MORE_ARRIVED } from "./effects.ts";
export * from "./reverts.ts";
export type * from "./effects.ts";
export type * from "./codec.ts";
export type * from "./capabilities.ts";
export type * from "./contracts.ts";
export * from "./governance.ts";
export type * from "./address-format.ts";
export type * from "./chain.ts";
