/** Checks of Solana's counterparts of contracts: the seed's accounts, mints, treasury, daily caps, inventory and fee payers. */
import { formatUnits } from "../core/amounts.ts";
import { toBase58 } from "../core/base58.ts";
import { OperatingError } from "../core/errors.ts";
import { isNative } from "../core/hex.ts";
import {
  type MintConfig,
  SOLANA_DECIMALS,
  type SolanaChain,
  type TokenConfig,
} from "../config/index.ts";
import { solana as preset } from "../config/presets/index.ts";
import { type Check, judge, judgeListed, judgeSame, ok, once } from "../core/check.ts";
import { type DoctorDeps, subjectOf, type VaultSource } from "./facts.ts";
import { judgeLaneBalance } from "./lanes.ts";
import { judgeInventory, listAttestors, listDelivered } from "./listings.ts";

interface Place {
  readonly deps: DoctorDeps;
  readonly chain: SolanaChain;
  readonly identified: Check;
}

/** Returns the checks of a Solana chain. Those that read it are skipped unless `identified` passes. */
export function checkSolana(
  deps: DoctorDeps,
  chain: SolanaChain,
  identified: Check,
): readonly Check[] {
  const place: Place = { deps, chain, identified };
  const mints = new Map(
    chain.tokens.flatMap((token) => {
      const mint = chain.mints.get(token.address);
      return mint ? [[token.address, checkMint(place, token, mint)] as const] : [];
    }),
  );
  const delivered = listDelivered(deps.config, chain.chainId);
  return [
    checkSeed(place),
    ...deps.vaultSources.map((source) => checkVaults(place, source)),
    ...checkAttestors(place),
    ...mints.values(),
    ...chain.tokens.flatMap((token) => checkSymbol(place, token)),
    checkTreasury(place),
    ...chain.tokens.flatMap((token) => {
      const mint = chain.mints.get(token.address);
      const needs = [mints.get(token.address) ?? identified];
      return [
        ...(mint ? [checkTreasuryAccount(place, { token, mint, needs })] : []),
        ...(delivered.includes(token)
          ? [checkCap(place, token), checkInventory(place, { token, mint, needs })]
          : []),
      ];
    }),
    ...checkFeePayers(place),
  ];
}

/** Compares the configured accounts with those of the seed: the signer moves only the latter. */
function checkSeed({ deps, chain }: Place): Check {
  return {
    id: "seed.accounts",
    subject: subjectOf(chain),
    needs: [],
    async run() {
      const accounts = await deps.readSeedAccounts();
      const known = (["binding", "escrow", "delivery", "settle", "deliver"] as const).flatMap(
        (name) => {
          const found = accounts[name];
          const expected = chain.accounts[name];
          return found
            ? [{ name, found: deps.display(found), expected: deps.display(expected) }]
            : [];
        },
      );
      return judgeSame(
        known,
        "Correct the accounts under contracts (see `sluice keys show`), or configure their seed: the signer cannot move funds of other accounts.",
      );
    },
  };
}

/** Checks that a vault source answers, and that its binding verifies as it does when an address is issued. */
function checkVaults({ chain }: Place, { setting, vouches }: VaultSource): Check {
  return {
    id: "seed.vaults",
    subject: subjectOf(chain),
    item: setting,
    needs: [],
    async run() {
      const expected = "a vault, with a signature that the account binding verifies";
      const without = "Without it no address on Solana is issued.";
      try {
        const word = await vouches();
        return judge(word === true, {
          found:
            word === "none"
              ? "derives no vaults"
              : word
                ? "its test binding verifies"
                : "its test binding does not verify",
          expected,
          advice: `Run the signer of the configured contracts there, with this configuration. ${without}`,
        });
      } catch (error) {
        if (!(error instanceof OperatingError)) throw error;
        return judge(false, {
          found: error.message,
          expected,
          advice: `Start the signer, or correct the socket. ${without}`,
        });
      }
    },
  };
}

/** Checks that the attestors are in the chain's list: the signer accepts no other attestations. */
function checkAttestors({ deps, chain }: Place): readonly Check[] {
  return listAttestors(deps).map(({ item, account }): Check => {
    const attestor = deps.display(account);
    return {
      id: "key.listed",
      subject: subjectOf(chain),
      item,
      needs: [],
      run: () =>
        judgeListed(chain.attestors.includes(account), {
          expected: `${attestor} is one of the attestors of the chain`,
          advice: `Add ${attestor} to the chain's attestors, also where the signer runs, or configure the listed key.`,
        }),
    };
  });
}

function checkMint(
  { deps, chain, identified }: Place,
  token: TokenConfig,
  mint: MintConfig,
): Check {
  const inspector = deps.solanaNodesOf(chain.chainId).service;
  const { program, decimals, hasTransferFee } = mint;
  return {
    id: "token.mint",
    subject: subjectOf(chain),
    item: token.symbol,
    needs: [identified],
    async run() {
      const fault = await inspector.findMintFault(token.address, mint);
      const fee = hasTransferFee ? ", with a transfer fee: deposits are only refunded" : "";
      return judge(fault === null, {
        found: fault ?? `a mint of the program ${program} with ${decimals} decimals${fee}`,
        expected: `a mint of the program ${program} with ${decimals} decimals, ${hasTransferFee ? "a transfer fee" : "no transfer fee"}, and no extension that lets others stop, move or hide tokens`,
        advice:
          "Correct address, program, decimals or transferFee of the token. Remove a token with an extension that docs/solana.md refuses: its deposits never settle.",
      });
    },
  };
}

/** Warns on the public network if a symbol known to the preset is configured with another mint. */
function checkSymbol({ chain }: Place, { symbol, address }: TokenConfig): readonly Check[] {
  const isPublic = toBase58(chain.genesisHash) === preset.genesis.hash;
  const known = preset.tokens.find((token) => token.symbol === symbol);
  if (!isPublic || !known || isNative(address)) return [];
  return [
    {
      id: "token.symbol",
      subject: subjectOf(chain),
      item: symbol,
      needs: [],
      run: () =>
        judge(toBase58(address) === known.address, {
          found: toBase58(address),
          expected: `${known.address}, which the preset knows as ${symbol}`,
          advice: "Check that this is the token you mean.",
          otherwise: "warning",
        }),
    },
  ];
}

/** Checks that the treasury is a wallet with SOL: an account that does not exist refuses less than its rent. */
function checkTreasury({ deps, chain, identified }: Place): Check {
  const inspector = deps.solanaNodesOf(chain.chainId).service;
  const { treasury } = chain.accounts;
  return {
    id: "treasury.account",
    subject: subjectOf(chain),
    needs: [identified],
    async run() {
      const isWallet = await inspector.isWallet(treasury);
      return judge(isWallet === true, {
        found:
          isWallet === null
            ? "an account without SOL"
            : isWallet
              ? "a wallet"
              : "an account of a program",
        expected: "a wallet with SOL in it",
        advice:
          isWallet === null
            ? `Send SOL to ${deps.display(treasury)}: until then small claims and fees in SOL fail.`
            : "Set contracts.treasury to a wallet.",
        otherwise: isWallet === null ? "warning" : "problem",
      });
    },
  };
}

interface PlacedToken {
  readonly token: TokenConfig;
  readonly mint: MintConfig | undefined;
  readonly needs: readonly Check[];
}

/** Checks the treasury's token account. A missing one is fine: the first payment opens it. */
function checkTreasuryAccount(
  { deps, chain }: Place,
  { token, mint, needs }: PlacedToken & { readonly mint: MintConfig },
): Check {
  const inspector = deps.solanaNodesOf(chain.chainId).service;
  const { treasury } = chain.accounts;
  return {
    id: "treasury.account",
    subject: subjectOf(chain),
    item: token.symbol,
    needs,
    async run() {
      const account = await inspector.findTokenAccount(treasury, token.address, mint.program);
      const expected = "an account that can be paid, or none yet";
      if (account === null) return ok("none yet: the first payment opens it", expected);
      const isOwn = account.owner === treasury;
      return judge(isOwn && !account.isFrozen, {
        found: !isOwn
          ? `belongs to ${deps.display(account.owner)}`
          : account.isFrozen
            ? "frozen"
            : "open",
        expected,
        advice: isOwn
          ? "Ask the token's issuer to thaw it: until then locks cannot be claimed."
          : "Name another treasury: claims would go to a stranger's account.",
      });
    },
  };
}

/** Checks the daily cap that the signer enforces: at zero it delivers nothing. */
function checkCap({ chain }: Place, { symbol, address }: TokenConfig): Check {
  return {
    id: "delivery.cap",
    subject: subjectOf(chain),
    item: symbol,
    needs: [],
    run() {
      const cap = chain.dailyCaps.get(address) ?? 0n;
      return judge(cap > 0n, {
        found: `${cap} base units in 24 hours`,
        expected: "more than zero",
        advice: "Raise dailyCaps of the token, also where the signer runs, and restart both.",
      });
    },
  };
}

/** Checks the inventory: tokens in the delivery account's associated account, SOL in the delivery account itself. */
function checkInventory({ deps, chain }: Place, { token, mint, needs }: PlacedToken): Check {
  const inspector = deps.solanaNodesOf(chain.chainId).service;
  const { delivery } = chain.accounts;
  const { symbol: item, address } = token;
  return {
    id: "delivery.inventory",
    subject: subjectOf(chain),
    item,
    needs,
    async run() {
      const account = mint && (await inspector.findTokenAccount(delivery, address, mint.program));
      const amount = mint ? (account?.amount ?? 0n) : await inspector.getCoinBalance(delivery);
      if (account && (account.isFrozen || account.owner !== delivery)) {
        return judge(false, {
          found: account.isFrozen ? "frozen" : `belongs to ${deps.display(account.owner)}`,
          expected: "an account that the delivery account controls",
          advice: "Remove the routes that deliver the token: it cannot be delivered.",
        });
      }
      return judgeInventory(token, { amount, holder: deps.display(delivery) });
    },
  };
}

/** Checks the accounts that pay fees and rent, as `checkLanes` does on EVM chains. */
function checkFeePayers({ deps, chain, identified }: Place): readonly Check[] {
  const inspector = deps.solanaNodesOf(chain.chainId).service;
  const cost = once(() => inspector.getTransactionCost(true));
  const show = (lamports: bigint) => `${formatUnits(lamports, SOLANA_DECIMALS)} SOL`;
  return (["settle", "deliver"] as const).map((item): Check => {
    const account = chain.accounts[item];
    return {
      id: "lane.balance",
      subject: subjectOf(chain),
      item,
      needs: [identified],
      async run() {
        const balance = await inspector.getCoinBalance(account);
        const advice = `Send SOL to ${deps.display(account)}.`;
        return judgeLaneBalance({ balance, cost: await cost() }, { show, advice });
      },
    };
  });
}
