/** Client of a Sluice service: requests, stream, offline verification of deposit addresses, and the interface's types. */
export * from "./address/index.ts";
export * from "./client/index.ts";
export * from "./wire/index.ts";
