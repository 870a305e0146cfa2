import { formatUnits } from "../../core/amounts.ts";
import { askMove, checkMove, type MoveRequest } from "../../rebalancing/index.ts";
import { getChainConfig, getToken } from "../../routes/index.ts";
import { systemRandom } from "../../roles/system-ports.ts";
import type { Call, Result } from "../command.ts";
import { withInventory } from "../inventory.ts";
import { nameOperator, parseReason } from "../operator.ts";

/** Has the settler move a token of a treasury to an inventory. Without `--yes` it says what would happen. */
export async function run(
  call: Call,
  { yes, reason, ...request }: MoveRequest & { readonly reason: string; readonly yes: boolean },
): Promise<Result> {
  const config = call.readConfig();
  const by = { operator: nameOperator(), reason: parseReason(reason) };
  return withInventory(config, async (deps) => {
    const { direction, amount } = await checkMove(deps, request);
    const { srcChain, destChain, token } = direction;
    const { symbol, decimals } = getToken(config, srcChain, token);
    const shown = {
      from: getChainConfig(config, srcChain).name,
      to: getChainConfig(config, destChain).name,
      symbol,
      amount: formatUnits(amount, decimals),
    };
    const what = `${shown.amount} ${symbol} from the treasury of ${shown.from} to the inventory of ${shown.to}`;
    if (!yes) {
      return { json: { ...shown, move: null }, text: `would move ${what}; add --yes to do it` };
    }
    const move = await askMove({ ...deps, random: systemRandom }, { ...request, ...by });
    const text = `move ${move}: ${what}. The settler sends it; \`sluice inventory\` follows it.`;
    return { json: { ...shown, move }, text };
  });
}
