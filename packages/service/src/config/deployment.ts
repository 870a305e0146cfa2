/**
 * Where our contracts stand when they were made through the deterministic deployer with the salt zero: an address then
 * follows from the code of this build and the arguments of the constructor (EIP-1014), and nobody has to write it down.
 * Whoever sends the transaction plays no part. Another build makes other addresses wherever the code changed: a test says
 * where the factory stands, which must never move, and `serve` refuses contracts that are not there.
 */
import {
  deliveryBytecode,
  depositFactoryBytecode,
  escrowBytecode,
} from "@sluice/contracts/bytecode";
import { create2Address } from "@sluice/sdk/address";
import { keccak_256 } from "@noble/hashes/sha3";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils";
import { type Static, Type } from "typebox";
import type { Frozen } from "../core/frozen.ts";
import { type EvmAddress, type Hex, NATIVE_TOKEN, toEvmAddress } from "../core/hex.ts";
import { EvmAddressText, setting } from "./values.ts";

/** Stands on public chains at the same address; made of 32 bytes of salt and the creation code, it creates with CREATE2. */
export const DETERMINISTIC_DEPLOYER = toEvmAddress("0x4e59b44847b379578588920cA78FbF26c0B4956C");
export const DEPLOYMENT_SALT: Hex = `0x${"0".repeat(64)}`;

/** What the doctor demands where money is real. */
const DELAY_S = 604_800;

/** The accounts that the contracts were made for: with the code of this build their addresses follow from them. */
export const Deployment = Type.Object(
  {
    owner: setting(EvmAddressText, "The owner of the constructor, whoever owns them by now."),
    guardian: setting(EvmAddressText, "The guardian of the constructor."),
    treasury: setting(EvmAddressText, "Receives claims and withdrawn inventory."),
    feeRecipient: setting(Type.Optional(EvmAddressText), "Receives fees.", {
      defaultText: "the treasury",
    }),
    delaySeconds: setting(
      Type.Optional(
        Type.Integer({ minimum: 0, maximum: 31_536_000, description: "seconds, 0 to 31536000" }),
      ),
      "How long additions by the owner wait.",
      { default: DELAY_S },
    ),
  },
  { additionalProperties: false, description: "an object with owner, guardian and treasury" },
);

/** The deployment in use. Later changes of the owner or the guardian are not those of the constructor. */
export interface DeploymentConfig extends Frozen<
  NonNullable<ReturnType<typeof resolveDeployment>>
> {}

/** A contract before it is made: what creates it, and where that puts it. */
export interface Derived {
  readonly initCode: Hex;
  readonly address: EvmAddress;
}

/** Reads the deployment, with its defaults; undefined where the file has none. */
export function resolveDeployment(
  written: Static<typeof Deployment> | undefined,
  problems: string[],
) {
  if (!written) return undefined;
  const { owner, guardian, treasury, feeRecipient = treasury, delaySeconds = DELAY_S } = written;
  const accounts = { owner, guardian, treasury, feeRecipient };
  for (const [name, account] of Object.entries(accounts)) {
    if (account === NATIVE_TOKEN) {
      problems.push(`deployment.${name}: expected an account, not the zero address`);
    }
  }
  return {
    owner: toEvmAddress(owner),
    guardian: toEvmAddress(guardian),
    treasury: toEvmAddress(treasury),
    feeRecipient: toEvmAddress(feeRecipient),
    delaySeconds,
  };
}

/** One for all chains. */
export function deriveFactory({ owner, guardian, delaySeconds }: DeploymentConfig): Derived {
  return derive(depositFactoryBytecode, [owner, guardian, delaySeconds]);
}

/** What `Escrow` and `Delivery` are made for. */
interface Place {
  readonly factory: EvmAddress;
  readonly chainId: number;
  readonly evmChainId: number;
}

export function deriveEscrow({ treasury }: DeploymentConfig, place: Place): Derived {
  const { factory, chainId, evmChainId } = place;
  return derive(escrowBytecode, [factory, chainId, evmChainId, treasury]);
}

export function deriveDelivery(
  { owner, guardian, delaySeconds, treasury }: DeploymentConfig,
  { factory, chainId }: Omit<Place, "evmChainId">,
): Derived {
  return derive(deliveryBytecode, [owner, guardian, delaySeconds, factory, chainId, treasury]);
}

/** Derives a contract. Every argument of ours is a value of one word, also inside the structs: they stand one after the other. */
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

/** A word of 32 bytes, without `0x`. */
function wordOf(value: Hex | number): string {
  return (typeof value === "number" ? value.toString(16) : value.slice(2)).padStart(64, "0");
}
