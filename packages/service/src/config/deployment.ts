/**
 * Derives the addresses of contracts that were deployed through the deterministic deployer with salt zero. An address
 * depends only on the code of this build and the constructor's arguments (EIP-1014), not on the sender. A build with
 * other code derives other addresses: a test fixes the factory's, which must never change, and `serve` refuses
 * contracts without code.
 */
import {
  deliveryBytecode,
  depositFactoryBytecode,
  escrowBytecode,
  treasuryBytecode,
} from "@sluice/contracts/bytecode";
import { create2Address } from "@sluice/sdk/address";
import { keccak_256 } from "@noble/hashes/sha3";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils";
import { type Static, Type } from "typebox";
import type { Frozen } from "../core/frozen.ts";
import { type EvmAddress, type Hex, NATIVE_TOKEN, toEvmAddress } from "../core/hex.ts";
import { EvmAddressText, setting } from "./values.ts";

/** Has the same address on every public chain. Takes 32 bytes of salt and the creation code, and calls CREATE2. */
export const DETERMINISTIC_DEPLOYER = toEvmAddress("0x4e59b44847b379578588920cA78FbF26c0B4956C");
export const DEPLOYMENT_SALT: Hex = `0x${"0".repeat(64)}`;

/** Seven days, the minimum that the contracts accept on every chain that is not a local test chain. */
export const DELAY_MIN_S = 604_800;

/** The constructor arguments from which the addresses of the contracts are derived. */
export const Deployment = Type.Object(
  {
    owner: setting(
      EvmAddressText,
      "The owner given to the constructor, even if ownership was transferred later.",
    ),
    guardian: setting(EvmAddressText, "The guardian given to the constructor."),
    treasury: setting(
      Type.Optional(EvmAddressText),
      "The account that receives claims and withdrawn inventory. `seal` sets it; `doctor` compares it.",
      { defaultText: "the [treasury contract](inventory.md) of each chain" },
    ),
    feeRecipient: setting(Type.Optional(EvmAddressText), "The account that receives fees.", {
      defaultText: "the treasury",
    }),
    delaySeconds: setting(
      Type.Optional(
        Type.Integer({ minimum: 0, maximum: 31_536_000, description: "seconds, 0 to 31536000" }),
      ),
      "The delay of the owner's additions. The contracts refuse less than seven days, except on local test chains.",
      { default: DELAY_MIN_S },
    ),
    securityContact: setting(
      Type.Optional(
        Type.String({
          pattern: "^[\\x21-\\x7e]{1,31}$",
          description: "1 to 31 printable ASCII characters without spaces",
        }),
      ),
      "Address for reports of vulnerabilities, shown by the factory of every chain and by `/.well-known/security.txt` of the API. `contracts` prints the owner's call that sets it; `doctor` compares it.",
      { defaultText: "none" },
    ),
  },
  { additionalProperties: false, description: "an object with owner and guardian" },
);

/** The resolved deployment: the constructor's arguments, even after the owner or guardian changed on chain. */
export interface DeploymentConfig extends Frozen<
  NonNullable<ReturnType<typeof resolveDeployment>>
> {}

/** The init code of a contract, and the address at which it is deployed. */
export interface Derived {
  readonly initCode: Hex;
  readonly address: EvmAddress;
}

/** Resolves the deployment with its defaults; undefined if the file has none. */
export function resolveDeployment(
  written: Static<typeof Deployment> | undefined,
  payoutWindowSeconds: number,
  problems: string[],
) {
  if (!written) return undefined;
  const { owner, guardian, delaySeconds = DELAY_MIN_S, securityContact } = written;
  const derived = deriveTreasury({ owner, guardian, delaySeconds }).address;
  const { treasury = derived, feeRecipient = treasury } = written;
  const accounts = { owner, guardian, treasury, feeRecipient };
  for (const [name, account] of Object.entries(accounts)) {
    if (account === NATIVE_TOKEN) {
      problems.push(`deployment.${name}: expected an account, not the zero address`);
    }
  }
  if (owner.toLowerCase() === guardian.toLowerCase()) {
    problems.push("deployment.guardian: expected another account than the owner");
  }
  return {
    owner: toEvmAddress(owner),
    guardian: toEvmAddress(guardian),
    treasury: toEvmAddress(treasury),
    /** Whether claims are paid to the treasury contract. */
    hasTreasuryContract: toEvmAddress(treasury) === derived,
    feeRecipient: toEvmAddress(feeRecipient),
    delaySeconds,
    payoutWindowSeconds,
    securityContact,
  };
}

/** Derives the factory, which has the same address on every chain. */
export function deriveFactory({ owner, guardian, delaySeconds }: DeploymentConfig): Derived {
  return derive(depositFactoryBytecode, [owner, guardian, delaySeconds]);
}

/** Derives the treasury contract, which has the same address on every chain. */
export function deriveTreasury({
  owner,
  guardian,
  delaySeconds,
}: {
  readonly owner: string;
  readonly guardian: string;
  readonly delaySeconds: number;
}): Derived {
  return derive(treasuryBytecode, [toEvmAddress(owner), toEvmAddress(guardian), delaySeconds]);
}

/** The chain and factory that `Escrow` and `Delivery` are deployed for. */
interface Place {
  readonly factory: EvmAddress;
  readonly chainId: number;
  readonly evmChainId: number;
}

export function deriveEscrow({ factory, chainId, evmChainId }: Place): Derived {
  return derive(escrowBytecode, [factory, chainId, evmChainId]);
}

export function deriveDelivery(
  { owner, guardian, delaySeconds, payoutWindowSeconds }: DeploymentConfig,
  { factory, chainId }: Omit<Place, "evmChainId">,
): Derived {
  const governed = [owner, guardian, delaySeconds];
  return derive(deliveryBytecode, [...governed, factory, chainId, payoutWindowSeconds]);
}

/** Derives a contract. Every argument is one static word, also inside structs, so they are concatenated. */
export function derive(bytecode: Hex, args: readonly (Hex | number)[]): Derived {
  const initCode: Hex = `${bytecode}${args.map(wordOf).join("")}`;
  const initCodeHash = `0x${bytesToHex(keccak_256(hexToBytes(initCode.slice(2))))}`;
  const address = create2Address({
    deployer: DETERMINISTIC_DEPLOYER,
    salt: DEPLOYMENT_SALT,
    initCodeHash,
  });
  return { initCode, address: toEvmAddress(address) };
}

/** Returns a value as 32 bytes of hex, without `0x`. */
function wordOf(value: Hex | number): string {
  return (typeof value === "number" ? value.toString(16) : value.slice(2)).padStart(64, "0");
}
