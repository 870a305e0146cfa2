/** Customers of an integrator: each pays to a deposit address of its own, and is owed one exact amount. */
import { randomBytes } from "node:crypto";
import type { SluiceClient } from "@sluice/sdk";
import { type Address, getAddress, isAddress, toHex } from "viem";
import { type Chain, type ChainName, type Chains, until } from "./internet.ts";
import { payUsdc } from "./installation.ts";

const FEE_DIVISOR = 1_000n;
/** Base units; each deposit has another amount. */
const SMALLEST = 20_000_000n;

interface Deposit {
  readonly from: ChainName;
  readonly to: Chain;
  readonly address: Address;
  readonly recipient: Address;
  /** Base units. */
  readonly owed: bigint;
  delivered: boolean;
}

export type Customers = ReturnType<typeof createCustomers>;

export function createCustomers(chains: Chains, client: SluiceClient) {
  const deposits: Deposit[] = [];
  let paid = 0n;

  /** Returns the deposit address of a quote; null if it has none. Throws if the service does not answer with one. */
  async function quote(of: {
    readonly from: ChainName;
    readonly to: ChainName;
    readonly recipient: Address;
    readonly amount: bigint;
  }): Promise<string | null> {
    const { quotes } = await client.quote({
      amountIn64: `${of.amount}`,
      fromChain: of.from,
      fromToken: chains[of.from].usdc,
      toChain: of.to,
      toToken: chains[of.to].usdc,
      slippageBps: "auto",
      destinationAddress: of.recipient,
      payDeposit: true,
    });
    return quotes.find((one) => one.payDepositAddress !== null)?.payDepositAddress ?? null;
  }

  /** Asks for an address, also while the API restarts, and pays. */
  async function deposit(
    from: ChainName,
    to: ChainName = from === "ethereum" ? "base" : "ethereum",
  ) {
    const recipient = getAddress(toHex(randomBytes(20)));
    paid += 1n;
    const amount = SMALLEST + paid * 1_000_000n;
    let address: string | null = null;
    await until("a quote has an address", async () => {
      address = await quote({ from, to, recipient, amount }).catch(() => null);
      return address !== null;
    });
    if (!address || !isAddress(address)) throw new Error("the quote has an address");
    await payUsdc(chains[from], address, amount);
    const made: Deposit = {
      from,
      to: chains[to],
      address,
      recipient,
      owed: amount - amount / FEE_DIVISOR,
      delivered: false,
    };
    deposits.push(made);
    return made;
  }

  const balanceOf = ({ to, recipient }: Deposit) => to.readBalance(recipient);

  return {
    deposit,
    /** Returns whether deposits from a chain are quoted. */
    areOffered: (from: ChainName) =>
      quote({
        from,
        to: from === "ethereum" ? "base" : "ethereum",
        recipient: getAddress(toHex(randomBytes(20))),
        amount: SMALLEST,
      }).then(
        (address) => address !== null,
        () => false,
      ),
    /** Waits until every customer has the owed amount. Throws if one has anything else. */
    async expectPaid(deadlineMs = 180_000): Promise<void> {
      await until(
        () => `${deposits.filter(({ delivered }) => !delivered).length} customers are paid`,
        async () => {
          for (const one of deposits) {
            if (one.delivered) continue;
            const balance = await balanceOf(one);
            if (balance !== 0n && balance !== one.owed) {
              throw new Error(`${one.recipient} is owed ${one.owed} and has ${balance}`);
            }
            one.delivered = balance === one.owed;
          }
          return deposits.every(({ delivered }) => delivered);
        },
        { deadlineMs },
      );
    },
    /** Reads every balance again: nobody was paid twice. Returns the number of customers. */
    async expectPaidOnce(): Promise<number> {
      for (const one of deposits) {
        const balance = await balanceOf(one);
        if (balance !== one.owed)
          throw new Error(`${one.recipient} is owed ${one.owed} and has ${balance}`);
      }
      return deposits.length;
    },
  };
}
