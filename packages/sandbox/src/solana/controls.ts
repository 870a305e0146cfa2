/**
 * The controls of a chain, beyond the methods of a node: produce blocks, skip slots, fork, simulate faults, fund accounts.
 * They are the same in process (`createSolanaChain`) and over JSON-RPC (`connectSolanaControls`), where each is a method
 * with the prefix `sandbox_` and its argument as the only parameter.
 */
import type { Address } from "@solana/kit";
import type { CommitmentLevelLags } from "./ledger.ts";

/** A mint to create. Only mints of Token-2022 can have extensions. */
export interface MintRequest {
  readonly decimals: number;
  /** The token program. Default: `token`, or `token-2022` if there are extensions. */
  readonly program?: "token" | "token-2022";
  /** Withheld from every transfer. */
  readonly transferFee?: { readonly basisPoints: number; readonly maximum: bigint };
  /** Account that can transfer the tokens of every holder. */
  readonly permanentDelegate?: Address;
  /** Whether all transfers can be paused. */
  readonly pausable?: boolean;
  /** Whether new accounts are frozen until they are thawed. */
  readonly frozenByDefault?: boolean;
  /** Whether tokens cannot be transferred after minting. */
  readonly nonTransferable?: boolean;
  /** Program that every transfer calls. */
  readonly transferHook?: Address;
  /** Account that can mint. Default: the faucet. */
  readonly mintAuthority?: Address;
}

/** Controls of a chain. Slots and amounts are whole numbers; amounts in base units. */
export interface SolanaControls {
  /** Produces blocks immediately, one per slot. Returns the slot of the newest. */
  tick(blocks?: number): Promise<bigint>;
  /** Ends slots without a block. */
  skipSlots(slots: number): Promise<void>;
  /**
   * Removes the newest blocks, as when their fork is abandoned: their slots are skipped, their transactions dropped, or
   * pending again with `replay`. Returns the slots, newest first.
   */
  fork(request: { readonly blocks: number; readonly replay?: boolean }): Promise<readonly bigint[]>;
  /** Accepts the next sends and drops them. */
  dropNextSends(count: number): Promise<void>;
  /** Responds to the next requests with HTTP 429. */
  rateLimitNext(count: number): Promise<void>;
  /** Responds to the next requests, of one method or of any, with an error. */
  failNext(request: {
    readonly method?: string;
    readonly code: number;
    readonly message: string;
    readonly count?: number;
  }): Promise<void>;
  /** Clears all faults. */
  clearFaults(): Promise<void>;
  /** Stops the clock: slots pass only by `tick` and `skipSlots`. */
  pause(): Promise<void>;
  /** Starts the clock again, if there is one. */
  resume(): Promise<void>;
  /** Sets the number of blocks on top of a confirmed and of a final block. */
  setLags(lags: CommitmentLevelLags): Promise<void>;
  /** Sets the rent, in lamports per byte. */
  setRent(lamportsPerByte: bigint): Promise<void>;
  /** Transfers lamports from the faucet. Returns the signature when the transaction is in a block. */
  airdrop(request: { readonly to: Address; readonly amount: bigint }): Promise<string>;
  /**
   * Mints tokens to the associated account of `owner`, which is created if it is missing. WSOL is wrapped SOL of the
   * faucet. Returns the signature when the transaction is in a block.
   */
  mintTo(request: {
    readonly mint: Address;
    readonly owner: Address;
    readonly amount: bigint;
  }): Promise<string>;
  /** Creates a mint without a transaction, as of genesis. Returns its address. */
  createMint(request: MintRequest): Promise<Address>;
}

/** Prefix of the JSON-RPC method of every control. */
export const CONTROL_PREFIX = "sandbox_";
