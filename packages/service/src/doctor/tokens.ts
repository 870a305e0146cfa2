/** Checks of the configured tokens of one EVM chain: code, decimals, symbol and inventory. */
import type { ChainInspector } from "../chains/inspector.ts";
import type { EvmChain, TokenConfig } from "../config/index.ts";
import { findPresetToken } from "../config/presets/index.ts";
import { OperatingError } from "../core/errors.ts";
import { type EvmAddress, NATIVE_TOKEN, toEvmAddress } from "../core/hex.ts";
import { type Check, judge, judgeSame, skip } from "../core/check.ts";
import { type DoctorDeps, subjectOf } from "./facts.ts";
import { judgeInventory, listDelivered } from "./listings.ts";

/** Returns the checks of a chain's tokens, and of the inventory of those that routes deliver. */
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

/** Checks the delivery contract's balance of a token. */
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
    run: () => skip("the native coin has no contract", "18, which the configuration enforces"),
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
        // The text is an untrusted contract's and may contain control characters.
        found: found === null ? "no readable symbol" : JSON.stringify(found.slice(0, 32)),
        expected: JSON.stringify(expected),
        advice: "Check that this is the token you mean.",
        otherwise: "warning",
      });
    },
  };
  return { all: [code, decimals, symbol], code };
}

/** Returns the symbol that the contract should report. Presets record where it differs from the common symbol. */
function symbolOnChain(chain: EvmChain, { address, symbol }: TokenConfig): string {
  return (chain.preset && findPresetToken(chain.preset, address)?.symbolOnChain) ?? symbol;
}

/** Returns the token's symbol; null if it has none, or encodes it as bytes32 instead of a string. */
async function readSymbol(inspector: ChainInspector, token: EvmAddress): Promise<string | null> {
  try {
    return await inspector.getTokenSymbol(token);
  } catch (error) {
    if (error instanceof OperatingError) return null;
    throw error;
  }
}
