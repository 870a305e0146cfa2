/** The facilitator's part: moves the tokens by the payer's signature, and pays the gas for it. */
import {
  type Account,
  type Chain,
  type Hex,
  parseAbi,
  parseSignature,
  type PublicClient,
  type Transport,
  type WalletClient,
} from "viem";
import type { PaymentPayload, SettlementResponse } from "./x402.ts";

const EIP3009 = parseAbi([
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)",
]);

/** Moves the tokens of a payment, and returns once the transfer is mined. A refused transfer costs no gas. */
export async function settlePayment(
  {
    reader,
    sender,
  }: {
    readonly reader: PublicClient;
    readonly sender: WalletClient<Transport, Chain, Account>;
  },
  { accepted: { network, asset }, payload: { signature, authorization } }: PaymentPayload,
): Promise<SettlementResponse> {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const result = (transaction: Hex | "", errorReason?: string): SettlementResponse => ({
    success: errorReason === undefined,
    ...(errorReason !== undefined && { errorReason }),
    payer: from,
    transaction,
    network,
  });
  const { r, s, yParity } = parseSignature(signature);
  const call = {
    address: asset,
    abi: EIP3009,
    functionName: "transferWithAuthorization",
    args: [
      from,
      to,
      BigInt(value),
      BigInt(validAfter),
      BigInt(validBefore),
      nonce,
      27 + yParity,
      r,
      s,
    ],
  } as const;
  try {
    await reader.simulateContract({ ...call, account: sender.account });
  } catch {
    return result("", "invalid_transaction_state");
  }
  const hash = await sender.writeContract(call);
  const { status } = await reader.waitForTransactionReceipt({ hash });
  return status === "success" ? result(hash) : result(hash, "invalid_transaction_state");
}
