/** The only programs that a signed message may call, as hex addresses (base58 in the comments). */
import { type Address, NATIVE_SOL, toAddress } from "../../core/hex.ts";

/** The zero address, which also stands for SOL. */
export const SYSTEM_PROGRAM: Address = NATIVE_SOL;
/** ComputeBudget111111111111111111111111111111 */
export const COMPUTE_BUDGET_PROGRAM = toAddress(
  "0x0306466fe5211732ffecadba72c39be7bc8ce5bbc5f7126b2c439b3a40000000",
);
/** TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA */
export const TOKEN_PROGRAM = toAddress(
  "0x06ddf6e1d765a193d9cbe146ceeb79ac1cb485ed5f5b37913a8cf5857eff00a9",
);
/** TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb */
export const TOKEN_2022_PROGRAM = toAddress(
  "0x06ddf6e1ee758fde18425dbce46ccddab61afc4d83b90d27febdf928d8a18bfc",
);
/** ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL */
export const ASSOCIATED_TOKEN_PROGRAM = toAddress(
  "0x8c97258f4e2489f1bb3d1029148e0d830b5a1399daff1084048e7bd8dbe9f859",
);
/** MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr, version 3. */
export const MEMO_PROGRAM = toAddress(
  "0x054a535a992921064d24e87160da387c7c35b5ddbc92bb81e41fa8404105448d",
);

/** So11111111111111111111111111111111111111112 */
export const WRAPPED_SOL = toAddress(
  "0x069b8857feab8184fb687f634618c035dac439dc1aeb3b5598a0f00000000001",
);

/** SysvarRent111111111111111111111111111111111, an account with the rent parameters, not a program. */
export const RENT_SYSVAR = toAddress(
  "0x06a7d517192c5c51218cc94c3d4af17f58daee089ba1fd44e3dbd98a00000000",
);
