/** The world of players outside the service: chains that they read, and transactions that they send. */
import type { Action } from "../fake-chain/contracts.ts";
import type { FakeChain } from "../fake-chain/model.ts";
import type { Kernel } from "./kernel.ts";
import type { Dice } from "./random.ts";
import type { PaidAddress } from "./stage.ts";

export interface StrangersWorld {
  readonly kernel: Kernel;
  readonly dice: Dice;
  readonly chains: ReadonlyMap<number, FakeChain>;
  readonly addresses: readonly PaidAddress[];
  readonly untilMs: number;
  readonly submit: (chainId: number, action: Action) => void;
  readonly mark: (name: string) => void;
}
