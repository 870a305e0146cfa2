// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import { ECDSA } from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// @title Signatures of several accounts, one after the other
/// @notice 65 bytes each (r, s, v), sorted by signer, strictly ascending: nobody counts twice.
library Signatures {
    uint256 private constant LENGTH = 65;

    /// @notice The signatures are not whole ones.
    error MalformedSignatures(uint256 length);

    /// @notice A signer does not come after the one before it.
    error UnsortedSignatures(address signer, address previous);

    function count(bytes calldata signatures) internal pure returns (uint256) {
        if (signatures.length % LENGTH != 0) revert MalformedSignatures(signatures.length);
        return signatures.length / LENGTH;
    }

    /// @notice Returns the signer of the signature at `index`, which must come after `previous`.
    /// Zero if that signature is malleable (only the lower `s` passes) or nobody's.
    function signerAt(bytes calldata signatures, uint256 index, bytes32 digest, address previous)
        internal
        pure
        returns (address signer)
    {
        uint256 start = index * LENGTH;
        (signer,,) = ECDSA.tryRecoverCalldata(digest, signatures[start:start + LENGTH]);
        if (signer != address(0) && signer <= previous) {
            revert UnsortedSignatures(signer, previous);
        }
    }
}
