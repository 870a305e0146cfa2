/** An error response of the JSON-RPC server. Codes and messages are those of a real node. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** Error codes that clients distinguish. */
export const RPC_CODES = {
  blockCleanedUp: -32001,
  preflightFailure: -32002,
  signatureVerificationFailure: -32003,
  blockNotAvailable: -32004,
  slotSkipped: -32007,
  longTermStorageSlotSkipped: -32009,
  unsupportedTransactionVersion: -32015,
  minContextSlotNotReached: -32016,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  parseError: -32700,
} as const;

/** Creates the error for a missing or invalid parameter. */
export function invalidParams(message: string): RpcError {
  return new RpcError(RPC_CODES.invalidParams, message);
}

/** Returns an exception as the error of a response. */
export function writeError(error: unknown) {
  if (error instanceof RpcError) {
    const { code, message, data } = error;
    return { code, message, ...(data !== undefined && { data }) };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { code: RPC_CODES.internalError, message };
}
