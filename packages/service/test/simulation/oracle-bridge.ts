/**
 * Expected results of burns, computed from the chains alone: each burn is minted once, to its recipient, less the agreed
 * fees. Shares no code with the service.
 */
import { nonceOf } from "../fake-chain/cctp.ts";
import type { FakeChain } from "../fake-chain/model.ts";
import { Broken } from "./broken.ts";
import type { SharedDatabase } from "./database.ts";
import { listDestroyed } from "./destroying.ts";
import { swapBefore } from "./oracle-swaps.ts";
import { type PaidAddress, tokenOf } from "./stage.ts";

const MAX_FEE_BPS = 50n;

interface Burn {
  readonly chainId: number;
  readonly txHash: string;
  readonly wallet: string;
  readonly token: string;
  readonly amount: bigint;
  /** The swept token; differs from the burned one after a pool swap. */
  readonly deposited: string;
  /** Base units swept, fee included. */
  readonly swept: bigint;
  /** Fee taken from the swept amount before the burn. */
  readonly fee: bigint;
  readonly maxFee: bigint;
  readonly destDomain: number;
  readonly nonce: string;
}

interface Mint {
  readonly chainId: number;
  readonly txHash: string;
  readonly to: string;
  readonly token: string;
  readonly amount: bigint;
  readonly fee: bigint;
}

/** Burns and mints on all chains. */
export interface Bridged {
  readonly burns: readonly Burn[];
  /** By nonce. */
  readonly mints: ReadonlyMap<string, Mint>;
}

export function readBridge(chains: ReadonlyMap<number, FakeChain>): Bridged {
  const burns: Burn[] = [];
  const mints = new Map<string, Mint>();
  for (const [chainId, chain] of chains) {
    const domain = chain.contracts.cctp?.domain ?? -1;
    for (const { transactions } of chain.branchOf(chain.head)) {
      for (const { transaction, logs } of transactions) {
        const txHash = transaction.hash;
        for (const [index, log] of logs.entries()) {
          if (log.kind === "minted") {
            const { nonce, to, token, amount, fee } = log;
            if (mints.has(nonce)) throw new Broken(`V6: ${nonce} was minted twice`);
            mints.set(nonce, { chainId, txHash, to, token, amount, fee });
          }
          if (log.kind !== "effect" || log.effect.kind !== "burned") continue;
          const before = logs[index - 1];
          if (before?.kind !== "effect" || before.effect.kind !== "message_sent")
            throw new Broken("the oracle cannot read a burn");
          const { wallet, token, amount, fee, maxFee, destDomain } = log.effect;
          const nonce = nonceOf(domain, txHash, before.effect.message);
          // The log of the sweep follows the log of its burn.
          const settled = logs[index + 1];
          if (settled?.kind !== "effect" || settled.effect.kind !== "settled")
            throw new Broken("the oracle cannot read the sweep of a burn");
          const { token: deposited, amount: swept } = settled.effect;
          const swap =
            deposited === token ? null : swapBefore(logs.slice(0, index), settled.effect);
          const facts = { wallet, token, amount, deposited, swept, maxFee, destDomain, nonce };
          burns.push({ chainId, txHash, ...facts, fee: swap?.fee ?? fee });
        }
      }
    }
  }
  return { burns, mints };
}

/** Checks that every burn was minted, that every mint was burned, and that the rows agree. */
export async function judgeBridge(
  database: SharedDatabase,
  chains: ReadonlyMap<number, FakeChain>,
  addresses: readonly PaidAddress[],
  { burns, mints }: Bridged,
): Promise<void> {
  const wallets = new Map(addresses.map(({ address }) => [address.wallet as string, address]));
  for (const burn of burns) {
    const name = `${burn.amount} burned in ${burn.txHash} of ${burn.wallet}`;
    const mint = mints.get(burn.nonce);
    const address = wallets.get(burn.wallet);
    if (!mint || !address) throw new Broken(`V5: ${name} was not minted`);
    const domain = chains.get(mint.chainId)?.contracts.cctp?.domain;
    if (mint.chainId !== address.destChain || domain !== burn.destDomain)
      throw new Broken(`V5: ${name} was minted on ${mint.chainId}`);
    if (mint.to !== address.destWallet || mint.token !== address.destToken)
      throw new Broken(`V5: ${name} was minted to ${mint.to} in ${mint.token}`);
    if (mint.amount + mint.fee !== burn.amount)
      throw new Broken(`V5: ${name} came out as ${mint.amount} less ${mint.fee}`);
    // The burned amount is the sweep less the fee, or the pool's output for it.
    const left = burn.swept - burn.fee;
    if (burn.deposited === burn.token && left !== burn.amount)
      throw new Broken(`V5: ${name} of ${burn.swept} less ${burn.fee}`);
    // Service fee and bridge fee together, at the price of the pool swap.
    const cost = burn.fee * burn.amount + burn.maxFee * left;
    if (mint.fee > burn.maxFee || cost * 10_000n > burn.swept * burn.amount * MAX_FEE_BPS)
      throw new Broken(`V7: ${name} cost ${burn.fee} and ${mint.fee}`);
    if (mint.amount * left * 10_000n < burn.swept * burn.amount * (10_000n - MAX_FEE_BPS))
      throw new Broken(`V5: ${name} came to ${mint.amount}, below the least`);
  }
  const burned = new Set(burns.map(({ nonce }) => nonce));
  for (const [nonce, mint] of mints) {
    if (!burned.has(nonce)) throw new Broken(`V6: ${mint.amount} were minted and never burned`);
  }
  await compareTransfers(database, burns, mints);
  await compareSupply(database, chains, { burns, mints });
}

async function compareTransfers(
  database: SharedDatabase,
  burns: Bridged["burns"],
  mints: Bridged["mints"],
): Promise<void> {
  const rows = await database.query<{
    state: string;
    burn_tx_hash: string;
    wallet: string;
    nonce: string | null;
    deposited: string;
    facts: string;
  }>(
    `select t.state, burn_tx_hash, t.wallet, nonce, s.token as deposited,
            concat_ws(' ', burned_amount, fee, token_in, amount_in, mint_tx_hash, t.delivered_amount, bridge_fee, s.status, s.delivered_amount) as facts
       from bridge_transfers t join settlements s on s.id = t.settlement_id where t.state <> 'superseded'`,
  );
  for (const { amount, fee, txHash, wallet, nonce, deposited, token, swept } of burns) {
    const mint = mints.get(nonce);
    const swapped = deposited === token ? "" : `${deposited} ${swept - fee} `;
    const facts = `${amount} ${fee} ${swapped}${mint?.txHash} ${mint?.amount} ${mint?.fee} completed ${mint?.amount}`;
    const own = rows.filter(
      (row) => row.burn_tx_hash === txHash && row.wallet === wallet && row.deposited === deposited,
    );
    const [row] = own;
    if (own.length !== 1 || row?.state !== "final" || row.nonce !== nonce || row.facts !== facts)
      throw new Broken(
        `V5: ${txHash} of ${wallet} came to ${facts}, recorded is ${JSON.stringify(own)}`,
      );
  }
  if (rows.length !== burns.length)
    throw new Broken(`V5: ${rows.length} transfers are recorded, ${burns.length} were burned`);
}

/** Checks that a token's supply is the initial one less burns plus mints, as in the ledger. */
async function compareSupply(
  database: SharedDatabase,
  chains: ReadonlyMap<number, FakeChain>,
  { burns, mints }: Bridged,
): Promise<void> {
  const lines = await database.query<{ chain_id: number; amount: string }>(
    `select chain_id, sum(amount)::text as amount from ledger_lines where account = 'bridge' group by 1`,
  );
  for (const [chainId, chain] of chains) {
    const token = tokenOf(chainId);
    const supplyOf = (balances: ReadonlyMap<string, bigint>) =>
      [...balances]
        .filter(([holding]) => holding.startsWith(`${token}:`))
        .reduce((sum, [, amount]) => sum + amount, 0n);
    const burned = burns
      .filter((burn) => burn.chainId === chainId)
      .reduce((sum, { amount }) => sum + amount, 0n);
    const minted = [...mints.values()]
      .filter((mint) => mint.chainId === chainId)
      .reduce((sum, { amount, fee }) => sum + amount + fee, 0n);
    const before = supplyOf(chain.branchOf(chain.head)[0]?.state.balances ?? new Map());
    const now = supplyOf(chain.head.state.balances);
    const destroyed = [...listDestroyed(chains)]
      .filter(([holding]) => holding.startsWith(`${chainId}:`) && holding.endsWith(`:${token}`))
      .reduce((sum, [, amount]) => sum + amount, 0n);
    if (now !== before - burned + minted - destroyed)
      throw new Broken(`V2: the supply on ${chainId} went from ${before} to ${now}`);
    const line = BigInt(lines.find((one) => one.chain_id === chainId)?.amount ?? 0);
    if (line !== burned - minted)
      throw new Broken(
        `V3: the bridge took ${burned} on ${chainId} and gave ${minted}, the ledger says ${line}`,
      );
  }
}
