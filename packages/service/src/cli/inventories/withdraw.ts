/** `sluice inventory withdraw`: the transactions by which the owner withdraws from a treasury. It signs and sends nothing. */
import { toChecksumAddress } from "../../chains/evm/checksum.ts";
import type { Call as ContractCall, TreasuryContract } from "../../chains/port/index.ts";
import { formatUnits } from "../../core/amounts.ts";
import { OperatingError } from "../../core/errors.ts";
import { findHolding, type Holding, parseAmount, readHoldings } from "../../rebalancing/index.ts";
import { getChain } from "../../routes/index.ts";
import { systemClock } from "../../roles/system-ports.ts";
import type { Call, Result } from "../command.ts";
import { withInventory } from "../inventory.ts";

interface WithdrawInput {
  readonly chain: number;
  readonly token: string;
  readonly amount: string | undefined;
}

/** Prints the call that announces a withdrawal, or without an amount the one that pays the announced withdrawal. */
export async function run(
  call: Call,
  { chain: chainId, token: symbol, amount }: WithdrawInput,
): Promise<Result> {
  return withInventory(call.readConfig(), async (deps) => {
    const holding = findHolding(await readHoldings(deps, chainId), symbol);
    const { treasury } = getChain(deps.chains, chainId);
    if (!treasury)
      throw new OperatingError("CONFIG_MISSING", "chain: expected one with a treasury contract.");
    const next =
      amount === undefined
        ? payAnnounced(treasury, holding, systemClock.now())
        : announce(treasury, holding, parseAmount(amount, holding.decimals));
    const transaction = {
      from: "owner",
      to: toChecksumAddress(next.call.to),
      value: "0",
      data: next.call.data,
    };
    return {
      json: { transaction, amount: formatUnits(next.amount, holding.decimals) },
      text: [
        next.text,
        "",
        `Send from the owner, on chain ${chainId}, with value 0:`,
        `  to     ${transaction.to}`,
        `  data   ${transaction.data}`,
      ].join("\n"),
    };
  });
}

interface Next {
  readonly call: ContractCall;
  readonly amount: bigint;
  readonly text: string;
}

/** Throws VALIDATION_ERROR for more than the free amount, and while another withdrawal is announced. */
function announce(treasury: TreasuryContract, holding: Holding, amount: bigint): Next {
  const { announced, free, symbol, decimals, token } = holding;
  const show = (units: bigint) => `${formatUnits(units, decimals)} ${symbol}`;
  if (announced) {
    throw invalid(
      `no other withdrawal; ${show(announced.amount)} is announced, which the owner executes or cancels first (\`sluice governance cancel\`)`,
    );
  }
  if (free === null) {
    throw new OperatingError(
      "RPC_UNAVAILABLE",
      "The chain of an inventory does not answer, so it is not known what it needs.",
    );
  }
  if (amount > free) throw invalid(`at most ${show(free)}, which no move or inventory needs`);
  return {
    call: treasury.buildScheduleWithdrawal({ token, amount }),
    amount,
    text: `Announces the withdrawal of ${show(amount)}. Moves leave it in the treasury from then on. The owner executes it after the delay: run this command without --amount. Record it with \`sluice governance expect\`, so that it raises no alert.`,
  };
}

/** Throws VALIDATION_ERROR if none is announced, or before its time. */
function payAnnounced(
  treasury: TreasuryContract,
  { announced, ...holding }: Holding,
  nowMs: number,
): Next {
  if (!announced) throw invalid("the amount to announce, since nothing is announced");
  const { amount, readyAt } = announced;
  const readyMs = Number(readyAt) * 1_000;
  if (readyMs > nowMs) {
    throw invalid(`no amount from ${new Date(readyMs).toISOString()} on, when the delay is over`);
  }
  return {
    call: treasury.buildExecuteWithdrawal(holding.token),
    amount,
    text: `Pays the announced ${formatUnits(amount, holding.decimals)} ${holding.symbol} to the owner.`,
  };
}

function invalid(expected: string): OperatingError {
  return new OperatingError("VALIDATION_ERROR", `amount: expected ${expected}.`, {
    details: { field: "amount" },
  });
}
