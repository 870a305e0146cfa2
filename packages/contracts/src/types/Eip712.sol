// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { ECDSA } from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// @title EIP-712 digests and their signers
/// @notice The domain is computed on each use with the live chain id, so a signature is never valid
/// after a chain split. OpenZeppelin's EIP712 needs instructions that old L2s lack.
library Eip712 {
    bytes32 private constant DOMAIN_TYPEHASH = keccak256(
        "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"
    );
    bytes32 private constant VERSION_HASH = keccak256("1");

    function domainSeparator(bytes32 nameHash, address verifyingContract)
        internal
        view
        returns (bytes32)
    {
        return keccak256(
            abi.encode(DOMAIN_TYPEHASH, nameHash, VERSION_HASH, block.chainid, verifyingContract)
        );
    }

    /// @notice Returns the signer of `structHash` in the calling contract's domain; zero if the
    /// signature is malformed or malleable (only 65 bytes with the lower `s` pass).
    function signerOf(bytes32 nameHash, bytes32 structHash, bytes calldata signature)
        internal
        view
        returns (address signer)
    {
        bytes32 digest = keccak256(
            abi.encodePacked(hex"1901", domainSeparator(nameHash, address(this)), structHash)
        );
        (signer,,) = ECDSA.tryRecoverCalldata(digest, signature);
    }
}
