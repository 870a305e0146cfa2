/** Balances, payments and minting of test tokens. */
import { erc20Abi, testTokenAbi } from "@sluice/contracts/abi";
import {
  type Address,
  BaseError,
  encodeFunctionData,
  type Hex,
  type PrivateKeyAccount,
} from "viem";
import { SandboxError } from "./errors.ts";
import { awaitMined, type Call, type EvmClient, sendCalls } from "./evm-client.ts";

const CALL_GAS = 300_000n;

/** What a node says to a nonce that another transaction has. */
const NONCE_TAKEN =
  /nonce too low|already known|already imported|replacement transaction underpriced/i;
const TRIES = 20;

/** A payment; in native coin without `token`. */
export interface Payment {
  readonly from: PrivateKeyAccount;
  readonly to: Address;
  readonly token?: Address;
  /** In base units. */
  readonly amount: bigint;
}

/** Serializes sending per chain and account, so that concurrent payments do not take the same nonce. */
const queues = new Map<string, Promise<unknown>>();

/** Sends a payment and returns its hash without waiting for a block. */
export async function sendToken(client: EvmClient, payment: Payment): Promise<Hex> {
  const { from, to, token, amount } = payment;
  const call: Call =
    token === undefined
      ? { label: "a payment", to, value: amount, gas: CALL_GAS }
      : {
          label: "a payment",
          to: token,
          gas: CALL_GAS,
          data: encodeFunctionData({
            abi: erc20Abi,
            functionName: "transfer",
            args: [to, amount],
          }),
        };
  return sendNext(client, from, call);
}

/** Sends a payment and waits until it is mined. */
export async function pay(client: EvmClient, payment: Payment): Promise<Hex> {
  const hash = await sendToken(client, payment);
  await awaitMined(client, hash, "a payment");
  return hash;
}

/** Returns the balance of an address in base units; of native coin without `token`. */
export async function balanceOf(
  client: EvmClient,
  { owner, token }: { readonly owner: Address; readonly token?: Address },
): Promise<bigint> {
  if (token === undefined) return client.getBalance({ address: owner });
  return client.readContract({
    address: token,
    abi: erc20Abi,
    functionName: "balanceOf",
    args: [owner],
  });
}

/** Mints test tokens and waits until they are mined. `faucet` is the account that deployed the token. */
export async function mintToken(
  client: EvmClient,
  {
    faucet,
    token,
    to,
    amount,
  }: Omit<Payment, "from"> & {
    readonly token: Address;
    readonly faucet: PrivateKeyAccount;
  },
): Promise<Hex> {
  const data = encodeFunctionData({ abi: testTokenAbi, functionName: "mint", args: [to, amount] });
  return sendCall(client, faucet, { label: "a mint", to: token, data, gas: CALL_GAS });
}

/** Sends a call under the account's next nonce and waits until it is mined. */
export async function sendCall(
  client: EvmClient,
  from: PrivateKeyAccount,
  call: Call,
): Promise<Hex> {
  const hash = await sendNext(client, from, call);
  await awaitMined(client, hash, call.label);
  return hash;
}

/**
 * Sends a call under the account's next nonce and returns its hash without waiting for a block. Takes the next one if another
 * process was faster. Throws a `SandboxError` with what the node says.
 */
export async function sendNext(
  client: EvmClient,
  from: PrivateKeyAccount,
  call: Call,
): Promise<Hex> {
  const key = `${client.chain.id}:${from.address}`;
  const send = async (): Promise<Hex> => {
    for (let tries = 1; ; tries += 1) {
      const nonce = await client.getTransactionCount({
        address: from.address,
        blockTag: "pending",
      });
      try {
        const [hash] = await sendCalls(client, from, [call], nonce);
        if (!hash) throw new Error("expected one hash for one call");
        return hash;
      } catch (error) {
        if (!(error instanceof BaseError)) throw error;
        // Another process pays from the same account.
        if (NONCE_TAKEN.test(error.details) && tries < TRIES) continue;
        throw new SandboxError(
          `${call.label} was refused on ${client.chain.name}: ${error.details || error.shortMessage}`,
        );
      }
    }
  };
  const sent = (queues.get(key) ?? Promise.resolve()).then(send, send);
  queues.set(key, sent);
  return sent;
}
