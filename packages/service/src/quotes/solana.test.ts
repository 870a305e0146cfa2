import type { QuoteRequest } from "@sluice/sdk/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../test/support/database.ts";
import {
  createCountingRandom,
  createSponsoredFees,
  createStillClock,
  createStrictChain,
} from "../../test/support/doubles.ts";
import { createHex, createTenant, insertAddress, type Tenant } from "../../test/support/tenants.ts";
import type { FindVault } from "../addresses/index.ts";
import { hashCommitment } from "../chains/evm/commitment.ts";
import { parseSolanaAddress, toBase58 } from "../core/base58.ts";
import { isPublicKey } from "../core/ed25519.ts";
import { OperatingError } from "../core/errors.ts";
import { type Address, type Hex, NATIVE_SOL, toAddress, toEvmAddress } from "../core/hex.ts";
import { createRouteBook, type Route } from "../routes/index.ts";
import { addressFormat } from "../roles/address-format.ts";
import { systemRandom } from "../roles/system-ports.ts";
import { quote, type QuoteDeps } from "./index.ts";

const SOL = "11111111111111111111111111111111";
const ZERO = "0x0000000000000000000000000000000000000000";
const USDC_MINT = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
const USDC_EVM = toEvmAddress(`0x${"5".repeat(40)}`);
/** Public keys on the curve, from the test vectors of RFC 8032. */
const WALLET = toAddress("0xd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
const ACCOUNT = toAddress("0x3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");
const VAULT = toAddress("0xfc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025");
const BINDING = toAddress(`0x58${"66".repeat(31)}`);
const PROOF: Hex = `0x${"1b".repeat(64)}`;
const DESTINATION = toBase58(WALLET);

let database: TestDatabase;
let tenant: Tenant;
let poor: Tenant;
beforeAll(async () => {
  database = await createTestDatabase();
  tenant = await createTenant(database.db);
  poor = await createTenant(database.db);
  await database.db
    .updateTable("integrators")
    .set({ refund_solana: ACCOUNT })
    .where("id", "=", tenant.id)
    .execute();
});
afterAll(() => database.drop());

function read(text: string): Address {
  const address = parseSolanaAddress(text);
  if (!address) throw new Error(`not an address: ${text}`);
  return address;
}

const MINT = read(USDC_MINT);
const TOKENS = [
  { chainId: 1, evmChainId: 0, address: MINT, symbol: "USDC", decimals: 6, minDeposit: undefined },
  { chainId: 1, evmChainId: 0, address: NATIVE_SOL, symbol: "SOLANA", decimals: 9, minDeposit: 1n },
  {
    chainId: 2,
    evmChainId: 1,
    address: USDC_EVM,
    symbol: "USDC",
    decimals: 6,
    minDeposit: undefined,
  },
];

function createRoute(srcChain: number, srcToken: Address, destChain: number, destToken: Address) {
  const members: Partial<Route> = {
    kind: "SWIFT",
    pair: { srcChain, srcToken, destChain, destToken },
    decimalsIn: 6,
    decimalsOut: 6,
    etaSeconds: 30,
    quote: async (amount) => ({ fair: amount, amountOut: amount, minOut: amount }),
  };
  // CAST: a quote uses no other member of a route.
  return members as Route;
}

/** Requests quotes over strict chains, which answer only the given reads. */
async function ask(
  request: Partial<QuoteRequest>,
  given: {
    readonly tenant?: Tenant;
    readonly findVault?: FindVault;
    readonly fees?: QuoteDeps["fees"];
    readonly leastPayment?: (to: Address) => bigint;
  } = {},
) {
  const { tenant: asking = tenant, findVault, fees = createSponsoredFees(10) } = given;
  const { leastPayment = () => 1n } = given;
  const deps: QuoteDeps = {
    db: database.db,
    clock: createStillClock(),
    random: { ...createCountingRandom(), uuid: systemRandom.uuid },
    chains: new Map([
      [
        1,
        createStrictChain({
          chainId: 1,
          kind: "svm",
          wallets: {
            kind: "vault",
            buildRefund: () => expect.fail("no refund"),
            readStood: () => expect.fail("no refund"),
          },
          hashCommitment,
          getLeastPayment: async (_token, to) => leastPayment(to),
          isWalletOf: ({ wallet, proof }) => wallet === VAULT && proof === PROOF,
          addresses: { walletRoot: BINDING, escrow: ACCOUNT, delivery: ACCOUNT },
        }),
      ],
      [2, createStrictChain({ kind: "evm" })],
    ]),
    routes: createRouteBook([
      createRoute(1, MINT, 2, USDC_EVM),
      createRoute(2, USDC_EVM, 1, MINT),
      createRoute(1, NATIVE_SOL, 1, NATIVE_SOL),
    ]),
    fees,
    tokens: TOKENS,
    evmChainIds: new Map(),
    format: addressFormat,
    reserved: new Set([ACCOUNT]),
    caps: { maxFeeBps: 50, maxSlippageBps: 100 },
    findVault,
  };
  const principal = {
    integratorId: asking.id,
    integratorName: asking.name,
    keyId: asking.keyId,
    depositAddresses: true,
  };
  const whole = { amountIn64: "1000000", ...TO_SOLANA, ...request };
  return (await quote(deps, whole, principal)).quotes;
}

const TO_SOLANA = {
  fromChain: "ethereum",
  fromToken: USDC_EVM,
  toChain: "solana",
  toToken: USDC_MINT,
};
const FROM_SOLANA = {
  fromChain: "solana",
  fromToken: USDC_MINT,
  toChain: "ethereum",
  toToken: USDC_EVM,
};

async function refusalOf(...args: Parameters<typeof ask>): Promise<OperatingError> {
  try {
    await ask(...args);
  } catch (error) {
    if (error instanceof OperatingError) return error;
    throw error;
  }
  throw new Error("it was not refused");
}

describe("a Solana token", () => {
  test("is named by its mint, and has a mint in the quote", async () => {
    const [offer] = await ask({ destinationAddress: DESTINATION });
    expect(offer).toMatchObject({
      toChain: "solana",
      toToken: {
        mint: USDC_MINT,
        contract: USDC_MINT,
        chainId: 0,
        wChainId: 1,
        standard: "spl",
      },
    });
    expect(offer?.fromToken).not.toHaveProperty("mint");
  });

  test.each([SOL, "native", ZERO])("is SOL when named %s, without a mint", async (name) => {
    const [offer] = await ask({
      fromChain: "solana",
      toChain: "solana",
      fromToken: name,
      toToken: name,
    });
    expect(offer?.fromToken).toMatchObject({ contract: SOL, standard: "native" });
    expect(offer?.fromToken).not.toHaveProperty("mint");
  });

  test.each([
    ["fromToken", { ...FROM_SOLANA, fromToken: USDC_EVM }],
    ["toToken", { toToken: USDC_EVM }],
    ["toToken", { ...FROM_SOLANA, toToken: USDC_MINT }],
    ["toToken", { toToken: "0OIl" }],
  ])("is refused as %s on the other family: %j", async (field, request) => {
    expect(await refusalOf(request)).toMatchObject({
      code: "VALIDATION_ERROR",
      details: { field },
    });
  });
});

describe("an amount below the rent of the recipient's account", () => {
  const NATIVE = { fromChain: "solana", toChain: "solana", fromToken: SOL, toToken: SOL };
  const named = { ...NATIVE, destinationAddress: DESTINATION };
  const given = { leastPayment: (to: Address) => (to === WALLET ? 1_000_001n : 1n) };

  test("is refused", async () => {
    expect(await refusalOf(named, given)).toMatchObject({
      code: "AMOUNT_TOO_SMALL",
      details: { reason: "recipient_account", amountOut: "1000000", least: "1000001" },
    });
  });

  test("is accepted one unit above, and without a destination wallet", async () => {
    expect(await ask({ ...named, amountIn64: "1000001" }, given)).toHaveLength(1);
    expect(await ask(NATIVE, given)).toHaveLength(1);
  });
});

describe("a destination on Solana [T43]", () => {
  test("accepts a wallet", async () => {
    const [offer] = await ask({ destinationAddress: DESTINATION });
    expect(offer?.payDepositAddress).toBe(null);
  });

  test.each([
    ["an EVM address", USDC_EVM, "32 bytes in base58, as on Solana, not an address of EVM chains"],
    ["32 bytes in hex", WALLET, "32 bytes in base58"],
    ["too short", DESTINATION.slice(0, -2), "32 bytes in base58"],
    ["zero", SOL, "an address other than zero, which is the system program"],
    ["the zero of EVM chains", ZERO, "32 bytes in base58, as on Solana"],
    ["SPL Token", "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA", "a wallet, not a program"],
    ["Token-2022", "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb", "a wallet, not a program"],
    ["ATA", "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL", "a wallet, not a program"],
    ["compute budget", "ComputeBudget111111111111111111111111111111", "a wallet, not a program"],
    ["a sysvar", "SysvarRent111111111111111111111111111111111", "a wallet, not a program"],
    ["a loader", "BPFLoaderUpgradeab1e11111111111111111111111", "a wallet, not a program"],
    ["the incinerator", "1nc1nerator11111111111111111111111111111111", "a wallet, not a program"],
    ["wrapped SOL", "So11111111111111111111111111111111111111112", "a wallet, not a mint"],
    ["a listed mint", USDC_MINT, "a wallet"],
    ["an account of ours", toBase58(ACCOUNT), "a wallet, not one of our accounts"],
    [
      "an address derived for a program",
      "BwqrghZA2htAcqq8dzP1WDAhTXYTYWj7CHxF5j7TDBAe",
      "a wallet that a key stands behind",
    ],
  ])("refuses %s", async (_, destinationAddress, expected) => {
    const refusal = await refusalOf({ destinationAddress });
    expect(refusal).toMatchObject({
      code: "VALIDATION_ERROR",
      details: { field: "destinationAddress" },
    });
    expect(refusal.message).toContain(`destinationAddress: expected ${expected}`);
  });

  test("refuses the vault of a deposit address", async () => {
    await insertAddress(database.db, poor, {
      chain_family: "svm",
      wallet: BINDING,
      proof: PROOF,
    });
    expect(isPublicKey(BINDING)).toBe(true);
    const refusal = await refusalOf({ destinationAddress: toBase58(BINDING) });
    expect(refusal.message).toContain("it would settle in a loop");
  });
});

test("refuses a Solana address as the destination on an EVM chain", async () => {
  const refusal = await refusalOf({ ...FROM_SOLANA, destinationAddress: DESTINATION });
  expect(refusal.message).toBe(
    "destinationAddress: expected 0x and 40 hex digits, as on EVM chains, not an address of Solana.",
  );
});

describe("a deposit address on Solana", () => {
  const request = {
    ...FROM_SOLANA,
    destinationAddress: toEvmAddress(createHex(20)),
    payDeposit: true,
  };

  test("is the signer's vault with its binding, stored once", async () => {
    const findVault: FindVault = async (commitment) => {
      expect(commitment).toMatchObject({ destChain: 2, refundAuthority: ACCOUNT });
      return { wallet: VAULT, proof: PROOF };
    };
    const [offer] = await ask(request, { findVault });
    expect(offer).toMatchObject({
      payDepositAddress: toBase58(VAULT),
      payDepositCommitment: {
        destChain: 2,
        refundAuthority: ACCOUNT,
        factory: toBase58(BINDING),
        binding: PROOF,
      },
    });
    // Stored, so the signer is not asked again.
    const [again] = await ask(request);
    expect(again?.payDepositAddress).toBe(toBase58(VAULT));
  });

  test("is refused without a valid binding, new or stored", async () => {
    const other = { ...request, destinationAddress: toEvmAddress(createHex(20)) };
    const changed = { code: "CONFIG_MISSING", details: { reason: "address_row_changed" } };
    await database.db.deleteFrom("addresses").where("wallet", "=", VAULT).execute();
    const findVault: FindVault = async () => ({ wallet: VAULT, proof: `0x${"2c".repeat(64)}` });
    expect(await refusalOf(other, { findVault })).toMatchObject(changed);
    // Nothing was stored, so the signer is asked again.
    await ask(other, { findVault: async () => ({ wallet: VAULT, proof: PROOF }) });
    await database.db
      .updateTable("addresses")
      .set({ wallet: WALLET })
      .where("wallet", "=", VAULT)
      .execute();
    expect(await refusalOf(other)).toMatchObject(changed);
  });

  test("needs no deployment", async () => {
    const asked: boolean[] = [];
    const sponsored = createSponsoredFees(10);
    const fees: QuoteDeps["fees"] = {
      ...sponsored,
      async plan(planned) {
        asked.push(await planned.deploys());
        return sponsored.plan(planned);
      },
    };
    await ask(FROM_SOLANA, { fees });
    await ask(TO_SOLANA, { fees });
    expect(asked).toEqual([false, true]);
  });

  test("is refused without a Solana refund authority of the integrator", async () => {
    const findVault: FindVault = () => Promise.reject(new Error("nobody is to be asked"));
    expect(await refusalOf(request, { tenant: poor, findVault })).toMatchObject({
      code: "VALIDATION_ERROR",
      details: { field: "fromChain" },
    });
  });

  test("is refused without a signer for vaults", async () => {
    const other = { ...request, destinationAddress: toEvmAddress(createHex(20)) };
    expect((await refusalOf(other)).code).toBe("CONFIG_MISSING");
  });
});
