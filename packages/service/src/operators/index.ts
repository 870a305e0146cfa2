export {
  createIdentityProvider,
  type IdentityProvider,
  type ProviderConfig,
} from "./identities.ts";
export { listLog, type LogLine, type LogProof, proveLog } from "./log.ts";
export {
  appendToLog,
  disableOperator,
  inviteOperator,
  type ListedOperator,
  listOperators,
  type Operator,
  type OperatorDeps,
} from "./operators.ts";
export {
  confirmPasskey,
  countPasskeys,
  type PasskeyDeps,
  proposePasskey,
  proposeSignature,
  registerPasskey,
  signInByPasskey,
} from "./passkeys.ts";
export {
  endSession,
  findSession,
  FRESH_MS,
  nameInLog,
  openByInvitation,
  type Session,
} from "./sessions.ts";
