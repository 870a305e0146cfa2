/** What some chains can do and others cannot. */
import type { Address, Hex, Hex32 } from "../../core/hex.ts";
import type { ReadPoint } from "./blocks.ts";
import type { FoundMint } from "./effects.ts";
import type { TokenHolding } from "./reading.ts";
import type { Call } from "./sending.ts";

/** A swap in one pool of Uniswap v3, as its quoter is asked. */
export interface SwapQuestion {
  /** `QuoterV2`. */
  readonly quoter: Address;
  /** Never the native coin: a pool has its wrapped form. */
  readonly tokenIn: Address;
  readonly tokenOut: Address;
  /** The pool's, in hundredths of a basis point. */
  readonly poolFee: number;
  readonly amountIn: bigint;
}

/** Circle's CCTP v2 contracts on a chain. */
export interface CctpContracts {
  /** The bridge's number of the chain. */
  readonly domain: number;
  /** TokenMessengerV2. */
  readonly messenger: Address;
  /** MessageTransmitterV2. */
  readonly transmitter: Address;
}

/** The bridge on a chain that has it. */
export interface CctpBridge {
  readonly contracts: CctpContracts;
  /** Hands an attested message in; anybody may, once. */
  buildReceive(message: Hex, attestation: Hex): Call;
  /** What was minted for the message of a nonce, by whoever handed it in; null while nobody has. */
  findMint(nonce: Hex32, at?: ReadPoint): Promise<FoundMint | null>;
}

/** Reading state of a chain whose nodes tell it of their newest final block only. */
export interface MovingState {
  /** What wallets hold, each as of a block of its own. */
  listHoldings(holdings: readonly TokenHolding[]): Promise<readonly HeldAt[]>;
}

/** What a wallet held of a token as of a final block. */
export interface HeldAt extends TokenHolding {
  readonly amount: bigint;
  readonly at: bigint;
}
