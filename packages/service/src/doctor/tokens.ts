/** Checks of the listed tokens of one chain. */
import type { ChainInspector } from "../chains/inspector.ts";
import type { EvmChain, TokenConfig } from "../config/index.ts";
import { findPresetToken } from "../config/presets/index.ts";
import { OperatingError } from "../core/errors.ts";
import { type EvmAddress, NATIVE_TOKEN, toEvmAddress } from "../core/hex.ts";
import { type Check, judge, judgeSame, skip } from "../core/check.ts";
import { type DoctorDeps, subjectOf } from "./facts.ts";
import { judgeInventory, listDelivered } from "./listings.ts";

export function checkTokens(
  deps: DoctorDeps,
  chain: EvmChain,
  identified: Check,
): readonly Check[] {
  const delivered = listDelivered(deps.config, chain.chainId);
  return chain.tokens.flatMap((token) => {
    const isNative = token.address === NATIVE_TOKEN;
    const { all, code } = isNative
      ? { all: [checkCoin(chain, token)], code: identified }
      : checkToken(deps, { chain, token, identified });
    if (!delivered.includes(token)) return all;
    return [...all, checkInventory(deps, { chain, token, needs: [code] })];
  });
}

/** What the delivery contract has to deliver. */
function checkInventory(
  deps: DoctorDeps,
  {
    chain,
    token,
    needs,
  }: { readonly chain: EvmChain; readonly token: TokenConfig; readonly needs: readonly Check[] },
): Check {
  const inspector = deps.nodesOf(chain.chainId).service;
  const { delivery } = chain.contracts;
  return {
    id: "delivery.inventory",
    subject: subjectOf(chain),
    item: token.symbol,
    needs,
    run: async () =>
      judgeInventory(token, {
        amount: await inspector.getBalance(toEvmAddress(token.address), delivery),
        holder: deps.display(delivery),
      }),
  };
}

function checkCoin(chain: EvmChain, { symbol }: TokenConfig): Check {
  return {
    id: "token.decimals",
    subject: subjectOf(chain),
    item: symbol,
    needs: [],
    run: () => skip("the native coin has no contract", "18, to which the configuration is held"),
  };
}

function checkToken(
  deps: DoctorDeps,
  {
    chain,
    token,
    identified,
  }: { readonly chain: EvmChain; readonly token: TokenConfig; readonly identified: Check },
): { readonly all: readonly Check[]; readonly code: Check } {
  const inspector = deps.nodesOf(chain.chainId).service;
  const name = { subject: subjectOf(chain), item: token.symbol };
  const contract = toEvmAddress(token.address);
  const code: Check = {
    ...name,
    id: "token.code",
    needs: [identified],
    async run() {
      const hasCode = await inspector.hasCode(contract);
      return judge(hasCode, {
        found: `${hasCode ? "code" : "no code"} at ${deps.display(contract)}`,
        expected: "the token's contract",
        advice: "Correct the address of the token.",
      });
    },
  };
  const decimals: Check = {
    ...name,
    id: "token.decimals",
    needs: [code],
    run: async () =>
      judgeSame(
        [
          {
            name: "decimals",
            found: await inspector.getTokenDecimals(contract),
            expected: token.decimals,
          },
        ],
        "Correct the decimals in the configuration before anything settles: every amount would be wrong.",
      ),
  };
  const symbol: Check = {
    ...name,
    id: "token.symbol",
    needs: [code],
    async run() {
      const found = await readSymbol(inspector, contract);
      const expected = symbolOnChain(chain, token);
      return judge(found === expected, {
        // Anybody's contract may say anything here, control characters included.
        found: found === null ? "none that can be read" : JSON.stringify(found.slice(0, 32)),
        expected: JSON.stringify(expected),
        advice: "See whether this is the token that you mean.",
        otherwise: "warning",
      });
    },
  };
  return { all: [code, decimals, symbol], code };
}

/** Some contracts call themselves otherwise than people do, and presets know it of theirs. */
function symbolOnChain(chain: EvmChain, { address, symbol }: TokenConfig): string {
  return (chain.preset && findPresetToken(chain.preset, address)?.symbolOnChain) ?? symbol;
}

/** Null where the token has no symbol, or one of an older form. */
async function readSymbol(inspector: ChainInspector, token: EvmAddress): Promise<string | null> {
  try {
    return await inspector.getTokenSymbol(token);
  } catch (error) {
    if (error instanceof OperatingError) return null;
    throw error;
  }
}
