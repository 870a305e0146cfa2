/**
 * What can be asked of a chain beyond what a node is asked: to make blocks, to skip slots, to fork, to fail, and money.
 * The same in process (`createSolanaChain`) and over JSON-RPC (`connectSolanaControls`), where each is a method with
 * `sandbox_` before its name and its one argument as parameter.
 */
import type { Address } from "@solana/kit";
import type { CommitmentLags } from "./ledger.ts";

/** A mint to make. Those of Token-2022 may have extensions. */
export interface MintRequest {
  readonly decimals: number;
  /** The token program; the older one unless given. With a transfer fee it is Token-2022. */
  readonly program?: "token" | "token-2022";
  /** Kept back from every transfer. */
  readonly transferFee?: { readonly basisPoints: number; readonly maximum: bigint };
  /** May move everybody's tokens. */
  readonly permanentDelegate?: Address;
  /** May stop all transfers. */
  readonly pausable?: boolean;
  /** Accounts are frozen until somebody thaws them. */
  readonly frozenByDefault?: boolean;
  /** Tokens stay where they are minted. */
  readonly nonTransferable?: boolean;
  /** A program that every transfer calls. */
  readonly transferHook?: Address;
  /** Who may mint; the faucet unless given. */
  readonly mintAuthority?: Address;
}

/** Controls of a chain. Slots and amounts are whole numbers; amounts in base units. */
export interface SolanaControls {
  /** Makes blocks at once, one per slot. Returns the slot of the newest. */
  tick(blocks?: number): Promise<bigint>;
  /** Ends slots without a block. */
  skipSlots(slots: number): Promise<void>;
  /**
   * Takes the newest blocks away, as when their fork died: their slots become skipped ones, their transactions never
   * were; with `replay` those wait for a block again. Returns the slots, newest first.
   */
  fork(request: { readonly blocks: number; readonly replay?: boolean }): Promise<readonly bigint[]>;
  /** The next sends are answered and forgotten. */
  dropNextSends(count: number): Promise<void>;
  /** The next requests are answered with HTTP 429. */
  rateLimitNext(count: number): Promise<void>;
  /** The next requests (of a method, where one is named) are answered with an error. */
  failNext(request: {
    readonly method?: string;
    readonly code: number;
    readonly message: string;
    readonly count?: number;
  }): Promise<void>;
  /** No more faults. */
  clearFaults(): Promise<void>;
  /** Stops the clock: no slot passes by itself. */
  pause(): Promise<void>;
  /** Starts the clock again, where there is one. */
  resume(): Promise<void>;
  /** How many blocks must stand on one until it is confirmed, and until it is final. */
  setLags(lags: CommitmentLags): Promise<void>;
  /** What the cluster asks as rent, in lamports per byte. */
  setRent(lamportsPerByte: bigint): Promise<void>;
  /** Lamports from the faucet, in a block when this returns. Returns the signature. */
  airdrop(request: { readonly to: Address; readonly amount: bigint }): Promise<string>;
  /**
   * Tokens from the faucet into the associated account of `owner`, which is made where it is missing; in a block when
   * this returns. WSOL is wrapped. Returns the signature.
   */
  mintTo(request: {
    readonly mint: Address;
    readonly owner: Address;
    readonly amount: bigint;
  }): Promise<string>;
  /** A new mint, there without a transaction, as if it had always been. Returns its address. */
  createMint(request: MintRequest): Promise<Address>;
}

/** Names of the controls. */
export const CONTROL_NAMES = [
  "tick",
  "skipSlots",
  "fork",
  "dropNextSends",
  "rateLimitNext",
  "failNext",
  "clearFaults",
  "pause",
  "resume",
  "setLags",
  "setRent",
  "airdrop",
  "mintTo",
  "createMint",
] as const satisfies readonly (keyof SolanaControls)[];

/** What every control's method begins with on the wire. */
export const CONTROL_PREFIX = "sandbox_";
