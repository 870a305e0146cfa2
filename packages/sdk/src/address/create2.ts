/**
 * Computes the address of a wallet before it is deployed, from the factory, the commitment and the bytes in this file.
 * No chain is queried. The address is the same on every EVM chain where the factory is deployed.
 */
import { concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import { type CommitmentFields, hashCommitment } from "./commitment.ts";
import { formatAddress, parseAddress } from "./eip55.ts";
import { type Hex, keccak, parseBytes, toHex } from "./encoding.ts";

/** Copies the 51 bytes that follow it and returns them as the runtime code. */
const INIT = hexToBytes("3d603380600a3d3981f3");
/** Stops on empty calldata, so that a plain transfer always succeeds; otherwise starts the delegatecall. */
const RUNTIME_HEAD = hexToBytes("36600557005b363d3d373d3d3d363d73");
/** Ends the delegatecall and passes on its return data. */
const RUNTIME_TAIL = hexToBytes("5af43d82803e903d91603157fd5bf3");

/** Returns the creation code of a wallet: a 51-byte proxy for `implementation`. */
export function walletInitCode(implementation: string): Hex {
  return toHex(
    concatBytes(INIT, RUNTIME_HEAD, parseAddress("implementation", implementation), RUNTIME_TAIL),
  );
}

/** Returns the implementation of a factory's wallets: the first contract that the factory created (nonce 1). */
export function implementationOf(factory: string): Hex {
  // RLP of [20 bytes, 1]: a list of 22 bytes, a string of 20 bytes, and the byte 1 as itself.
  const rlp = concatBytes(
    Uint8Array.of(0xd6, 0x94),
    parseAddress("factory", factory),
    Uint8Array.of(0x01),
  );
  return formatAddress(keccak(rlp).slice(12));
}

/** Returns the address of a contract that `deployer` creates with CREATE2 (EIP-1014), in EIP-55. */
export function create2Address(options: {
  readonly deployer: string;
  /** 32 bytes. */
  readonly salt: string;
  /** keccak-256 of the creation code, 32 bytes. */
  readonly initCodeHash: string;
}): Hex {
  const hash = keccak(
    Uint8Array.of(0xff),
    parseAddress("deployer", options.deployer),
    parseBytes("salt", options.salt, 32),
    parseBytes("initCodeHash", options.initCodeHash, 32),
  );
  return formatAddress(hash.slice(12));
}

/** Returns the deposit address of a commitment, in EIP-55. `implementation` defaults to the factory's own. */
export function predictWallet(options: {
  readonly factory: string;
  readonly implementation?: string;
  readonly commitment: CommitmentFields;
}): Hex {
  const implementation = options.implementation ?? implementationOf(options.factory);
  const initCode = hexToBytes(walletInitCode(implementation).slice(2));
  return create2Address({
    deployer: toHex(parseAddress("factory", options.factory)),
    salt: hashCommitment(options.commitment),
    initCodeHash: toHex(keccak(initCode)),
  });
}
