/** Invariants over rows and chains, checked at every step, and the check that no work is left. */
import type { DepositAddress } from "../../src/addresses/index.ts";
import type { FakeChain } from "../fake-chain/model.ts";
import type { Config, RouteConfig } from "../../src/config/index.ts";
import { toHex32 } from "../../src/core/hex.ts";
import type { SharedDatabase } from "./database.ts";
import { Broken } from "./broken.ts";
import { isUncovered } from "./gas.ts";
import { coinMinimumOf, destinationOf, MINIMUM, nativeOn, SOLANA, tokenOf } from "./stage.ts";

/** The invariants as queries that must return no row. */
const ALWAYS: Readonly<Record<string, string>> = {
  "E1 every change of status has its event": `
    select t.settlement_id, t.version from settlement_transitions t
    where (select count(*) from events e where e.data ->> 'queueItemId' = t.settlement_id::text)
       <> (select count(*) from settlement_transitions o where o.settlement_id = t.settlement_id)`,
  "E2 the statuses of a settlement are a chain": `
    select * from (
      select settlement_id, from_status, lag(to_status) over (partition by settlement_id order by version) as before
      from settlement_transitions) as c
    where before is not null and before <> from_status`,
  "E2 the events of a settlement are the same chain": `
    select * from (
      select data ->> 'prevStatus' as previous, lag(data ->> 'status')
        over (partition by data ->> 'queueItemId' order by created_at) as before
      from events where type = 'status_changed') as c
    where before is not null and before <> previous`,
  "E2 the last change is the status": `
    select s.id from settlements s join lateral (
      select to_status from settlement_transitions t where t.settlement_id = s.id order by version desc limit 1
    ) as last on true where last.to_status <> s.status`,
  "E2 at most one terminal event, and it is the last": `
    select settlement_id from (
      select settlement_id, to_status, lead(to_status) over (partition by settlement_id order by version) as next
      from settlement_transitions) as c
    where to_status in ('completed', 'dead') and next is not null`,
  "E7 deposits come with their event": `
    select d.chain_id from (
      select chain_id, wallet, token, count(distinct detected_at) as arrivals, count(*) as transfers
      from deposits group by 1, 2, 3) as d
    where (select count(*) from events e where e.type = 'deposit_detected'
      and (e.data ->> 'chainId')::int = d.chain_id and e.data ->> 'walletAddress' = d.wallet
      and e.data ->> 'tokenAddress' = d.token) not between d.arrivals and d.transfers`,
  "X2 attempts of one transaction have one place in the lane": `
    select chain_id, lane, nonce from transactions where nonce is not null group by 1, 2, 3 having count(*) > 1`,
  "X4 nonces of a lane have no gap": `
    select chain_id, lane from transactions where nonce is not null group by 1, 2
    having max(nonce) - min(nonce) + 1 <> count(*)`,
  "X4 every nonce that was given out is a transaction's": `
    select l.address from lanes l where l.next_nonce <> (select count(*) from transactions t
      where t.chain_id = l.chain_id and t.lane = l.address and t.nonce is not null)`,
  "X6 what was mined is an attempt that is kept": `
    select t.id from transactions t where t.mined_hash is not null and t.carrier_id is null
    and not exists (select from attempts a where a.transaction_id = t.id and a.hash = t.mined_hash)`,
  "M4 retries are counted one by one": `
    select e.data ->> 'queueItemId' as id from (
      select data, (data ->> 'retryCount')::int - lag((data ->> 'retryCount')::int)
        over (partition by data ->> 'queueItemId' order by created_at) as grown
      from events where type = 'status_changed') as e
    where grown is not null and grown not in (0, 1)`,
  "no breach is found where nothing is wrong": `
    select chain_id, invariant, subject, details from breaches where verdict <> 'wallet_short'`,
  "no wallet holds what no deposit explains": `
    select id from ledger_lines where reason = 'adjustment' and ref not like 'breach:%'`,
  "V3 postings add up to zero": `
    select posting from ledger_lines group by posting, chain_id, token having sum(amount) <> 0`,
  "a message mints for one transfer": `
    select dest_chain, nonce from bridge_transfers where state <> 'superseded' and nonce is not null
    group by 1, 2 having count(*) > 1`,
  "V5 what is final in the bridge was minted": `
    select id from bridge_transfers where state = 'final'
    and (delivered_amount is null or delivered_amount < min_out or delivered_amount + bridge_fee <> burned_amount)`,
  "V8 what is dead has nothing in flight": `
    select s.id from settlements s join deliveries d on d.settlement_id = s.id
    where s.status = 'dead' and d.state not in ('returned', 'taken_back')
      and not exists (select from early_losses l where l.delivery_id = d.id and l.recovered_at is null)`,
};

export async function checkAlways(
  database: SharedDatabase,
  chains: ReadonlyMap<number, FakeChain>,
): Promise<void> {
  const questions = Object.values(ALWAYS).map((text) => `exists (${text})`);
  const [row] = await database.query<Record<string, boolean>>(
    `select ${questions.map((text, index) => `${text} as q${index}`).join(", ")}`,
  );
  for (const [index, name] of Object.keys(ALWAYS).entries()) {
    if (!row?.[`q${index}`]) continue;
    const rows = await database.query(ALWAYS[name] ?? "");
    throw new Broken(`${name}: ${show(rows.slice(0, 3))}`);
  }
  // Queried without the chains' heights: the answers depend on the rows alone.
  const newest = await database.query<{ chain: number; intent: string; number: bigint }>(
    `select distinct on (chain_id) chain_id as chain, intent, mined_block_number as number from transactions
      where state = 'final' order by chain_id, mined_block_number desc nulls last`,
  );
  const mints = await database.query<{ chain: number; nonce: string }>(
    `select dest_chain as chain, nonce from bridge_transfers where state = 'final'`,
  );
  for (const [chainId, chain] of chains) {
    for (const [holding, balance] of chain.head.state.balances) {
      if (balance < 0n) throw new Broken(`the chain's model lost ${holding}`);
    }
    const last = newest.find((one) => one.chain === chainId);
    if (last && last.number > chain.finalNumber)
      throw new Broken(`M6: ${last.intent} is recorded as final before its block is`);
    const lasting = chain.finalBlock;
    for (const mint of mints) {
      if (mint.chain === chainId && !lasting.state.minted.has(toHex32(mint.nonce)))
        throw new Broken(`M6: the mint of ${mint.nonce} is recorded as final before its block is`);
    }
    for (const [deliveryId, lock] of chain.head.state.locks) {
      const { state } = lock;
      const destination = chains.get(destinationOf(lock));
      if (state === "taken_back" && destination?.head.state.delivered.has(deliveryId))
        throw new Broken(`V11: ${deliveryId} was paid and taken back`);
      if (state !== "claimed" || !destination) continue;
      if (!destination.finalBlock.state.delivered.has(deliveryId))
        throw new Broken(`V6: ${deliveryId} is claimed before its delivery is final`);
    }
  }
}

/**
 * T161: no integrator has more open settlements on a chain than its quota, and one more for each that was quarantined: it takes
 * no place meanwhile (T238), takes one again when the quarantine ends, and leaves it to its successor.
 */
export async function checkQuota(database: SharedDatabase, quota: number): Promise<void> {
  const rows = await database.query(
    `select integrator_id, chain_id from settlements where status not in ('completed', 'dead')
      group by 1, 2 having count(*) > $1 + (
        select count(distinct events.data ->> 'queueItemId') from events
         where events.integrator_id = settlements.integrator_id
           and (events.data #>> '{error,details,reason}' = 'quarantined'
             or events.data #>> '{error,code}' in ('AMOUNT_TOO_SMALL', 'FEE_NOT_COVERED')))`,
    [quota],
  );
  if (rows.length > 0) throw new Broken(`T161: more than ${quota} settlements: ${show(rows)}`);
}

/** Returns whether only waits for a route, for more deposits or for cheaper gas are left, with every chain final. */
export async function isAtRest(
  database: SharedDatabase,
  chains: ReadonlyMap<number, FakeChain>,
  addresses: readonly DepositAddress[],
  config: RestConfig,
): Promise<boolean> {
  const [busy] = await database.query<{ busy: boolean }>(`
    select exists (select from settlements where (status not in ('completed', 'dead') and coalesce(error_code, '') not in ('NO_ROUTE', 'AMOUNT_TOO_SMALL', 'FEE_NOT_COVERED')) or (status = 'completed' and not sweep_final))
      or exists (select from deliveries d where state not in ('claimed', 'returned', 'taken_back')
        and not exists (select from early_losses l where l.delivery_id = d.id and l.recovered_at is null))
      or exists (select from bridge_transfers where state not in ('final', 'superseded'))
      or exists (select from transactions where state not in ('final', 'abandoned')) as busy`);
  if (busy?.busy) return false;
  for (const chain of chains.values()) {
    if (chain.waiting.length > 0) return false;
    const { chainId } = chain.contracts;
    const [tip] = await database.query<{ number: bigint; looked_again: bigint }>(
      `select coalesce(max(number), 0) as number,
              coalesce((select looked_again from scanner_finality where chain_id = ${chainId}), 0) as looked_again
         from scanner_blocks where chain_id = ${chainId}`,
    );
    const lastUsed = chain
      .branchOf(chain.head)
      .findLast(({ transactions }) => transactions.length > 0);
    if (
      lastUsed &&
      (chain.finalNumber < lastUsed.number || BigInt(tip?.number ?? 0) < lastUsed.number + 3n)
    )
      return false;
    // Until the second look a log may be missing. On Solana a block is read whole.
    const isReadTwice = lastUsed && BigInt(tip?.looked_again ?? 0) >= lastUsed.number;
    if (chainId !== SOLANA && lastUsed && !isReadTwice) return false;
  }
  if ((await listUnexplained(database, chains, addresses)).length > 0) return false;
  return (await listStranded(database, chains, addresses, config)).length === 0;
}

/** V1: finds wallet balances of the ledger that differ from the chain, and value that is in transit or in flight. */
async function listUnexplained(
  database: SharedDatabase,
  chains: ReadonlyMap<number, FakeChain>,
  addresses: readonly DepositAddress[],
): Promise<string[]> {
  const lines = await database.query<{
    account: string;
    owner: string;
    chain: number;
    token: string;
    amount: string;
  }>(
    `select account, owner, chain_id as chain, token, sum(amount)::text as amount from ledger_lines
      where account in ('wallet', 'transit', 'in_flight') group by 1, 2, 3, 4`,
  );
  const unexplained = lines
    .filter(({ account, amount }) => account !== "wallet" && amount !== "0")
    .map(({ account, owner, chain, amount }) => `${chain} ${account} of ${owner} has ${amount}`);
  for (const [chainId, chain] of chains) {
    for (const { wallet } of addresses) {
      for (const token of [tokenOf(chainId), nativeOn(chainId)]) {
        const line = lines.find(
          (one) =>
            one.account === "wallet" &&
            one.owner === wallet &&
            one.chain === chainId &&
            one.token === token,
        );
        const [booked, held] = [line?.amount ?? "0", chain.head.state.balanceOf(token, wallet)];
        if (BigInt(booked) !== held)
          unexplained.push(`${chainId} ${wallet} ${token} has ${booked} booked and holds ${held}`);
      }
    }
  }
  return unexplained;
}

/** The error of a settlement that is dead because its wallet was empty. */
const EMPTY_CODES: readonly string[] = ["INSUFFICIENT_BALANCE", "REORG"];

/** The settings that decide which value may wait. */
export type RestConfig = Pick<Config, "routes" | "gas">;

/**
 * V9: finds value above the minimum in a wallet that no settlement will take and nobody has given up, and value that waits
 * for cheaper gas although gas is cheap enough.
 */
export async function listStranded(
  database: SharedDatabase,
  chains: ReadonlyMap<number, FakeChain>,
  addresses: readonly DepositAddress[],
  { routes, gas }: RestConfig,
): Promise<string[]> {
  const stranded: string[] = [];
  const newest = await database.query<{
    chain_id: number;
    wallet: string;
    token: string;
    status: string;
    error_code: string | null;
  }>(
    `select distinct on (chain_id, wallet, token) chain_id, wallet, token, status, error_code
      from settlements order by chain_id, wallet, token, created_at desc`,
  );
  for (const [chainId, chain] of chains) {
    for (const address of addresses) {
      const { wallet } = address;
      for (const [token, minimum] of [
        [tokenOf(chainId), MINIMUM],
        [nativeOn(chainId), coinMinimumOf(chainId)],
      ] as const) {
        const balance = chain.head.state.balanceOf(token, wallet);
        const last = newest.find(
          (one) => one.chain_id === chainId && one.wallet === wallet && one.token === token,
        );
        const isEnded = last?.status === "completed" || last?.status === "dead";
        const waitsForGas = last?.error_code === "FEE_NOT_COVERED" && !isEnded;
        if (balance < minimum && !waitsForGas) continue;
        const own = routes.filter((route) => serves(route, { chainId, token, address }));
        if (own.length === 0) continue;
        // Settlements for an operator, except those whose wallet was found empty.
        const isGivenUp =
          last?.status === "dead" && !EMPTY_CODES.includes(last.error_code ?? "none");
        // For a small amount, gas costs as much as the amount.
        const isLittle = last?.error_code === "AMOUNT_TOO_SMALL" && !isEnded;
        const mayWait =
          (waitsForGas || isLittle) &&
          balance >= minimum &&
          gas === "charged" &&
          isUncovered(chains, own, { chainId, wallet, token, balance });
        if (!isGivenUp && !mayWait)
          stranded.push(
            `${chainId} ${wallet} ${token} holds ${balance}, last ${last?.status} ${last?.error_code}`,
          );
      }
    }
  }
  return stranded;
}

/** Returns whether a route serves a token of an address. */
function serves(
  route: RouteConfig,
  of: { readonly chainId: number; readonly token: string; readonly address: DepositAddress },
): boolean {
  const { chainId, token, address } = of;
  if (route.chainId !== chainId || route.token !== token) return false;
  return route.destChain === address.destChain && route.destToken === address.destToken;
}

/** Lists the work that is left, for a reader of a failure. */
export async function describeRest(
  database: SharedDatabase,
  chains: ReadonlyMap<number, FakeChain>,
  addresses: readonly DepositAddress[],
  config: RestConfig,
): Promise<string> {
  const stranded = await listStranded(database, chains, addresses, config);
  const unexplained = await listUnexplained(database, chains, addresses);
  const settlements = await database.query(
    `select id, status, step, error_code, retry_count, next_check_at from settlements
      where status not in ('completed', 'dead') or (status = 'completed' and not sweep_final)`,
  );
  const transactions = await database.query(
    `select intent, state, nonce, mined_block_number from transactions where state not in ('final', 'abandoned')`,
  );
  const deliveries = await database.query(
    `select id, state, trouble from deliveries where state not in ('claimed', 'returned', 'taken_back')`,
  );
  const transfers = await database.query(
    `select id, state, relays, reattests, delay_reason, trouble, next_check_at from bridge_transfers
      where state not in ('final', 'superseded')`,
  );
  const tips = await database.query(
    `select chain_id, max(number) as tip from scanner_blocks group by 1`,
  );
  const heads = [...chains.values()].map(
    ({ contracts, head, finalNumber, waiting }) =>
      `${contracts.chainId}: ${head.number}, final ${finalNumber}, ${waiting.length} waiting`,
  );
  return show({
    stranded,
    unexplained,
    settlements,
    transactions,
    deliveries,
    transfers,
    tips,
    heads,
  });
}

function show(value: unknown): string {
  return JSON.stringify(
    value,
    (_, part: unknown) => (typeof part === "bigint" ? part.toString() : part),
    1,
  );
}
