/**
 * Verdicts on reverts: whether a call that would revert counts against its settlement.
 *
 * `attempt`: the token, the pool, the recipient or the amount is the cause; seven of them end a settlement.
 * `deferral`: the cause is a state of the operator's installation or something that a third party did, and passes without
 *   the settlement: a pause, a missing role or listing, a threshold, a cap, a price out of date. It uses up no attempt.
 * `bug`: a correct service makes no such call. It counts as an attempt, with the code INTERNAL.
 */

/** How a revert counts. */
export type RevertVerdict = "attempt" | "deferral" | "bug";

/** Verdicts on the errors of the contracts. A test compares the names with the ABI. */
export const CONTRACT_VERDICTS: Readonly<Record<string, RevertVerdict>> = {
  // The operator's installation: pause, roles, listings, caps, thresholds, configured contracts.
  AboveDailyCap: "deferral",
  AboveDirectionCap: "deferral",
  BelowFloor: "deferral",
  CodeChanged: "deferral",
  IsPaused: "deferral",
  NotAttestor: "deferral",
  NotFactory: "deferral",
  NotMover: "deferral",
  NotRelayer: "deferral",
  NotRoute: "deferral",
  NotSealed: "deferral",
  NotSettler: "deferral",
  NotWallet: "deferral",
  RouteNotCommitted: "deferral",
  TooFewAttestors: "deferral",
  TooFewSignatures: "deferral",
  WrongDestChain: "deferral",
  WrongDestToken: "deferral",
  WrongEvmChain: "deferral",
  WrongToken: "deferral",
  // Prices and signatures that are out of date, or outside the bounds of the route.
  AboveMaxAmount: "deferral",
  DeadlineTooFar: "deferral",
  Expired: "deferral",
  PayoutWindowOver: "deferral",
  RateOutOfBounds: "deferral",
  // Somebody else was first, or announced something.
  AlreadyDelivered: "deferral",
  NotLocked: "deferral",
  RecipientRefused: "deferral",
  TakeBackPending: "deferral",

  // The token, the pool or the amount.
  BurnedOther: "attempt",
  ERC20InsufficientAllowance: "attempt",
  ERC20InsufficientBalance: "attempt",
  ERC20InvalidApprover: "attempt",
  ERC20InvalidReceiver: "attempt",
  ERC20InvalidSender: "attempt",
  ERC20InvalidSpender: "attempt",
  FailedCall: "attempt",
  FailedDeployment: "attempt",
  InsufficientBalance: "attempt",
  Leftover: "attempt",
  NeedGas: "attempt",
  NoMinimum: "attempt",
  NotSpent: "attempt",
  Nothing: "attempt",
  NothingPromised: "attempt",
  ReceivedLess: "attempt",
  ReentrancyGuardReentrantCall: "attempt",
  SafeCastOverflowedUintDowncast: "attempt",
  SafeERC20FailedOperation: "attempt",
  SpecialRecipient: "attempt",
  TooLittleGas: "attempt",

  // Calls that the service never makes, and values that it never encodes.
  AlreadyAnnounced: "bug",
  AlreadyMember: "bug",
  AlreadyRefunded: "bug",
  AlreadyScheduled: "bug",
  AlreadySealed: "bug",
  BadAuthorization: "bug",
  BelowMinimum: "bug",
  CapRaisePending: "bug",
  Create2EmptyBytecode: "bug",
  DelayTooShort: "bug",
  DirectionNotHigher: "bug",
  DirectionNotLower: "bug",
  DirectionPending: "bug",
  FeeAboveCap: "bug",
  ForbiddenCode: "bug",
  InvalidConfig: "bug",
  InvalidData: "bug",
  InvalidFinality: "bug",
  InvalidPayoutWindow: "bug",
  InvalidShortString: "bug",
  InvalidThreshold: "bug",
  MalformedSignatures: "bug",
  NoCapRaisePending: "bug",
  NoCode: "bug",
  NoDirectionPending: "bug",
  NoWithdrawalPending: "bug",
  NotAnAddress: "bug",
  NotAnnounced: "bug",
  NotGuardian: "bug",
  NotHigher: "bug",
  NotLower: "bug",
  NotMember: "bug",
  NotMinter: "bug",
  NotOwner: "bug",
  NotOwnerOrGuardian: "bug",
  NotPaused: "bug",
  NotPendingOwner: "bug",
  NotRefundAuthority: "bug",
  NotScheduled: "bug",
  NotSelf: "bug",
  NotUnattended: "bug",
  NothingToCollect: "bug",
  NothingToMove: "bug",
  OwnerIsGuardian: "bug",
  PaidTooLittle: "bug",
  StringTooLong: "bug",
  TooEarly: "bug",
  TooLate: "bug",
  UnknownFlags: "bug",
  UnknownReason: "bug",
  UnknownRole: "bug",
  UnsortedSignatures: "bug",
  WithdrawalPending: "bug",
  WrongCommitment: "bug",
  WrongValue: "bug",
  ZeroAddress: "bug",
  ZeroAmount: "bug",
};

/** Verdicts on the errors of the Solana programs that orders call. A test compares the names with the adapter's. */
export const PROGRAM_VERDICTS: Readonly<Record<string, RevertVerdict>> = {
  // The account of a payout or a lock exists: somebody was first, and the worker reads it in its next poll.
  AlreadyInUse: "deferral",
  AccountFrozen: "attempt",
  NonNativeHasBalance: "attempt",
  FeesWithheld: "attempt",
  InsufficientFunds: "attempt",
  InsufficientFundsForRent: "attempt",
  MemoRequired: "attempt",
  NonTransferable: "attempt",
  InvalidMint: "bug",
  MintDecimalsMismatch: "bug",
  MintMismatch: "bug",
  OwnerMismatch: "bug",
};

/** Returns the verdict on a revert by its reason; an unknown one is an attempt, since any token can revert. */
export function verdictOnRevert(reason: string): RevertVerdict {
  return CONTRACT_VERDICTS[reason] ?? PROGRAM_VERDICTS[reason] ?? "attempt";
}
