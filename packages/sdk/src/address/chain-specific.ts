/** Addresses together with their chain, in the forms in which other systems exchange them. */
import { base58 } from "@scure/base";
import { concatBytes } from "@noble/hashes/utils.js";
import { parseBase58 } from "./base58.ts";
import { toChecksumAddress } from "./eip55.ts";
import { encodeUint, type Hex, parseBytes, toHex } from "./encoding.ts";

/** An address on one chain. The chain is named as its nodes name it, not by its bridge chain id. */
export type ChainSpecificAddress =
  | {
      /** EIP-155 chain id, such as 1 for Ethereum. */
      readonly evmChainId: number | bigint;
      readonly address: string;
    }
  | {
      /** The cluster's genesis hash in base58, as `getGenesisHash` answers it. */
      readonly genesisHash: string;
      readonly address: string;
    };

/** Characters of a genesis hash in the chain id of CAIP-2. */
const REFERENCE_LENGTH = 32;
/** Version 1 of the binary form. */
const VERSION = Uint8Array.of(0x00, 0x01);
/** Types of chains of CAIP-350. */
const CHAIN_TYPE = { eip155: Uint8Array.of(0x00, 0x00), solana: Uint8Array.of(0x00, 0x02) };

/**
 * Returns the account id, such as `eip155:1:0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045`. EVM addresses are in EIP-55.
 * @throws AddressInputError naming the malformed field
 * @see https://chainagnostic.org/CAIPs/caip-10
 */
export function toCaip10(of: ChainSpecificAddress): string {
  if ("evmChainId" in of) {
    return `eip155:${parseChainId(of.evmChainId)}:${toChecksumAddress(of.address)}`;
  }
  const reference = base58.encode(parseBase58("genesisHash", of.genesisHash));
  const address = base58.encode(parseBase58("address", of.address));
  return `solana:${reference.slice(0, REFERENCE_LENGTH)}:${address}`;
}

/**
 * Returns the interoperable address, in hex: version, type of chain, chain and address, each with its length.
 * @throws AddressInputError naming the malformed field
 * @see https://eips.ethereum.org/EIPS/eip-7930
 */
export function toInteroperableAddress(of: ChainSpecificAddress): Hex {
  const [type, chain, address] =
    "evmChainId" in of
      ? [
          CHAIN_TYPE.eip155,
          minimal(parseChainId(of.evmChainId)),
          parseBytes("address", of.address, 20),
        ]
      : [
          CHAIN_TYPE.solana,
          parseBase58("genesisHash", of.genesisHash),
          parseBase58("address", of.address),
        ];
  return toHex(concatBytes(VERSION, type, lengthPrefixed(chain), lengthPrefixed(address)));
}

function parseChainId(value: number | bigint): bigint {
  const word = encodeUint("evmChainId", value, 256);
  return BigInt(toHex(word));
}

/** Encodes an integer big-endian in as few bytes as it needs. */
function minimal(value: bigint): Uint8Array {
  const digits = value.toString(16);
  const length = Math.ceil(digits.length / 2);
  return parseBytes("evmChainId", `0x${digits.padStart(length * 2, "0")}`, length);
}

const lengthPrefixed = (bytes: Uint8Array): Uint8Array =>
  concatBytes(Uint8Array.of(bytes.length), bytes);
